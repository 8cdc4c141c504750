"""Whether the jobs that a job waits for let it go.

sbatch: --dependency (afterany, afterok, afternotok, after with a delay, aftercorr, singleton; with
"," all conditions must be met, with "?" one of them), --kill-on-invalid-dep; slurm.conf,
DependencyParameters: kill_invalid_depend. "Once a job dependency fails due to the termination
state of a preceding job, the dependent job will never be run, even if the preceding job is
requeued": what was decided of a condition stays, and a job that was let go does not wait again.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.outcome import RAN
from wattline.shared_nodes.requests import AFTER, AFTERNOTOK, AFTEROK, SINGLETON
from wattline.shared_nodes.state import BEGIN, OVER, RUNNING, Books
from wattline.shared_nodes.timers import add_timer

OPEN, MET, FAILED = range(3)


@kernel_part
def dependency(st: Books, job: int) -> int:
    """MET where nothing holds the job up any more, FAILED where something does for ever."""
    ask = st.ask[job]
    if st.live[job].let_go != 0:
        return MET
    open_, met, failed = 0, 0, 0
    for row in range(ask.first_wait, ask.first_wait + ask.waits):
        wait = st.wait[row]
        if wait.state == OPEN:
            wait.state = _condition(st, row)
        open_ += 1 if wait.state == OPEN else 0
        met += 1 if wait.state == MET else 0
        failed += 1 if wait.state == FAILED else 0
    if (met > 0) if ask.any_wait != 0 else (open_ + failed == 0):
        st.live[job].let_go = 1
        return MET
    if (open_ == 0) if ask.any_wait != 0 else (failed > 0):
        return FAILED
    return OPEN


@kernel_part
def _condition(st: Books, row: int) -> int:
    kind = st.wait[row].kind
    if kind == SINGLETON:
        return MET if _is_next_of_its_name(st, st.wait[row].job) else OPEN
    if kind == AFTER:
        return _after_starts(st, row)
    well = 0
    first = st.wait[row].first
    for place in range(first, first + st.wait[row].count):
        other = st.awaited[place]
        if st.live[other].phase != OVER:
            return OPEN
        well += 1 if st.live[other].state == RAN and st.ask[other].exit_ok != 0 else 0
    # An array went well if all of its tasks did.
    if (kind == AFTEROK and well < st.wait[row].count) or (
            kind == AFTERNOTOK and well == st.wait[row].count):
        return FAILED
    return MET


@kernel_part
def _after_starts(st: Books, row: int) -> int:
    """All have started, or were cancelled, and so long ago."""
    wait = st.wait[row]
    since_s = -1.0
    for place in range(wait.first, wait.first + wait.count):
        other = st.live[st.awaited[place]]
        if other.phase not in (RUNNING, OVER):
            return OPEN
        left_s = other.cancelled_s if other.start_s != other.start_s else other.start_s
        since_s = max(since_s, left_s)
    due_s = since_s + wait.delay_s
    if wait.delay_s <= 0.0 or st.clock[0].now_s >= due_s:
        return MET
    if wait.due_s != due_s:
        wait.due_s = due_s
        add_timer(st, due_s, BEGIN, wait.job, st.live[wait.job].generation)
    return OPEN


@kernel_part
def _is_next_of_its_name(st: Books, job: int) -> bool:
    """No job of its user and name runs, and none that came before it still waits."""
    group = st.ask[job].namesakes
    return bool(st.namesakes_running[group] == 0 and next_of_name(st, group) == job)


@kernel_part
def next_of_name(st: Books, group: int) -> int:
    """The first of a user's jobs of one name that is not over, or -1."""
    place = st.namesake_next[group]
    while place < st.namesake_last[group] and st.live[st.namesake_job[place]].phase == OVER:
        place += 1
    st.namesake_next[group] = place
    return int(st.namesake_job[place]) if place < st.namesake_last[group] else -1
