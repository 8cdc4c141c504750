"""Defaults of `wattline testbed up`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import call

from wattline.controller.testbed import bed as bed_module


@pytest.mark.parametrize(("words", "nodes"), [((), 64), (("--nodes", "5"), 5)])
def test_a_bed_has_64_nodes_unless_another_number_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], nodes: int,
    capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def bring_up(folder: Path, nodes: int, **_: Any) -> None:
        asked.append(nodes)
        raise KeyboardInterrupt

    monkeypatch.setattr(bed_module, "bring_up", bring_up)
    call(capsys, "testbed", "up", "--folder", tmp_path / "bed", *words)
    assert asked == [nodes]
