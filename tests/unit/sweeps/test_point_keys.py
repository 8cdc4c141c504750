"""What a point is known by: the code that decides in it, also of plug-ins and of own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.model.sources import plug_in_digest
from wattline.policies import registry
from wattline.scenario.load import validate
from wattline.sweeps.point import content_key

SCENARIO = {"trace": {"generate": "lublin", "jobs": 5}, "machine": {"nodes": 64}}


def _key(**policy: str) -> str:
    """Of a scenario with these fields, which are not checked: no plug-in has to be loaded."""
    scenario = validate(SCENARIO, "keys")
    return content_key(scenario.model_copy(
        update={"policy": scenario.policy.model_copy(update=policy)}))


@pytest.mark.parametrize("packaged", [False, True], ids=["a module", "a package"])
def test_another_source_of_an_installed_plug_in_is_another_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: bool
) -> None:
    name = f"plugged_{packaged}"
    file = tmp_path / name / "inner.py" if packaged else tmp_path / f"{name}.py"
    if packaged:
        file.parent.mkdir()
        (file.parent / "__init__.py").write_text("")
    file.write_text("weight = 1\n")
    known = {axis: dict(named) for axis, named in registry.places().items()}
    known["order"]["ours"] = f"{name}{'.inner' if packaged else ''}:OURS"
    monkeypatch.setattr(registry, "places", lambda: known)
    monkeypatch.syspath_prepend(str(tmp_path))
    built_in, before = _key(), _key(order="ours")
    file.write_text("weight = 2\n")
    plug_in_digest.cache_clear()  # as in another process
    assert before
    assert _key(order="ours") not in ("", before)
    assert _key() == built_in


def test_a_plug_in_whose_source_cannot_be_seen_is_computed_every_time(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {axis: dict(named) for axis, named in registry.places().items()}
    known["order"]["ours"] = "there_is_no_such_module:OURS"
    monkeypatch.setattr(registry, "places", lambda: known)
    assert _key(order="ours") == ""


def test_a_policy_in_a_file_is_known_by_it_and_by_what_it_imports_beside_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import further\n")
    (tmp_path / "further.py").write_text("x = 1\n")
    (tmp_path / "stranger.py").write_text("x = 1\n")
    (tmp_path / "mine.py").write_text("from helper import further\nclass Mine: ...\n")
    python = f"{tmp_path}/mine.py:Mine"
    first = _key(python=python)
    (tmp_path / "stranger.py").write_text("x = 'changed'\n")
    assert first == _key(python=python) != ""
    (tmp_path / "further.py").write_text("x = 'changed'\n")
    assert _key(python=python) not in ("", first)
