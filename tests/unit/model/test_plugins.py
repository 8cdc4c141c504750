"""What is installed is found without Python's own list of it, and as that list says."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import entry_points, version

import pytest

from wattline.model import plugins

ENTRY_POINTS = f"[{plugins.GROUP}]\nmine = package_of_mine:POLICY\n"
METADATA = "Metadata-Version: 2.1\nName: package-of-mine\nVersion: 1.0\n"
FOUND = (("mine", "package_of_mine:POLICY"),)


@pytest.fixture(autouse=True)
def asked_anew():
    plugins.installed.cache_clear()
    yield
    plugins.installed.cache_clear()


@pytest.mark.parametrize(("folder", "name", "metadata"), [
    ("site", "package_of_mine-1.0.dist-info", "METADATA"),
    ("site", "package_of_mine.egg-info", "PKG-INFO"),
    ("package_of_mine-1.0.egg", "EGG-INFO", "PKG-INFO")])
@pytest.mark.parametrize("here", [False, True], ids=["on the path", "in the folder at hand"])
def test_policies_of_a_package_are_found(tmp_path, monkeypatch, folder, name, metadata, here):
    place = tmp_path / folder / name
    place.mkdir(parents=True)
    (place / metadata).write_text(METADATA)
    (place / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.chdir(place.parent if here else "/")
    monkeypatch.setattr(sys, "path", ["." if here else str(place.parent), *sys.path])
    found = {(point.name, point.value) for point in entry_points(group=plugins.GROUP)}
    assert set(plugins.installed()) == found
    # An egg is one by the name by which it stands on the path.
    assert set(FOUND) <= found or (here and folder.endswith(".egg"))


def test_policies_of_a_package_in_an_archive_are_found(tmp_path, monkeypatch):
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("package_of_mine-1.0.dist-info/METADATA", METADATA)
        file.writestr("package_of_mine-1.0.dist-info/entry_points.txt", ENTRY_POINTS)
    monkeypatch.setattr(sys, "path", [str(archive), *sys.path])
    assert set(FOUND) <= set(plugins.installed())


def test_where_no_package_has_any_python_is_not_asked(tmp_path, monkeypatch):
    (tmp_path / "other-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "not there")])
    monkeypatch.setattr("importlib.metadata.distributions", lambda: pytest.fail("it was asked"))
    assert plugins.installed() == ()


@pytest.mark.parametrize("package", ["numba", "numpy", "click"])
def test_versions_are_those_that_python_says(package):
    assert plugins.version_of(package) == version(package)


def test_where_folders_are_in_doubt_python_says_the_version(tmp_path, monkeypatch):
    """Two versions of one package side by side, as an update that was stopped leaves them."""
    package = tmp_path / "twice_there"
    package.mkdir()
    (package / "__init__.py").touch()
    for number in ("1.0", "2.0"):
        (tmp_path / f"twice_there-{number}.dist-info").mkdir()
        (tmp_path / f"twice_there-{number}.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: twice_there\nVersion: {number}\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.version_of("twice_there") == version("twice_there")
