"""One decision under an energy budget: units, watts and joules as jobs start one after another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import NO_JOB, IntArray
from wattline.model.promises import IN_ORDER, EnergyPeriods
from wattline.model.run import EventKind
from wattline.model.signal import FloatArray
from wattline.results.verify._base import by_job
from wattline.results.verify.budget.periods import drawn_energy_j
from wattline.results.verify.budget.slots import Slots
from wattline.results.verify.pace import idle_and_rise
from wattline.results.verify.queue.classes import highest_cap_w
from wattline.results.verify.queue.instants import NEAR, Instant, Known

NO_LEVEL = -1
_SAVED_PERIODS = 10_000
"""So many periods may be saved up for a job, where what one leaves is kept."""

Answer = bool | None
"""None where rounding decides."""


def within(need: float, has: float, scale: float) -> Answer:
    """Say whether something is no more than there is of it, both being sums of about this size."""
    if has in (need, np.inf):
        return True
    slack = 4 * NEAR * scale
    return None if abs(need - has) <= slack else bool(need < has)


class Account:
    """Facts of a run under an energy budget that hold for all of its decisions."""

    def __init__(self, known: Known, promised: EnergyPeriods) -> None:
        run = known.run
        self.drawn_at_j: dict[float, float] = {}
        """Energy drawn by the machine up to each time that is judged."""
        self.known, self.promised = known, promised
        idle_w, rise_w = idle_and_rise(run)
        self.rise_w = np.maximum(rise_w, 0.0)
        """Power of each job above idle at full speed."""
        ladder = run.promises.frequencies
        if ladder is None:
            self.dynamic = self.speed = np.ones(1)
            self.low = self.high = np.zeros(len(run.jobs), dtype=np.int64)
        else:
            self.dynamic, self.speed = ladder.dynamic, ladder.speed
            self.low, self.high = (np.searchsorted(ladder.frequency_hz, each)
                                   for each in ladder.allowed())
        above_w = np.zeros(len(run.jobs))
        rows = by_job(run, (EventKind.START,))
        above_w[run.events.job[rows]] = run.events.value[rows] - idle_w[run.events.job[rows]]
        self.slots = Slots(run, promised, above_w, known.own_due_s)
        self.keeps = promised.unspent == "carry"
        self._highest_w = highest_cap_w(run)
        self._fits_slot: dict[tuple[int, float, float], Answer] = {}
        self._has_room: dict[int, bool] = {}
        schedule = run.schedule
        self._at_once = np.unique(schedule.start_s[schedule.start_s == schedule.end_s])

    def know_drawn(self, times_s: FloatArray) -> None:
        """Work out what the machine had drawn at each time that is judged."""
        drawn_j = drawn_energy_j(self.known.run, times_s)
        self.drawn_at_j = dict(zip(times_s.tolist(), drawn_j.tolist(), strict=True))

    def at_once(self, now_s: float) -> bool:
        """True where a job starts and ends at this time, so that there are several decisions."""
        return bool(np.isin(now_s, self._at_once))

    def has_room(self, jobs: IntArray) -> npt.NDArray[np.bool_]:
        """Flag jobs that an idle machine has the joules for in some slot; others are held."""
        for job in jobs.tolist():
            if job not in self._has_room:
                saved_j = _SAVED_PERIODS * self.slots.above_j if self.keeps else 0.0
                self._has_room[job] = any(
                    self.fits_slot(job, float(slot_s), saved_j)
                    for slot_s in self.slots.offsets_s(len(self.promised.edge_s)))
        return np.array([self._has_room[job] for job in jobs.tolist()], dtype=np.bool_)

    def fits_slot(self, job: int, slot_s: float, saved_j: float) -> Answer:
        """Say whether a job would have its joules alone, from so long after the beginning of a
        period on, at some frequency and under the highest cap."""
        key = (job, slot_s, saved_j)
        if key not in self._fits_slot:
            answers = [self._alone(job, level, slot_s, saved_j)
                       for level in range(self.low[job], self.high[job] + 1)]
            self._fits_slot[key] = True if True in answers else (None if None in answers else False)
        return self._fits_slot[key]

    def _alone(self, job: int, level: int, slot_s: float, saved_j: float) -> Answer:
        rise_w = float(self.rise_w[job] * self.dynamic[level])
        under_cap = within(self.slots.idle_w + rise_w, self._highest_w, self._highest_w)
        if under_cap is not True:
            return under_cap
        time_s = self.takes_s(job, level)
        each_j, length_s = self.slots.above_j, self.slots.length_s
        scale = 2 * each_j + saved_j
        if self.slots.charges:
            return within(rise_w * time_s, each_j + saved_j, scale)
        left_s = length_s - slot_s
        left_j = each_j + saved_j - rise_w * min(time_s, left_s)
        time_s -= left_s
        answer = within(0.0, left_j, scale)
        while answer is True and time_s > 0.0 and self.promised.carry == "forbid":
            left_j = (left_j if self.keeps else 0.0) + each_j - rise_w * min(time_s, length_s)
            answer = within(0.0, left_j, scale)
            time_s -= length_s
            if not self.keeps or rise_w * length_s <= each_j:
                break
        return answer

    def takes_s(self, job: int, level: int) -> float:
        """The time that a job takes by its request at a level."""
        return float(self.known.run.jobs.requested_s[job] / self.speed[level])


class Decision:
    """Jobs that run while the queue of an instant is gone through, and what they leave."""

    def __init__(self, account: Account, instant: Instant) -> None:
        self.account, self.known, self.now_s = account, account.known, instant.now_s
        slots, now_s = account.slots, instant.now_s
        slot = int(slots.at(np.array([now_s]))[0])
        self._slot, self._period = slot, int(slots.period[slot])
        self._slot_end_s = slots.end_s(slot)
        self._edge_s = float(account.promised.edge_s[self._period + 1])
        self._runs = instant.runs[~np.isin(instant.runs, instant.began)]
        self._free = instant.free_units(self._runs)
        self._cap_w = instant.cap_w
        self.limit_w = min(slots.power_w(slot), self._cap_w)
        self._drawn_j = account.drawn_at_j[now_s] - float(slots.before_j[self._period])
        self._charged_j = slots.charged_j(self._period, now_s)
        self.head, self.shadow_s, self._extra, self._extra_w = NO_JOB, np.inf, 0, np.inf
        due_s = self.known.own_due_s[self._runs]
        near = np.abs(due_s - now_s) <= NEAR * max(1.0, abs(now_s))
        self.is_near = bool((near & (due_s != now_s)).any())
        """True where rounding says whether a job runs on past the time that it asked for."""
        self._sum_up()

    def _sum_up(self) -> None:
        known = self.known
        self._held_w = known.held_w[self._runs]
        self._due_s = known.own_due_s[self._runs]
        self._overdue = self._due_s < self.now_s
        self._committed_w = known.idle_w + float(self._held_w.sum())
        self._promised: dict[float, float] = {}

    # ---- joules --------------------------------------------------------------------------------

    def _promised_j(self, from_s: float, to_s: float) -> float:
        """Energy of idle nodes, and of running jobs by their requests; who is overdue may stay."""
        if from_s not in self._promised:
            ends_s = np.where(self._overdue, to_s, self._due_s)
            above_j = self._held_w @ np.maximum(np.minimum(ends_s, to_s) - from_s, 0.0)
            self._promised[from_s] = self.known.idle_w * (to_s - from_s) + float(above_j)
        return self._promised[from_s]

    def has_joules(self, job: int, level: int) -> Answer:
        """Say whether every period that a job touches keeps its joules if it starts now."""
        account, slots, now_s = self.account, self.account.slots, self.now_s
        promised = account.promised
        rise_w = float(account.rise_w[job] * account.dynamic[level])
        time_s = account.takes_s(job, level)
        given_j = float(slots.given_j[self._period])
        if slots.charges:
            left_j = slots.above_j + given_j - promised.energy_j - self._charged_j
            return within(rise_w * time_s, left_j, given_j)
        edge_s, ends_s = self._edge_s, now_s + time_s
        left_j = (given_j - self._drawn_j - self._promised_j(now_s, edge_s)
                  - rise_w * (min(ends_s, edge_s) - now_s))
        answer = within(0.0, left_j, given_j)
        if answer is not True or promised.carry == "allow":
            return answer
        if account.keeps and self._overdue.any():
            return None  # how long those may stay that are overdue is not said
        last_s = max([ends_s, *self._due_s.tolist()]) if account.keeps else ends_s
        while edge_s < last_s:
            until_s = edge_s + slots.length_s
            left_j = (promised.energy_j + (left_j if account.keeps else 0.0)
                      - self._promised_j(edge_s, until_s)
                      - rise_w * max(min(ends_s, until_s) - edge_s, 0.0))
            answer = within(0.0, left_j, given_j)
            if answer is not True or not account.keeps:
                return answer  # jobs only end: no later period is promised more than the next
            edge_s = until_s
        return True

    # ---- frequencies ---------------------------------------------------------------------------

    def level(self, job: int) -> int | None:
        """The frequency at which plan, cap and joules let a job start; `NO_LEVEL` for none."""
        found = self._level_under(job, self.limit_w)
        if found == NO_LEVEL and self.limit_w < self._cap_w:
            last = self._is_last_call(job)
            if last is None:
                return None
            if last:
                return self._level_under(job, self._cap_w)
        return found

    def _is_last_call(self, job: int) -> Answer:
        """Say whether no later slot of this period could have the job."""
        slots = self.account.slots
        later = slots.offsets_s(self._period)[slots.number(self._slot) + 1:]
        saved_j = float(slots.saved_j[self._period])
        found: Answer = True
        for slot_s in later.tolist():
            answer = self.account.fits_slot(job, slot_s, saved_j)
            if answer:
                return False
            if answer is None:
                found = None
        return found

    def _level_under(self, job: int, limit_w: float) -> int | None:
        """The highest, else that at which all idle nodes would fit, else the lowest; where that has
        no joules the next that has, lower ones first."""
        account = self.account
        low, high = int(account.low[job]), int(account.high[job])
        left_w = limit_w - self._committed_w
        fits = [within(float(account.rise_w[job] * part), left_w, limit_w)
                for part in account.dynamic]
        unit_w = account.slots.above_w / self.known.run.units
        all_fit = [within(self._free * unit_w * float(part), left_w, limit_w)
                   for part in account.dynamic]
        if None in fits[low:high + 1] or None in all_fit[low:high + 1]:
            return None
        optimal = max((level for level in range(low, high + 1) if all_fit[level]), default=low)
        chosen: int = next((level for level in (high, optimal, low) if fits[level]), NO_LEVEL)
        if chosen == NO_LEVEL:
            return NO_LEVEL
        for level in (*range(chosen, low - 1, -1), *range(chosen + 1, high + 1)):
            answer = self.has_joules(job, level) if fits[level] else False
            if answer is None:
                return None
            if answer:
                return int(level)
        return NO_LEVEL

    # ---- the queue -----------------------------------------------------------------------------

    def may_start(self, job: int) -> Answer:
        """Say whether a job starts that is the next of the queue."""
        units = int(self.known.run.schedule.nodes[job])
        closed = self.head != NO_JOB and self.known.rule.keeps == IN_ORDER
        if closed or units > self._free:
            return False
        level = self.level(job)
        if level is None:
            return None
        if level == NO_LEVEL:
            return False
        if self.head == NO_JOB:
            return True
        in_time = within(self.now_s + self.account.takes_s(job, level), self.shadow_s,
                         abs(self.shadow_s))
        if in_time is not False:
            return in_time
        if units > self._extra:
            return False
        rise_w = float(self.account.rise_w[job] * self.account.dynamic[level])
        return within(rise_w, self._extra_w, self._committed_w)

    def slowed_wrongly(self, job: int) -> bool:
        """Say whether a job starts at another frequency than plan, cap and joules ask for."""
        level = self.level(job)
        if level is None or level == NO_LEVEL:
            return False
        asked_w = float(self.account.rise_w[job] * self.account.dynamic[level])
        return abs(asked_w - float(self.known.held_w[job])) > NEAR * self.known.idle_w

    def start(self, job: int) -> None:
        """Take what a job has from now on, by the record."""
        units, held_w = int(self.known.run.schedule.nodes[job]), float(self.known.held_w[job])
        due_s = float(self.known.own_due_s[job])
        if self.head != NO_JOB and due_s > self.shadow_s:
            self._extra -= units
            self._extra_w -= held_w
        self._free -= units
        self._charged_j += held_w * (due_s - self.now_s)
        self._runs = np.append(self._runs, job)
        self._sum_up()

    def wait(self, job: int) -> bool:
        """Let a job wait; False where it cannot be said who passes it, or nobody more may start."""
        if self.head != NO_JOB:
            return self._free > 0
        self.head = job
        return self.known.rule.keeps == IN_ORDER or self._reserve(job)

    def _reserve(self, job: int) -> bool:
        """Find the time at which the first job that waits has its units and watts, by requests."""
        account = self.account
        need_w = float(account.rise_w[job] * account.dynamic[account.low[job]])
        need = int(self.known.run.schedule.nodes[job])
        joules = [self.has_joules(job, level)
                  for level in range(account.low[job], account.high[job] + 1)]
        soon_w = float(self._held_w[self._due_s < self._slot_end_s].sum())
        watts = within(need_w, self.limit_w - self._committed_w + soon_w, self.limit_w)
        if watts is None or (True not in joules and None in joules):
            return False
        now = watts and True in joules
        from_s = self.now_s if now else self._slot_end_s
        limit_w = self.limit_w if now else self._cap_w
        ends_s = np.maximum(self._due_s, self.now_s)
        free, left_w = self._free, limit_w - self._committed_w
        for at_s in sorted({from_s, *ends_s[ends_s > from_s].tolist()}):
            over = ends_s <= at_s
            free = self._free + int(self.known.run.schedule.nodes[self._runs[over]].sum())
            left_w = limit_w - self._committed_w + float(self._held_w[over].sum())
            fits = within(need_w, left_w, limit_w)
            if fits is None and free >= need:
                return False
            if fits and free >= need:
                self.shadow_s, self._extra = at_s, free - need
                self._extra_w = max(left_w - need_w, 0.0)
                return True
        self.shadow_s, self._extra, self._extra_w = np.inf, free - need, left_w - need_w
        return True
