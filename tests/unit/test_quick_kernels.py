"""Kernels that read fields of records by columns do what they do as they are written."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.support import quick_kernels
from tests.support.quick_kernels import by_columns

from wattline.model.kernel import PLAIN
from wattline.model.plain_rows import quick_rows
from wattline.model.records import Record

KERNEL = "@kernel\ndef ask(t, i):\n"
ASKED = {
    "a field": "    return t[i].time_s + t[i + 1].job\n",
    "written": "    t[i].time_s = 9.75\n    t[i].job += 3\n",
    "a row with a name": "    row = t[i]\n    row.job -= 1\n    return row.time_s\n",
    "named twice": "    row = t[i]\n    if row.job < 2:\n        row = t[i + 1]\n"
                   "    return row.job\n",
    "its place changes": "    row = t[i]\n    i = 0\n    row.job = 40\n    return row.job + i\n",
    "handed on": "    row = t[i]\n    t[i + 1] = row\n    return row.job + row.time_s\n",
    "a name of something else": "    row = t[i]\n    first = row.job\n    row = 3.5\n"
                                "    return first + row\n",
    "a name that is an argument": "    i = t[i]\n    return i.job\n",
    "in a loop": "    s = 0\n    for k in range(t.size):\n        row = t[k]\n"
                 "        s += row.job * t[s % t.size].job\n    return s\n",
    "a column": "    return t.job.sum() + t[1:].job[0] + t[i].job.item()\n",
    "within each other": "    return t[t[t[i].job % 4].job % 4].job\n",
}


class Place(Record):
    time_s: float
    job: int


def table() -> Any:
    made = Place.table(4)
    made.job, made.time_s = [3, 1, 4, 1], [0.5, 1.5, 2.5, 3.5]
    return made


def answer(tree: ast.Module) -> tuple[Any, ...]:
    given = quick_rows(table())
    scope: dict[str, Any] = {"kernel": lambda function: function}
    exec(compile(tree, "asked", "exec"), scope)
    found = scope["ask"](given, 1)
    return found, type(found), given.tolist()


def of_rows(tree: ast.Module) -> list[str]:
    """Return where an entry of an array is asked for a field."""
    return [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Subscript) and node.attr in ("job", "time_s")
            and not isinstance(node.value.slice, ast.Slice)]


@pytest.mark.parametrize("asked", ASKED)
def test_a_kernel_answers_and_writes_what_it_does_as_written(asked: str) -> None:
    source = KERNEL + ASKED[asked]
    changed = by_columns(source)
    assert answer(changed) == answer(ast.parse(source))
    assert of_rows(changed) == []


@pytest.mark.parametrize("body", [
    ASKED["a field"].replace("t[i]", "t[9]"), ASKED["a row with a name"].replace("t[i]", "t[9]"),
    ASKED["written"].replace("t[i]", "t[-5]")])
def test_a_place_outside_of_a_table_is_an_error(body: str) -> None:
    for tree in (ast.parse(KERNEL + body), by_columns(KERNEL + body)):
        with pytest.raises(IndexError, match="out of bounds"):
            answer(tree)


def test_a_field_that_there_is_not_is_an_error() -> None:
    with pytest.raises(AttributeError, match="jbo"):
        answer(by_columns(KERNEL + "    return t[i].jbo\n"))


def test_only_kernels_are_changed_and_lines_stay_where_they_are() -> None:
    source = "def ask(t, i):\n    row = t[i]\n    return row.job + t[i].time_s\n"
    assert ast.dump(by_columns(source)) == ast.dump(ast.parse(source))
    long = KERNEL + "    row = t[\n        i]\n    return (row.job\n            + t[i].time_s)\n"
    written, changed = (
        {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
        for tree in (ast.parse(long), by_columns(long)))
    assert changed == written


@pytest.mark.skipif(not PLAIN, reason="compiled, they are as they are written")
def test_the_kernels_of_the_package_are_changed() -> None:
    from wattline.policies.regulation import quality

    assert "_live_table" in quality.work_left.__code__.co_varnames
    assert quality.work_left.__code__.co_filename.endswith("quality.py")


def test_what_is_kept_is_found_again_and_a_damaged_file_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(quick_kernels, "KEPT", tmp_path / "kept")
    source = (KERNEL + ASKED["a field"]).encode()
    first = quick_kernels._kept(source, "a.py")
    (file,) = (tmp_path / "kept").iterdir()
    monkeypatch.setattr(quick_kernels, "by_columns", lambda source: pytest.fail("made again"))
    assert quick_kernels._kept(source, "a.py") == first
    monkeypatch.undo()
    monkeypatch.setattr(quick_kernels, "KEPT", tmp_path / "kept")
    file.write_bytes(b"cut")
    assert quick_kernels._kept(source, "a.py") == first
    assert quick_kernels._kept(source + b"\n", "a.py") is not first
    assert len(list((tmp_path / "kept").iterdir())) == 2
