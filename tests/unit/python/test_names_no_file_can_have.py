"""Functions that write say in one line that a name is none."""

from __future__ import annotations

import pytest

import wattline as wl
from wattline.account.store import Store
from wattline.model.errors import InputError


@pytest.fixture(scope="module")
def run() -> wl.Run:
    return wl.simulate(trace=wl.generate("lublin", seed=1, jobs=5, nodes=8))


@pytest.fixture
def writers(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return {
        "write": lambda name: wl.write(run.jobs, f"{name}.swf"), "save": run.save,
        "report": lambda name: wl.report(run, name), "copy": wl.copy_examples, "store": Store,
        "picture": lambda name: run.plot.power().save(f"{name}.png"),
        "sweep": lambda name: wl.run_sweep({"scenario": {"trace": {"generate": "esp2"}},
                                            "axes": {"machine.nodes": [32]}}, name),
    }


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300])
def test_a_name_that_no_file_has(writers, tmp_path, name):
    for what, write in writers.items():
        with pytest.raises(InputError) as said:
            write(name)
        assert "\n" not in str(said.value), what
        assert "\0" not in str(said.value), what
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_store_and_stays(tmp_path):
    with pytest.raises(InputError, match="unable to open"):
        Store(tmp_path)
    assert tmp_path.is_dir()
