"""A shared node's energy above idle, by the watts of cores and GPUs in use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.records import Found, Kind, Life, LifeKey, Series
from wattline.account.measured.tables import lives
from wattline.account.store import Store
from wattline.model.errors import InputError


def life(label: str, cores: int, tres: str, cpu_s: float) -> Life:
    return Life(LifeKey("c", label, 1000), job_id=int(label), user="ada", state="COMPLETED",
                nodes=1, cores=cores, node_list="n1", end_s=1100.0, cpu_s=cpu_s, alloc_tres=tres)


def joules(folder: Path, rules: dict) -> dict[str, float]:
    """Two jobs on a node that draws 500 W for 100 s: one with eight cores, one with a card."""
    store = Store(folder / "ledger.db")
    series = Series("c", "n1", Kind.JOULES, np.array([1000.0, 1100.0]), np.array([0.0, 5e4]), "m")
    MeasuredLedger(store).enter(Found("test", (
        life("1", 8, "cpu=8", 780.0), life("2", 2, "cpu=2,gres/gpu=1", 1.0)), series=(series,)),
        rules)
    with store.session() as session:
        found = {row.label: row.energy_j for row in session.execute(lives.select())}
    store.close()
    return found


def test_a_job_with_a_card_has_what_the_card_draws_and_nothing_is_lost(tmp_path: Path) -> None:
    found = joules(tmp_path, {"idle_w": {"n1": 100}, "parts_w": {"n1": (10.0, 300.0)}})
    assert sum(found.values()) == pytest.approx(5e4)
    # Idle by cores, 8 to 2; the 400 W above by 80 W to 320 W.
    assert found["1"] == pytest.approx(100 * (80.0 + 80.0))
    assert found["2"] == pytest.approx(100 * (20.0 + 320.0))


def test_without_watts_of_parts_it_goes_by_processor_time(tmp_path: Path) -> None:
    found = joules(tmp_path, {"idle_w": {"n1": 100}})
    assert found["1"] > 0.9 * 4e4


def test_watts_of_parts_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are no watts of a core"):
        joules(tmp_path, {"parts_w": {"n1": (0.0, 300.0)}})
