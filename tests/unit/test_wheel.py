"""The package as it is built to be installed: complete, without what does not belong, and well
described."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = "tests/conftest.py"
KERNEL = "_kernels/py311-numba0.68.1-x86_64-0123456789abcdef/wattline.engine.loop/it.code"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with a wheel and a source archive."""
    folder = tmp_path_factory.mktemp("dist")
    # Of the package that is in the clone, not of the kernels that somebody built into it.
    source = folder / "source"
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in files:
        if name.startswith("tests/") and name != TESTS:
            continue  # of 900 files one shows that they are in the archive
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    kernel = source / "src" / "wattline" / KERNEL
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"machine code")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder / "dist")],
                   cwd=source, check=True, capture_output=True)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(built.glob("*.whl")))


def test_the_wheel_has_the_package_its_data_and_the_examples(wheel):
    there = set(wheel.namelist())
    package = {f"wattline/{path.relative_to(ROOT / 'src' / 'wattline')}"
               for path in (ROOT / "src" / "wattline").rglob("*")
               if path.is_file() and not {"__pycache__", "_kernels"} & set(path.parts)}
    examples = {f"wattline/_examples/{path.name}" for path in (ROOT / "examples").iterdir()
                if path.is_file()}
    assert there >= package | examples
    assert "wattline/py.typed" in there
    assert {name.split("/")[0].split("-")[0] for name in there} == {"wattline"}
    assert not [name for name in there if name.endswith(".pyc") or "tests" in name.split("/")]


def test_kernels_that_were_built_are_in_the_wheel_and_in_no_source_archive(wheel, built):
    assert wheel.read(f"wattline/{KERNEL}") == b"machine code"
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        assert not [name for name in archive.getnames() if "/_kernels/" in name]


def test_its_description_is_complete_and_names_no_machine(wheel):
    name = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
    said = email.message_from_bytes(wheel.read(name))
    assert said["Name"] == "wattline"
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Description-Content-Type"] == "text/markdown"
    assert not [url for url in said.get_all("Project-URL", []) if "localhost" in url]
    assert [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]


def test_the_source_archive_can_be_built_and_cited(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        there = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert there >= {"CITATION.cff", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml",
                     "examples/small.toml", "src/wattline/__init__.py", TESTS}


def test_an_index_would_take_them(built):
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict",
                           *map(str, built.iterdir())], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_version_is_the_same_wherever_it_stands():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == version
