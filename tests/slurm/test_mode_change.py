"""The mode is changed while a controller runs: nothing is lost, nothing done twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, PATIENCE_S, finish, runs, slurm, state, submit, until
from tests.slurm.test_serving import Process, drawn_w, site_file
from wattline.controller.speaking import live_order, live_status
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import replays
from wattline.model.errors import InputError


@pytest.fixture
def file(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")  # it starts sooner
    yield site_file(bed, tmp_path, "licences = true\n")
    if "wattline-cap" in slurm(bed, "scontrol", "-o", "show", "reservation"):
        slurm(bed, "scontrol", "delete", "ReservationName=wattline-cap")


@contextmanager
def highest_w(bed: Bed) -> Iterator[list[float]]:
    """The most that the machine draws meanwhile, by its counters."""
    found, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(0.2):
            try:
                found[0] = max(found[0], drawn_w(bed))
            except (IndexError, ValueError):  # a file is empty while it is written
                continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def waits(bed: Bed, label: str) -> str:
    """`held`, or what Slurm lets it wait for; empty where it does not wait."""
    said = slurm(bed, "squeue", "-h", "-j", label, "-t", "PENDING", "-O",
                 "PriorityLong:20,Reason:40")
    priority, _, reason = said.partition(" ")
    return "held" if priority == "0" else reason.strip()


def commanded(file: Path, mode: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-m", "wattline", "controller", "mode", mode, "--config",
                           str(file), "--json"], capture_output=True, text=True, check=True,
                          timeout=PATIENCE_S)
    return dict(json.loads(done.stdout))


def test_there_and_back_with_a_kill_between(bed: Bed, tmp_path: Path, file: Path) -> None:
    """Idle nodes draw 540 W and a job of two nodes adds 320 W: under 1,000 W only one fits."""
    running = Process(file).until_ready()
    with highest_w(bed) as most_w:
        live_order(file, "set_cap", watts=1000.0, within_s=PATIENCE_S)
        two = ("-N", "2", "-t", "20", "-L", "watts:500")
        first = submit(bed, LONG_S, 250, *OURS, *two)
        until(lambda: runs(bed, first))
        second = submit(bed, LONG_S, 250, *OURS, *two)
        until(lambda: live_status(file)["waiting"]["count"] == 1)
        assert waits(bed, second) == "held"
        live_order(file, "set_policy", changes={"policy.order": "sjf"}, within_s=PATIENCE_S)
        live_order(file, "set_mode", mode="guard", within_s=PATIENCE_S)
        assert running.end(signal.SIGKILL) == -signal.SIGKILL
        running = Process(file).until_ready()
        until(lambda: waits(bed, second) == "Licenses")
        said = live_status(file)
        assert (said["mode"], said["mode_ordered"], said["cap_w"]) == ("guard", True, 1000.0)
        with pytest.raises(InputError, match="in guard mode Slurm starts the jobs"):
            live_order(file, "set_policy", changes={"policy.order": "fcfs"}, within_s=PATIENCE_S)
        finish(bed, first, 2)
        until(lambda: runs(bed, second))  # started by Slurm
        third = submit(bed, LONG_S, 250, *OURS, *two)
        until(lambda: waits(bed, third) == "Licenses")
        found = commanded(file, "decide")
        assert found["mode"] == "decide"
        until(lambda: waits(bed, third) == "held")
        until(lambda: live_status(file)["waiting"]["count"] == 1)
        assert runs(bed, second)
        finish(bed, second, 2)
        until(lambda: runs(bed, third))  # started from here
        finish(bed, third, 2)
        said = live_status(file)
        assert (said["cap_w"], said["policy"]["order"]) == (1000.0, "sjf")
        labels = (first, second, third)
        until(lambda: {state(bed, label) for label in labels} == {"COMPLETED"})
        assert running.end(signal.SIGTERM) == 0
    assert 800.0 < most_w[0] <= 1000.0
    lives = slurm(bed, "sacct", "-n", "-X", "-D", "-P", "-j", ",".join(labels), "-o", "JobID,State")
    assert sorted(lives.splitlines()) == sorted(f"{label}|COMPLETED" for label in labels)
    journal, = (tmp_path / "controller").glob("*.journal")
    assert replays(journal)
    decided = [line for line in journal.read_text().splitlines() if '["start","' in line]
    assert len(decided) == 2, "Slurm started the second itself"
