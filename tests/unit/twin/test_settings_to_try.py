"""Settings of slurm.conf to try: what they change is said, and nothing else is changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.model.errors import InputError
from wattline.scenario.twin.site import Site

LINE = "SchedulerParameters=bf_continue,bf_interval=60,bf_max_job_user=7,default_queue_depth=9"
CONF = f"""\
PriorityWeightAge=1000
{LINE}
NodeName=n[1-2] CPUs=8 RealMemory=16000
PartitionName=batch Nodes=ALL Default=YES DefMemPerCPU=100
"""


def _site(folder: Path, conf: str = CONF, **settings: str | float) -> Site:
    return site(folder, submit("-n 1"), conf, None, settings=settings)


def _tried(found: Site) -> list[str]:
    return [line for line in found.lists.assumed if line.startswith("twin.settings: ")]


@pytest.mark.parametrize(("change", "field", "value", "said"), [
    ("bf_interval=5", "bf_interval_s", 5.0, "bf_interval=5, instead of bf_interval=60"),
    ("BF_INTERVAL=5", "bf_interval_s", 5.0, "BF_INTERVAL=5, instead of bf_interval=60"),
    ("bf_max_job_part=3", "bf_max_job_part", 3, "bf_max_job_part=3, which slurm.conf does not set"),
    ("-bf_continue", "bf_continue", False, "without bf_continue"),
    ("-bf_max_job_user", "bf_max_job_user", 0, "without bf_max_job_user=7"),
    ("-bf_max_job_user=7", "bf_max_job_user", 0, "without bf_max_job_user=7"),
])
def test_an_option_of_the_scheduler_is_changed_alone(
    tmp_path: Path, change: str, field: str, value: float, said: str,
) -> None:
    before, found = _site(tmp_path), _site(tmp_path, SchedulerParameters=change)
    times = ({} if field != "bf_interval_s" else {"bf_max_time_s": 5.0})  # as long as the interval
    assert found.rules == replace(before.rules, **{field: value}, **times)
    (line,) = _tried(found)
    assert line.startswith(f"twin.settings: SchedulerParameters {said}")
    assert ("slurm.conf:2)" in line) == ("does not set" not in line)


def test_several_options_are_changed_at_once(tmp_path: Path) -> None:
    found = _site(tmp_path, SchedulerParameters="bf_interval=5,-bf_continue, bf_window=60")
    rules = found.rules
    assert (rules.bf_interval_s, rules.bf_continue, rules.bf_window_s) == (5.0, False, 3600.0)
    assert (rules.bf_max_job_user, rules.default_queue_depth) == (7, 9)
    assert len(_tried(found)) == 3


@pytest.mark.parametrize("conf", [CONF, CONF.replace(LINE + "\n", "")])
def test_an_option_that_is_not_there_cannot_be_taken_away(tmp_path: Path, conf: str) -> None:
    with pytest.raises(InputError, match="SchedulerParameters has no bf_licenses to take away"):
        _site(tmp_path, conf, SchedulerParameters="-bf_licenses")


def test_options_of_a_site_without_any_are_those_to_try(tmp_path: Path) -> None:
    bare = CONF.replace(LINE + "\n", "")
    found = _site(tmp_path, bare, SchedulerParameters="bf_interval=60")
    assert found.rules == _site(
        tmp_path, bare + "SchedulerParameters=bf_interval=60\n").rules


def test_what_another_setting_replaces_is_said(tmp_path: Path) -> None:
    found = _site(tmp_path, PriorityWeightAge=0, KillWait=7, FooBar=3)
    assert _tried(found) == [
        f"twin.settings: PriorityWeightAge=0, instead of 1000 ({tmp_path / 'slurm.conf'}:1)",
        "twin.settings: KillWait=7, which slurm.conf does not set",
        "twin.settings: FooBar=3, which slurm.conf does not set"]
    assert "twin.settings: FooBar=3" in found.lists.unknown
    assert _tried(_site(tmp_path)) == []


@pytest.mark.parametrize("tried", [False, True])
@pytest.mark.parametrize(("counted", "said"), [
    ("CR_Core_Memory", "memory counts"), ("CR_CPU", "memory does not count"),
    ("CR_Memory", ""), ("CR_ONE_TASK_PER_CORE,CR_Memory", ""), ("", "")])
def test_linear_takes_few_words(tmp_path: Path, counted: str, said: str, tried: bool) -> None:
    conf = f"SelectTypeParameters={counted}\n{CONF}" if counted else CONF
    linear = {"SelectType": "select/linear"}
    found = _site(tmp_path, conf, **linear) if tried else _site(
        tmp_path, f"SelectType=select/linear\n{conf}")
    lines = [line for line in found.lists.contradictions if "select/linear" in line]
    assert len(lines) == bool(said)
    assert not lines or lines[0].endswith(said)


def test_keys_are_as_written(tmp_path: Path) -> None:
    conf = ("FooBar=3\nPreemptExemptTime=00:02:00\npriorityWEIGHTage=4\n" + CONF.replace(
        "RealMemory=16000", "RealMemory=16000 CpuSpecList=1 OddKey=3").replace(
        "Default=YES", "Default=YES AllowGroups=few FooBaz=2"))
    found = _site(tmp_path, conf)
    file = tmp_path / "slurm.conf"
    assert found.lists.unknown == (f"{file}:1: FooBar=3",
                                   f"{file}:7: FooBaz=2 of partition 'batch'")
    assert [line.rpartition(": ")[0] for line in found.lists.not_modelled] == [
        f"{file}:2: PreemptExemptTime=00:02:00", f"{file}:6: CpuSpecList=1",
        f"{file}:7: AllowGroups=few of partition 'batch'"]
    assert any(f"{file}:6: nothing is done with OddKey of a node" in line
               for line in found.lists.contradictions)
    assert any("PriorityWeightAge again" in line for line in found.lists.contradictions)


@pytest.mark.parametrize(("key", "value"), [
    ("MaxTime", "abc"), ("DefaultTime", "abc"), ("PriorityTier", "x"), ("MaxNodes", "x")])
def test_a_bad_value_of_a_partition_names_its_key_as_written(
    tmp_path: Path, key: str, value: str,
) -> None:
    with pytest.raises(InputError) as error:
        _site(tmp_path, CONF.replace("Default=YES", f"Default=YES {key}={value}"))
    assert f"slurm.conf:4: {key}" in str(error.value)
