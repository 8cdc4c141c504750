"""Fair-share factors of accounts by used energy, from the powers that the log has of jobs."""

from __future__ import annotations

import numpy as np

from wattline.model.promises import NO_ACCOUNT, AccountShares
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify.power import changes, job_powers

LN_2 = float(np.log(2.0))


class AccountUsage:
    """Energy that each account used, fading from when it was drawn; asked at times that rise."""

    def __init__(
        self, run: Run, shares: AccountShares, half_life_s: float, begins_s: float
    ) -> None:
        row, power_w, _ = job_powers(run)
        change_w = changes(run, row, power_w)
        account = shares.account[np.maximum(run.events.job, 0)]
        self._rows = np.flatnonzero((change_w != 0.0) & (account != NO_ACCOUNT))
        self._time_s = run.events.time_s[self._rows]
        self._account, self._change_w = account[self._rows], change_w[self._rows]
        self._tree, self._half_life_s = shares, half_life_s
        self._used_j = shares.used_j.copy()
        self._power_w = np.zeros(len(shares.parent))
        self._next, self._now_s = 0, begins_s
        self._top_down = _top_down(shares.parent)
        self._factors = self._found()

    def factors(self, now_s: float) -> FloatArray:
        """2^(-effective usage / share) of each account at this time, and 0 for who has none."""
        if now_s > self._now_s:
            while self._next < len(self._rows) and self._time_s[self._next] <= now_s:
                self._pass(float(self._time_s[self._next]))
                self._power_w[self._account[self._next]] += self._change_w[self._next]
                self._next += 1
            self._pass(now_s)
            self._factors = self._found()
        return self._factors

    def _pass(self, time_s: float) -> None:
        """Let what was used fade up to a time, and add what was drawn until then."""
        if time_s <= self._now_s:
            return
        passed_s = time_s - self._now_s
        fading = LN_2 * passed_s / self._half_life_s
        kept = -np.expm1(-fading) / fading if fading > 0.0 else 1.0
        self._used_j *= np.exp(-fading)
        self._used_j += self._power_w * (passed_s * kept)
        self._now_s = time_s

    def _found(self) -> FloatArray:
        parent, share = self._tree.parent, self._tree.share
        total, norm = self._used_j.copy(), share.copy()
        for at in reversed(self._top_down):
            if parent[at] >= 0:
                total[parent[at]] += total[at]
        whole_j = float(total[parent < 0].sum())
        effective = total / whole_j if whole_j > 0.0 else np.zeros(len(total))
        for at in self._top_down:
            above = parent[at]
            if above >= 0:
                effective[at] += (effective[above] - effective[at]) * share[at]
                norm[at] *= norm[above]
        claim = np.where(norm > 0.0, norm, 1.0)
        return np.append(np.where(norm > 0.0, np.exp2(-effective / claim), 0.0), 0.0)


def _top_down(parent: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """Accounts, each after the one above it."""
    depth = np.zeros(len(parent), dtype=np.int64)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    found: list[int] = np.argsort(depth, kind="stable").tolist()
    return found
