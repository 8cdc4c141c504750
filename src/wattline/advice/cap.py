"""The tightest cap that can be borne: for each power policy, found by bisection.

A run without a cap says what there is to lose. Then, for each policy that keeps a cap, caps between
what the idle machine draws and the peak of that run are tried; of two caps of which the upper keeps
the limits and the lower does not, the one in the middle is tried next. Waiting does not always grow
when the cap falls: where a tried cap above the answer breaks a limit, that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.advice.limits import Figures, Limits, broken
from wattline.analysis.metrics import metrics
from wattline.model.errors import InputError, warn
from wattline.model.machine import Machine as RunMachine
from wattline.model.run import Run
from wattline.model.units import counted, format_power
from wattline.policies.going_together import KEEPERS
from wattline.scenario.build import Plan, plan
from wattline.scenario.in_python import Source, asked
from wattline.scenario.load import changed, validate
from wattline.scenario.model import Scenario
from wattline.scenario.objects import Machine

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.002
"""Bisection ends when two caps differ by this part of the peak."""


@dataclass(frozen=True)
class Tried:
    """One cap that was tried."""

    cap_w: float
    figures: Figures
    broken: tuple[str, ...]
    """The limits that did not hold."""
    above_cap_s: float

    @property
    def kept(self) -> bool:
        return not self.broken


@dataclass(frozen=True)
class CapChoice:
    """What a power policy can do: the tightest cap, or None where not even the peak will do."""

    policy: str
    cap_w: float | None
    figures: Figures | None
    tried: tuple[Tried, ...]
    remark: str = ""


@dataclass(frozen=True, repr=False)
class CapAdvice:
    """The answer for all policies."""

    peak_w: float
    idle_w: float
    free: Figures
    """Without a cap."""
    limits: Limits
    choices: tuple[CapChoice, ...]
    assumed: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What must be known of the run without a cap, `assumed` included."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "peak_w": self.peak_w,
            "idle_w": self.idle_w,
            "without_cap": vars(self.free),
            "limits": dict(self.limits.given()),
            "policies": {choice.policy: self._choice(choice) for choice in self.choices},
            "assumed": list(self.assumed),
            "remarks": list(self.remarks),
        }

    def _choice(self, choice: CapChoice) -> dict[str, Any]:
        found: dict[str, Any] = {"cap_w": choice.cap_w, "share_of_peak": None, "wait_ratio": None,
                                 "slowdown_ratio": None, "energy_ratio": None, "refused": None}
        if choice.cap_w is not None and choice.figures is not None:
            found |= {"share_of_peak": choice.cap_w / self.peak_w,
                      **ratios(choice.figures, self.free), "refused": choice.figures.refused}
        tried = [{"cap_w": each.cap_w, "broken": list(each.broken),
                  "above_cap_s": each.above_cap_s, **vars(each.figures)} for each in choice.tried]
        return found | {"remark": choice.remark, "tried": tried}

    def to_pandas(self) -> pd.DataFrame:
        """A row per power policy."""
        import pandas as pd

        rows = [{"policy": choice.policy, **self._choice(choice)} for choice in self.choices]
        return pd.DataFrame(rows).drop(columns="tried").set_index("policy")

    def __repr__(self) -> str:
        found = ", ".join(f"{each.policy} {_watts(each.cap_w)}" for each in self.choices)
        return f"CapAdvice({found}; the peak is {format_power(self.peak_w)})"

    def _repr_html_(self) -> str:
        from wattline.analysis.html_tables import html_table

        rows = [(each.policy, _watts(each.cap_w),
                 "" if each.cap_w is None else f"{each.cap_w / self.peak_w:.1%}", each.remark)
                for each in self.choices]
        return html_table(("power policy", "cap", "of peak", "remark"), rows, self.remarks)

    def plot(self, path: str | Path) -> Path:
        """Draw waiting over the cap, a line per policy; PNG or SVG by the name."""
        from wattline.advice.cap_plot import draw_caps

        return draw_caps(self, Path(path))


def _watts(cap_w: float | None) -> str:
    return "none" if cap_w is None else format_power(cap_w)


def ratios(found: Figures, free: Figures) -> dict[str, float]:
    """How much more than without a cap; of nothing there is no ratio."""
    def over(value: float, base: float) -> float:
        if base > 0.0:
            return value / base
        return 1.0 if value == 0.0 else float("inf")

    return {"wait_ratio": over(found.wait_s, free.wait_s),
            "slowdown_ratio": over(found.slowdown, free.slowdown),
            "energy_ratio": over(found.energy_j, free.energy_j)}


def advise_cap(
    scenario: Source, limits: Limits | None = None, *, wait: str | None = None,
    slowdown: str | None = None, energy: str | None = None, refused: int = 0,
    policies: Sequence[str] = KEEPERS, trace: Source | None = None,
    machine: Machine | RunMachine | None = None, tolerance: float = TOLERANCE,
    allow_code: bool = False, progress: Callable[[float], None] | None = None, **fields: Any,
) -> CapAdvice:
    """The tightest cap within these limits for each of these power policies.

    The jobs, the machine and further fields are given as to `simulate`; limits each as more than
    without a cap (`"+10%"`) or absolute (`"30min"`), or together as `Limits`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=40, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.advise_cap(trace, wait="+10%", machine=machine, policies=["block"])
    >>> found.idle_w <= found.choices[0].cap_w <= found.peak_w
    True
    """
    limits = limits or Limits(wait, slowdown, energy, refused)
    found = asked(scenario, trace=trace, machine=machine, allow_code=allow_code, fields=fields)
    scenario, allow_code = found.scenario, found.allow_code
    if scenario.policy.python is not None:
        raise InputError("policy.python: a policy in Python keeps a cap in its own way; caps are "
                         "advised for the power policies that are shipped")
    unknown = [name for name in policies if name not in KEEPERS]
    if unknown:
        raise InputError(f"'{unknown[0]}' keeps no cap by itself; choose among "
                         f"{', '.join(KEEPERS)}")
    report = progress or (lambda fraction: None)
    free_plan = plan(_with(scenario, "none", None), found.trace, allow_code=allow_code)
    free_run = free_plan.run()
    free = _figures(free_run)
    idle_w = free_plan.machine.power_w_idle
    choices = []
    for place, name in enumerate(policies):
        search = _Search(free_plan, name, limits.resolve(free), allow_code)
        choices.append(search.find(idle_w, free_run.power_w_peak, tolerance))
        report((place + 1) / len(policies))
    warn(free_run.remarks)
    return CapAdvice(free_run.power_w_peak, idle_w, free, limits, tuple(choices),
                     free_run.assumed, free_run.remarks)


class _Search:
    """Caps under one policy, each simulated once."""

    def __init__(self, free: Plan, policy: str, limit: Figures, allow_code: bool) -> None:
        self.free, self.policy, self.limit, self.allow_code = free, policy, limit, allow_code
        self.tried: list[Tried] = []

    def find(self, idle_w: float, peak_w: float, tolerance: float) -> CapChoice:
        low_w, high_w = idle_w, peak_w
        best = self.keeps(high_w)
        if not best.kept:
            return self._choice(None)
        while high_w - low_w > tolerance * peak_w:
            middle = self.keeps((low_w + high_w) / 2.0)
            if middle.kept:
                best, high_w = middle, middle.cap_w
            else:
                low_w = middle.cap_w
        return self._choice(best)

    def keeps(self, cap_w: float) -> Tried:
        """Whether all limits are kept under this cap, by a run."""
        made = _with(self.free.scenario, self.policy, cap_w)
        run = plan(made, self.free.trace, allow_code=self.allow_code).run()
        figures = _figures(run)
        found = Tried(cap_w, figures, broken(figures, self.limit), run.time_above_cap_s)
        self.tried.append(found)
        return found

    def _choice(self, best: Tried | None) -> CapChoice:
        tried = tuple(sorted(self.tried, key=lambda each: each.cap_w))
        if best is None:
            return CapChoice(self.policy, None, None, tried,
                             f"a cap at the peak breaks it: {_reason(tried[-1])}")
        above = [each for each in tried if each.cap_w > best.cap_w and not each.kept]
        below = [each for each in tried if each.cap_w < best.cap_w and not each.kept]
        if above:
            remark = f"not steadily: above it, at {above[-1].cap_w:,.0f} W, {_reason(above[-1])}"
        else:
            remark = f"a little lower {_reason(below[-1])}" if below else "even idle power will do"
        return CapChoice(self.policy, best.cap_w, best.figures, tried, remark)


def _reason(tried: Tried) -> str:
    """What is wrong with a cap."""
    if "refused" in tried.broken:
        refused = tried.figures.refused
        return f"{counted(refused, 'job')} never run{'s' * (refused == 1)}"
    return f"the limit on {' and '.join(tried.broken)} breaks"


def _with(scenario: Scenario, power: str, cap_w: float | None) -> Scenario:
    """The same scenario under another power policy and cap."""
    fields = scenario.model_dump(mode="python", exclude_none=True)
    given = fields.get("policy", {}).get("power")
    named = given if isinstance(given, str) else (given or {}).get("name")
    if named == power:  # with the parameters that it was given
        changes: dict[str, Any] = {}
    else:
        changes = {"policy.power": power}
    section = dict(fields.get("power", {}))
    for field in ("cap", "watch_cap"):
        section.pop(field, None)
    if cap_w is not None:
        section["cap"] = cap_w
    fields["power"] = section
    return validate(changed(fields, changes), scenario.name)


def _figures(run: Run) -> Figures:
    found = metrics(run)
    return Figures(
        wait_s=found["wait_s"]["mean"],
        slowdown=found["bounded_slowdown"]["mean"],
        energy_j=found["energy_j"],
        refused=int((~run.ran).sum()),
    )
