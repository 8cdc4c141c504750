"""Workers: a limit on memory, on time and on who waits; a worker that dies is replaced."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest
from tests.unit.web.asking import CAPPED, asked, error_of

from wattline.model.errors import InputError
from wattline.web.worker import process
from wattline.web.worker.pool import (
    SOON_S,
    PoolBusy,
    TooExpensive,
    WorkerFailed,
    WorkerPool,
    WorkLimits,
)

TINY_PROCUREMENT = {"budget_power_w": 7200, "node_power_w_max": 380, "node_power_w_min": 180,
                    "speed_ratio": 0.27, "cost_ratio": 1.6, "scaling": "SPhot"}


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    found = WorkerPool(WorkLimits(memory_bytes=2**30))
    yield found
    found.close()


def pid(pool: WorkerPool) -> int:
    found = pool._all[0].process
    assert found is not None
    return found.pid


def test_a_mistake_in_a_worker_is_an_input_error_and_the_worker_stays(pool: WorkerPool) -> None:
    assert pool.ask("procure", TINY_PROCUREMENT)["n_ovp"] == 28
    before = pid(pool)
    with pytest.raises(InputError, match="cost_ratio"):
        pool.ask("procure", {**TINY_PROCUREMENT, "cost_ratio": 0.5})
    assert pid(pool) == before


def test_what_takes_too_much_memory_fails_alone(pool: WorkerPool) -> None:
    """Twenty million nodes take arrays of gigabytes where nodes are chosen."""
    greedy = {**CAPPED, "machine": {"nodes": 20_000_000, "node_idle_w": 1, "node_active_w": 2},
              "policy": {"placement": "first-fit"}, "power": {}}
    limited = WorkerPool(WorkLimits(memory_bytes=64 * 2**20))
    try:
        with pytest.raises(TooExpensive, match=r"0\.0625 GiB"):
            limited.ask("whatif", {"variant": greedy})
        assert limited.ask("procure", TINY_PROCUREMENT)["n_wc"] == 18
    finally:
        limited.close()


def test_what_takes_too_long_is_killed_and_the_next_is_answered(pool: WorkerPool) -> None:
    pool.ask("procure", TINY_PROCUREMENT)
    before = pid(pool)
    long = {"variant": {"trace": {"generate": "lublin", "jobs": 200_000},
                        "machine": {"nodes": 64}, "policy": {"backfill": "conservative"}}}
    begun_s = time.monotonic()
    with pytest.raises(TooExpensive, match=r"longer than the 0\.3 s"):
        pool.ask("whatif", long, time_s=0.3)
    assert time.monotonic() - begun_s < 5
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert pool.ask("procure", TINY_PROCUREMENT)["n_wc"] == 18


def test_a_worker_that_is_killed_from_outside_is_replaced(pool: WorkerPool) -> None:
    pool.ask("procure", TINY_PROCUREMENT)
    os.kill(pid(pool), 9)
    time.sleep(0.1)
    assert pool.ask("procure", TINY_PROCUREMENT)["n_wc"] == 18


def test_a_bug_tells_the_client_nothing_but_its_kind(pool: WorkerPool) -> None:
    with pytest.raises(WorkerFailed, match=r"^KeyError$"):
        pool.ask("procure", {})


def test_who_comes_when_all_wait_is_told_to_come_again() -> None:
    pool = WorkerPool(WorkLimits(waiting=1, wait_s=0.2))
    taken = pool._take("")
    waited: list[BaseException] = []

    def wait() -> None:
        try:
            pool.ask("procure", TINY_PROCUREMENT)
        except PoolBusy as error:
            waited.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not pool._waiting:
        time.sleep(0.005)
    with pytest.raises(PoolBusy) as refused:  # at once: one waits already
        pool.ask("procure", TINY_PROCUREMENT)
    assert refused.value.retry_after_s == SOON_S
    thread.join()
    assert len(waited) == 1  # and it was not let wait for ever
    pool._idle.append(taken)
    pool.close()


def test_a_full_server_answers_503_with_when_to_come_again() -> None:
    with asked(work=WorkLimits(waiting=0, wait_s=0.1)) as client:
        pool = client.app_made.state.pool  # type: ignore[attr-defined]
        pool._idle.clear()
        found = client.post("/api/whatif", json=CAPPED)
        assert found.status_code == 503
        assert found.headers["Retry-After"] == str(SOON_S)
        assert "at once" in error_of(found)


def test_the_memory_of_a_worker_is_limited_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(process.resource, "setrlimit", set_to.__setitem__)
    process.limit_memory(2**30)
    soft, hard = set_to[process.resource.RLIMIT_AS]
    assert soft == hard > 2**30
    assert set_to[process.resource.RLIMIT_CORE] == (0, 0)


def test_a_question_goes_to_the_worker_that_had_the_like() -> None:
    pool = WorkerPool(WorkLimits(workers=3))
    pool._idle[1].last_key = "same"
    wanted = pool._idle[1]
    assert pool._take("same") is wanted
    pool.close()
