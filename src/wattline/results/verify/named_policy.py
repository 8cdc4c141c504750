"""Names of the policies of a run, for the reason why their decisions are not judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wattline.model.run import Run
from wattline.results.verify._base import Skipped, Verdicts

_AXES = ("order", "backfill", "power", "configure", "placement")
_PLAIN = {"configure": "requested", "placement": "counted"}
"""Choices that need no mention."""


def by_known_rule(judge: Callable[[Run], Verdicts]) -> Callable[[Run], Verdicts]:
    """Return the rule; it names the policies instead where nothing judges who waits under them."""
    def judged(run: Run) -> Verdicts:
        if run.promises.queue is None and (said := _said(run)):
            yield Skipped(said)
        else:
            yield from judge(run)

    return judged


def _said(run: Run) -> str:
    if run.node_stays is not None or run.slurm is not None:
        return ("on shared nodes Slurm says who waits, which shared.waiting and shared.backfill "
                "judge")
    names = policy_names(run)
    if "python" in names:
        return "a policy in Python says who waits"
    if not names:
        return ""
    listed = ", ".join(f"{axis} = {name}" for axis, name in names.items()
                       if _PLAIN.get(axis) != name)
    return f"decisions of this combination of policies are not judged: {listed}"


def policy_names(run: Run) -> dict[str, str]:
    """Name of the policy on each axis, as the scenario has them; none where it has none."""
    chosen = run.scenario.get("policy")
    if not isinstance(chosen, Mapping):
        return {}
    found = {}
    for axis in (*_AXES, "python"):
        choice = chosen.get(axis)
        name = choice.get("name") if isinstance(choice, Mapping) else choice
        if name:
            found[axis] = str(name)
    return found
