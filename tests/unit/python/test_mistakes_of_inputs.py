"""Inputs that are one thing and look like another: the message says what they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

import wattline as wl
from wattline.account.ledger import Ledger
from wattline.account.store import Store
from wattline.traces import is_log

LOG = Path("examples/tiny.swf").read_bytes()
FREQUENCIES = "application,{name},time_s,power_w\nX,{value},10,100\n"


def test_two_logs_are_one_too_many() -> None:
    with pytest.raises(wl.InputError, match=r"two logs: a.swf, and b.swf as trace; give one"):
        wl.simulate("a.swf", trace="b.swf")
    made = wl.generate("lublin", seed=1, jobs=5, nodes=8)
    with pytest.raises(wl.InputError, match=r"two logs: lublin seed 1, and b.swf as trace"):
        wl.simulate(made, trace="b.swf")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, bytes])
def test_a_log_is_known_by_its_beginning_whatever_its_name(tmp_path: Path, pack: object) -> None:
    (tmp_path / "jobs.old").write_bytes(pack(LOG))  # type: ignore[operator]
    assert is_log(tmp_path / "jobs.old")
    (tmp_path / "other.old").write_bytes(pack(b"[trace]\nfile = 'x.swf'\n"))  # type: ignore[operator]
    assert not is_log(tmp_path / "other.old")


def test_packed_data_that_is_damaged_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "jobs.old").write_bytes(gzip.compress(LOG)[:12] + b"damaged")
    assert not is_log(tmp_path / "jobs.old")


def test_a_packed_log_of_another_name_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "jobs.old").write_bytes(gzip.compress(LOG))
    machine = wl.Machine(nodes=8, cores_per_node=8, node_idle_w=90, node_active_w=300)
    assert len(wl.simulate(tmp_path / "jobs.old", machine=machine).jobs()) == 12


def test_a_view_of_a_machine_needs_its_powers_and_its_name_first() -> None:
    with pytest.raises(wl.InputError, match=r"needs node_idle_w and node_active_w, like "
                                            "nodes=4, .*: without a scenario or a log nothing"):
        wl.machine_view("power", wl.Machine(nodes=4))
    with pytest.raises(wl.InputError, match=r"machine_view\(name, machine\): name "
                                            "must be a text, in quotes"):
        wl.machine_view(wl.Machine(nodes=4))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value", "said"), [
    ("frequency_ghz", "2600", "no processor runs at 2600 GHz; call the column frequency_mhz"),
    ("frequency_mhz", "2.6", "runs at 0.0026 GHz; call the column frequency_ghz"),
    ("frequency_ghz", "2600000", "call the column frequency_khz"),
    ("frequency_hz", "1e-9", "no processor runs at 1e-18 GHz$"),
])
def test_a_frequency_in_another_unit_is_said(
    tmp_path: Path, name: str, value: str, said: str,
) -> None:
    (tmp_path / "runs.csv").write_text(FREQUENCIES.format(name=name, value=value))
    with pytest.raises(wl.InputError, match=f"line 2: {name} is .*{said}"):
        wl.advise_job("X", wl.Sources(table=str(tmp_path / "runs.csv")))


def test_what_is_empty_is_named(tmp_path: Path) -> None:
    for name in ("log.swf", "log.swf.gz", "scenario.toml", "runs.csv"):
        (tmp_path / name).touch()
    for name in ("log.swf", "log.swf.gz", "scenario.toml"):
        with pytest.raises(wl.InputError, match=f"{name}: the file is empty"):
            wl.simulate(tmp_path / name)
    with pytest.raises(wl.InputError, match=r"runs.csv: the file is empty"):
        wl.fit(tmp_path / "runs.csv")
    with Store(tmp_path / "site.db") as store:
        Ledger(store)
    with pytest.raises(wl.InputError, match=r"the ledger .*site.db is empty"):
        wl.account_run(store=str(tmp_path / "site.db"))
