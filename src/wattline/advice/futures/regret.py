"""What a supervisor is worth on logs: under caps, against every fixed policy and the best of them.

Nobody should trust a supervisor before this is known of logs like theirs. A case is a log under a
cap by an objective; each is kept when it is done, so that a study of hours goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wattline.advice.futures.self_tuning import SelfTuning, more_than, self_tune
from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.jobs import COLUMNS, JobTable
from wattline.model.sources import package_digest
from wattline.scenario.in_python import Source
from wattline.scenario.load import load
from wattline.scenario.model import Scenario
from wattline.scenario.named_files import file_digest, files_behind
from wattline.traces import Trace, trace_of
from wattline.traces.frames import is_table
from wattline.traces.reader import is_log


@dataclass(frozen=True)
class RegretCase:
    """A log under a cap, by an objective.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.tuning_regret({"a": trace}, caps=["7kW"], candidates=["wait"], samples=1,
    ...                          machine=machine)
    >>> sorted(found.cases[0].values)
    ['as it is', 'self-tuning', 'wait']
    """

    log: str
    cap: str
    objective: str
    jobs: int
    values: dict[str, float]
    """The objective of each fixed policy and of the supervisor."""
    left_out: dict[str, str]
    """Fixed policies that are not compared, and why."""
    best_fixed: str
    regret: float
    """How much more than the best fixed policy, as a part of it; below 0 it was better. No number
    where fewer jobs ran under the supervisor; then nothing else is compared either."""
    switches: int
    decisions: int
    seconds: float
    assumed: tuple[str, ...] = ()

    @property
    def against_first(self) -> float:
        """How much more than what was there in the beginning, as a part of it."""
        return self._more_than(next(iter(self.values.values())))

    @property
    def against_worst(self) -> float:
        """How much more than the worst fixed policy that is compared."""
        fixed = [value for name, value in self.values.items()
                 if name != "self-tuning" and name not in self.left_out]
        return self._more_than(max(fixed))

    def _more_than(self, other: float) -> float:
        return math.nan if math.isnan(self.regret) else more_than(
            other, self.values["self-tuning"])


@dataclass(frozen=True)
class RegretStudy:
    """What `tuning_regret` gives.

    >>> import wattline as wl
    >>> wl.RegretStudy(()).to_dict()["cases"]
    []
    """

    cases: tuple[RegretCase, ...]
    resumed: int = 0
    """How many of them were kept from an earlier call."""
    settings: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What `wattline advise regret --json` prints."""
        return {"settings": self.settings, "resumed": self.resumed, "cases": [
            {**asdict(each), "assumed": list(each.assumed), "against_first": each.against_first,
             "against_worst": each.against_worst} for each in self.cases]}


def tuning_regret(
    logs: dict[str, Source], *, caps: Sequence[str] = ("85%peak", "70%peak"),
    objectives: Sequence[str] = ("wait_s",), candidates: Sequence[str] = (),
    power: str = "dvfs", every: float | str = "6h", horizon: float | str = "24h",
    samples: int = 5, seed: int = 1, out: str | Path | None = None, allow_code: bool = False,
    progress: Callable[[float], None] | None = None, **given: Any,
) -> RegretStudy:
    """Simulate logs under a supervisor, and say how much it loses against the best fixed policy.

    `logs` are scenarios or job logs by the name that they are to have; the first policy is theirs,
    with `power` to keep the caps. In the folder `out` every case stays when it is done, and is
    not simulated again as long as nothing of it changes. The others are those of `self_tune`.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=60, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.tuning_regret({"a": trace}, caps=["7kW"], candidates=["wait"], samples=1,
    ...                          machine=machine)
    >>> found.cases[0].regret < 1
    True
    """
    if not logs or not caps or not objectives:
        raise InputError("name at least one log, one cap and one objective")
    settings = {"candidates": list(candidates), "power": power, "every": every,
                "horizon": horizon, "samples": samples, "seed": seed}
    asked = [(name, cap, goal) for name in logs for cap in caps for goal in objectives]
    found, resumed = [], 0
    for done, (name, cap, goal) in enumerate(asked):
        place = _place(out, name, cap, goal, [settings, _content(logs[name]),
                                              _said(dict(sorted(given.items())))])
        case = _kept(place)
        resumed += case is not None
        if case is None:
            tell = None if progress is None else _part(progress, done, len(asked))
            tuned = self_tune(
                logs[name], cap=cap, objective=goal, candidates=candidates, power=power,
                every=every, horizon=horizon, samples=samples, seed=seed, allow_code=allow_code,
                progress=tell, **given)
            case = _case(name, cap, goal, tuned)
            _keep(place, case)
        found.append(case)
        if progress is not None:
            progress((done + 1) / len(asked))
    return RegretStudy(tuple(found), resumed, settings)


def _case(name: str, cap: str, goal: str, tuned: SelfTuning) -> RegretCase:
    return RegretCase(
        name, cap, goal, len(tuned.run.jobs), tuned.values, tuned.left_out, tuned.best_fixed,
        tuned.regret, len(tuned.switches), tuned.decisions, tuned.seconds, tuned.assumed)


def _part(progress: Callable[[float], None], done: int, of: int) -> Callable[[float], None]:
    return lambda part: progress((done + part) / of)


def _content(source: Source) -> Any:
    """What a log or a scenario says, wherever it lies: a file stands for what is in it."""
    if isinstance(source, (str, Path)):
        return _said(str(source) if is_log(source) else load(source))
    if isinstance(source, (Scenario, Mapping)):
        return _said(source)
    jobs = trace_of(source).jobs
    columns = [np.ascontiguousarray(getattr(jobs, name)).tobytes() for name in COLUMNS]
    names = json.dumps({kind: list(words) for kind, words in jobs.names.items()}, sort_keys=True)
    return hashlib.sha256(b"".join([*columns, names.encode()])).hexdigest()


def _said(value: Any) -> Any:
    """The same with digests of what a file and those behind it hold wherever one is named."""
    if isinstance(value, Scenario):
        return _said(value.model_dump(mode="json", exclude_none=True))
    if isinstance(value, Mapping):
        return {str(name): _said(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_said(inner) for inner in value]
    if isinstance(value, (Trace, JobTable)) or is_table(value):
        return _content(value)
    if isinstance(value, (str, Path)):
        return [file_digest(file) for file in files_behind(value)] or str(value)
    return repr(value)


def _place(
    out: str | Path | None, name: str, cap: str, goal: str, made_of: Sequence[Any]
) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([name, cap, goal, *made_of, package_digest()], default=str)
    stem = "".join(letter if letter.isalnum() else "-" for letter in f"{name}-{cap}-{goal}")
    return folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"


def _kept(place: Path | None) -> RegretCase | None:
    if place is None or not place.is_file():
        return None
    try:
        said = json.loads(place.read_text(encoding="utf-8"))
        return RegretCase(**{**said, "assumed": tuple(said["assumed"])})
    except (ValueError, TypeError, KeyError):  # cut off: it is simulated again
        return None


def _keep(place: Path | None, case: RegretCase) -> None:
    if place is not None:
        write_whole(place, json.dumps(asdict(case), indent=1))


def rows_of(study: RegretStudy) -> Iterator[tuple[object, ...]]:
    """A row per case, as a table shows it."""
    for each in study.cases:
        yield (each.log, each.cap, each.objective, each.best_fixed, each.values[each.best_fixed],
               each.values["self-tuning"], *map(_more, (each.regret, each.against_first,
                                                        each.against_worst)),
               f"{each.switches:,} of {each.decisions:,}")


def _more(part: float) -> str:
    return "-" if math.isnan(part) else f"{part:+.1%}"


HEADERS = ("log", "cap", "objective", "best fixed", "its value", "self-tuning", "regret",
           "against the first", "against the worst", "switches")
