"""Programs as Python scripts that stand alone.

reading     a program's text, line by line, as data
expressions nodes, sources and changes as Python
script      the parts put together
common, runtime, compiled, loading
            what scripts carry: text, never imported here
"""
