"""What a decision asks the machine for, in terms that somebody can set."""

from __future__ import annotations

import pytest
from tests.support.plain import in_plain


def test_levels_of_the_machine_are_frequencies() -> None:
    """From 2,400 W of eight nodes down to a cap of 2 kW: the level, and then a job at it."""
    levels, shares, started = in_plain("""
    import numpy as np
    from tests.support.workloads import compose
    from wattline.books import *
    from wattline.model.machine import Machine, NodeClass
    from wattline.policies.admission.dvfs import Dvfs
    node = NodeClass(power_w_idle=90.0, power_w_active=300.0)
    share = np.array([0.5, 0.8, 1.0])
    dvfs = Dvfs(share, np.array([0.4, 0.8, 1.0]), share=share)
    books = Books.open(Machine.uniform(8, node), compose(admission=dvfs))
    first = books.step(0, [Submitted("a", 6, 100.0)])
    lower = books.step(10, [CapChanged(1700.0)])
    then = books.step(20, [Submitted("b", 2, 10.0)])
    result = [[[each.kind, each.rate] for each in lower],
              [each.control.frequency_share for each in (*first, *lower)],
              [[each.kind, each.control.frequency_share] for each in then]]
    """)
    assert levels == [["level", 0.8]]
    assert shares == [1.0, 0.8]
    assert started == [["start", 0.5], ["level", 0.5]]


def test_fitted_caps_are_said_node_by_node_and_add_up() -> None:
    found = in_plain("""
    from tests.support.choices import planned
    from wattline.engine.telling import Teller
    starts = {}
    for caps in ("equal", "fitted"):
        placement = {"name": "varied", "sd": 0.1, "caps": caps}
        plan = planned("placement.varied", **{"policy.placement": placement})
        teller, seen = Teller(plan.jobs, plan.machine, plan.policy, plan.rules), []
        def watch(now_s, events, decisions, answers):
            seen.extend(each.control for each in decisions if each.kind == "start")
        teller.run(watch)
        starts[caps] = [[len(each.nodes), each.cap_w, list(each.node_caps_w)] for each in seen]
    result = starts
    """)
    assert all(not caps for _, _, caps in found["equal"])
    fitted = [start for start in found["fitted"] if start[2]]
    assert fitted
    assert any(len(set(caps)) > 1 for _, _, caps in fitted)
    for nodes, cap_w, caps in fitted:
        assert len(caps) == nodes
        assert sum(caps) == pytest.approx(nodes * cap_w)


def test_hardware_caps_decide_as_frequencies_do_and_add_up_to_what_was_promised() -> None:
    """Nodes are asked for a cap instead of a frequency: the same starts, the same watts."""
    found = in_plain("""
    from tests.support.choices import planned
    from wattline.engine.telling import Teller
    seen = {}
    for strategy in ("dvfs", "cap"):
        power = {"name": "adaptive", "strategy": strategy}
        plan = planned("power.adaptive", **{"policy.power": power})
        teller, starts = Teller(plan.jobs, plan.machine, plan.policy, plan.rules), []
        def watch(now_s, events, decisions, answers):
            starts.extend([now_s, each.job, each.power_w, each.control] for each in decisions
                          if each.kind == "start")
        teller.run(watch)
        seen[strategy] = starts
    top_hz = float(plan.policy.admission.frequency_hz[-1])
    result = [[[start[:3] for start in each] for each in seen.values()],
              [[c.frequency_hz, c.cap_w, c.units, power_w, top_hz, d.frequency_hz]
               for (_, _, power_w, c), (*_, d) in zip(seen["cap"], seen["dvfs"])]]
    """)
    by_frequency, by_cap = found[0]
    assert by_cap == by_frequency
    assert any(dvfs_hz < top_hz for *_, top_hz, dvfs_hz in found[1])
    for frequency_hz, cap_w, units, power_w, *_ in found[1]:
        assert frequency_hz is None
        assert cap_w * units == pytest.approx(power_w)
