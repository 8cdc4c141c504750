"""Arguments of a wrong type: one line says what would be right, whatever the function."""

from __future__ import annotations

import contextlib
import inspect
import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import wattline as wl

TINY = "examples/tiny.swf"
MACHINE = wl.Machine(nodes=16, node_idle_w=90, node_active_w=300)
FUNCTIONS = [name for name in wl.__all__ if inspect.isfunction(getattr(wl, name))]
WRONG = (None, 5, "x", [], object())
TAKES_LONG = {("bid", "None"), ("regulate", "None"), ("study_all", "[]")}
"""Right answers for which a test has no time."""
BESIDE = {
    "application": "CG.A", "cap": "70%", "duration": "1h", "energy": "1MWh", "job": 1,
    "machine": MACHINE, "node_power_max": 380, "node_power_min": 180, "nodes": 16,
    "power": "3500W", "size": 2, "speed_ratio": 0.27, "start": "2024-01-01",
    "vary": {"cap": ["70%"]}, "watts": "1kW"}
"""Arguments beside a wrong one where they are needed; anything else leads nowhere."""


def first_arguments(name: str) -> list[inspect.Parameter]:
    """Return those that stand without their names, and those that are needed."""
    return [each for each in inspect.signature(getattr(wl, name)).parameters.values()
            if each.kind in (each.POSITIONAL_OR_KEYWORD, each.VAR_POSITIONAL)
            or (each.kind is each.KEYWORD_ONLY and each.default is each.empty)]


def ask(name: str, argument: inspect.Parameter, value: Any) -> None:
    function = getattr(wl, name)
    if argument.kind is argument.VAR_POSITIONAL:
        function(value)
        return
    needed = {each.name: BESIDE.get(each.name, "nowhere") for each in first_arguments(name)
              if each.default is each.empty and each.kind is not each.VAR_POSITIONAL}
    function(**{**needed, argument.name: value})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_but_an_input_error_or_an_answer_comes_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for argument in first_arguments(name):
        for value in WRONG:
            if (name, str(value)) in TAKES_LONG:
                continue
            with (contextlib.suppress(wl.InputError), warnings.catch_warnings(),
                  contextlib.redirect_stdout(io.StringIO())):
                warnings.simplefilter("ignore")
                ask(name, argument, value)


def said(call: Any) -> str:
    with pytest.raises(wl.InputError) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(("call", "right"), [
    (lambda: wl.sweep(TINY, vary=[("a", 1)]),  # type: ignore[arg-type]
     """sweep(scenario, vary=): vary must be a dict, like {"name": 1} (it is [('a', 1)])"""),
    (lambda: wl.sweep(TINY, vary={5: [1]}), "vary must be a dict"),  # type: ignore[dict-item]
    (lambda: wl.open_run(5),  # type: ignore[arg-type]
     "open_run(folder): folder must be the name of a file or folder, in quotes (it is 5)"),
    (lambda: wl.account_run(5),  # type: ignore[arg-type]
     "run must be a wl.Run (wl.open_run(FOLDER) reads one) or the name of a file"),
    (lambda: wl.account_run("x", jobs=1001),  # type: ignore[arg-type]
     "jobs must be a list of whole numbers, like [1, 2] (it is 1001)"),
    (lambda: wl.configure("BT-MZ", None),  # type: ignore[arg-type]
     "power must be a number or a text, in quotes (it is None)"),
    (lambda: wl.configure("BT-MZ", 3500, devices="gpu=4"),
     'devices must be a list of texts, like ["a", "b"]'),
    (lambda: wl.predict("BT-MZ", nodes=16.5, cores=16, cap="115W"),  # type: ignore[arg-type]
     "nodes must be a whole number (it is 16.5)"),
    (lambda: wl.predict("BT-MZ", nodes=True, cores=16), "nodes must be a whole number (it is Tr"),
    (lambda: wl.compare_jobs(TINY, TINY, ("a", "b", "c")),  # type: ignore[arg-type]
     'names must be 2 texts, like ["a", "b"] (it is'),
    (lambda: wl.simulate(TINY, progress=5), "progress must be a function"),  # type: ignore
    (lambda: wl.simulate(TINY, machine=5), "machine is 5; write Machine(nodes=5)"),  # type: ignore
    (lambda: wl.plan_energy("1MWh", machine=5), "write Machine(nodes=5)"),  # type: ignore
    (lambda: wl.plan_energy("1MWh", machine="x"), "a Machine, not str"),  # type: ignore
    (lambda: wl.advise.job("EP.A", nodes="1"),  # type: ignore[arg-type]
     "advise_job(application, sources): nodes must be a whole number (it is '1')"),
    (lambda: wl.advise.cap(TINY, wait="+10%", policies=5),  # type: ignore[arg-type]
     'policies is 5; write a list of power policies, like ["block", "dvfs"]'),
    (lambda: wl.regulate(bid=(1, 2, 3)),
     "contract.bid: must be average power and reserve, like [8400, 3400] (it is [1, 2, 3])"),
    (lambda: wl.simulate(TINY, order=wl.Dvfs(cap="70%")),
     "order: Dvfs is a policy for power; write power=Dvfs(cap='70%')"),
])
def test_one_line_says_what_would_be_right(call: Any, right: str) -> None:
    assert right in said(call)


@pytest.mark.parametrize("method", ["save", "report"])
def test_so_do_the_methods_that_write_files(method: str) -> None:
    run = wl.simulate(TINY, machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300))
    assert f"{method}(folder" in said(lambda: getattr(run, method)(5))
    assert "save(path): path must be the name of a file" in said(
        lambda: run.plot.power().save(5))  # type: ignore[arg-type]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    exact = wl.predict("BT-MZ", nodes=16, cores=16, cap="115W")
    row = wl.predict("BT-MZ", nodes=16.0, cores=16, cap="115W")  # type: ignore[arg-type]
    assert row.time_s == exact.time_s


def test_a_table_of_prices_may_be_a_path(tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("time_s,Price (EUR/kWh)\n0,0.1\n3600,0.2\n")
    by_path = wl.advise.job("EP.A", price=prices)  # type: ignore[arg-type]
    assert by_path.options == wl.advise.job("EP.A", price=str(prices)).options


def test_a_name_as_the_source_of_a_job_is_a_table(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("app,frequency_ghz,time_s,energy_j\nX,1.2,190,30000\nX,2.4,115,31000\n")
    found = wl.advise.job("X", table)
    assert found.options == wl.advise_job("X", wl.Sources(table=str(table))).options
    assert "nowhere.csv: there is no such file" in said(lambda: wl.advise.job("X", "nowhere.csv"))


def test_a_function_is_the_same_wherever_it_is_asked_for() -> None:
    assert wl.advise.cap is wl.advise_cap
    assert wl.load_scenario is wl.load_scenario
    assert pickle.loads(pickle.dumps(wl.load_scenario)) is wl.load_scenario
