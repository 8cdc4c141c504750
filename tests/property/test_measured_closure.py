"""Random clusters with known truths: every job gets its joules, every node closes with its meter,
and no order, cut or repetition of imports changes a row."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select
from tests.shared_data import shared
from tests.support.examples import costing
from tests.unit.measured.test_attributing import life, told

from wattline.account.attribution import Node
from wattline.account.measured.attributing import settle
from wattline.account.measured.meters_seen import metered_by
from wattline.account.measured.questions import Conditions, totals
from wattline.account.measured.records import Kind, Series
from wattline.account.measured.rules import Rules
from wattline.account.measured.series_store import DAY_S, enter_series
from wattline.account.measured.tables import facts, lives, rests
from wattline.account.measured.touched import Touched
from wattline.account.store import Store

T0 = 20_000 * DAY_S
CORES, IDLE_W, GPUS = 16, 120.0, 2
RULES = Rules(Node(cores=CORES, idle_w=IDLE_W))
STEP_S = 60
PAST_S = DAY_S + 7200  # a night, with its midnight
NODES = ("n1", "n2", "n3")


@dataclass(frozen=True)
class Job:
    """A stay on some nodes: per node so many cores, of which so many are busy, and maybe a GPU."""

    label: str
    start: int
    end: int
    nodes: tuple[str, ...]
    cores: int
    busy: float
    gpu: int | None

    @property
    def row(self) -> dict[str, Any]:
        nodes = len(self.nodes)
        index = "" if self.gpu is None else f",gpu:h200:{nodes}(IDX:{self.gpu})"
        return {"nodes": nodes, "cores": self.cores * nodes, "node_list": ",".join(self.nodes),
                "cpu_s": self.busy * (self.end - self.start) * nodes,
                "alloc_tres": f"cpu={self.cores}{index}"}

    def draws_w(self, times: np.ndarray) -> np.ndarray:
        return 5.0 * self.busy * ((self.start <= times) & (times < self.end))


@dataclass(frozen=True)
class Cluster:
    jobs: tuple[Job, ...]
    gpu_w: dict[tuple[str, int], np.ndarray]
    times: np.ndarray

    def node_w(self, node: str) -> np.ndarray:
        there = [job.draws_w(self.times) for job in self.jobs if node in job.nodes]
        gpus = [watts for (name, _), watts in self.gpu_w.items() if name == node]
        return np.asarray(IDLE_W + sum(there) + sum(gpus))

    def truth_j(self, job: Job) -> float:
        """Its busy cores, its share of the idle power by cores, and its GPU."""
        during = (job.start <= self.times) & (self.times < job.end)
        own_w = len(job.nodes) * (5.0 * job.busy + IDLE_W * job.cores / CORES) * during
        if job.gpu is not None:
            own_w = own_w + sum(self.gpu_w[node, job.gpu] for node in job.nodes) * during
        return float(own_w.sum() * STEP_S)

    def alone_j(self, node: str) -> float:
        """Return what its GPUs drew while no job was there."""
        there = sum(job.draws_w(self.times) for job in self.jobs if node in job.nodes)
        gpus = sum(watts for (name, _), watts in self.gpu_w.items() if name == node)
        return float(np.sum(np.where(there + np.zeros(self.times.size) > 0, 0.0, gpus)) * STEP_S)

    def series(self) -> list[Series]:
        found = [Series("c", node, Kind.WATTS, self.times + T0, self.node_w(node))
                 for node in NODES]
        return found + [Series("c", f"{node}/gpu{gpu}", Kind.WATTS, self.times + T0, watts)
                        for (node, gpu), watts in self.gpu_w.items()]

    def counter(self, node: str) -> Series:
        """The same node by a meter that counts joules, and was reset on the way."""
        joules = np.cumsum(self.node_w(node) * STEP_S)
        joules[joules.size // 2 :] -= joules[joules.size // 2]
        return Series("c", node, Kind.JOULES, self.times + T0, joules)


def cluster(seed: int) -> Cluster:
    """Jobs come and go, share nodes and are started again; a GPU idles without a holder."""
    random = np.random.default_rng(seed)
    times = np.arange(DAY_S - 7200, PAST_S, STEP_S, dtype=np.float64)
    used = {node: np.zeros(times.size) for node in NODES}
    free = {(node, gpu): np.ones(times.size, dtype=bool) for node in NODES for gpu in range(GPUS)}
    gpu_w = {key: np.full(times.size, float(random.integers(0, 90))) for key in free}
    jobs: list[Job] = []
    for number in range(int(random.integers(1, 15))):
        first, last = np.sort(random.integers(0, times.size, 2))
        nodes = tuple(sorted(random.choice(NODES, random.integers(1, 4), replace=False)))
        cores = int(random.integers(1, CORES + 1))
        during = slice(int(first), int(last))
        if first == last or any((used[node][during] + cores > CORES).any() for node in nodes):
            continue
        gpu: int | None = int(random.integers(0, GPUS))
        if random.random() < 0.5 or not all(free[node, gpu][during].all() for node in nodes):
            gpu = None
        for node in nodes:
            used[node][during] += cores
            if gpu is not None:
                free[node, gpu][during] = False
                gpu_w[node, gpu][during] = random.integers(1, 700)
        # A label that is there again is a requeued job.
        jobs.append(Job(str(number // 2), int(times[first]), int(times[last]), nodes, cores,
                        float(random.integers(0, 4 * cores) + 1) / 4, gpu))
    keys = {(job.label, job.start): job for job in jobs}
    return Cluster(tuple(keys.values()), gpu_w, times) if len(keys) == len(jobs) else cluster(
        seed + 1)


def rows(connection: Connection) -> list[list[tuple[Any, ...]]]:
    """All that follows, without the numbers of rows."""
    key = (lives.c.label, lives.c.start_s)
    mine = [column for column in facts.c if column.name not in ("id", "life_id")]
    return [sorted(map(tuple, connection.execute(question))) for question in (
        select(*key, *mine).join(lives, lives.c.id == facts.c.life_id),
        select(*(column for column in rests.c if column.name != "id")),
        select(*key, lives.c.energy_j, lives.c.coverage, lives.c.source, lives.c.quality))]


def enter_jobs(connection: Connection, jobs: list[Job]) -> Touched:
    touched = Touched()
    for job in jobs:
        touched |= life(connection, job.label, job.start, job.end, **job.row)
    return touched


@costing(75)
@given(st.integers(0, 10**6))
def test_every_job_gets_its_truth_and_every_node_closes(seed) -> None:
    made = cluster(seed)
    with Store("sqlite://") as store, store.engine.begin() as connection:
        touched = enter_jobs(connection, list(made.jobs))
        settle(connection, touched | enter_series(connection, made.series()).touched, RULES)
        found = {(label, start_s - T0): (energy, coverage) for label, start_s, energy, coverage in
                 connection.execute(select(lives.c.label, lives.c.start_s, lives.c.energy_j,
                                           lives.c.coverage))}
        for job in made.jobs:
            assert found[job.label, job.start][0] == pytest.approx(made.truth_j(job), rel=1e-9)
            assert found[job.label, job.start][1] == pytest.approx(1.0)
        for node in NODES:
            metered, idle, unowned = connection.execute(select(
                func.sum(rests.c.metered_j), func.sum(rests.c.idle_j),
                func.sum(rests.c.unattributed_j)).where(rests.c.entity == node)).one()
            jobs = connection.scalar(select(func.sum(facts.c.energy_j)).where(
                facts.c.node == node)) or 0.0
            assert metered == pytest.approx(made.node_w(node).sum() * STEP_S, rel=1e-12)
            assert jobs + idle + unowned == pytest.approx(metered, rel=1e-9)
            # Without a job, what GPUs draw is above the idle power that is known of the node.
            assert unowned == pytest.approx(made.alone_j(node), rel=1e-9, abs=1e-6)


@costing(75)
@given(st.integers(0, 10**6), st.integers(0, 8))
def test_a_period_that_ends_at_a_quarter_of_an_hour_has_its_truth(tmp_path_factory, seed, quarter):
    """Months end at half past in some zones: jobs are cut there by what they drew, within 5 %."""
    made = cluster(seed)
    edge = int(made.times[0]) + 900 * (quarter + 4)
    before = replace(made, jobs=tuple(
        replace(job, end=min(job.end, edge)) for job in made.jobs if job.start < edge))
    with Store(tmp_path_factory.mktemp("cut") / "s.db") as store:
        with store.engine.begin() as connection:
            touched = enter_jobs(connection, list(made.jobs))
            settle(connection, touched | enter_series(connection, made.series()).touched, RULES)
        found = totals(store, "account", Conditions(end_s=T0 + edge))
        seen = metered_by(store, Conditions(end_s=T0 + edge))
    truth_j = sum(before.truth_j(job) for job in before.jobs)
    one_quarter_j = 900 * 3 * (IDLE_W + 5.0 * CORES + GPUS * 700)
    assert sum(total.energy_j for total in found) == pytest.approx(
        truth_j, abs=0.05 * one_quarter_j)
    metered_j = sum(made.node_w(node)[made.times < edge].sum() * STEP_S for node in NODES)
    assert sum(each.metered_j for each in seen.values()) == pytest.approx(
        metered_j, abs=0.05 * one_quarter_j)


def with_gaps(series: list[Series], random: np.random.Generator) -> list[Series]:
    """Empty samples and missing ones, one by one and in long stretches."""
    found = []
    for each in series:
        empty = random.random(each.value.size) < 0.1
        there = random.random(each.value.size) > 0.1
        midnight = int(np.searchsorted(each.time_s, T0 + DAY_S))
        hole = midnight - 5 if random.random() < 0.5 else int(random.integers(0, each.value.size))
        there[hole : hole + int(random.integers(5, 60))] = False
        there &= paced(each.value.size, random)
        late_s = float(random.choice([0.0, 0.4]))
        found.append(Series(each.cluster, each.entity, each.kind, each.time_s[there] + late_s,
                            np.where(empty, np.nan, each.value)[there]))
        if random.random() < 0.3:  # another export of the same meter, a little shifted
            found.append(replace(each, time_s=each.time_s + 0.25))
    return found


def paced(size: int, random: np.random.Generator) -> np.ndarray:
    """A pace that changes on the way: of the samples after it, one in so many."""
    at, every = int(random.integers(0, size)), int(random.integers(1, 25))
    return (np.arange(size) < at) | (np.arange(size) % every == 0)


def pieces(series: list[Series], random: np.random.Generator) -> list[Series]:
    """The same samples in overlapping pieces, some of them twice, in any order."""
    found = list(series) if random.random() < 0.3 else []
    for each in series:
        cuts = np.sort(random.integers(0, each.time_s.size + 1, 3))
        for first, last in zip([0, *cuts], [*cuts, each.time_s.size], strict=True):
            chosen = slice(max(0, first - int(random.integers(0, 5))), last)
            found += int(random.integers(1, 3)) * [replace(
                each, time_s=each.time_s[chosen], value=each.value[chosen])]
    random.shuffle(found)  # type: ignore[arg-type]
    return found


@costing(550)
@given(st.integers(0, 10**6))
def test_any_cut_order_and_repetition_of_imports_gives_the_same_rows(seed) -> None:
    made, random = cluster(seed), np.random.default_rng(seed)
    series = with_gaps([*made.series(), made.counter("n3")], random)
    with Store("sqlite://") as whole, Store("sqlite://") as cut_up:
        with whole.engine.begin() as connection:
            touched = enter_jobs(connection, list(made.jobs))
            settle(connection, touched | enter_series(connection, series).touched, RULES)
            wanted = rows(connection)
        with cut_up.engine.begin() as connection:
            work: list[Any] = [*pieces(series, random), *made.jobs]
            random.shuffle(work)
            for some in np.array_split(np.arange(len(work)), 12):
                chosen = [work[at] for at in some]
                touched = enter_jobs(connection, [job for job in chosen if isinstance(job, Job)])
                found = enter_series(connection, [s for s in chosen if isinstance(s, Series)])
                settle(connection, touched | found.touched, RULES)
            assert rows(connection) == wanted
            assert sum(map(len, wanted)) > 0


def test_counter_and_samples_of_one_gpu_are_reconciled() -> None:
    """Recorded on an H200: the counter is right, the averaged power lags by about a second."""
    with shared("fixtures/nvml_h200.csv").open() as file:
        read = list(csv.DictReader(file))
    times = np.array([float(row["t_s"]) for row in read]) + T0
    joules = np.array([float(row["energy_mj"]) / 1e3 for row in read])
    watts = np.array([float(row["power_mw"]) / 1e3 for row in read])
    lost = (times > T0 + 20) & (times < T0 + 30)
    counter = Series("c", "n1", Kind.JOULES, times, joules, "nvml")
    samples = Series("c", "n1", Kind.WATTS, times, watts, "nvml")
    broken = Series("c", "n1", Kind.JOULES, times, np.where(lost, np.nan, joules), "nvml")
    last_s = int(times[-1] - T0)
    truth_j = float(np.interp(T0 + last_s, times, joules) - joules[0])

    def told_j(*series: Series) -> float:
        with Store("sqlite://") as store, store.engine.begin() as connection:
            touched = life(connection, "1", 0, last_s)
            settle(connection, touched | enter_series(connection, series).touched)
            return float(told(connection)["1"][0] or 0)

    assert told_j(counter) == pytest.approx(truth_j, rel=1e-9)
    assert told_j(counter, samples) == pytest.approx(truth_j, rel=1e-9)
    # A counter misses nothing between two readings, however many are lost.
    assert told_j(broken, samples) == pytest.approx(truth_j, rel=1e-9)
    assert told_j(samples) == pytest.approx(truth_j, rel=0.05)
    assert told_j(samples) != pytest.approx(truth_j, rel=1e-4)
