"""A comparison that takes the place of other runs says whose."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli

SCENARIO = """
name = "{name}"
[trace]
generate = "lublin"
jobs = 5
[machine]
nodes = 64
"""


def compare(folder: Path, *names: str) -> str:
    for name in names:
        (folder / f"{name}.toml").write_text(SCENARIO.format(name=name))
    files = [str(folder / f"{name}.toml") for name in names]
    done = CliRunner().invoke(cli, ["compare", *files, "-o", str(folder / "out"), "--no-report"],
                              catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return "\n".join(line for line in done.stderr.splitlines() if " held " in line)


@pytest.mark.parametrize(("before", "then", "said"), [
    (("a", "b"), ("a", "b"), ""), (("a", "b"), ("b", "a"), ""), (("a",), ("a", "b"), ""),
    (("a", "a"), ("a", "a"), ""),
    (("a", "b"), ("a", "c"), "held the run 'b'; this comparison takes its place"),
    (("a", "a"), ("a", "b"), "held the run 'a (2)'; this comparison takes its place"),
    (("a", "b"), ("c", "d"), "held the runs 'a', 'b'; this comparison takes their place"),
])
def test_runs_that_are_not_made_again_are_named(
    tmp_path: Path, before: tuple[str, ...], then: tuple[str, ...], said: str
) -> None:
    assert compare(tmp_path, *before) == ""
    found = compare(tmp_path, *then)
    assert found == (said and f"wattline: {tmp_path / 'out'} {said}")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == len(then)
