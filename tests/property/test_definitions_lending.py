"""Runs in rows of a table, with and without loans of watts, equal the definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.definitions.backfilling import Easy
from tests.support.definitions.engines import assert_same
from tests.support.definitions.lending import Bounded, Lending, Row, Rule, TableWorld
from tests.support.definitions.world import Case, Outcome
from tests.support.examples import costing
from tests.support.thinned import crossed
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.physics.configurations import ConfigurationTable
from wattline.policies.admission import lending
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.configuration import moldable
from wattline.policies.configuration.offers import make_offers

EXAMPLES = costing(20)
LOW_W, MIDDLE_W, HIGH_W = CAPS_W = (50.0, 80.0, 115.0)
MOST_JOBS = 20
WEIGHTS = {"half": 0.5, "one": 1.0, "two": 2.0}
RULES = {
    "fixed": Rule("fixed", LOW_W),
    "naive": Rule("naive"),
    "naive, its share held": Rule("naive", holds_share=True),
    "naive without loans": Rule("naive", holds_share=True, lends=False),
    "adaptive": Rule("adaptive", threshold=0.5),
    "adaptive, its share held": Rule("adaptive", threshold=1.0, holds_share=True),
}


def bounded_case(seed: int, most_jobs: int) -> Bounded:
    """The first jobs of a seed's machine. Times of rows are powers of two, so that no time is
    rounded however often a rate changes."""
    random = np.random.default_rng(seed)
    units, idle_w = int(random.integers(2, 13)), float(random.choice([0.0, 100.0]))
    rows = _rows(random, units, idle_w)
    procs = random.integers(1, units + 1 if random.random() < 0.5 else units // 2 + 1, MOST_JOBS)
    run_s = random.integers(1, 16, MOST_JOBS)
    measured = random.random(MOST_JOBS) < 0.85
    measured[0] = True
    queue = random.choice(3, MOST_JOBS, p=[0.2, 0.6, 0.2])
    jobs = JobTable.build(
        submit_s=np.append(0, np.cumsum(random.integers(0, random.integers(2, 8), MOST_JOBS - 1))),
        procs=procs, run_s=run_s,
        requested_s=run_s + random.choice([0, 0, 1, 5, 30], MOST_JOBS)
        + np.arange(MOST_JOBS) / 64,
        power_w=procs * random.choice([50.0, 99.5, 100.0, 150.0, 300.0], MOST_JOBS),
        application=np.where(measured, 0, -1), queue=queue,
        names={"application": ("a",), "queue": tuple(WEIGHTS)})
    case = Case(jobs.take(np.arange(most_jobs)),
                Machine.uniform(units, NodeClass(power_w_idle=idle_w, power_w_active=300.0)),
                _cap_w(random, units, idle_w))
    return Bounded(case, rows, tuple(measured.tolist()),
                   tuple(list(WEIGHTS.values())[each] for each in queue))


def _rows(random: np.random.Generator, units: int, idle_w: float) -> tuple[Row, ...]:
    """Two or three caps, one or two numbers of cores, and some numbers of nodes."""
    rows = []
    sizes = [n for n in (1, 2, 3, 4, 6, 8) if n <= units and (n == 1 or random.random() < 0.7)]
    caps_w = CAPS_W if random.random() < 0.8 else (LOW_W, HIGH_W)
    for nodes, cores in product(sizes, (4, 8) if random.random() < 0.5 else (8,)):
        time_s = 2.0 ** random.integers(2, 7)
        power_w = nodes * (idle_w + 10.0 * random.integers(idle_w == 0.0, 15))
        for cap_w in caps_w:
            rows.append(Row(nodes, cores, cap_w, time_s, float(power_w)))
            time_s /= random.choice([1.0, 2.0, 2.0, 4.0])
            power_w += nodes * 10.0 * random.integers(1, 12)
    return tuple(rows)


def _cap_w(random: np.random.Generator, units: int, idle_w: float) -> Signal:
    def watts() -> float:
        return units * (idle_w + 10.0 * random.integers(0, 25))

    steps = [(float(random.integers(1, 80)), watts()) for _ in range(random.integers(0, 4))]
    return Signal.from_steps([(0.0, units * (idle_w + 10.0 * random.integers(8, 30))), *steps], "W")


def simulated(bounded: Bounded, rule: Rule, backfill: str) -> Run:
    case, columns = bounded.case, zip(*bounded.rows, strict=True)
    offers = make_offers(
        case.jobs, {"a": ConfigurationTable.build("a", *columns)},
        asked={"cap_w": rule.cap_w} if rule.name == "fixed" else {}, weights=WEIGHTS,
        refuse_unknown=False)
    holds = int(rule.holds_share)
    configuration = {
        "fixed": lambda: moldable.traditional(offers),
        "naive": lambda: moldable.naive(offers, holds),
        "adaptive": lambda: moldable.adaptive(offers, rule.threshold, holds),
    }[rule.name]()
    policy = compose(
        admission=lending.Lending(offers, lending.LendingMemory.start(), int(rule.lends), holds),
        configuration=configuration, **({} if backfill == "easy" else {"backfill": NoBackfill()}))
    return simulate(case.jobs, case.machine, policy, Rules(cap_w=case.cap_w))


def defined(bounded: Bounded, rule: Rule, backfill: str) -> Outcome:
    power = Lending(rule)
    return TableWorld(bounded).run(Easy(power, backfill=backfill == "easy").decide, power.refuses)


@pytest.mark.parametrize(("rule", "backfill"), crossed(
    list(RULES), ["easy", "none"], later=pytest.mark.long))
@given(bounded=st.builds(bounded_case, st.integers(0, 2**32 - 1), st.integers(1, MOST_JOBS)))
@EXAMPLES
def test_jobs_run_in_their_rows_on_what_is_lent_as_the_definition_has_it(rule, backfill, bounded):
    assert_same(simulated(bounded, RULES[rule], backfill),
                defined(bounded, RULES[rule], backfill))


NODE = NodeClass(power_w_idle=0.0, power_w_active=300.0)


def bounded(rows: tuple[Row, ...], units: int, cap_w: Signal, weight: tuple[str, ...],
            measured: tuple[bool, ...] = (), **columns: list[float]) -> Bounded:
    """Jobs that have the table, all unless it is said, on nodes that draw nothing idle."""
    measured = measured or (True,) * len(weight)
    jobs = JobTable.build(**columns, application=[0 if has else -1 for has in measured],
                          queue=[list(WEIGHTS).index(name) for name in weight],
                          names={"application": ("a",), "queue": tuple(WEIGHTS)})
    return Bounded(Case(jobs, Machine.uniform(units, NODE), cap_w), rows, measured,
                   tuple(WEIGHTS[name] for name in weight))


def run_of(case: Bounded, rule: Rule) -> Run:
    """The run, which is also that of the definition."""
    run = simulated(case, rule, "easy")
    assert_same(run, defined(case, rule, "easy"))
    return run


def test_a_job_whose_share_is_more_than_there_is_holds_all_of_it():
    """Three nodes under 240 W. A job of all three and of twice the weight has a share of 480 W: it
    is chosen for the 240 W that there are, draws 90 W for 4 s and holds the rest. The second has a
    share of 80 W, and starts when the first ends."""
    case = bounded((Row(1, 8, LOW_W, 64.0, 80.0), Row(3, 8, LOW_W, 4.0, 90.0)), 3,
                   Signal.constant(240.0, "W"), ("two", "one"), submit_s=[0, 1], procs=[3, 1],
                   run_s=[10, 10])
    run = run_of(case, RULES["naive without loans"])
    assert run.schedule.start_s.tolist() == [0, 4]
    assert run.schedule.end_s.tolist() == [4, 68]


@pytest.mark.parametrize(("cap_w", "nodes", "units", "share_w"), [
    (220.0, 6, 11, 120.0), (360.0, 7, 10, 252.0), (240.0, 6, 12, 120.0)])
def test_a_job_has_the_row_that_draws_exactly_its_share(cap_w, nodes, units, share_w):
    """6 of 11 nodes have 120 W of 220 W: a little less where 6 / 11 is rounded first."""
    case = bounded((Row(2, 8, LOW_W, 32.0, 100.0), Row(2, 8, MIDDLE_W, 16.0, share_w)), units,
                   Signal.constant(cap_w, "W"), ("one",), submit_s=[0], procs=[nodes], run_s=[9])
    run = run_of(case, Rule("naive", lends=False))
    assert run.schedule.end_s.tolist() == [16]
    assert run.schedule.energy_j.tolist() == pytest.approx([16 * share_w])


def test_what_a_job_holds_is_lent_to_nobody():
    """Four nodes under 400 W. Each of two jobs draws 100 W for 32 s and holds its share of 200 W.
    The higher cap takes 120 W more: one has them while it runs alone, neither while both run."""
    rows = (Row(2, 8, LOW_W, 32.0, 100.0), Row(2, 8, HIGH_W, 16.0, 220.0))
    case = bounded(rows, 4, Signal.constant(400.0, "W"), ("one", "one"), submit_s=[0, 8],
                   procs=[2, 2], run_s=[9, 9])
    run = run_of(case, RULES["naive, its share held"])
    # Alone the first runs at twice the speed on 220 of 300 W: 16 of its 32 s are done at 8 s.
    assert run.schedule.end_s.tolist() == [24, 32]
    assert run.schedule.energy_j.tolist() == pytest.approx(
        [8 * 220.0 + 16 * 100.0, 16 * 100.0 + 8 * 220.0])


def test_of_equal_loans_the_job_has_one_that_is_expected_to_end_first():
    """Two jobs draw 100 W each; 40 W are left for one step, and the second asks for less time."""
    rows = (Row(2, 8, LOW_W, 32.0, 100.0), Row(2, 8, HIGH_W, 16.0, 140.0))
    case = bounded(rows, 4, Signal.constant(240.0, "W"), ("one", "one"), submit_s=[0, 0],
                   procs=[2, 2], run_s=[9, 9], requested_s=[90, 80])
    assert run_of(case, Rule("naive")).schedule.end_s.tolist() == [24, 16]


def test_an_adaptive_job_takes_less_once_another_has_taken_of_its_share():
    """Four nodes under 400 W. The first job draws 50 W on two nodes until 10 s. The second has its
    share of 300 W, and waits for three nodes. The third passes it with 100 W until 6 s. When the
    fourth comes at 2 s, 250 W and one node are left: the second runs there in time, with 100 W."""
    rows = (Row(1, 8, LOW_W, 32.0, 100.0), Row(3, 8, LOW_W, 8.0, 300.0))
    case = bounded(rows, 4, Signal.constant(400.0, "W"), ("one",) * 4,
                   measured=(False, True, False, False), submit_s=[0, 1, 1, 2],
                   procs=[2, 3, 1, 4], run_s=[10, 9, 5, 10], requested_s=[10, 32, 5, 10],
                   power_w=[50.0, 900.0, 100.0, 400.0])
    run = run_of(case, Rule("adaptive", lends=False))
    assert run.schedule.start_s.tolist() == [0, 2, 1, 34]
