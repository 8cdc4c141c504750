"""The stretch in which a log is complete, on workloads of which all jobs are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.shared_data import shared

import wattline as wl
from wattline.twin.complete import FEWEST_JOBS, MISSING, complete_stretch

TOLERANCE = 0.06
"""Of the estimate: what runs at one moment is not what runs on average."""


class Machine:
    """Jobs that come at random, wait a little and run, long before and after the log."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        count, rate = 60_000, 10 ** draw.uniform(-1.5, -0.5)
        mean_s = 300.0 / rate * draw.uniform(0.5, 2.0)
        self.submit_s = np.sort(draw.uniform(0.0, count / rate, count))
        run_s = np.minimum(mean_s * np.exp(draw.normal(-0.5, 1.0, count)), 20 * mean_s)
        self.start_s = self.submit_s + draw.exponential(60.0, count)
        self.end_s = self.start_s + run_s
        self.cpus = np.ceil(np.exp(draw.normal(0.5, 0.7, count)))
        self.from_s, self.to_s = 0.35 * count / rate, 0.65 * count / rate

    def chosen(self, how: str) -> np.ndarray:
        first_s, last_s = self.from_s, self.to_s
        return {
            "ran": (self.start_s < last_s) & (self.end_s > first_s),
            "started": (self.start_s > first_s) & (self.start_s < last_s),
            "submitted": (self.submit_s > first_s) & (self.submit_s < last_s),
            "ended": (self.end_s > first_s) & (self.end_s < last_s),
        }[how]

    def missing(self, log: np.ndarray, time_s: float) -> float:
        """The part of what is in use that the log does not have."""
        used = (self.start_s <= time_s) & (self.end_s > time_s)
        return float(1.0 - self.cpus[used & log].sum() / self.cpus[used].sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("how", "head", "tail"), [
    ("ran", False, False), ("started", True, False), ("submitted", True, False),
    ("ended", False, True)])
def test_little_is_missing_in_the_stretch(seed: int, how: str, head: bool, tail: bool) -> None:
    machine = Machine(seed)
    log = machine.chosen(how)
    found = complete_stretch(machine.submit_s[log], machine.start_s[log], machine.end_s[log],
                             machine.cpus[log], None)
    assert found is not None
    inside = np.linspace(found.first_s, found.last_s - 120.0, 50)
    assert max(machine.missing(log, time_s) for time_s in inside) <= MISSING + TOLERANCE
    assert any("no job that ran before" in line for line in found.edges) == head
    assert any("no job that ran after" in line for line in found.edges) == tail
    if head:  # at its first start nearly all is missing, and the edge is no longer than needed
        assert machine.missing(log, float(machine.start_s[log].min()) + 1.0) > 0.9
        assert machine.missing(log, (machine.from_s + found.first_s) / 2) > MISSING / 2
    assert found.last_s - found.first_s > 0.7 * (machine.to_s - machine.from_s)


def test_jobs_that_still_run_are_in_the_log() -> None:
    """As `sacct` gives it for a time until now: their ends are not known."""
    machine = Machine(1)
    log = machine.chosen("ran")
    end_s = np.where(machine.end_s > machine.to_s, np.nan, machine.end_s)[log]
    found = complete_stretch(machine.submit_s[log], machine.start_s[log], end_s,
                             machine.cpus[log], None)
    assert found is not None
    assert not found.edges
    assert found.last_s == np.nanmax(np.concatenate((machine.start_s[log], end_s)))


def test_few_jobs_and_jobs_as_long_as_the_log_have_no_stretch() -> None:
    at_s = np.arange(FEWEST_JOBS - 1.0)
    assert complete_stretch(at_s, at_s, at_s + 10.0, at_s + 1.0, None) is None
    at_s = np.arange(2.0 * FEWEST_JOBS)
    assert complete_stretch(at_s, at_s, at_s + 1e6 + at_s, at_s + 1.0, None) is None


CONF = "SelectType=select/linear\nNodeName=n[1-40] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"


def test_the_check_of_a_log_by_starts_leaves_its_edges_out(tmp_path: Path) -> None:
    """Forty nodes that are always full; the log has the jobs that started in a part of the time."""
    draw = np.random.default_rng(3)
    free_s = np.zeros(40)
    rows = []
    for _ in range(4000):
        node = int(free_s.argmin())
        run_s = float(np.ceil(draw.exponential(3600.0))) + 60.0
        rows.append((free_s[node], free_s[node] + run_s))
        free_s[node] += run_s
    all_of_it = np.array(rows)
    from_s, to_s = 0.4 * free_s.min(), 0.5 * free_s.min()
    chosen = all_of_it[(all_of_it[:, 0] > from_s) & (all_of_it[:, 0] < to_s)]
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.csv").write_text("submit,start,end,nodes\n" + "".join(
        f"{start_s - 30:.0f},{start_s:.0f},{end_s:.0f},1\n" for start_s, end_s in chosen))
    found = wl.check_twin(
        wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "jobs.csv"), phases=1)
    over_all = (chosen[:, 1] - chosen[:, 0]).sum() / 40 / (chosen[:, 1].max() - chosen[0, 0])
    assert over_all < 0.9
    assert found.utilisation["logged"] is not None
    assert 1.0 - MISSING < found.utilisation["logged"] <= 1.001
    assert found.compared < len(chosen)
    assert found.stretch["jobs"] == found.compared
    assert found.to_dict()["stretch"]["edges"][0].startswith("the log has no job that ran before")


def test_kestrel_is_full_in_its_stretch_and_half_empty_over_its_log() -> None:
    table = pd.read_parquet(shared("job_power/nrel_kestrel_2024_first.parquet"))
    submit_s, start_s, end_s = (
        (table[column] - pd.Timestamp("2024-08-30")).dt.total_seconds().to_numpy()
        for column in ("submit", "start", "end"))
    nodes = table.nodes.to_numpy(float)

    def in_use(time_s: float) -> float:
        return float(nodes[(start_s <= time_s) & (end_s > time_s)].sum() / 2240)

    found = complete_stretch(submit_s, start_s, end_s, nodes, None)
    assert found is not None
    assert 3 * 86400 < found.first_s < 4 * 86400
    assert found.last_s == start_s.max()
    assert min(in_use(at_s) for at_s in np.linspace(found.first_s, found.last_s, 40)) > 0.9
    assert max(in_use(at_s) for at_s in (0.0, found.last_s + 5 * 86400)) < 0.1
    ran = (start_s < 6 * 86400) & (end_s > 3 * 86400)
    chosen = complete_stretch(submit_s[ran], start_s[ran], end_s[ran], nodes[ran], None)
    assert chosen is not None
    assert chosen.first_s == pytest.approx(3 * 86400, abs=60.0)
    assert chosen.last_s == pytest.approx(6 * 86400, abs=120.0)
