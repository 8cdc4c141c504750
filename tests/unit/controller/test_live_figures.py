"""A running controller's figures of joules, jobs and caps hold at the moment it is asked."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.controller import test_desk
from tests.unit.controller.test_desk import Going, Site, made, pending

from wattline.controller.answers import QUESTIONS
from wattline.controller.configuration import read_configuration
from wattline.controller.orders import OrderOutcome
from wattline.controller.priorities import summed_j
from wattline.controller.speaking import explain_job, live_order, live_status
from wattline.model.errors import InputError

IDLE_W = 8 * 90.0


def asked(site: Site, kind: str) -> OrderOutcome:
    return QUESTIONS[kind](site.controller, read_configuration(site.file), {})


def test_joules_grow_at_every_moment_by_at_least_those_of_an_idle_machine(tmp_path: Path) -> None:
    site = made(tmp_path)
    now = [site.controller.books.now_s]
    site.controller.clock = lambda: now[0]
    begin_s, before_j = now[0], 0.0
    site.slurm.jobs["7"] = pending("7", 3)
    for passed_s in (0.0, 1.0, 1.0, 60.0, 0.5):  # of which only the first has an event
        now[0] += passed_s
        site.controller.cycle()
        now[0] += 0.25  # an answer comes between two cycles too
        found = asked(site, "energy").result
        shown = live_status(site.file)
        assert found["now_s"] == now[0]
        assert found["drawn_j"] == pytest.approx(shown["energy_j"] + 0.25 * shown["power_w"])
        assert found["drawn_j"] >= IDLE_W * (now[0] - begin_s) - 1e-3
        assert found["drawn_j"] > before_j
        job, = found["running"]
        assert job["energy_j"] == pytest.approx(900.0 * (now[0] - begin_s), rel=1e-6)
        before_j = found["drawn_j"]
    assert site.controller.books.now_s == begin_s


def test_a_running_job_is_told_with_its_watts_and_when_it_will_end_at_the_latest(
    tmp_path: Path
) -> None:
    """Three nodes of 300 W; it asks for ten minutes."""
    site = made(tmp_path)
    begin_s = site.controller.books.now_s
    site.controller.clock = lambda: begin_s
    site.slurm.jobs["7"] = pending("7", 3)
    site.controller.cycle()
    site.slurm.jobs["7"] = pending("7", 3, state="RUNNING", start_s=begin_s,
                                   node_list=("n1", "n2", "n3"))
    site.controller.cycle()
    told = live_status(site.file)["running"]
    job, = told["jobs"]
    assert (told["count"], job["job"], job["nodes"], job["power_w"]) == (1, "7", 3, 900.0)
    assert job["start_s"] == pytest.approx(begin_s, rel=0, abs=1e-3)
    assert job["expected_end_s"] == pytest.approx(begin_s + 600.0, rel=0, abs=1e-3)


def test_an_energy_budget_is_told_with_what_is_left_of_its_period(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 kWh for each hour of the clock, of which one begins now. In it eight idle nodes draw 720 W,
    and a job of one node 210 W above that for the 600 s that it asks for: 930 W of the 1,000 W
    that are planned for each moment where all cost the same. The second has 70 W, those of 1.2 of
    2.6 GHz, for 1,300 s. It is asked for 20 s after the last decision."""
    begin_s = 500_000 * 3600.0
    monkeypatch.setattr(test_desk, "time", SimpleNamespace(time=lambda: begin_s))
    site = made(tmp_path, '[policy]\npower = { name = "budget", energy = "1kWh", period = "1h" }\n')
    now = [begin_s]
    site.controller.clock = lambda: now[0]
    idle_j = 720.0 * 3600.0
    site.slurm.jobs["7"] = pending("7", 1)
    site.controller.cycle()
    site.slurm.jobs["7"] = pending("7", 1, state="RUNNING", start_s=begin_s, node_list=("n1",))
    site.controller.cycle()
    now[0] += 10.0
    site.slurm.jobs["8"] = pending("8", 1)
    site.controller.cycle()
    now[0] += 20.0
    found = asked(site, "energy").result["budget"]
    assert (found["energy_j"], found["period"]) == (3.6e6, 500_001)
    assert (found["start_s"], found["end_s"]) == (begin_s, begin_s + 3600.0)
    assert found["at_s"] == begin_s + 30.0
    assert found["left_j"] == pytest.approx(3.6e6 - idle_j - 210.0 * 600.0 - 70.0 * 1300.0)
    assert found["saved_j"] == 0.0
    assert found["slot_w"] == pytest.approx(1000.0)


def test_shares_hold_at_the_moment_they_are_asked_for_as_an_event_would_make_them(
    tmp_path: Path
) -> None:
    shares = tmp_path / "shares.toml"
    shares.write_text('[[account]]\nname = "all"\nshare = 1\n' + "".join(
        f'[[account]]\nname = "{user}"\nparent = "all"\nshare = {share}\n'
        for user, share in (("ann", 1), ("bob", 3))))
    site = made(tmp_path, '[policy]\norder = { name = "energy-share", half_life = "10m", shares = '
                          f'"{shares}" }}\nbackfill = "none"\n')
    now = [site.controller.books.now_s]
    site.controller.clock = lambda: now[0]
    site.slurm.jobs.update({"1": pending("1", 2), "2": pending("2", 1, user="bob")})
    site.controller.cycle()
    factors, usages = [], []
    for _ in range(3):  # without an event
        now[0] += 100.0
        site.controller.cycle()
        found = asked(site, "fairshare").result
        assert found["at_s"] == now[0]
        usages.append({each["name"]: each["usage_j"] for each in found["accounts"]})
        factors.append([each["factor"] for each in found["accounts"]])
    assert usages[0]["ann"] == pytest.approx(600.0 * 100, rel=1e-6)
    assert usages[0]["ann"] < usages[1]["ann"] < usages[2]["ann"]
    # Now the books sort the queue.
    site.slurm.jobs.update({"3": pending("3", 6), "4": pending("4", 6)})
    site.controller.cycle()
    order = site.controller.books.policy.order
    assert factors[-1] == pytest.approx(order.memory.factor.tolist())
    after = asked(site, "fairshare").result
    assert [each["usage_j"] for each in after["accounts"]] == pytest.approx(
        summed_j(order, order.memory.used_j).tolist())


def test_a_job_that_the_books_turn_away_is_refused_and_not_held_by_its_user(
    tmp_path: Path
) -> None:
    site = made(tmp_path)
    site.slurm.jobs["7"] = pending("7", 9)
    site.controller.cycle()
    assert live_status(site.file)["refused"] == {"count": 1, "jobs": ["7"]}
    with Going(site.controller):
        found = explain_job("7", site.file)
    assert found["reason"] == "refused"
    assert found["sentence"] == "it was refused: it asks for 9 nodes; the machine has 8"
    del site.slurm.jobs["7"]
    site.controller.cycle()
    assert live_status(site.file)["refused"]["count"] == 0


def test_tasks_of_an_array_are_named(tmp_path: Path) -> None:
    site = made(tmp_path)
    for number in (10, 1, 2):
        label = f"5_{number}"
        site.slurm.jobs[label] = replace(pending("5", 1), label=label)
    site.slurm.jobs["51"] = pending("51", 1)
    site.controller.cycle()
    with Going(site.controller):
        with pytest.raises(InputError, match=r"tasks: ask for one of 5_1, 5_2, 5_10$"):
            explain_job("5", site.file)
        assert explain_job("5_2", site.file)["reason"] in ("running", "starting")


def remarks(site: Site, kind: str, **fields: float | str) -> str:
    return " ".join(live_order(site.file, kind, **fields).result["remarks"])


def test_a_window_that_begins_now_says_what_the_machine_draws_above_it(tmp_path: Path) -> None:
    site = made(tmp_path)
    site.slurm.jobs["7"] = pending("7", 3)
    site.controller.cycle()
    with Going(site.controller):
        said = remarks(site, "reserve", duration_s=600.0, watts=400.0)
        assert "the machine draws 1,350 W by the books" in said
        said = remarks(site, "reserve", start_s=time.time() + 3600, duration_s=60.0, watts=100.0,
                       name="later")
        assert "the machine draws" not in said


def test_refused_jobs_are_spoken_of_when_a_cap_rises_only(tmp_path: Path) -> None:
    site = made(tmp_path)
    site.slurm.jobs["9"] = pending("9", 8)  # alone it needs 2,400 W
    site.controller.cycle()
    with Going(site.controller):
        assert "stay refused" not in remarks(site, "set_cap", watts=1000.0)
        assert "stay refused" in remarks(site, "set_cap", watts=1400.0)
