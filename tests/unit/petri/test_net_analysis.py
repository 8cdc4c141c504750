"""States, bounds, dead ends and invariants of nets that are small enough."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.printed import columns

import wattline as wl
from wattline.cli.main import cli
from wattline.model.errors import InputError, WattlineWarning

PHILOSOPHERS = """
[places]
fork1 = { count = 1 }
fork2 = { count = 1 }
thinks1 = { count = 1 }
thinks2 = { count = 1 }
holds1 = {}
holds2 = {}
[[transition]]
name = "left1"
take = ["fork1", "thinks1"]
put = ["holds1"]
[[transition]]
name = "left2"
take = ["fork2", "thinks2"]
put = ["holds2"]
[[transition]]
name = "eat1"
take = ["fork2", "holds1"]
put = ["fork1", "fork2", "thinks1"]
[[transition]]
name = "eat2"
take = ["fork1", "holds2"]
put = ["fork1", "fork2", "thinks2"]
"""
GROWING = """
[places]
seed = { count = 1 }
crop = {}
[[transition]]
name = "grow"
test = ["seed"]
put = ["crop"]
"""


def written(folder: Path, text: str) -> str:
    path = folder / "net.toml"
    path.write_text(text)
    return str(path)


def test_as_many_states_as_are_looked_at_are_all_of_them(tmp_path: Path) -> None:
    path = written(tmp_path, PHILOSOPHERS)
    assert wl.analyse_net(path, states=4).complete
    with pytest.warns(WattlineWarning, match="more than 3 states"):
        assert not wl.analyse_net(path, states=3).complete


def test_two_philosophers_with_a_fork_each_are_stuck(tmp_path: Path) -> None:
    found = wl.analyse_net(written(tmp_path, PHILOSOPHERS))
    assert (found.states, found.complete, found.bounded) == (4, True, True)
    assert found.can_get_stuck is True
    assert found.dead_end is not None
    assert found.dead_end.tokens == {"holds1": 1, "holds2": 1}
    assert set(found.dead_end.way) == {"left1", "left2"}
    assert ({"fork1": 1, "holds1": 1}, 1) in found.place_invariants
    assert ({"thinks2": 1, "holds2": 1}, 1) in found.place_invariants
    assert {"left1": 1, "eat1": 1} in found.transition_invariants
    assert found.never_fired == ()


def test_a_net_that_grows_for_ever_is_found_out(tmp_path: Path) -> None:
    with pytest.warns(WattlineWarning, match="grows without an end"):
        found = wl.analyse_net(written(tmp_path, GROWING))
    assert (found.bounded, found.unbounded, found.can_get_stuck) == (False, ("crop",), None)
    assert any("grow leads from (seed 1) to (seed 1, crop 1)" in line for line in found.remarks)


def test_a_net_that_grows_is_looked_at_up_to_the_limit(tmp_path: Path) -> None:
    path = written(tmp_path, GROWING)
    with pytest.warns(WattlineWarning, match="more than 50 states"):
        found = wl.analyse_net(path, states=50, reach={"crop": 49})
    assert (found.states, found.bounds["crop"], found.reached) == (50, 49, ("grow",) * 49)
    with pytest.warns(WattlineWarning, match="may be beyond"):
        assert wl.analyse_net(path, states=50, reach={"crop": 50}).reached is None


SEVERAL = """
[places]
seed = { count = 1 }
crop = {}
bread = {}
waste = {}
dead = { count = 1 }
[[transition]]
name = "grow"
test = ["seed"]
put = [{ place = "crop", weight = 2 }]
[[transition]]
name = "bake"
take = [{ place = "crop", weight = 3 }]
put = ["bread"]
[[transition]]
name = "spoil"
take = ["bread"]
put = [{ place = "waste", weight = 2 }]
[[transition]]
name = "frost"
take = ["seed", "dead"]
"""


def test_every_place_that_is_seen_to_grow_is_named(tmp_path: Path) -> None:
    with pytest.warns(WattlineWarning, match="grows without an end"):
        found = wl.analyse_net(written(tmp_path, SEVERAL), states=500,
                               reach={"seed": 0, "crop": 0, "bread": 0, "waste": 4})
    assert set(found.unbounded) == {"crop", "bread", "waste"}
    assert (found.states, found.never_fired, found.can_get_stuck) == (500, (), True)
    # Three times two crops make two loaves, which spoil; then the frost.
    assert found.reached is not None
    assert sorted(found.reached) == ["bake"] * 2 + ["frost"] + ["grow"] * 3 + ["spoil"] * 2


ABSENT = """
[places]
seed = { count = 1 }
crop = {}
full = {}
[[transition]]
name = "grow"
test = ["seed"]
put = ["crop"]
absent = ["full"]
[[transition]]
name = "fill"
take = [{ place = "crop", weight = 3 }]
put = ["full"]
"""


@pytest.mark.parametrize(("priority", "states", "bounded"), [
    # It always grows on, but no two states show that. Filled at once, it ends at three crops.
    (0, 10, None), (0, 60, None), (-1, 3, None), (-1, 10, True)])
def test_what_inhibitor_arcs_forbid_is_not_taken_for_growth(
    tmp_path: Path, priority: int, states: int, bounded: bool | None
) -> None:
    net = written(tmp_path, f"{ABSENT}priority = {priority}\n")
    if bounded:
        found = wl.analyse_net(net, states=states)
        assert (found.bounds["crop"], found.states, found.remarks) == (3, 5, ())
    else:
        with pytest.warns(WattlineWarning, match="inhibitor arcs more tokens may forbid"):
            found = wl.analyse_net(net, states=states)
    assert (found.bounded, found.unbounded) == (bounded, ())


@pytest.mark.parametrize(("change", "what"), [
    ('absent = ["full"]', "inhibitor arcs"), ('take_all = ["full"]', "arcs that take all tokens"),
    ('guard = "True"', "guards"), ("priority = 2", "priorities")])
def test_what_leaves_growth_unknown_is_named(tmp_path: Path, change: str, what: str) -> None:
    net = written(tmp_path, ABSENT.replace('absent = ["full"]', change))
    with pytest.warns(WattlineWarning, match=f"not known: with {what} more tokens may forbid"):
        assert wl.analyse_net(net, states=20).bounded is None


def test_what_lies_beyond_the_states_looked_at_is_not_known(tmp_path: Path) -> None:
    big = GROWING.replace('test = ["seed"]', 'take = ["seed"]').replace("count = 1", "count = 99")
    with pytest.warns(WattlineWarning, match="more than 10 states"):
        found = wl.analyse_net(written(tmp_path, big), states=10, reach={"crop": 99})
    assert (found.bounded, found.can_get_stuck, found.reached) == (None, None, None)
    assert any("may be beyond" in line for line in found.remarks)
    whole = wl.analyse_net(written(tmp_path, big), reach={"crop": 99})
    assert (whole.states, whole.bounds["crop"]) == (100, 99)
    assert whole.reached == ("grow",) * 99
    assert whole.place_invariants == (({"seed": 1, "crop": 1}, 99),)


def test_colours_time_and_weights_of_the_small_cluster_count() -> None:
    with pytest.warns(WattlineWarning, match="no invariant can count Nodes"):
        found = wl.analyse_net("cluster", reach={"Running": 3})
    # 2 + 3 + 4 nodes do not fit on six, so three jobs never run together.
    assert found.complete
    assert found.reached is None
    assert found.bounds == {"Jobs": 3, "Nodes": 6, "Running": 2, "Done": 3}
    assert found.place_invariants == (({"Jobs": 1, "Running": 1, "Done": 1}, 3),)


def test_puppet_ends_with_every_job_done_and_never_holds_two_passes() -> None:
    with pytest.warns(WattlineWarning, match="taken to put one token"):
        found = wl.analyse_net("puppet")
    assert found.complete
    assert found.dead_end is not None
    assert found.dead_end.tokens["Batch scheduling/Done"] == 8
    assert found.dead_end.tokens["Nodes"] == 8
    assert (found.bounds["Pass"], found.bounds["Queuing"], found.bounds["Power"]) == (1, 1, 1)


def test_the_command_says_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, PHILOSOPHERS)
    result = CliRunner().invoke(cli, ["petri", "analyse", path, "--reach", "holds1=1"])
    assert "can get stuck: yes (1 state " in result.output
    assert "after 1 firing: left1" in result.output
    assert columns(result.output, "place", "most tokens") == [(name, "1") for name in (
        "fork1", "fork2", "thinks1", "thinks2", "holds1", "holds2")]
    told = json.loads(CliRunner().invoke(cli, ["petri", "analyse", path, "--json"]).output)
    assert told["dead_states"] == 1
    with pytest.raises(InputError, match=r"like Done=3"):
        CliRunner().invoke(cli, ["petri", "analyse", path, "--reach", "holds1"],
                           catch_exceptions=False, standalone_mode=False)
