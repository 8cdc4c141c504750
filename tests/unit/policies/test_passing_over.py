"""Entries that backfilling passes over unseen are those that it would have refused one by one."""

import numpy as np
import pytest
from tests.support.thinned import mostly
from tests.support.workloads import compose, logged_ranges

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.kernel import PLAIN
from wattline.model.machine import Machine
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE, parse_cpu_freq
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill import easy
from wattline.policies.order.wfp import Wfp


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@pytest.mark.parametrize("seed", mostly([1, 2], [1], pytest.mark.long))
def test_looking_at_every_entry_gives_the_same_run(
        monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Random jobs, many more than fit; every column of the schedule, every event, to the bit."""
    machine = Machine.uniform(32, SANDY_BRIDGE.node_class(1, off_w=NODE_OFF_W / 16))
    full_w = machine.power_w_max
    passed_over, unseen = [], []
    looks, says = easy._next_hopeful, easy._none_is_hopeful

    def holds(st, policy, entry):
        """The bounds of admission, for an entry of the queue."""
        admission = policy.admission
        bounds = easy.reach(st, admission)
        time_s = easy.planned_s(st, admission, entry.job, entry.requested_s)
        fastest = bounds.fast if entry.units <= bounds.fast_units else bounds.speed
        watts = easy.watts_of(st, admission, entry.job)
        return (
            (entry.units <= bounds.units or time_s == np.inf)
            and time_s * fastest >= entry.requested_s * (1 - 1e-12)
            and (entry.units <= bounds.extra_units or watts > st.clock[0].extra_w)
        )

    def counted(st, policy, position, end):
        assert all(holds(st, policy, st.queue[at]) for at in range(position, end))
        found = looks(st, policy, position, end)
        passed_over.append(found[0] - position)
        return found

    def seen_through(st, policy):
        """Entries that have no chance by the bounds have none by themselves."""
        none = says(st, policy)
        if none:
            first, last = st.clock[0].queue_first, st.clock[0].queue_last
            assert looks(st, policy, first, last)[0] == last
            unseen.append(last - first)
        return none

    monkeypatch.setattr(easy, "_next_hopeful", counted)
    monkeypatch.setattr(easy, "_none_is_hopeful", seen_through)

    def jobs(seed):
        random = np.random.default_rng(seed)
        count = 70
        run_s = random.integers(1, 300, count)
        return JobTable.build(
            submit_s=np.cumsum(random.integers(0, 20, count)), run_s=run_s,
            requested_s=run_s * random.choice([1, 1.5, 4], count),
            procs=(procs := random.choice([1, 2, 3, 8, 16, 32], count,
                                          p=[.2, .2, .1, .2, .2, .1])),
            # The log says what some jobs draw, the others draw what a node does.
            power_w=np.where(random.random(count) < 0.3, procs * random.uniform(9, 22, count),
                             np.nan),
        )

    def policies(table):
        free = parse_cpu_freq("1200000-2400000", SANDY_BRIDGE)
        fast = parse_cpu_freq("2400000", SANDY_BRIDGE)
        logged = logged_ranges([(free, fast, None)[i % 3] for i in range(len(table))])
        plan = PowerCap(0.7 * full_w, changes=(CapChange(900.0, 0.85 * full_w),),
                        reservations=(WattReservation(1200.0, 200.0, 0.2 * full_w),))
        capped = adaptive(machine, plan, jobs=table, logged=logged)
        start_s = float(table.submit_s[0])
        budget = EnergyBudget(0.75 * full_w * 1000.0, start_s, start_s + 1000.0,
                              Signal.from_steps([(0, 2), (400, 1), (700, 3)], "EUR"))
        return {
            "adaptive": (compose(admission=capped),
                         Rules(cap_w=plan.signal(full_w), logged=logged)),
            "mix-wfp": (compose(admission=adaptive(machine, plan, strategy=Strategy.MIX,
                                                   jobs=table), order=Wfp()),
                        Rules(cap_w=plan.signal(full_w))),
            "budget": (compose(admission=budgeted(machine, budget,
                                                  adaptive(machine, jobs=table), 9)), Rules()),
            "none": (compose(), Rules()),
        }

    def played(table, name):
        policy, rules = policies(table)[name]
        run = simulate(table, machine, policy, rules)
        return [values.tolist() for part in (run.schedule, run.events)
                for values in vars(part).values()] + [run.energy_j]

    result = {}
    for name in ("adaptive", "mix-wfp", "budget", "none"):
        table = jobs(seed)
        passed_over.clear()
        unseen.clear()
        short = played(table, name)
        count = sum(passed_over)
        seen = len(unseen)
        with monkeypatch.context() as every_entry:
            every_entry.setattr(easy, "as_queued", lambda st, configuration: False)
            whole = played(table, name)
        result[name] = [repr(short) == repr(whole), int(count), seen]
    assert len(result) == 4
    for name, (same, passed_over, unseen) in result.items():
        assert same, name
        assert passed_over > 20, name
        assert unseen > 0, name
