"""The tightest cap that can be borne: for each power policy, found by bisection.

A run without a cap says what there is to lose. Then, for each policy that keeps a cap, caps between
what the idle machine draws and the peak of that run are tried; of two caps of which the upper keeps
the limits and the lower does not, the one in the middle is tried next. Waiting does not always grow
when the cap falls, so some caps below what bisection found are tried, of which a kept one is where
it begins anew, and some above the answer: where one of those breaks a limit, that is said. A limit
below what the free run needs (`--energy -5%`) is kept by low caps alone: where the peak breaks it,
caps in even steps are tried first, and in smaller ones where none of them keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.advice.cap_policies import none_goes, plainly, that_go, under_cap
from wattline.advice.limits import Figures, Limits, broken
from wattline.analysis.metrics import metrics
from wattline.model.errors import InputError, warn
from wattline.model.machine import Machine as RunMachine
from wattline.model.run import Run
from wattline.model.units import counted, format_power
from wattline.policies.going_together import KEEPERS
from wattline.scenario.in_python import CAPS, Asked, PolicyChoice, Source, asked
from wattline.scenario.objects import Keeper, Machine, PolicyObject
from wattline.scenario.unused import WATTS_UNUSED, unused

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.002
"""Bisection ends when two caps differ by this part of the peak."""
LEAST_TOLERANCE = 1e-6
STEPS = 8
"""Caps in so many even steps are tried, to see what bisection passes over."""
MOST_STEPS = 4 * STEPS
"""In so many where none of fewer keeps a limit that the peak breaks."""
PUBLISHED = {"block", "wait"}
"""Power policies that are there to compare with."""
WANTED = ("an operator wants watts where jobs cannot be slowed down, dvfs or adaptive where they "
          "can: once a cap falls, one job stops all behind it under block, and after a while under "
          "wait")


@dataclass(frozen=True)
class Tried:
    """One cap that was tried."""

    cap_w: float
    figures: Figures
    broken: tuple[str, ...]
    """The limits that did not hold; `cap` where the run itself was above it."""
    above_cap_s: float

    @property
    def kept(self) -> bool:
        return not self.broken


@dataclass(frozen=True)
class CapChoice:
    """What a power policy can do: the tightest cap, or None where none that was tried will do."""

    policy: str
    cap_w: float | None
    figures: Figures | None
    tried: tuple[Tried, ...]
    remark: str = ""


@dataclass(frozen=True, repr=False)
class CapAdvice:
    """The answer for all policies.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.advise_cap(trace, wait="+50%", machine=machine, policies=["block"])
    >>> [choice.policy for choice in found.choices]
    ['block']
    """

    peak_w: float
    idle_w: float
    free: Figures
    """Without a cap."""
    limits: Limits
    choices: tuple[CapChoice, ...]
    assumed: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What must be known of the run without a cap, `assumed` included."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Power policies that do not go with the machine or its other policies, and why."""

    @property
    def wanted(self) -> str:
        """Advice on the power policy to take; empty where no published one is among several."""
        published = {choice.policy for choice in self.choices} & PUBLISHED
        return WANTED if published and len(self.choices) > 1 else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "peak_w": self.peak_w,
            "idle_w": self.idle_w,
            "without_cap": vars(self.free),
            "limits": dict(self.limits.given()),
            "policies": {choice.policy: self._choice(choice) for choice in self.choices},
            "assumed": list(self.assumed),
            "remarks": list(self.remarks),
            "wanted": self.wanted,
            "left_out": dict(self.left_out),
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
        return html_table(("power policy", "cap", "of peak", "remark"), rows,
                          [*self.remarks, *filter(None, [self.wanted])])

    def plot(self, path: str | Path) -> Path:
        """Draw waiting over the cap, a line per policy; PNG or SVG by the name."""
        from wattline.advice.cap_plot import draw_caps

        return draw_caps(self, Path(path))


def _of_left_jobs(choices: Sequence[CapChoice], free: Figures) -> Iterator[str]:
    """Where a cap may refuse jobs, its figures have none of them, and look the better for it."""
    more = [choice.policy for choice in choices
            if choice.figures is not None and choice.figures.refused > free.refused]
    if more:
        yield (f"{', '.join(more)}: some jobs never run under the cap; wait, slowdown and energy "
               "are those of the jobs that are left")


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
    scenario: Source, limits: Limits | None = None, *,
    wait: str | float | None = None, slowdown: str | float | None = None,
    energy: str | float | None = None, refused: int | None = None,
    policies: str | PolicyObject | Sequence[str | PolicyObject] = KEEPERS,
    trace: Source | None = None, machine: Machine | RunMachine | None = None,
    order: PolicyChoice | None = None, backfill: PolicyChoice | None = None,
    power: str | PolicyObject | None = None, configure: PolicyChoice | None = None,
    placement: PolicyChoice | None = None,
    tolerance: float = TOLERANCE, allow_code: bool = False,
    progress: Callable[[float], None] | None = None, **fields: Any,
) -> CapAdvice:
    """The tightest cap within these limits for each of these power policies.

    The jobs, the machine, policies and further fields are given as to `simulate`, but no cap: it
    is what is looked for. `power` names one power policy, `policies` several. Limits are given
    each as more than without a cap (`"+10%"`) or absolute (`"30min"`), or together as `Limits`.
    Bisection ends when two caps differ by `tolerance` of the peak.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=40, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.advise_cap(trace, wait="+10%", machine=machine, policies=["block"])
    >>> found.idle_w <= found.choices[0].cap_w <= found.peak_w
    True
    """
    limits = _limits(limits, wait, slowdown, energy, refused)
    if not LEAST_TOLERANCE <= tolerance < 1:
        raise InputError(f"tolerance is {tolerance:g}, must be at least {LEAST_TOLERANCE:g} and "
                         "below 1: a part of the peak")
    _refuse_caps(fields)
    keepers = _keepers(_policies(policies, power))
    axes = {"order": order, "backfill": backfill, "configure": configure, "placement": placement}
    found = asked(scenario, trace=trace, machine=machine, policies=axes, allow_code=allow_code,
                  fields=fields, called="advise_cap()")
    scenario = found.scenario
    if scenario.policy.python is not None:
        raise InputError("policy.python: a policy in Python keeps a cap in its own way; caps are "
                         "advised for the power policies that are shipped")
    report = progress or (lambda fraction: None)
    free_plan = replace(found, scenario=under_cap(scenario, {"name": "none"}, None)).plan()
    idle_w = free_plan.machine.power_w_idle
    planned = replace(found, scenario=free_plan.scenario, trace=free_plan.trace)
    keepers, left_out = that_go(keepers, planned, is_named=(power, policies) != (None, KEEPERS))
    free_run = free_plan.run()
    free = _figures(free_run)
    if free_run.power_w_peak <= idle_w:
        raise InputError(
            f"without a cap the machine draws at most {format_power(free_run.power_w_peak)}, no "
            f"more than idle nodes do ({format_power(idle_w)}): jobs draw less than idle nodes, or "
            "none runs; say what a node draws idle (--node-idle-w, machine.node_idle_w)")
    choices: list[CapChoice] = []
    searches: list[_Search] = []
    for place, keeper in enumerate(keepers.values()):
        search = _Search(planned, keeper, limits.resolve(free))
        searches.append(search)
        try:
            choices.append(search.find(idle_w, free_run.power_w_peak, tolerance))
        except InputError as error:  # what the others found stays
            left_out[search.policy] = plainly(error, scenario)
        report((place + 1) / len(keepers))
    if not choices:
        raise InputError(none_goes(left_out))
    # What only a power policy reads is without effect where none of them reads it.
    idle = set(unused(free_plan))
    read = {line for line in idle for search in searches if line not in search.unused}
    read.add(WATTS_UNUSED)  # of the run without a cap; all others have one
    remarks = (*(f"left out: {why}" for why in left_out.values()),
               *(line for line in free_run.remarks if line not in read),
               *_of_left_jobs(choices, free))
    warn(remarks)
    return CapAdvice(free_run.power_w_peak, idle_w, free, limits, tuple(choices),
                     free_run.assumed, remarks, left_out)


def _limits(
    limits: Limits | None, wait: str | float | None, slowdown: str | float | None,
    energy: str | float | None, refused: int | None,
) -> Limits:
    if limits is None:
        return Limits(wait, slowdown, energy, refused)
    named = {"wait": wait, "slowdown": slowdown, "energy": energy, "refused": refused}
    beside = [name for name, value in named.items() if value is not None]
    if beside:
        raise InputError(f"limits are given as Limits and as {beside[0]}; give all of them in one "
                         "way")
    return limits


def _refuse_caps(fields: Mapping[str, Any]) -> None:
    for name in fields:
        if name.replace("__", ".") in ("cap", "watch_cap", *CAPS):
            raise InputError(f"{name}: the cap is what is looked for; leave it out")


def _policies(
    policies: str | PolicyObject | Sequence[str | PolicyObject], power: str | PolicyObject | None
) -> str | PolicyObject | Sequence[str | PolicyObject]:
    if power is None:
        return policies
    if policies is not KEEPERS:
        raise InputError("power policies are given as power and as policies; leave one out")
    return power


def _keepers(
    policies: str | PolicyObject | Sequence[str | PolicyObject]
) -> dict[str, dict[str, Any]]:
    """Power policies by name, each once, as a scenario writes them."""
    listed = [policies] if isinstance(policies, (str, PolicyObject)) else policies
    if not isinstance(listed, Iterable):
        raise InputError(f"policies is {listed}; write a list of power policies, like "
                         '["block", "dvfs"]')
    found: dict[str, dict[str, Any]] = {}
    for each in listed:
        if isinstance(each, type) and issubclass(each, PolicyObject):
            raise InputError(f"a power policy is the class {each.__name__}; give an object of it: "
                             f"{each.__name__}()")
        if isinstance(each, Keeper) and each.cap is not None:
            raise InputError(f"{each}: the cap is what is looked for; leave it out")
        said = each.choice() if isinstance(each, PolicyObject) else {"name": each}
        if said["name"] not in KEEPERS:
            raise InputError(f"'{said['name']}' keeps no cap by itself; choose among "
                             f"{', '.join(KEEPERS)}")
        found[said["name"]] = said
    if not found:
        raise InputError(f"no power policy is named; choose among {', '.join(KEEPERS)}")
    return found


class _Search:
    """Caps under one policy, each simulated once."""

    def __init__(self, free: Asked, keeper: Mapping[str, Any], limit: Figures) -> None:
        self.free, self.keeper, self.limit = free, keeper, limit
        self.policy = str(keeper["name"])
        self.unused: set[str] = set()
        """Settings that this policy does not read either."""
        self.tried: list[Tried] = []

    def find(self, idle_w: float, peak_w: float, tolerance: float) -> CapChoice:
        best = self.keeps(peak_w)
        low_w = idle_w
        if not best.kept:
            kept = self._lowest_in_steps(idle_w, peak_w)
            if kept is None:
                return self._choice(None)
            best = kept
            low_w = max((each.cap_w for each in self.tried if each.cap_w < best.cap_w),
                        default=idle_w)
        best = self._tightest(best, low_w, tolerance * peak_w)
        best = self._lower(best, idle_w, tolerance * peak_w)
        self._try(_between(best.cap_w, peak_w))
        return self._choice(best)

    def _lower(self, best: Tried, idle_w: float, apart_w: float) -> Tried:
        """Bisection anew as long as a cap is kept that lies even steps below what it found."""
        while True:
            kept = [each for each in self._try(_between(idle_w, best.cap_w)) if each.kept]
            if not kept:
                return best
            below = (each.cap_w for each in self.tried if each.cap_w < kept[0].cap_w)
            best = self._tightest(kept[0], max(below, default=idle_w), apart_w)

    def _lowest_in_steps(self, idle_w: float, peak_w: float) -> Tried | None:
        """The lowest cap that is kept, in even steps that are halved until one is."""
        for steps in (STEPS, 2 * STEPS, MOST_STEPS):
            kept = [each for each in self._try(_between(idle_w, peak_w, steps)) if each.kept]
            if kept:
                return kept[0]
        return None

    def _try(self, caps_w: Iterable[float]) -> list[Tried]:
        """Those of these caps that were not tried yet."""
        done = {each.cap_w for each in self.tried}
        return [self.keeps(cap_w) for cap_w in caps_w if cap_w not in done]

    def _tightest(self, best: Tried, low_w: float, apart_w: float) -> Tried:
        """Bisection between a cap that is kept and a lower one."""
        while best.cap_w - low_w > apart_w:
            middle = self.keeps((low_w + best.cap_w) / 2.0)
            if middle.kept:
                best = middle
            else:
                low_w = middle.cap_w
        return best

    def keeps(self, cap_w: float) -> Tried:
        """Whether all limits are kept under this cap, by a run."""
        scenario = under_cap(self.free.scenario, self.keeper, cap_w)
        ready = replace(self.free, scenario=scenario).plan()
        self.unused = set(unused(ready))
        run = ready.run()
        figures = _figures(run)
        over = ("cap",) if run.time_above_cap_s > 0.0 else ()
        found = Tried(cap_w, figures, (*over, *broken(figures, self.limit)), run.time_above_cap_s)
        self.tried.append(found)
        return found

    def _choice(self, best: Tried | None) -> CapChoice:
        tried = tuple(sorted(self.tried, key=lambda each: each.cap_w))
        if best is None:
            return CapChoice(self.policy, None, None, tried,
                             f"none of {len(tried)} caps that were tried keeps it: at the peak "
                             f"{_reason(tried[-1])}, at {tried[0].cap_w:,.0f} W "
                             f"{_reason(tried[0])}")
        above = [each for each in tried if each.cap_w > best.cap_w and not each.kept]
        below = [each for each in tried if each.cap_w < best.cap_w and not each.kept]
        if above:
            nearest, later = above[0], [each for each in tried if each.cap_w > above[0].cap_w]
            how = "not steadily" if any(each.kept for each in later) else "only up to a cap"
            remark = f"{how}: at {nearest.cap_w:,.0f} W {_reason(nearest)}"
        else:
            remark = f"a little lower {_reason(below[-1])}" if below else "even idle power will do"
        return CapChoice(self.policy, best.cap_w, best.figures, tried, remark)


def _between(low_w: float, high_w: float, steps: int = STEPS) -> list[float]:
    """Caps in even steps from the lower one on, the upper one left out."""
    return [low_w + (high_w - low_w) * step / steps for step in range(steps)]


def _reason(tried: Tried) -> str:
    """What is wrong with a cap."""
    if "cap" in tried.broken:
        return f"the run is above it for {tried.above_cap_s:,.0f} s"
    if "refused" in tried.broken:
        refused = tried.figures.refused
        return f"{counted(refused, 'job')} never run{'s' * (refused == 1)}"
    several = len(tried.broken) > 1
    return (f"the limit{'s' * several} on {' and '.join(tried.broken)} "
            f"{'break' if several else 'breaks'}")


def _figures(run: Run) -> Figures:
    found = metrics(run)
    return Figures(
        wait_s=found["wait_s"]["mean"],
        slowdown=found["bounded_slowdown"]["mean"],
        energy_j=found["energy_j"],
        refused=int((~run.ran).sum()),
    )
