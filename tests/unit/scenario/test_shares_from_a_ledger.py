"""The order by joules begins with what a measured ledger says that users drew."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import wattline as wl

MACHINE = wl.Machine(nodes=1, node_idle_w=90, node_active_w=300)
# ann comes first; nothing else tells the two apart.
JOBS = pd.DataFrame({"submit_s": [1000, 1001, 1002], "run_s": [60, 60, 60], "procs": [1, 1, 1],
                     "user": ["eve", "ann", "bob"]})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    dump = tmp_path / "dump.txt"
    dump.write_text("JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\n"
                    "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\n"
                    "8|old|COMPLETED|2026-10-05T10:00:00|2026-10-05T10:30:00|1|n2|energy=9000\n")
    wl.account_import(dump, store=tmp_path / "site.db", zone="UTC")
    return tmp_path / "site.db"


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_who_used_much_before_the_log_waits_in_it(store: Path) -> None:
    fresh = wl.simulate(JOBS, machine=MACHINE, order=wl.EnergyShare())
    known = wl.simulate(JOBS, machine=MACHINE, order=wl.EnergyShare(store=store))
    assert fresh.schedule.start_s.tolist() == [1000, 1060, 1120]
    assert known.schedule.start_s.tolist() == [1000, 1120, 1060]
    assert any("policy.order.store" in remark for remark in known.remarks)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_shares_of_a_file_hold_for_what_was_used_before(store: Path, tmp_path: Path) -> None:
    shares = tmp_path / "shares.toml"
    shares.write_text("".join(f'[[account]]\nname = "{name}"\nshare = {share}\n'
                              for name, share in (("ann", 98), ("bob", 1), ("eve", 1))))
    order = wl.EnergyShare(shares=shares, store=store)
    run = wl.simulate(JOBS, machine=MACHINE, order=order)  # 'old' has no share, and no place
    assert run.schedule.start_s[1] == 1120  # all that was used is ann's, more than its 98 %


def test_a_store_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="there is no"):
        wl.simulate(JOBS, machine=MACHINE, order=wl.EnergyShare(store=tmp_path / "none.db"))
