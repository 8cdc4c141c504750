"""Examples in docstrings run, and `import wattline` shows what there is, quickly."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import wattline as wl

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def modules() -> list[str]:
    """Every module with an example in a docstring."""
    found = []
    for path in sorted((ROOT / "src" / "wattline").rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            found.append(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    return [name.removesuffix(".__init__") for name in found]


@pytest.mark.parametrize("name", modules())
@pytest.mark.usefixtures("undrawn")
def test_examples_in_docstrings_run(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.WattlineWarning)
        failed, tried = doctest.testmod(import_module(name))
    assert tried > 0
    assert failed == 0


def test_the_functions_and_contracts_that_people_call_have_examples() -> None:
    shown = set(modules())
    assert {"wattline.scenario.api", "wattline.scenario.sweep", "wattline.analysis.result",
            "wattline.scenario.side_by_side", "wattline.scenario.objects",
            "wattline.advice.cap", "wattline.advice.configure", "wattline.testing"} <= shown


@pytest.mark.parametrize("name", [name for name in wl.__all__ if name[0].islower()])
def test_every_function_shows_itself_in_an_example(name: str) -> None:
    assert f"wl.{name}" in getattr(wl, name).__doc__


@pytest.mark.parametrize("name", [name for name in wl.__all__ if name[0].isupper()])
def test_every_class_has_an_example_of_its_own(name: str) -> None:
    assert ">>> " in (vars(getattr(wl, name))["__doc__"] or "")


@pytest.mark.parametrize("name", wl.__all__)
def test_every_name_is_there_and_says_what_it_is(name: str) -> None:
    assert getattr(wl, name).__doc__
    assert name in dir(wl)


def test_only_what_is_meant_is_shown() -> None:
    assert set(dir(wl)) == {*wl.__all__, "__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'simulat'"):
        wl.simulat  # noqa: B018


def test_the_import_loads_nothing() -> None:
    code = ("import sys, wattline; print(*sorted({'numpy', 'numba', 'pandas', 'matplotlib', "
            "'pyarrow', 'pydantic', 'click'} & set(sys.modules)))")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == []


@pytest.mark.usefixtures("undrawn")
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for number, block in enumerate(blocks):
        exec(compile(block, f"python.md, block {number + 1}", "exec"), names)
    assert (tmp_path / "power.svg").is_file()


def test_the_page_names_every_function() -> None:
    missing = [name for name in wl.__all__ if name[0].islower() and f"wl.{name}" not in PAGE]
    assert missing == []
