"""Why a job was refused at its submission, in words for whoever sent it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wattline.analysis.summary import energy_text
from wattline.engine.prepare import effective_cap, units_of_procs
from wattline.model.jobs import IntArray
from wattline.model.kernel import uncompiled
from wattline.model.units import counted, format_power
from wattline.policies.configuration.moldable import FIXED, Moldable
from wattline.policies.configuration.offers import Offers
from wattline.policies.contract import Composition, sets_aside
from wattline.scenario.build import Plan

if TYPE_CHECKING:
    from wattline.model.run import Run


Flags = npt.NDArray[np.bool_]
MOST_NAMED = 20


def not_run(plan: Plan, run: Run) -> list[str]:
    """A line for jobs that were refused, one for those that were never let; none where all ran."""
    if plan.scenario.twin is not None:
        from wattline.scenario.twin.planning import TwinPlan

        assert isinstance(plan, TwinPlan)
        return plan.not_run(run)
    ran = run.ran
    if ran.all():
        return []
    refused = run.refused
    why = refusals(plan, run, refused)
    found = [f"{why}; the figures are of the others"] if why else []
    held = [job for job in run.budget.get("no_room", ()) if job["state"] == "held"]
    if held:
        found.append(f"{_counted(len(held), run)} held because no period of the energy budget has "
                     f"room; the first is job {held[0]['job_id']}: {needs_text(held[0])}; the "
                     "figures are of the others")
    missing = int((~ran & ~refused).sum()) - len(held)
    aside = _set_aside(plan, run, {job["job_id"] for job in held})
    if aside.size:
        found.append(kept_aside(plan, aside))
    if missing > aside.size:
        found.append(f"{missing - aside.size:,} of {len(run.jobs):,} jobs never ran (the policy, "
                     "or a cap that no moment satisfies, never let them); "
                     f"{_above_the_last_cap(plan, np.flatnonzero(~ran & ~refused))}"
                     "the figures are of the others")
    return found


def _set_aside(plan: Plan, run: Run, held: set[int]) -> IntArray:
    """Rows of the jobs that waited for a higher cap at the end, and not for joules."""
    rows = np.array(run.set_aside, dtype=np.int64)
    nowhere: Any = None  # policies say it whatever the state is
    with uncompiled():
        if not (isinstance(plan.policy, Composition)
                and sets_aside(nowhere, plan.policy.admission)):
            return rows[:0]
    return rows[~np.isin(plan.jobs.job_id[rows], list(held))]


def kept_aside(plan: Plan, rows: IntArray) -> str:
    """The jobs by name, and what the first would need at full speed."""
    cap = effective_cap(plan.rules)
    last = "" if cap is None else f", {format_power(float(cap.value[-1]))},"
    named = ", ".join(str(job) for job in plan.jobs.job_id[rows[:MOST_NAMED]])
    more = f" and {rows.size - MOST_NAMED:,} more" if rows.size > MOST_NAMED else ""
    one = rows.size == 1
    return (f"{counted(rows.size, 'job')} {'was' if one else 'were'} set aside and never ran: "
            f"alone on the machine {'it exceeds' if one else 'each exceeds'} the last cap{last} "
            f"and a higher one would give {'it its place' if one else 'them their places'} in the "
            f"queue back ({named}{more}); nobody waits behind {'it' if one else 'them'}; the "
            "figures are of the others")


def _above_the_last_cap(plan: Plan, rows: IntArray) -> str:
    """Whom the last cap has no room for, under a policy that lets nobody pass; empty for nobody.

    A cap that fell may have let it in before: such a job is not refused, and others wait with it.
    """
    from wattline.policies.admission.block import Block

    policy, cap = plan.policy, effective_cap(plan.rules)
    if (cap is None or not isinstance(policy, Composition) or len(plan.machine.groups) > 1
            or not isinstance(policy.admission, Block) or policy.admission.jobs_only
            or plan.scenario.machine.granularity != "node"):
        return ""
    node, last_w = plan.machine.groups[0].node_class, float(cap.value[-1])
    units = units_of_procs(plan.jobs.procs[rows], plan.machine, "node")
    watts = plan.jobs.power_w[rows]
    watts = np.where(np.isnan(watts), units * node.power_w_active, watts)
    alone_w = plan.machine.power_w_idle + watts - units * node.power_w_idle
    above = np.flatnonzero(alone_w > last_w)
    if not above.size:
        return ""
    first = int(above[0])
    return (f"job {plan.jobs.job_id[rows[first]]} does not fit under the last cap, "
            f"{format_power(last_w)}, even on an empty machine, which would draw "
            f"{format_power(float(alone_w[first]))} with it, and nobody behind it passes; ")


def needs_text(job: Mapping[str, Any]) -> str:
    """What a job without room needs, and what there is."""
    return (f"it needs {energy_text(job['needs_j'])} above idle power in one period, and the most "
            f"that a period gives is {energy_text(job['gives_j'])}")


def _counted(count: int, run: Run) -> str:
    jobs = "job" if len(run.jobs) == 1 else "jobs"
    return f"{count:,} of {len(run.jobs):,} {jobs} {'was' if count == 1 else 'were'}"


def refusals(plan: Plan, run: Run, refused: Flags) -> str:
    """A line that says how many jobs were refused and why the first of them; empty for none."""
    rows = np.flatnonzero(refused)
    if not rows.size:
        return ""
    who = "it" if rows.size == 1 else "they"
    count = _counted(rows.size, run) + f" refused at submission because {who} could never start; "
    first = "it" if rows.size == 1 else "the first"
    return f"{count}{first} is {_of(plan, int(rows[0]), run.budget.get('no_room', ()))}"


def _of(plan: Plan, row: int, no_room: Sequence[Mapping[str, Any]]) -> str:
    jobs = plan.jobs
    granularity = plan.scenario.machine.granularity
    units = int(units_of_procs(jobs.procs[row : row + 1], plan.machine, granularity)[0])
    where = f"{units} {'node' if granularity == 'node' else 'core'}"
    where += "" if units == 1 else "s"
    code = int(jobs.application[row])
    name = f"{jobs.name_of('application', code)} on " if code >= 0 else ""
    job = f"job {jobs.job_id[row]} ({name}{where})"
    policy = plan.policy
    if (isinstance(policy, Composition) and isinstance(policy.configuration, Moldable)
            and policy.configuration.offers.code[row] >= 0):
        return f"{job}: {_without_configuration(plan, policy.configuration, row, units)}"
    key = (int(jobs.job_id[row]), int(jobs.restart[row]))
    for each in no_room:
        if (each["job_id"], each["restart"]) == key:
            return f"{job}: {needs_text(each)}"
    return f"{job}: alone on the machine it exceeds every cap to come, or a bound of its nodes"


def _without_configuration(plan: Plan, rule: Moldable, row: int, units: int) -> str:
    """Which of the limits leaves a moldable job without a configuration."""
    cap = effective_cap(plan.rules)
    cap_w = np.inf if cap is None else float(cap.value.max())
    possible_w = cap_w - plan.machine.power_w_idle
    offers = rule.offers
    code = int(offers.code[row])
    given = _given(offers, code, rule.rule == FIXED)
    if not given.size:
        return "no nodes have the watts of any of its configurations within their bounds"
    if rule.rule == FIXED:
        rungs = given
        fewest = int(offers.row_nodes[rungs].min())
        if fewest > units:
            return f"its smallest configuration needs {fewest} nodes"
        return (f"on {fewest} nodes it draws {offers.row_power_w[rungs[0]]:.0f} W, and "
                f"{_room(plan, cap_w, fewest)}")
    fits = offers.row_nodes[given] <= plan.machine.node_count
    if not fits.any():
        return f"its smallest configuration needs {offers.row_nodes[given].min()} nodes"
    least_w = float(offers.row_power_w[given][fits].min())
    if least_w > possible_w:
        return (f"its thriftiest configuration draws {least_w:.0f} W, and "
                f"{_room(plan, cap_w)}")
    share_w = offers.weight[row] * units / plan.machine.node_count * cap_w
    return (f"its thriftiest configuration draws {least_w:.0f} W, its fair share of the power is "
            f"{share_w:.0f} W (policy.configure.above_share = 'least-power' runs it all the same)")


def _room(plan: Plan, cap_w: float, busy: int = 0) -> str:
    """What a cap leaves beside idle nodes; rules that share power count a job's own among them."""
    nodes = plan.machine.node_count
    each_w = plan.machine.power_w_idle / nodes
    which = f"the other {nodes - busy:,}" if busy else f"all {nodes:,}"
    return (f"the cap of {format_power(cap_w)} leaves {cap_w - (nodes - busy) * each_w:.0f} W, "
            f"since {which} nodes count as idle at {each_w:.0f} W each")


def _given(offers: Offers, code: int, ladder: bool) -> IntArray:
    """The configurations of an application that a rule chooses from: its ladder, or those that no
    other beats in nodes, watts and time."""
    if ladder:
        rungs: IntArray = offers.rung_row[offers.first_rung[code]:offers.first_rung[code + 1]]
        return rungs
    points = offers.first_point[offers.first_level[code:code + 2]]
    rows: IntArray = np.unique(offers.row[points[0]:points[1]])
    return rows
