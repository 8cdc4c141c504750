"""`wattline power`: the seven figures, changes of a scenario file, and what is refused."""

import json

import pytest
from tests.support.commands import call, ok

from wattline.analysis.moment import nodes_off

SCENARIO = """
[trace]
generate = "esp2"
parameters = {nodes = 5040}
[machine]
classes = [{name = "n", count = 5040, idle_w = 112, active_w = 352, off_w = 14}]
[policy]
power = {name = "adaptive", strategy = "mix"}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    return path


def test_the_documents_figures(capsys):
    words = ("power", "show", "--nodes", 5040, "--node-idle-w", 112, "--node-active-w", 352)
    out = ok(capsys, *words)
    assert out.strip() == (
        "MinWatts=564480 CurrentWatts=564480 PowerCap=INFINITE PowerFloor=0 PowerChangeRate=0 "
        "AdjustedMaxWatts=1774080 MaxWatts=1774080")
    found = json.loads(ok(capsys, *words, "--json"))
    assert (found["MinWatts"], found["MaxWatts"], found["PowerCap"]) == (564480, 1774080, None)


def test_per_cent_are_of_what_the_machine_can_draw(scenario, capsys):
    ok(capsys, "power", "set", scenario, "--cap", "70%")
    ok(capsys, "power", "reserve", scenario, "--start", "1h", "--duration", "60", "--watts", "30%")
    show = json.loads(ok(capsys, "power", "show", scenario, "--at", "1h", "--json"))
    assert (show["PowerCap"], show["reservations"][0]["watts"]) == (1241856 - 532224, 532224)


def test_nodes_are_off_between_the_end_of_their_shutdown_and_their_boot():
    events = [(10, -4), (70, -4), (100, 3), (220, 3), (300, -2)]
    off = [nodes_off(events[:count], 60, 120) for count in range(6)]
    assert off == [0, 0, 4, 1, 1, 1]
    assert nodes_off([(10, -4), (10, -4)], 0, 0) == 4


def test_set_and_reserve_change_the_file(scenario, capsys):
    ok(capsys, "power", "set", scenario, "--cap", "1.4MW", "--floor", "600kW")
    ok(capsys, "power", "set", scenario, "--cap", "1.2MW", "--at", "2h")
    ok(capsys, "power", "reserve", scenario, "--start", "11m", "--duration", "16m", "--watts",
       "532224", "--name", "dinner")
    show = json.loads(ok(capsys, "power", "show", scenario, "--at", "12m", "--json"))
    assert show["PowerCap"] == 1.4e6 - 532224
    assert show["PowerFloor"] == 600e3
    assert show["reservations"][0]["name"] == "dinner"
    later = json.loads(ok(capsys, "power", "show", scenario, "--at", "3h", "--json"))
    assert later["PowerCap"] == 1.2e6


@pytest.mark.parametrize("word", ["none", "INFINITE"])
def test_a_cap_is_taken_away_by_name(scenario, capsys, word):
    ok(capsys, "power", "set", scenario, "--cap", "1.4MW")
    ok(capsys, "power", "set", scenario, "--cap", word)
    assert json.loads(ok(capsys, "power", "show", scenario, "--json"))["PowerCap"] is None
    ok(capsys, "power", "set", scenario, "--cap", "1.4MW")
    ok(capsys, "power", "set", scenario, "--cap", word, "--at", "2h")
    later = json.loads(ok(capsys, "power", "show", scenario, "--at", "3h", "--json"))
    assert later["PowerCap"] == later["MaxWatts"]


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("reserve", "--start", "1m", "--duration", "5m", "--watts", "1kW", "--now", "2m"), "past"),
        (("reserve", "--start", "1m", "--duration", "0", "--watts", "1kW"), "duration is 0"),
        (("reserve", "--start", "1m", "--duration", "5m", "--watts", "1.75MW"), "nodes off"),
        (("set", "--cap", "50kW"), "all its nodes off"),
        (("set", "--floor", "2MW"), "above what the machine can draw"),
        (("set",), "nothing to set"),
        (("set", "--cap", "lots"), "neither watts nor per cent"),
        (("set", "--cap", "0.7"), "may be a fraction, per cent or watts; write 70% of rated"),
        (("set", "--cap", "70%peak"), "there is no such run here; write per cent of rated power"),
        (("set", "--cap", "1MW", "--at", "1m", "--now", "5m"), "in the past"),
        (("set", "--cap", "500kW", "--floor", "600kW"), "below the floor"),
    ],
)
def test_refusals_leave_the_file_unchanged(scenario, capsys, argv, reason):
    verb, *options = argv
    status, _, err = call(capsys, "power", verb, scenario, *options)
    assert status == 2
    assert err.count("\n") == 1
    assert reason in err
    assert scenario.read_text() == SCENARIO


def test_a_reservation_below_the_floor_is_refused(scenario, capsys):
    ok(capsys, "power", "set", scenario, "--floor", "1.3MW")
    before = scenario.read_text()
    status, _, err = call(capsys, "power", "reserve", scenario, "--start", "1h", "--duration",
                          "1h", "--watts", "532224")
    assert status == 2
    assert "below the floor" in err
    assert scenario.read_text() == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('power = {name = "adaptive", strategy = "sleep"}', "strategy 'sleep' is unknown"),
        ('power = {name = "adaptive", cpu_freq = "fast"}', "'fast' is no frequency"),
        ('power = {name = "adaptive", colour = 1}', "no parameter"),
        ('power = {name = "budget"}', "a budget needs energy"),
        ('power = {name = "budget", energy = "1kWh"}', "draws idle"),
        ('placement = "claims"', "policy.configure = 'claims' too"),
        ('order = {name = "energy-share", half_life = 0}', "half_life"),
    ],
)
def test_scenarios_that_cannot_be_are_refused(tmp_path, capsys, change, reason):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO.replace('power = {name = "adaptive", strategy = "mix"}', change))
    status, _, err = call(capsys, "simulate", path, "--no-folder")
    assert status == 2
    assert reason in err


COMMENTED = """# Our machine, as bought.
name = "mine"  # not theirs

[trace]
generate = "esp2"
parameters = {nodes = 64}

[machine]
nodes = 64          # four racks
node_idle_w = 100
node_off_w = "10W"

CAP
[policy]
power = "adaptive"  # keeps the cap
"""


@pytest.mark.parametrize("cap", [
    "",
    "[power]  # limits\nalpha = 2.0\ncap = \"15kW\"  # of the contract\n",
    "[power.cap]\n# the contract\nwatts = \"15kW\"  # signed\nfloor_w = 900\n",
    "[power]\n[power.cap]\nwatts = 15e3\n"
    "[[power.cap.reservations]]\nstart = \"1h\"  # the crane\nduration = 60\nwatts = 1000\n",
    "[power]\ncap = {watts = \"15kW\"}  # inline\n",
])
def test_comments_and_untouched_lines_stay(tmp_path, capsys, cap):
    from wattline.scenario.load import load

    path = tmp_path / "s.toml"
    path.write_text(COMMENTED.replace("CAP\n", cap))
    before = path.read_text().splitlines()
    for words in (("reserve", path, "--start", "2h", "--duration", "10m", "--watts", "2kW"),
                  ("set", path, "--floor", "800W")):
        status, _, err = call(capsys, "power", *words)
        assert status == 0, err
    after = path.read_text().splitlines()
    lost = [line for line in before if line not in after]
    assert all("cap =" in line or "floor_w" in line for line in lost), lost
    found = load(path).power.cap
    assert found.floor_w == 800
    assert (found.reservations[-1].start_s, found.reservations[-1].watts) == (7200, 2000)
    assert len(found.reservations) == 1 + cap.count("the crane")
    assert found.watts == (15000 if cap else None)


def test_a_cap_in_dotted_keys_is_changed_too(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text("# a\npower.cap.watts = 9000  # y\ntrace.generate = 'esp2'\n"
                    "[machine]\nnodes = 64\n")
    assert call(capsys, "power", "reserve", path, "--start", "1h", "--duration", "1m",
                "--watts", "100W")[0] == 0
    assert path.read_text().splitlines() == [
        "# a", "power.cap.watts = 9000  # y",
        "power.cap.reservations = [{start_s = 3600.0, duration_s = 60.0, watts = 100.0}]",
        "trace.generate = 'esp2'", "[machine]", "nodes = 64",
    ]


def test_the_answer_says_what_the_machine_draws_off(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text(COMMENTED.replace("CAP\n", ""))
    status, _, err = call(capsys, "power", "set", path, "--cap", "600W")
    assert status == 2
    assert "below the 640 W that the machine draws with all its nodes off" in err
    status, out, _ = call(capsys, "power", "set", path, "--cap", "5kW")
    assert status == 0
    assert "draws 6,400 W idle and 640 W with all its nodes off" in out
    assert "5,000 W is below idle: only a policy that switches nodes off keeps it" in out
    found = json.loads(call(capsys, "power", "set", path, "--cap", "8kW", "--json")[1])
    assert (found["min_w"], found["off_w"]) == (6400, 640)


SHARED_CAP = COMMENTED.replace("CAP\n", "[power]\ncap = CAP\n")


@pytest.mark.parametrize("cap", ['"50%peak"', '"50%p99"'])
def test_a_cap_as_a_part_of_the_peak_is_worked_out(tmp_path, capsys, cap):
    path = tmp_path / "s.toml"
    path.write_text(SHARED_CAP.replace("CAP", cap).replace("node_idle_w = 100",
                                                           "node_idle_w = 10"))
    found = json.loads(ok(capsys, "power", "show", path, "--json"))
    assert 0.3 * found["MaxWatts"] < found["PowerCap"] <= 0.5 * found["MaxWatts"]
    ok(capsys, "power", "reserve", path, "--start", "1h", "--duration", "1h", "--watts", "100W")
    again = json.loads(ok(capsys, "power", "show", path, "--at", "1h", "--json"))
    assert again["PowerCap"] == pytest.approx(found["PowerCap"] - 100)


@pytest.mark.parametrize("cap", ['"50%"', '"70%peak"', '"cap.csv"', '"15kW"'])
def test_any_cap_can_be_replaced(tmp_path, capsys, cap):
    path = tmp_path / "s.toml"
    path.write_text(SHARED_CAP.replace("CAP", cap))
    (tmp_path / "cap.csv").write_text("time_s,watts\n0,15000\n3600,14000\n")
    ok(capsys, "power", "set", path, "--cap", "12kW")
    found = json.loads(ok(capsys, "power", "show", path, "--at", "2h", "--json"))
    assert found["PowerCap"] == 12000


def test_a_cap_in_a_file_is_shown_and_not_added_to(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text(SHARED_CAP.replace("CAP", '"cap.csv"'))
    (tmp_path / "cap.csv").write_text("time_s,watts\n0,15000\n3600,14000\n")
    shown = json.loads(ok(capsys, "power", "show", path, "--at", "2h", "--json"))
    assert shown["PowerCap"] == 14000
    status, _, err = call(capsys, "power", "set", path, "--floor", "9kW")
    assert (status, err.count("\n")) == (2, 1)
    assert f"{path}: power.cap is the file" in err


@pytest.mark.parametrize("cap", [
    "[[power.cap]]\ntime_s = 0\nwatts = 15000\n[[power.cap]]\ntime_s = '2h'\nwatts = 14000\n",
    "[power]\ncap = {changes = [{at = 0, watts = 15e3}, {at = 7200, watts = 14e3}]}\n",
    "[[power.cap.changes]]\nat = 0\nwatts = 15e3\n[[power.cap.changes]]\nat = 7200\nwatts = 14e3\n",
    "[[power.cap.changes]]\nat = 0\nwatts = 15e3\n[[power.cap.reservations]]\nstart = 60\n"
    "duration = 60\nwatts = 9\n[[power.cap.changes]]\nat = 7200\nwatts = 14e3\n",
    "[power.cap]\nwatts = '16kW'\nchanges = [{at = 0, watts = 15e3}, {at = 7200, watts = 14e3}]\n"
    "[[power.cap.reservations]]\nstart = 60\nduration = 60\nwatts = 9\n",
    "[power.cap]\nwatts = '16kW'\n[[power.cap.changes]]\nat = 0\nwatts = 15e3\n"
    "[[power.cap.changes]]\nat = 7200\nwatts = 14e3\n"
    "[[power.cap.reservations]]\nstart = 60\nduration = 60\nwatts = 9\n",
])
def test_a_new_cap_holds_from_the_start_and_later_steps_stay(tmp_path, capsys, cap):
    path = tmp_path / "s.toml"
    path.write_text(COMMENTED.replace("CAP\n", cap))
    status, out, err = call(capsys, "power", "set", path, "--cap", "12kW")
    assert status == 0, err
    assert "later changes of the cap stay (14,000 W from 02:00:00" in err
    assert "{" not in out
    assert "a cap of 12,000 W from the start; 14,000 W from 02:00:00" in out
    for at, watts in (("0", 12000), ("1h", 12000), ("3h", 14000)):
        found = json.loads(ok(capsys, "power", "show", path, "--at", at, "--json"))
        assert found["PowerCap"] == watts


def test_watts_of_the_scenarios_reservations_are_shown(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text(SHARED_CAP.replace("CAP", '"15kW"') + "\n[[reservations]]\nstart_s = '2h'\n"
                    "duration_s = '2h'\nwatts = 500\nname = 'crane'\n")
    for at, watts in (("1h", 15000), ("3h", 14500), ("4h", 15000)):
        found = json.loads(ok(capsys, "power", "show", path, "--at", at, "--json"))
        assert found["PowerCap"] == watts
    assert found["reservations"][0]["name"] == "crane"


@pytest.mark.parametrize("cap", [
    '"5kW"', "[{time_s = 0, watts = 5000}, {time_s = 60, watts = 9000}]",
])
def test_a_cap_below_idle_is_shown_and_replaced_without_the_jobs(tmp_path, capsys, cap):
    path = tmp_path / "s.toml"
    path.write_text(SHARED_CAP.replace("CAP", cap).replace('generate = "esp2"', 'file = "gone.swf"')
                    .replace("parameters = {nodes = 64}\n", ""))
    assert json.loads(ok(capsys, "power", "show", path, "--json"))["PowerCap"] == 5000
    ok(capsys, "power", "set", path, "--cap", "12kW")
    assert json.loads(ok(capsys, "power", "show", path, "--json"))["PowerCap"] == 12000


@pytest.mark.parametrize(("cap", "reason"), [
    ('"gone.csv"', "'gone.csv' is neither watts nor per cent, nor a file"),
    ('"80%peak"', "gone.swf"),
    ('"120%"', "120%"),
])
def test_a_cap_that_cannot_be_worked_out_is_one_line(tmp_path, capsys, cap, reason):
    path = tmp_path / "s.toml"
    text = SHARED_CAP.replace("CAP", cap)
    if "80" in cap:
        text = text.replace('generate = "esp2"', 'file = "gone.swf"').replace(
            "parameters = {nodes = 64}\n", "")
    path.write_text(text)
    status, _, err = call(capsys, "power", "show", path)
    assert (status, err.count("\n")) == (2, 1)
    assert f"{path}: power.cap cannot be worked out" in err
    assert reason in err
    ok(capsys, "power", "set", path, "--cap", "12kW")


def test_no_cap_by_name_is_shown_as_none(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text('[trace]\nfile = "gone.swf"\n[machine]\nnodes = 8\n[power]\ncap = "none"\n')
    without = tmp_path / "t.toml"
    without.write_text(path.read_text().replace('[power]\ncap = "none"\n', ""))
    shown = [json.loads(ok(capsys, "power", "show", str(one), "--json")) for one in (path, without)]
    assert shown[0] == shown[1]


def test_times_are_dates_where_the_scenario_says_when_it_begins(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO.replace("[trace]", '[trace]\nunix_start_s = "2026-07-08"').replace(
        "[policy]", '[power.cap]\nwatts = 1700000\n'
                    'changes = [{at = "2026-07-09T12:00:00", watts = 1500000}]\n[policy]'))
    ok(capsys, "power", "reserve", path, "--start", "2026-07-10", "--duration", "2h", "--watts",
       "100kW")
    ok(capsys, "power", "set", path, "--cap", "1600kW", "--at", "2026-07-11T00:00:00+02:00")
    for at, watts in (("0", 1.7e6), ("36h", 1.5e6), ("2026-07-09T11:59:59", 1.7e6),
                      ("2026-07-10T01:00", 1.4e6), ("2-22:00:00", 1.6e6)):
        shown = json.loads(ok(capsys, "power", "show", path, "--at", at, "--json"))
        assert shown["PowerCap"] == watts, at


def test_dates_without_a_run_that_has_them_are_refused(scenario, capsys):
    found = call(capsys, "power", "set", scenario, "--cap", "1.5MW", "--at", "2026-07-09")
    assert "--at: 2026-07-09T00:00:00 is a date, and the run has no dates" in str(found)
    assert scenario.read_text() == SCENARIO
