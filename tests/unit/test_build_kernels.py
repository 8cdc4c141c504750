"""Building kernels into the package goes on where it was stopped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import build_kernels
from scripts.build_kernels import Build


def counting(name: str, then: str = "") -> list[str]:
    """A program that leaves one more letter in a file of its name."""
    return ["-c", f"open('{name}', 'a').write('x'); {then}"]


def times(work: Path, name: str) -> int:
    return len((work / name).read_text()) if (work / name).exists() else 0


def test_what_was_run_is_not_run_again_and_what_failed_is(tmp_path, capsys):
    until_given = "import os, sys; sys.exit(0 if os.path.exists('given') else 'not given')"
    programs = {"first": counting("first"), "second": counting("second", until_given),
                "third": counting("third")}
    with pytest.raises(SystemExit, match="second: not given"):
        Build(tmp_path, programs, side_by_side=1).run()
    (tmp_path / "given").touch()
    Build(tmp_path, programs).run()
    assert times(tmp_path, "first") == 1
    assert times(tmp_path, "second") == 2
    assert times(tmp_path, "third") == 1
    said = capsys.readouterr().out
    assert "first, " in said
    assert "3 of 3: " in said
    Build(tmp_path, programs).run()
    assert times(tmp_path, "second") == 2
    assert capsys.readouterr().out == "3 of 3 known from before\n"


def test_after_a_change_all_is_run_again(tmp_path, monkeypatch):
    programs = {"it": counting("it")}
    Build(tmp_path, programs).run()
    monkeypatch.setattr(build_kernels, "_contents", lambda: iter([b"other"]))
    Build(tmp_path, programs).run()
    Build(tmp_path, {"it": counting("it", "pass")}).run()
    assert times(tmp_path, "it") == 3


def test_sources_and_examples_count_and_what_is_built_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(build_kernels, "ROOT", tmp_path)
    monkeypatch.setattr(build_kernels, "PACKAGE", tmp_path / "package")
    found = []
    for name in ("package/engine/loop.py", "examples/small.toml", "package/_kernels/x.nbc",
                 "package/__pycache__/loop.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("contents")
        found.append(b"".join(build_kernels._contents()))
    assert len(set(found)) == 2
    (tmp_path / "examples/small.toml").write_text("others")
    assert b"".join(build_kernels._contents()) not in found


def test_every_example_that_is_simulated_is_compiled_for_the_wheel():
    examples = build_kernels.ROOT / "examples"
    named = " ".join(build_kernels.COMMANDS.values())
    missing = [path.name for path in examples.rglob("*.toml") if path.parent.name != "slurm"
               and f"{{examples}}/{path.relative_to(examples)}" not in named]
    assert missing == ["shares.toml"]  # shares of joules, for `wattline fairshare`


NOTHING_OF_THEIR_OWN = {
    ("advise cap", "week.toml"), ("advise start", "week.toml"), ("compare", "small.toml"),
    ("compare", "week.toml"), ("fairshare", "shares.toml"),
}
"""The same is compiled as the combinations of policies and the example that is simulated do."""


def test_what_the_documentation_does_with_an_example_is_compiled_for_the_wheel():
    root = build_kernels.ROOT
    shown = re.compile(r"^[ #]*(?:\$ )?wattline ((?:(?:advise|energy|network|twin) )?\w+)\b[^\n#]*?"
                       r"examples/([\w/]+\.toml)", re.MULTILINE)
    pages = [root / "README.md", *(root / "docs").rglob("*.md"),
             *(root / "examples").rglob("*.toml")]
    asked = {found.groups() for page in pages for found in shown.finditer(page.read_text())}
    compiled = {found.groups() for command in build_kernels.COMMANDS.values() for found in
                shown.finditer("wattline " + command.format(examples="examples"))}
    assert len(asked) > 10
    assert asked - compiled == NOTHING_OF_THEIR_OWN
