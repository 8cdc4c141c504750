"""A sweep file, and the points that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.scenario.build import read_trace
from wattline.sweeps.axes import Axis, Interval, read_axis
from wattline.sweeps.point import points_of
from wattline.sweeps.space import read_space

LUBLIN = {"trace": {"generate": "lublin", "jobs": 5}, "machine": {"nodes": 32}}


def space(**more: object) -> object:
    return read_space({"scenario": LUBLIN, **more})


@pytest.mark.parametrize(("given", "values"), [
    ([1, "b"], (1, "b")),
    ({"from": 1, "to": 4, "step": 1}, (1, 2, 3, 4)),
    ({"from": 0.1, "to": 0.5, "step": 0.1}, (0.1, 0.2, 0.3, 0.4, 0.5)),
    ({"from": 0, "to": 1, "count": 3}, (0.0, 0.5, 1.0)),
    ({"from": 1, "to": 2, "step": 0.4}, (1.0, 1.4, 1.8)),
])
def test_an_axis_is_a_list_or_a_range(given: object, values: tuple[object, ...]) -> None:
    assert read_axis("a.b", given) == Axis("a.b", values)


def test_a_range_without_a_step_is_for_a_search() -> None:
    assert read_axis("a", {"from": 1, "to": 4}) == Interval("a", 1.0, 4.0, True)
    with pytest.raises(InputError, match="give step or count"):
        list(space(axes={"machine.nodes": {"from": 1, "to": 4}}).settings())


@pytest.mark.parametrize("given", [
    [], "90%", 5, {"from": 2, "to": 1, "step": 1}, {"from": 1, "to": 2, "step": 0},
    {"from": 1, "to": 2, "stop": 3}, {"from": 1, "step": 1}, {"from": "a", "to": 2, "step": 1},
    {"from": 0, "to": 1, "step": 1e-9}, {"from": 1, "to": 2, "step": 1, "count": 2},
])
def test_an_axis_that_makes_no_sense_is_named(given: object) -> None:
    with pytest.raises(InputError, match=r"axes: .*nodes"):
        read_axis("machine.nodes", given)


def test_axes_are_crossed_and_groups_go_together() -> None:
    crossed = space(axes={"a": [1, 2], "b": [3, 4]})
    assert list(crossed.settings()) == [
        {"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}]
    zipped = space(axes={"a": [1, 2], "b": [3, 4], "c": [5, 6]}, zip=[["a", "b"]])
    assert list(zipped.settings()) == [
        {"a": 1, "b": 3, "c": 5}, {"a": 1, "b": 3, "c": 6},
        {"a": 2, "b": 4, "c": 5}, {"a": 2, "b": 4, "c": 6}]
    assert (crossed.size, zipped.size) == (4, 4)
    assert len(list(space(axes={"a": [1, 2], "b": [3, 4]}, zip=True).settings())) == 2


def test_every_setting_has_the_same_seeds() -> None:
    found = list(space(axes={"policy.order": ["fcfs", "sjf"]}, seeds=3).settings())
    assert [each["trace.seed"] for each in found] == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(("more", "said"), [
    ({"axes": {}}, "no \\[axes\\]"),
    ({"axes": {"a": [1]}, "seed": 3}, "no 'seed'"),
    ({"axes": {"a": [1], "b": [1, 2]}, "zip": True}, "as many values"),
    ({"axes": {"a": [1]}, "zip": [["a", "x"]]}, "'x' is no axis"),
    ({"axes": {"a": [1]}, "zip": 4}, "zip is true"),
    ({"axes": {"a": [1]}, "seeds": 0}, "seeds are a number"),
    ({"axes": {"a": [1], "zip": [["a", "b"]]}}, "zip is no axis; write it above"),
    ({"axes": {"a": [1], "seeds": 5}}, "seeds is no axis; write it above"),
    ({"axes": {"trace.seed": [1]}, "seeds": 2}, "given twice"),
    ({"axes": {"a": {"from": 1, "step": 1}}}, "begins at 1 and has no end"),
    ({"axes": {"a": {"from": 1, "to": 10**5, "step": 1}, "b": list(range(20))}},
     "2,000,000 points"),
])
def test_a_mistake_in_a_sweep_is_said(more: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        space(**more)


def test_seeds_of_a_log_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a log is what it is"):
        read_space({"scenario": {"trace": {"file": "log.swf"}}, "axes": {"machine.nodes": [1]},
                    "seeds": 3})


def test_files_along_an_axis_lie_beside_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "base.toml").write_text('[trace]\nfile = "own.swf"\n')
    (tmp_path / "sweep.toml").write_text(
        'scenario = "deep/base.toml"\n[axes]\n"trace.file" = ["a.swf", "b.swf"]\n')
    found = read_space(tmp_path / "sweep.toml")
    assert found.base["trace"]["file"] == str(tmp_path / "deep" / "own.swf")
    files = [found.fields(setting)["trace"]["file"] for setting in found.settings()]
    assert files == [str(tmp_path / "a.swf"), str(tmp_path / "b.swf")]


def test_equal_contents_have_equal_keys_whatever_they_are_called() -> None:
    keys = [next(points_of(read_space(
        {"name": name, "scenario": LUBLIN, "axes": {"machine.nodes": [nodes]}}))).key
        for name, nodes in (("one", 64), ("two", 64), ("one", 65))]
    assert keys[0] == keys[1] != keys[2]


def test_a_file_that_changes_changes_the_key(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    sweep = {"scenario": {"trace": {"file": str(log)}}, "axes": {"machine.nodes": [64]}}
    keys = []
    for text in ("one", "other"):
        log.write_text(text)
        keys.append(next(points_of(read_space(sweep))).key)
    assert keys[0] != keys[1]


def test_generated_jobs_are_the_same_on_machines_of_different_sizes() -> None:
    scenario = {"trace": {"generate": "lublin", "jobs": 20}, "machine": {"nodes": 32}}
    axes = {"machine.nodes": [32, 64]}
    small, large = (read_trace(point.scenario).jobs for point in points_of(
        read_space({"scenario": scenario, "axes": axes})) if point.scenario is not None)
    assert small.procs.tolist() == large.procs.tolist()
    assert small.submit_s.tolist() == large.submit_s.tolist()
    fitted = read_space({"scenario": {"trace": scenario["trace"]}, "axes": axes})
    assert "jobs of its own" in fitted.said[0]
    assert read_space({"scenario": scenario, "axes": {"policy.order": ["sjf"]}}).base["trace"] == (
        scenario["trace"])


def test_a_cap_that_is_watched_gives_way_to_one_that_is_varied() -> None:
    scenario = {"trace": {"generate": "lublin", "jobs": 20}, "machine": {"nodes": 32},
                "power": {"watch_cap": "80%"}}
    point, = points_of(read_space({"scenario": scenario, "axes": {"power.cap": ["70%"]}}))
    assert point.scenario is not None, point.error
    assert (point.scenario.power.cap, point.scenario.power.watch_cap) == ("70%", None)
    assert any("power.watch_cap 80% of the scenario is left out" in line for line in point.said)


def test_no_power_policy_that_is_asked_for_is_not_replaced() -> None:
    scenario = {"trace": {"generate": "lublin", "jobs": 20}, "machine": {"nodes": 32}}
    axes = {"power.cap": ["none", "70%"], "policy.power": ["none", "dvfs"]}
    errors = [point.error for point in points_of(read_space({"scenario": scenario, "axes": axes}))]
    assert [bool(error) for error in errors] == [False, False, True, False]
    assert "policy.power 'none' keeps no cap" in errors[2]
