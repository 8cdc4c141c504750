"""A command's matplotlib has no help texts, and draws what it always draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.seldom

CODE = """
import hashlib
from wattline.cli.drawing import load_plots
{first}
from wattline.analysis.drawing import legend_above, picture_bytes, sheet
{then}
figure, (axes,) = sheet()
axes.plot([1, 2, 4], label="a")
legend_above(axes)
print(hashlib.sha256(picture_bytes(figure, "svg")).hexdigest(), bool(axes.set.__doc__))
"""


@pytest.fixture(scope="module")
def with_help() -> list[str]:
    return drawn("")


def drawn(first: str, then: str = "") -> list[str]:
    done = subprocess.run([sys.executable, "-c", CODE.format(first=first, then=then)],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.long  # two processes that draw; the next test has one
def test_pictures_are_the_same_without_help_texts(with_help):
    without = drawn("load_plots()")
    assert with_help == [without[0], "True"]
    assert without[1] == "False"


def test_a_matplotlib_that_is_there_stays_as_it_is(with_help):
    assert drawn("import matplotlib.figure", "load_plots()") == with_help
