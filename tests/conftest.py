"""Tests run what they name: nothing is handed to another process because it is not compiled yet."""

import os

os.environ.setdefault("WATTLINE_AT_ONCE", "0")
