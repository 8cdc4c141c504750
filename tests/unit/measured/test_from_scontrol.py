"""Power of nodes by `scontrol show node`."""

import json

import pytest
from tests.shared_data import shared

from wattline.account.measured.from_scontrol import NO_SENSOR
from wattline.account.measured.importing import read_source
from wattline.account.measured.records import Kind
from wattline.model.errors import InputError

LINE = ("NodeName=n01 Arch=x86_64 CPUTot=8 State=IDLE CapWatts=n/a CurrentWatts=26 "
        "LowestJoules=3 ConsumedJoules=14455238 ExtSensorsJoules=n/s\n"
        "NodeName=n02 CPUTot=8 CurrentWatts=n/s LowestJoules=n/s ConsumedJoules=n/s\n")
JSON = json.dumps({"nodes": [{"name": "n01", "energy": {
    "consumed_energy": {"set": True, "number": 14455238}, "current_watts": {"set": True,
                                                                            "number": 26},
    "last_collected": 1_790_000_000}}, {"name": "n02", "energy": {
        "consumed_energy": 0, "current_watts": {"set": False}, "last_collected": 1}}]})


@pytest.mark.parametrize("text", [LINE, LINE.replace(" ", "\n   "), JSON])
def test_each_node_gives_its_counter_and_its_watts(tmp_path, text):
    path = tmp_path / "nodes"
    path.write_text(text)
    at = "" if text is JSON else "2026-09-21T14:13:20Z"
    found = read_source(path, cluster="c", at=at)
    assert [(s.entity, s.kind, s.time_s.tolist(), s.value.tolist()) for s in found.series] == [
        ("n01", Kind.JOULES, [1_790_000_000.0], [14455238.0]),
        ("n01", Kind.WATTS, [1_790_000_000.0], [26.0])]
    assert found.skipped == {NO_SENSOR: 1}


def test_a_text_needs_the_time_at_which_it_was_taken(tmp_path):
    path = tmp_path / "nodes"
    path.write_text(LINE)
    with pytest.raises(InputError, match="does not say when it was asked; say so with at"):
        read_source(path)
    with pytest.raises(InputError, match="'tomorrow' is no time"):
        read_source(path, at="tomorrow")


def test_a_public_dump_of_151_nodes():
    path = shared("fixtures/slurm/argo_scontrol_show_node_energy.csv.xz")
    found = read_source(path, at="2020-03-13T15:55", zone="Europe/Athens")
    counters = {s.entity: s.value[0] for s in found.series if s.kind == Kind.JOULES}
    assert counters["gpu01"] == 14455238.0
    assert len(counters) + found.skipped[NO_SENSOR] == 151
