"""No moldable job is started with more than its share of the power, added up by hand."""

import numpy as np
import pytest

import wattline as wl
from wattline.results.verify.judge import verify

NODES = 16


def table(seed):
    """Configurations of two applications; the second one begins at many watts a node."""
    draw = np.random.default_rng(seed)
    lines = ["application,nodes,cores,cap_w,time_s,power_w"]
    for name, floor_w in (("low", 30.0), ("high", 170.0)):
        for nodes in (1, 2, 4, 8, 16):
            for cores, cap_w in ((8, 51), (16, 51), (16, 115)):
                watts = nodes * (floor_w + cores * cap_w / 16 * draw.uniform(0.9, 1.1))
                speed = nodes ** 0.8 * cores * cap_w ** 0.5 * draw.uniform(0.9, 1.1)
                lines.append(f"{name},{nodes},{cores},{cap_w},{40000 / speed},{watts}")
    return "\n".join(lines) + "\n"


def jobs(seed):
    draw = np.random.default_rng(seed)
    lines = ["job,submit_s,run_s,procs,requested_s,application,queue"]
    at_s = np.cumsum(draw.exponential(40.0, 60))
    for job in range(60):
        lines.append(f"{job + 1},{at_s[job]},{draw.uniform(20, 300)},{draw.integers(1, 9)},"
                     f"{draw.uniform(100, 900)},{draw.choice(['low', 'high'])},"
                     f"{draw.choice(['a', 'b'])}")
    return "\n".join(lines) + "\n"


def run_of(folder, seed, cap, idle_w=0.0, **configure):
    (folder / "t.csv").write_text(table(seed))
    (folder / "j.csv").write_text(jobs(seed))
    (folder / "cap.csv").write_text("time_s,watts\n0,1200\n700,2600\n1400,1700\n")
    return wl.simulate(
        str(folder / "j.csv"), machine=wl.Machine(nodes=NODES, node_idle_w=idle_w,
                                                  node_active_w=300),
        cap=str(folder / "cap.csv") if cap is None else cap,
        configure={"table": str(folder / "t.csv"), **configure})


def shares_w(run, weights):
    """By the rule as published, of the cap at the start, from what was written in the files."""
    start_s = np.nan_to_num(run.schedule.start_s)
    cap_w = run.cap_w.sample(start_s)
    weight = np.array([weights.get(run.jobs.name_of("queue", int(code)), 1.0)
                       for code in run.jobs.queue])
    return weight * run.jobs.procs / NODES * cap_w


@pytest.mark.filterwarnings("ignore")  # of refused jobs, and nodes that draw less than idle ones
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("cap", "idle_w"), [
    ("1000W", 0.0), ("1700W", 0.0), ("3500W", 0.0), ("2400W", 50.0), (None, 0.0)])
@pytest.mark.parametrize(("rule", "threshold"), [("naive", 0), ("adaptive", 0.2),
                                                 ("adaptive", "unbounded")])
@pytest.mark.parametrize("above_share", ["wait", "least-power"])
def test_what_a_job_is_started_with_is_its_share_at_most(
        tmp_path, seed, cap, idle_w, rule, threshold, above_share):
    weights = {"b": 1.5} if seed == 2 else {}
    more = {"threshold": threshold} if rule == "adaptive" else {}
    run = run_of(tmp_path, seed, cap, idle_w, name=rule, above_share=above_share,
                 weights=weights, **more)
    assert verify(run).sentences == []
    schedule = run.schedule
    with np.errstate(invalid="ignore"):
        drawn_w = schedule.energy_j / (schedule.end_s - schedule.start_s)
    share_w = shares_w(run, weights)
    over = run.ran & (drawn_w > share_w * (1 + 1e-9))
    chosen = run.configurations
    least_w = {name: chosen["power_w"][chosen["application"] == name].min()
               for name in ("low", "high")}
    least = np.array([least_w[run.jobs.name_of("application", int(code))]
                      for code in run.jobs.application])
    if above_share == "wait":
        assert not over.any()
        assert "above_share_jobs" not in run.notes
    else:
        np.testing.assert_allclose(drawn_w[over], least[over])
        assert run.notes.get("above_share_jobs", 0) == over.sum()
    if cap is not None:  # whoever has a configuration within its share ran
        within_w = np.minimum(shares_w(run, weights), run.cap_w.value[0] - NODES * idle_w)
        assert run.ran[least < within_w].all()


@pytest.mark.filterwarnings("ignore")
def test_a_small_request_does_not_get_the_whole_machine(tmp_path):
    """A job of one node has 150 W; its configurations begin at 200 W, and one has the whole cap."""
    (tmp_path / "t.csv").write_text(
        "application,nodes,cores,cap_w,time_s,power_w\na,1,8,51,100,200\na,1,16,115,50,300\n"
        "a,2,16,115,26,600\na,4,16,115,14,1200\na,8,16,115,8,2400\n")
    (tmp_path / "j.csv").write_text(
        "job,submit_s,run_s,procs,requested_s,application\n1,0,50,1,60,a\n2,0,50,1,60,a\n"
        "3,0,26,2,30,a\n")
    found = {}
    for above_share in ("wait", "least-power"):
        run = wl.simulate(str(tmp_path / "j.csv"), machine=wl.Machine(nodes=8, node_idle_w=0),
                          cap="1200W", configure={"name": "adaptive", "above_share": above_share,
                                                  "table": str(tmp_path / "t.csv")})
        found[above_share] = run
        assert verify(run).sentences == []
    assert found["wait"].ran.tolist() == [False, False, True]
    least = found["least-power"]
    assert least.schedule.configuration.tolist() == [1, 1, 2]
    assert least.schedule.start_s.tolist() == [0.0, 0.0, 0.0]
    assert least.notes["above_share_jobs"] == 2.0
    assert any("up to 1.33 times the share" in remark for remark in least.remarks)


@pytest.mark.filterwarnings("ignore")
def test_a_run_that_breaks_shares_is_found_out(tmp_path):
    """The same run, saved, with smaller weights than it was made for, and read back."""
    from dataclasses import replace

    from wattline.analysis import rundir

    run = run_of(tmp_path, 3, "3000W", name="naive")
    shares = run.promises.shares
    folder = rundir.write(replace(run, promises=replace(
        run.promises, shares=replace(shares, weight=shares.weight / 2))), tmp_path / "run")
    assert any("more power than their share of the cap" in line for line in wl.verify(
        wl.open_run(folder)).sentences)
    assert wl.verify(wl.open_run(rundir.write(run, tmp_path / "run"))).sentences == []
