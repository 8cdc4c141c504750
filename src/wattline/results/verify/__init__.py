"""Independent verification of finished runs, from their records alone.

Nothing here comes from the engine, the policies or the scheduler state: every figure and every
promise is worked out again, so a mistake there cannot hide here (an import contract holds that).
`judge.py` has the list of rules; a rule is a generator over the run that yields a `Finding` for
what is broken, and a `Skipped` for what it cannot tell.
"""
