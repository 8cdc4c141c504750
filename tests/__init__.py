"""The tests; where they run kernels as plain Python, those are imported in a quicker form."""

from tests.support.quick_kernels import read_columns

read_columns()
