"""The needs of a load are said before it begins, and refused where it is not there."""

from __future__ import annotations

import json

import pytest

from wattline.cli.main import main
from wattline.model.errors import InputError
from wattline.network import needs
from wattline.network.flows import flow_book
from wattline.network.load import load_exchange, measure_load
from wattline.network.packets import packet_book
from wattline.network.topology import dragonfly, torus

NETWORKS = (dragonfly(2, 4, 9), torus((4, 4, 4), 1))


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.kind)
@pytest.mark.parametrize("model", ["flow", "packet"])
@pytest.mark.parametrize("routing", ["minimal", "valiant", "adaptive", "ugal"])
def test_more_messages_never_take_less_memory(network, model, routing):
    book = (flow_book if model == "flow" else packet_book)(network, routing)
    needed = [needs.memory_needed(book, load_exchange(network, "uniform", messages), model)
              for messages in (1, 10, 50)]
    assert 0 < needed[0] <= needed[1] <= needed[2]


def test_ways_that_are_not_taken_take_no_memory():
    network = NETWORKS[1]
    exchange = load_exchange(network, "uniform", 50)
    minimal, all_ways = (needs.memory_needed(flow_book(network, routing), exchange, "flow")
                         for routing in ("minimal", "adaptive"))
    assert minimal < all_ways


@pytest.mark.parametrize("model", ["flow", "packet"])
def test_what_is_not_there_is_refused_before_it_begins(monkeypatch, model):
    monkeypatch.setattr(needs, "memory_free", lambda: 1e6)
    with pytest.raises(InputError, match=r"would take some 0\.2 GB of memory, and 0\.0 GB are"):
        measure_load(NETWORKS[0], model=model, messages=2)
    monkeypatch.setattr(needs, "memory_free", lambda: None)
    assert measure_load(NETWORKS[0], model=model, messages=2).throughput > 0


def test_the_system_says_what_it_has(tmp_path, monkeypatch):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
    monkeypatch.setattr(needs, "_MEMORY", file)
    assert needs.memory_free() == 2048 * 1024
    monkeypatch.setattr(needs, "_MEMORY", tmp_path / "none")
    assert needs.memory_free() is None


@pytest.mark.parametrize(("worth", "said"), [(0.0, True), (1e12, False)])
def test_the_command_says_it_beforehand(monkeypatch, capsys, tmp_path, worth, said):
    machine = tmp_path / "small.toml"
    machine.write_text('[network]\ntopology = "dragonfly"\ngroups = 9\n')
    monkeypatch.setattr(needs, "WORTH_SAYING_BYTES", worth)
    with pytest.raises(SystemExit) as caught:
        main(["network", "load", str(machine), "--messages", "1", "--pattern", "incast",
              "--model", "flow", "--json"])
    assert caught.value.code == 0
    told = capsys.readouterr()
    assert ("GB of memory" in told.err) == said
    assert json.loads(told.out)["messages_per_node"] == 1


@pytest.mark.parametrize("events", [1, 7, 10_000_000])
def test_packets_that_are_run_in_pieces_are_the_same(monkeypatch, events):
    from wattline.network import packets

    whole = measure_load(NETWORKS[0], "adversarial", messages=3)
    monkeypatch.setattr(packets, "EVENTS_A_CALL", events)
    told: list[float] = []
    assert measure_load(NETWORKS[0], "adversarial", messages=3, progress=told.append) == whole
    assert told == sorted(told)
    assert (len(told) > 100) == (events < 10)
    assert told[-1] == pytest.approx(0.9)


def test_flows_say_how_far_they_are():
    told: list[float] = []
    measure_load(NETWORKS[0], model="flow", messages=2, progress=told.append)
    assert len(told) >= 3
    assert told == sorted(told)
