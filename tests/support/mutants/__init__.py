"""Small wrong changes of the package, each with the test that has to fail under it.

The changes stand in `tests/mutants`, a table for each room; `make test-mutants` tries them
(`tests.support.mutants.__main__`).
"""
