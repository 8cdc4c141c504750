"""Second definitions of the scheduling and power rules, written from the documentation.

They run on an event loop of their own (`world`), which shares the tables of jobs and nodes and the
step functions with the package and nothing else. They are slow and meant to be read; the tests
`tests/property/test_definitions_*.py` hold the engine equal to them on random cases.
"""
