"""Places of jobs in the queue, by the keys of the orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.promises import QueueRule
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify.power import changes_together
from wattline.results.verify.queue.usage import AccountUsage

Key = Callable[[Run, IntArray, float], FloatArray]
"""Places of jobs in the queue at a time: the smaller goes first, ties by row."""
_NEAR = 1e-9
"""Keys of sums over a whole run that are closer than this, relative, count as equal."""


def key_of(run: Run, rule: QueueRule) -> Key | None:
    """Return the key of an order by its name; None for one that cannot be worked out here."""
    terms = rule.terms
    if rule.order == "fcfs":
        return lambda run, jobs, now_s: np.zeros(len(jobs))
    if rule.order == "sjf":
        return lambda run, jobs, now_s: run.jobs.requested_s[jobs]
    if rule.order == "largest":
        return lambda run, jobs, now_s: -run.schedule.nodes[jobs].astype(np.float64)
    if rule.order == "wfp":
        return lambda run, jobs, now_s: _wfp(run, jobs, now_s, terms["exponent"])
    if rule.order == "multifactor":
        return lambda run, jobs, now_s: _multifactor(run, jobs, now_s, terms)
    if rule.order == "energy-share" and run.promises.accounts and not changes_together(run):
        return EnergyShareKey(run, terms)
    return None


def _wfp(run: Run, jobs: IntArray, now_s: float, exponent: float) -> FloatArray:
    asked_s = run.jobs.requested_s[jobs]
    waited = (now_s - run.jobs.submit_s[jobs]) / np.where(asked_s > 0.0, asked_s, 1.0)
    weight = waited * waited * waited if exponent == 3.0 else waited**exponent
    return np.asarray(-run.schedule.nodes[jobs] * weight)


def _multifactor(
    run: Run, jobs: IntArray, now_s: float, terms: Mapping[str, float]
) -> FloatArray:
    weight = _age(run, jobs, now_s, terms) + _size(run, jobs, terms)
    if run.promises.user_share is not None:
        weight = weight + terms["share"] * run.promises.user_share[jobs]
    return -weight


def _age(run: Run, jobs: IntArray, now_s: float, terms: Mapping[str, float]) -> FloatArray:
    waited_s = now_s - run.jobs.submit_s[jobs]
    return np.asarray(terms["age"] * np.minimum(waited_s / terms["age_max_s"], 1.0))


def _size(run: Run, jobs: IntArray, terms: Mapping[str, float]) -> FloatArray:
    return np.asarray(terms["size"] * (run.schedule.nodes[jobs] / run.units))


class EnergyShareKey:
    """The key of the order by used energy, which is asked at times that rise."""

    def __init__(self, run: Run, terms: Mapping[str, float]) -> None:
        accounts = run.promises.accounts
        assert accounts is not None
        self.account, self._terms = accounts.account, terms
        # Usage from before the run does not fade before the first decision.
        joined = run.jobs.submit_s[~run.refused]
        begins_s = float(joined.min(initial=np.inf))
        self._usage = AccountUsage(run, accounts, terms["half_life_s"], begins_s)

    def __call__(self, run: Run, jobs: IntArray, now_s: float) -> FloatArray:
        factor = self._usage.factors(now_s)[self.account[jobs]]
        fair = self._terms["fair"] * factor
        return -(fair + _age(run, jobs, now_s, self._terms) + _size(run, jobs, self._terms))

    def alike(self, run: Run, job: int, others: IntArray) -> npt.NDArray[np.bool_]:
        """Flag jobs whose key is that of a job to the last bit, so that the row decides."""
        same = self.account[others] == self.account[job]
        if self._terms["age"]:
            same &= run.jobs.submit_s[others] == run.jobs.submit_s[job]
        if self._terms["size"]:
            same &= run.schedule.nodes[others] == run.schedule.nodes[job]
        return np.asarray(same)


def tied(
    key: Key, run: Run, job: int, others: IntArray, now_s: float
) -> npt.NDArray[np.bool_]:
    """Flag those of the others that stand before or behind a job by the rounding of its key."""
    if not isinstance(key, EnergyShareKey):
        return np.zeros(len(others), dtype=np.bool_)
    keys = key(run, np.append(others, job), now_s)
    near = np.abs(keys[:-1] - keys[-1]) <= _NEAR * max(1.0, abs(float(keys[-1])))
    return np.asarray(near & ~key.alike(run, job, others))
