"""tandem.oracle: the reference, wrapped.

An *oracle* here is the trusted implementation: the Python builder of PyTorch
Dynamo, run for real.  (In the fuzzing field the word means a check; those are
in src/check.)  This package loads a builder, gives each frame a fresh output
graph, runs the builder's entry points, and puts the process back into the same
state between programs.  It judges nothing and compares nothing.

Rooms of this package:

  loader    one builder per process: torch's own or a file over it
  shims     what the pinned torch lacks for the mission's revision
  arms      decision outcomes of the loaded file and their instrumentation
  excuses   the arms that no program reaches, and why
  context   a fresh context per frame, roots, do steps, outcomes
  methods   the rows of the entry points "method" and "compile"
  state     what leaks from one program into the next, and how it is undone
  speed     work of Dynamo that no observation can see, left out
  config    the configuration values that a builder reads
  tables    module data of Dynamo, handed to a subject as data
  revisions which revision a file is, or is nearest to

Importing this package imports nothing of torch; `loader.load` does.
"""
