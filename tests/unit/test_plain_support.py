"""Code for plain kernels runs in a process that has them, and starts one only where it must."""

from __future__ import annotations

import os

import pytest
from tests.support.plain import ROOT, in_plain
from tests.support.plain_process import PlainProcess

from wattline.books import books
from wattline.model.kernel import PLAIN

ASK = "import os\nfrom wattline.model.kernel import PLAIN\n"


@pytest.mark.both_ways
def test_kernels_are_plain_there_and_no_process_is_started_for_nothing() -> None:
    plain, process, folder = in_plain(ASK + "result = (PLAIN, os.getpid(), os.getcwd())")
    assert plain
    assert (process == os.getpid()) == PLAIN
    assert folder == str(ROOT)


@pytest.mark.both_ways
def test_a_function_that_is_called_there_gets_and_gives_copies(plain: PlainProcess) -> None:
    asked = {"names": ["a"]}
    answer = plain.call("copy", "copy", asked)
    assert answer == asked
    assert answer["names"] is not asked["names"]
    assert (plain.call("os", "getpid") == os.getpid()) == PLAIN


def test_a_mistake_there_is_an_error_here() -> None:
    with pytest.raises((AssertionError, ZeroDivisionError), match="division by zero"):
        in_plain("result = 1 / 0")


def test_a_constant_that_code_sets_there_is_as_before_for_the_next_test() -> None:
    before = books.OVER_FROM
    found = in_plain("""
    from wattline.books import books
    books.OVER_FROM = 20
    result = books.OVER_FROM
    """)
    assert found == 20
    assert before == books.OVER_FROM
