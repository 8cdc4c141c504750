"""The tightest cap that can be borne, on a machine small enough to know it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.printed import columns

import wattline as wl
from wattline.advice.cap import Tried, _Search, advise_cap
from wattline.advice.limits import Figures, Limits
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.scenario.build import Plan
from wattline.scenario.load import validate
from wattline.traces import Trace


def scenario(**power):
    return validate({"name": "small", "trace": {"file": "made"},
                     "machine": {"nodes": 10, "node_idle_w": 100, "node_active_w": 300}}, "small")


def trace(count=40, seed=3):
    random = np.random.default_rng(seed)
    run_s = random.uniform(50, 500, count)
    return Trace(JobTable.build(submit_s=np.sort(random.uniform(0, 4000, count)), run_s=run_s,
                                requested_s=run_s, procs=random.integers(1, 5, count)),
                 source="made")


def test_two_jobs_that_need_half_the_machine_each_and_may_wait_for_each_other():
    """Both at once draw 3,000 W; one at a time 2,000 W, and the second waits 100 s."""
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[100.0, 100.0], requested_s=[100.0, 100.0],
                          procs=[5, 5])
    found = advise_cap(scenario(), Limits(wait="50s"), policies=["block"], trace=Trace(jobs))
    (choice,) = found.choices
    assert found.peak_w == 3000
    assert 2000 <= choice.cap_w <= 2000 + 0.002 * 3000
    assert choice.figures.wait_s == 50
    assert choice.remark == "a little lower 2 jobs never run"
    strict = advise_cap(scenario(), Limits(wait="49s"), policies=["block"], trace=Trace(jobs))
    assert strict.choices[0].cap_w > 2990


def test_the_answer_keeps_the_limit_and_the_next_cap_below_does_not():
    found = advise_cap(scenario(), Limits(wait="+20%"), trace=trace(20))
    limit_s = 1.2 * found.free.wait_s
    assert [choice.policy for choice in found.choices] == [
        "block", "wait", "dvfs", "watts", "adaptive"]
    for choice in found.choices:
        assert choice.figures.wait_s <= limit_s * (1 + 1e-9)
        below = [each for each in choice.tried if each.cap_w < choice.cap_w]
        assert not below[-1].kept
        assert choice.cap_w - below[-1].cap_w <= 0.002 * found.peak_w


def about_idle(count=40, seed=3):
    """Jobs that draw less than idle nodes (100 W), as much, hardly more, and more."""
    random = np.random.default_rng(seed)
    jobs = trace(count, seed).jobs
    each_w = random.choice([5.0, 60.0, 100.0, 101.0, 300.0], count)
    return Trace(jobs.with_columns(power_w=jobs.procs * each_w), source="made")


def test_no_cap_is_recommended_that_its_own_run_exceeded():
    found = advise_cap(scenario(), Limits(wait="+50%"), trace=about_idle(),
                       policies=["block", "dvfs"])
    for choice in found.choices:
        given = scenario().model_dump(exclude_unset=True) | {
            "power": {"cap": choice.cap_w}, "policy": {"power": choice.policy}}
        run = wl.simulate(validate(given, "again"), trace=about_idle())
        assert run.time_above_cap_s == 0.0
        assert run.verify().sentences == []


def test_a_cap_that_a_run_exceeds_is_not_kept(monkeypatch):
    """Whatever is wrong with runs under caps below 2 kW, none of them is advised."""
    run_of = Plan.run

    def exceeding(plan):
        run = run_of(plan)
        exceeded = run.cap_w is not None and run.cap_w.at(0.0) < 2000.0
        return replace(run, time_above_cap_s=600.0) if exceeded else run

    monkeypatch.setattr(Plan, "run", exceeding)
    (choice,) = advise_cap(scenario(), Limits(wait="1d"), trace=trace(20),
                           policies=["dvfs"]).choices
    assert 2000.0 <= choice.cap_w < 2010.0
    assert choice.remark == "a little lower the run is above it for 600 s"
    assert all("cap" in each.broken for each in choice.tried if each.cap_w < 2000.0)


def test_a_lower_cap_that_keeps_the_limit_is_found_below_one_that_breaks_it():
    """Between 58 and 60 % of the peak the limit breaks; bisection alone ended above it."""
    jobs = wl.generate("lublin", seed=4, jobs=150, nodes=32)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    found = wl.advise_cap(jobs, slowdown="+20%", machine=machine, policies=["dvfs"], order="fcfs",
                          backfill="easy")
    (choice,) = found.choices
    assert choice.cap_w < 0.585 * found.peak_w
    assert choice.figures.slowdown <= 1.2 * found.free.slowdown
    assert choice.remark.startswith("not steadily")


def test_jobs_that_draw_less_than_idle_nodes_are_said_to():
    jobs = JobTable.build(submit_s=[0.0, 60.0], run_s=[600.0, 600.0], requested_s=[600.0, 600.0],
                          procs=[4, 4], power_w=[200.0, 200.0])
    with pytest.raises(InputError, match=r"no more than idle nodes do .* jobs draw less than idle"):
        advise_cap(scenario(), Limits(wait="+10%"), trace=Trace(jobs))


def test_a_class_of_policies_is_not_one_of_them():
    with pytest.raises(InputError, match=r"is the class Dvfs; give an object of it: Dvfs\(\)"):
        advise_cap(scenario(), Limits(wait="+10%"), policies=[wl.Dvfs], trace=trace())


def test_a_looser_limit_never_asks_for_a_higher_cap():
    caps = [advise_cap(scenario(), Limits(wait=f"+{share}%"), policies=["block"],
                       trace=trace()).choices[0].cap_w for share in (5, 50, 500)]
    assert caps == sorted(caps, reverse=True)


@pytest.mark.parametrize(
    "bad", [{}, {"wait": "+x%"}, {"wait": "-5"}, {"wait": "1h", "refused": -1}])
def test_limits_that_say_nothing_are_refused(bad):
    with pytest.raises(InputError):
        Limits(**bad)


def test_the_command_prints_every_policy(tmp_path):
    log = tmp_path / "log.csv"
    jobs = trace(12).jobs
    log.write_text("job_id,submit_s,run_s,requested_s,procs\n" + "".join(
        f"{i},{jobs.submit_s[i]},{jobs.run_s[i]},{jobs.requested_s[i]},{jobs.procs[i]}\n"
        for i in range(len(jobs))))
    picture = tmp_path / "caps.svg"
    done = CliRunner().invoke(cli, ["advise", "cap", "--trace", str(log), "--nodes", "10",
                                    "--wait", "+20%", "--plot", str(picture), "--json"])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output[done.output.index("{"):])
    assert set(answer["policies"]) == {"block", "wait", "dvfs", "watts", "adaptive"}
    for each in answer["policies"].values():
        assert each["share_of_peak"] == pytest.approx(each["cap_w"] / answer["peak_w"])
        assert each["wait_ratio"] <= 1.2 + 1e-9
    assert answer["wanted"].startswith("an operator wants watts where jobs cannot be slowed down")
    assert picture.read_text().startswith("<?xml")


def test_a_limit_below_the_free_run_is_kept_by_low_caps_alone():
    """Energy falls with the cap: the peak breaks the limit, and lower caps keep it."""
    found = advise_cap(scenario(), Limits(energy="-3%"), policies=["dvfs"], trace=trace())
    (choice,) = found.choices
    assert choice.figures.energy_j <= 0.97 * found.free.energy_j
    assert choice.cap_w < found.peak_w
    assert choice.remark.startswith("only up to a cap")
    never = advise_cap(scenario(), Limits(energy="-99%"), policies=["dvfs"], trace=trace())
    assert never.choices[0].cap_w is None
    assert never.choices[0].remark.startswith("none of 33 caps that were tried keeps it: at the ")


@pytest.mark.parametrize(("low_w", "high_w"), [
    (300.0, 500.0), (450.0, 520.0), (740.0, 760.0), (980.0, 999.0), (0.0, 2.0)])
def test_a_narrow_range_of_caps_that_keep_a_limit_is_found(low_w, high_w):
    """The peak breaks it; a range as wide as a step of the last steps has one of them in it."""
    class Narrow(_Search):
        def __init__(self):
            self.policy, self.tried = "wait", []

        def keeps(self, cap_w):
            figures = Figures(1.0, 1.0, 1.0, 0)
            self.tried.append(Tried(
                cap_w, figures, () if low_w <= cap_w <= high_w else ("wait",), 0.0))
            return self.tried[-1]

    search = Narrow()
    choice = search.find(0.0, 1000.0, 0.002)
    if high_w - low_w >= 1000 / 32 or low_w == 0.0 or low_w < 750 < high_w:
        assert low_w <= choice.cap_w <= low_w + 2.0
    else:
        assert choice.cap_w is None
        assert len(search.tried) == 33
        assert choice.remark.startswith("none of 33 caps that were tried keeps it")
    assert len({each.cap_w for each in search.tried}) == len(search.tried)


@pytest.mark.parametrize("seed", [0, *(
    pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
@pytest.mark.parametrize("policy", ["adaptive", "dvfs"])
def test_where_a_cap_above_the_answer_breaks_the_limit_the_nearest_is_said(policy, seed):
    found = advise_cap(scenario(), Limits(wait="+15%"), policies=policy, trace=trace(seed=seed))
    (choice,) = found.choices
    above = [each for each in choice.tried if each.cap_w > choice.cap_w]
    assert len(above) >= 7 * (choice.cap_w < found.peak_w)
    broken = [each for each in above if not each.kept]
    assert choice.remark.startswith("not steadily") == bool(broken)
    if broken:
        assert f"at {broken[0].cap_w:,.0f} W" in choice.remark


def test_limits_are_numbers_and_policies_are_names_or_objects():
    given = {"trace": trace(12), "wait": 300, "tolerance": 0.05}
    names = [advise_cap(scenario(), policies=policies, **given).choices[0].cap_w
             for policies in ("dvfs", ["dvfs"], [wl.Dvfs()], wl.Dvfs(), ["dvfs", "dvfs"])]
    assert len(set(names)) == 1
    assert advise_cap(scenario(), policies="dvfs", **(given | {"wait": "5m"})).choices[
        0].cap_w == names[0]
    other = advise_cap(scenario(), policies=[wl.Dvfs(latency_s=900)], **given)
    assert other.choices[0].cap_w != names[0]
    with pytest.raises(InputError, match="the cap is what is looked for"):
        advise_cap(scenario(), policies=[wl.Dvfs(cap="80%")], **given)
    with pytest.raises(InputError, match="no power policy is named"):
        advise_cap(scenario(), policies=[], **given)


@pytest.mark.parametrize(("given", "like"), [
    ({"wait": "+10"}, r"'\+10' has no percent sign; write \+10%"),
    ({"slowdown": "+1"}, r"write \+1%"), ({"energy": "+0.5"}, r"write \+0.5%"),
    ({"wait": "+10min"}, r"write \+10%")])
def test_more_than_without_a_cap_needs_its_percent_sign(given, like):
    with pytest.raises(InputError, match=like):
        Limits(**given)


def test_a_limit_that_nobody_gave_is_never_broken():
    from wattline.advice.limits import Figures, broken

    no_job_ran = Figures(wait_s=float("nan"), slowdown=float("nan"), energy_j=1.0, refused=3)
    limit = Limits(wait="+10%").resolve(Figures(1.0, 1.0, 1.0, 0))
    assert broken(no_job_ran, limit) == ("wait", "refused")


def small(**given):
    machine = wl.Machine(nodes=10, node_idle_w=100, node_active_w=300)
    asked = {"wait": "+50%", "policies": "block", "machine": machine, "tolerance": 0.1, **given}
    return advise_cap(trace(), **asked)


def test_policies_are_taken_as_simulate_takes_them():
    by_name, by_object = small(order="sjf", backfill="none"), small(order=wl.Sjf(), backfill="none")
    assert by_name.free == by_object.free != small().free
    one = small(policies=("block", "wait", "dvfs", "watts", "adaptive")[:1])
    assert [each.policy for each in one.choices] == ["block"]


def test_a_setting_of_a_power_policy_is_not_called_unused():
    assert not any("has no effect" in line for line in small(policies="dvfs", power__beta=0.4)
                   .remarks)


@pytest.mark.parametrize(("given", "words"), [
    ({"power__cap": 2000}, "power__cap: the cap is what is looked for"),
    ({"watch_cap": 2000}, "watch_cap: the cap is what is looked for"),
    ({"limits": Limits(wait="1h")}, "limits are given as Limits and as wait"),
    ({"tolerance": 0}, "tolerance is 0"), ({"tolerance": -1}, "tolerance is -1"),
    ({"power": "wait"}, "as power and as policies"),
    ({"nonsense": 1}, r"advise_cap\(\)"),
])
def test_what_cannot_be_asked_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        small(**given)


def test_that_every_job_runs_is_a_limit_by_itself():
    found = small(wait=None, refused=0)
    (choice,) = found.choices
    assert choice.figures.refused == 0
    assert choice.cap_w < found.peak_w
    assert small(wait=None, refused=8).choices[0].cap_w < choice.cap_w
    assert found.to_dict()["limits"]["refused"] in (0, "0")


def test_the_remarks_say_that_figures_are_of_the_jobs_that_are_left():
    found = small(wait=None, refused=8)
    assert found.choices[0].figures.refused > 0
    assert any("the jobs that are left" in line for line in found.remarks)


def test_reserved_watts_count_under_every_cap_that_is_tried():
    made = scenario().model_dump() | {"reservations": [
        {"start_s": 0.0, "duration_s": 1280.0, "watts": 800.0}]}
    found = advise_cap(validate(made, "small"), Limits(wait="+200%"), policies=["block"],
                       trace=trace())
    assert [line for line in found.remarks if "no effect" in line] == []
    free = advise_cap(scenario(), Limits(wait="+200%"), policies=["block"], trace=trace())
    assert found.choices[0].cap_w > free.choices[0].cap_w


@pytest.mark.parametrize(("limits", "said"), [
    ({"wait": "30"}, "wait 30 s"), ({"wait": 30}, "wait 30 s"), ({"energy": "3e9"}, "energy 3e9 J"),
    ({"slowdown": "4"}, "slowdown 4"), ({"wait": "+10%"}, "wait +10%"),
    ({"energy": "2GWh"}, "energy 2GWh")])
def test_a_bare_number_is_shown_with_its_unit(limits, said):
    shown = Limits(**limits).described()
    assert [f"{name} {text}" for name, text in shown.items()] == [said, "refused 0"]


def _twin(folder):
    (folder / "slurm.conf").write_text(
        "ClusterName=two\nNodeName=n[1-2] CPUs=8 RealMemory=8000\n"
        "PartitionName=all Nodes=n[1-2] Default=YES MaxTime=60\n")
    (folder / "log.events").write_text("".join(
        f"-dt {10 * at} -e submit_batch_job | -J j_{at} -n 8 -t 10 -sim-walltime 100 x.sh\n"
        for at in range(1, 5)))
    wl.make_twin(folder / "slurm.conf", events=folder / "log.events", out=folder / "twin.toml")
    return str(folder / "twin.toml")


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_policies_that_do_not_go_with_shared_nodes_are_left_out_by_name(tmp_path):
    twin = _twin(tmp_path)
    found = wl.advise_cap(twin, wait="+300%")
    assert [choice.policy for choice in found.choices] == ["block"]
    assert found.choices[0].cap_w is not None
    assert list(found.left_out) == ["wait", "dvfs", "watts", "adaptive"]
    assert "sets jobs of whole nodes aside" in found.left_out["wait"]
    shown = CliRunner().invoke(cli, ["advise", "cap", twin, "--wait", "+300%"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("note: left out: ") == 4
    assert columns(shown.output, "power policy", "cap", "mean wait", "wait ratio", "energy ratio",
                   "never run", "remark") == [
        ("block", "232 W", "2.27 min", "3.304", "1.571", "0", "a little lower 4 jobs never run")]
    assert columns(shown.output, "of peak") == [(f"{232 / found.peak_w:.1%}",)]
    told = json.loads(CliRunner().invoke(
        cli, ["advise", "cap", twin, "--wait", "+300%", "--json"]).stdout)
    assert (list(told["policies"]), list(told["left_out"])) == (["block"], list(found.left_out))
    assert (told["wanted"], "an operator wants" in shown.output) == ("", False)


def test_which_policy_an_operator_wants_is_said_where_a_published_one_is_among_several():
    machine = wl.Machine(nodes=10, node_idle_w=100, node_active_w=300)
    several = wl.advise_cap(trace(12), wait="+20%", machine=machine, policies=["watts", "block"])
    assert several.wanted in several._repr_html_()
    assert several.to_dict()["wanted"] == several.wanted != ""
    one = wl.advise_cap(trace(12), wait="+20%", machine=machine, policies=["block"])
    assert one.to_dict()["wanted"] == ""


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("named", [["wait"], ["block", "wait"], ["watts", "block"]])
def test_a_policy_asked_for_by_name_is_refused_before_anything_runs(tmp_path, monkeypatch, named):
    twin = _twin(tmp_path)
    monkeypatch.setattr("wattline.scenario.build.Plan.run", lambda self: pytest.fail("it ran"))
    with pytest.raises(InputError, match=r"policy\.power"):
        wl.advise_cap(twin, wait="+300%", policies=named)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_what_one_policy_found_is_kept_where_another_fails_later(monkeypatch):
    find = _Search.find

    def fails(self, *given):
        if self.policy == "wait":
            raise InputError("small: it fails in the middle")
        return find(self, *given)

    monkeypatch.setattr(_Search, "find", fails)
    found = advise_cap(scenario(), Limits(wait="+50%"), policies=["block", "wait"],
                       trace=trace(10))
    assert [choice.policy for choice in found.choices] == ["block"]
    assert dict(found.left_out) == {"wait": "it fails in the middle"}
