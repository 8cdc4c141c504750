"""The key of a point: the code that decides in it, also of plug-ins and of own files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from wattline.model.sources import plug_in_digest
from wattline.policies import registry
from wattline.scenario.load import validate
from wattline.scenario.named_files import files_behind
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


def test_where_files_lie_decides_about_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same by another way and as a copy; but each in its own place."""
    for folder, content in (("a", "1"), ("copy", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"x = {content}\nclass Mine: ...\n")
    monkeypatch.chdir(tmp_path)
    first = _key(python="a/mine.py:Mine")
    assert first == _key(python=f"{tmp_path}/a/mine.py:Mine") == _key(python="copy/mine.py:Mine")
    assert first not in ("", _key(python="b/mine.py:Mine"), _key(python="a/mine.py:Other"))
    one, other = ({"order": here, "power": there} for here, there in (
        ("a/mine.py", "b/mine.py"), ("b/mine.py", "a/mine.py")))
    assert "" != _key(**one) != _key(**other) != ""


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


NETWORK = '[network]\ntopology = "dragonfly"\nrouters_per_group = 4\ngroups = {}\n'


@pytest.mark.parametrize(("first", "behind", "before", "after"), [
    ('[network]\nmachine = "behind"\n', "behind", NETWORK.format(17), NETWORK.format(5)),
    ('[network]\ntopology = "cray"\nfile = "links"\n', "links", "one", "two"),
    ('[network]\nmachine = "sub/../between.toml"\n', "behind", "one", "two"),
    ("ClusterName=alpha\nInclude nodes.conf\n", "nodes.conf", "CPUs=16", "CPUs=32"),
    ("ClusterName=alpha\ninclude \\\n  %c.conf # ours\n", "alpha.conf", "CPUs=16", "CPUs=32"),
], ids=["a machine", "its links", "a way round", "included", "by the cluster's name"])
def test_a_point_is_known_by_files_that_its_files_name(
    tmp_path: Path, first: str, behind: str, before: str, after: str
) -> None:
    named, other, stranger = (tmp_path / name for name in ("first", behind, "stranger"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "between.toml").write_text('names = ["sub/../between.toml", "behind"]\n')
    named.write_text(first)
    stranger.write_text("1")
    other.write_text(before)
    scenario = validate({**SCENARIO, "network": {"machine": str(named)}}, "keys")
    known = content_key(scenario)
    stranger.write_text("2 of them")
    assert content_key(scenario) == known != ""
    other.write_text(after + "\n")
    assert content_key(scenario) not in ("", known)


def test_a_packed_log_or_a_long_one_names_no_files(tmp_path: Path) -> None:
    packed, listed = tmp_path / "log.gz", tmp_path / "log.swf"
    packed.write_bytes(gzip.compress(b"Include other.conf\n"))
    listed.write_text("; Computer: include\n1 0 0 10 1\n")
    assert files_behind(packed) == [packed]
    assert files_behind(listed) == [listed]
    assert files_behind(tmp_path / "nowhere") == []
