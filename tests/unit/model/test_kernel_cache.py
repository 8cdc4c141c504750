"""Compiled kernels are found again only while no source that went into them has changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from wattline.model.kernel import cache_folder


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package that registers a policy."""
    source = tmp_path / "our_policies.py"
    source.write_text("def smallest(setting): ...\n")
    info = tmp_path / "our_policies-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-policies\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[wattline.policies]\norder.smallest = our_policies:smallest\n"
    )
    before = cache_folder()
    monkeypatch.syspath_prepend(tmp_path)
    cache_folder.cache_clear()
    assert cache_folder() != before
    yield source
    monkeypatch.undo()
    cache_folder.cache_clear()
    assert cache_folder() == before


def test_an_edited_plugin_has_its_kernels_compiled_anew(plugin: Path) -> None:
    before = cache_folder()
    os.utime(plugin, ns=(0, 0))
    cache_folder.cache_clear()
    assert cache_folder() != before
