"""Running a fuzzing campaign: the folder it works in, the engine's processes,
what they counted and what they found.  No engine's name is known outside
tandem.campaign.engine."""
