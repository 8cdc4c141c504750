"""Ways to run a job: what is known, what is predicted, and which is best by what."""

import json
import math

import pytest
from click.testing import CliRunner
from tests.support.commands import refused
from tests.support.printed import columns
from tests.unit.cli.test_model_commands import made_table

import wattline as wl
from wattline.advice.job import Sources, advise_job
from wattline.advice.job_options import JobOption, best_of, pareto_front
from wattline.advice.job_sources import at_frequencies
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.physics.regression import shipped_models
from wattline.traces.rates import carbon_from, price_from

# Runs of one program at three frequencies: the middle one needs the fewest joules.
RUNS = ("application,frequency_khz,time_s,energy_j\ncg.C,1200000,100,9000\ncg.C,1800000,70,8000\n"
        "cg.C,1800000,74,8200\ncg.C,2700000,50,9900\nother,2700000,1,1\n")


def test_a_source_is_the_name_of_a_file():
    with pytest.raises(InputError, match="table is a dict, must be the name of a file"):
        Sources(table={})


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return str(path)


def option(time_s, energy_j, **fields):
    return JobOption(time_s, energy_j, "measured", "here", **fields)


def test_the_good_frequency_is_found_in_measured_runs(runs):
    found = advise_job("CG.c", Sources(table=runs))
    assert {round(o.frequency_ghz, 6): (o.time_s, o.energy_j) for o in found.options} == {
        1.2: (100, 9000), 1.8: (72, 8100), 2.7: (50, 9900)}
    good = found.options[found.best["energy"]]
    assert good.frequency_ghz == pytest.approx(1.8)
    assert (good.basis, good.runs) == ("measured", 2)
    assert good.time_error == pytest.approx(math.sqrt(8) / 72)
    assert math.isnan(found.options[0].time_error)  # one run shows no spread
    assert found.options[found.best["edp"]].frequency_ghz == pytest.approx(2.7)
    assert [found.options[at].time_s for at in found.front] == [50, 72]


def test_claims_are_told_apart_from_estimates_for_other_node_counts():
    here = advise_job("EP.A")
    assert {o.basis for o in here.options} == {"claimed"}
    assert {o.node_class for o in here.options} == {"xeon", "odroid-c1", "odroid-c2"}
    assert here.options[here.best["energy"]].node_class == "odroid-c2"
    assert here.options[here.best["time"]].node_class == "xeon"
    there = advise_job("ep.a", nodes=4)
    assert {(o.basis, o.nodes, o.runs) for o in there.options} == {("predicted", 4, 0)}
    assert all(o.time_error > 0 for o in there.options)
    with pytest.raises(InputError, match="on 100000 nodes"):
        advise_job("ep.a", nodes=100_000)


def test_a_model_is_asked_at_every_point_of_its_grid_with_its_own_uncertainty():
    found = advise_job("BT-MZ", nodes=16)
    model = shipped_models()["BT-MZ"]
    wanted = next(o for o in found.options if o.threads == "14" and o.cap_w == 51)
    said = model.predict([16], [14], [51.0])
    assert wanted.time_s == pytest.approx(said.time_s[0], rel=1e-12)
    assert wanted.energy_j == pytest.approx(said.time_s[0] * said.power_w[0], rel=1e-12)
    assert wanted.time_error == pytest.approx(said.time_sd[0])
    assert {o.nodes for o in found.options} == {16}
    assert any("differ by more than 20%" in note for note in found.notes)
    assert "also known: BT-MZ.A, BT-MZ.W" in found.notes


def test_frequencies_are_predicted_from_all_uncapped_options_and_said_to_be():
    known = at_frequencies([option(10, 2200), option(20, 1000), option(5, 9, cap_w=50.0)], 0.5)
    assert len(known.options) == 2 * 7
    slowest = known.options[0]
    assert (slowest.frequency_ghz, slowest.basis) == (pytest.approx(1.2), "predicted")
    assert slowest.time_s == pytest.approx(10 * (2.6 / 1.2) ** 0.5)
    assert slowest.power_w == pytest.approx(220 * 12 / 22)
    assert slowest.time_error == pytest.approx((2.6 / 1.2) ** 0.5 - 1)
    assert "frequency^-0.5 (--beta)" in known.notes[0]
    assert at_frequencies([option(5, 9, cap_w=50.0)]).options == ()


def test_a_narrower_question_has_no_better_answer_than_a_wider_one():
    wide = advise_job("BT-MZ")
    narrow = advise_job("BT-MZ", nodes=8)
    best_j = [found.options[found.best["energy"]].energy_j for found in (wide, narrow)]
    assert best_j[0] <= best_j[1]


def test_nothing_on_the_front_is_beaten_and_everything_off_it_is():
    options = [option(1, 9), option(2, 5), option(2, 6), option(3, 5), option(4, 1), option(1, 9)]
    assert pareto_front(options) == (0, 1, 4)
    for at, each in enumerate(options):
        beaten = any(o.time_s <= each.time_s and o.energy_j <= each.energy_j and
                     (o.time_s, o.energy_j) != (each.time_s, each.energy_j) for o in options)
        assert beaten == (at in (2, 3))
    assert best_of(options) == {"energy": 4, "time": 0, "edp": 4}


def test_money_and_grams_follow_the_time_at_which_joules_are_used():
    price = Signal.from_steps([(0, 1.0), (10, 0.0)], "EUR/J")
    short, long = option(10, 100).priced(price, None), option(100, 50).priced(price, None)
    assert short.cost == pytest.approx(100)
    assert long.cost == pytest.approx(5)  # nine tenths of it run when energy is for nothing
    assert math.isnan(short.carbon_g)


def test_flat_rates_charge_the_joules(runs):
    found = advise_job("cg.C", Sources(table=runs), price=price_from("0.36EUR"),
                       carbon=carbon_from("360"))
    for each in found.options:
        assert each.cost == pytest.approx(each.energy_j * 1e-7)
        assert each.carbon_g == pytest.approx(each.energy_j * 1e-4)
    assert found.currency == "EUR"
    assert any("hours of the nodes are not charged" in note for note in found.notes)


@pytest.mark.parametrize("column", ["application", "app", "table"])
@pytest.mark.parametrize("wanted", ["my", "MY"])
def test_applications_of_a_table_of_frequencies_are_told_apart(tmp_path, column, wanted):
    file = tmp_path / "runs.csv"
    file.write_text(f"{column},frequency_ghz,time_s,energy_j\nmy,2.6,100,20000\n"
                    "other,2.6,1000,300000\nmy,2.0,115,17000\nother,2.0,1200,250000\n")
    found = advise_job(wanted, Sources(table=str(file)))
    assert {(o.frequency_ghz, o.time_s, o.energy_j, o.runs) for o in found.options} == {
        (2.6, 100, 20000, 1), (2.0, 115, 17000, 1)}
    with pytest.raises(InputError, match="known are: my, other"):
        advise_job("third", Sources(table=str(file)))
    with pytest.raises(InputError, match="nothing is known of 'my' on 4 nodes"):
        advise_job("my", Sources(table=str(file)), nodes=4)


def test_a_column_that_is_not_read_is_said(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("name,frequency_ghz,time_s,energy_j\nmy,2.6,100,20000\nother,2.0,115,17000\n")
    found = advise_job("my", Sources(table=str(file)))
    assert f"{file}: not read: name" in found.notes
    assert f"{file} has no column 'application': its rows are taken as 'my'" in found.notes


def test_a_measured_table_knows_its_highest_cap_for_none(tmp_path):
    found = advise_job("mine", Sources(table=made_table(tmp_path / "t.csv")))
    assert any("its highest cap, is taken for none" in note for note in found.notes)
    measured = [o for o in found.options if o.basis == "measured"]
    assert {(o.nodes, o.threads, o.cap_w) for o in measured} == {
        (2, "4", 51.0), (2, "8", math.inf), (4, "4", 51.0), (4, "8", math.inf)}
    assert {o.source.endswith("table of cores") for o in found.options if o.basis == "predicted"} \
        == {True}


def test_a_store_is_asked_for_claims_and_for_configurations(tmp_path):
    store = str(tmp_path / "site.db")
    for words in (["claims", "import", "npb", "--store", store],
                  ["configure", "EP.A", "--power", "1kW", "--keep", store, "--table",
                   made_table(tmp_path / "t.csv")]):
        assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    found = advise_job("EP.A", Sources(store=store))
    assert {"claims of the store", "store"} <= {o.source for o in found.options}
    assert any("compare options of one source" in note for note in found.notes)


def test_the_command_prints_the_best_draws_and_has_json(runs, tmp_path):
    words = ["advise", "job", "--app", "cg.C", "--table", runs, "--price", "0.12EUR"]
    shown = CliRunner().invoke(cli, [*words, "--all", "--plot", str(tmp_path / "p.png")],
                               catch_exceptions=False).stdout
    good = next(line for line in shown.splitlines() if "1.8 GHz" in line)
    assert "measured (2 runs)" in good
    assert good.endswith("energy, cost")
    # 112.5 W for 72 s are 8,100 J, at 0.12 EUR for 3.6e6 of them.
    assert columns(shown, "option", "time s", "energy J", "power W", "cost EUR", "time off",
                   "energy off", "best by")[1] == (
        "1 node, 1.8 GHz", "72", "8,100", "112.5", "0.00027", "4%", "2%", "energy, cost")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"], catch_exceptions=False).stdout)
    assert found["best"]["energy"]["frequency_ghz"] == pytest.approx(1.8)
    assert found["options"][0]["cap_w"] is None
    assert len(found["options"]) == 3


@pytest.mark.parametrize(("words", "said"), [
    (("--app", "EP.B"), "did you mean 'EP.A'?"), (("--app", "BT-MZ", "--nodes", "9"), "on 9 nodes"),
    (("--app", "EP.A", "--store", "gone.db"), "there is no store gone.db"),
    (("--app", "EP.A", "--price", "x"), "--price: 'x'"), (("--app", "EP.A", "--beta", "2"), "beta"),
    (("--app", "EP.A", "--plot", "x.doc"), "is not a picture"),
])
def test_mistakes_are_one_line(words, said, capsys):
    assert said in refused(capsys, "advise", "job", *words)


def test_a_broken_line_of_runs_is_named(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("frequency_ghz,time_s,energy_j\n1.2,10,5\n1.4,fast,5\n")
    with pytest.raises(InputError, match=r"r\.csv: line 3: time_s is 'fast', expected a number"):
        advise_job("x", Sources(table=str(path)))


@pytest.mark.parametrize(("price", "alike"), [(0, True), (0.12, False)])
def test_options_that_all_cost_the_same_are_said(price, alike):
    notes = advise_job("EP.A", price=price).notes
    assert any("all options cost the same" in note for note in notes) == alike


@pytest.mark.parametrize("price", ["0.12EUR", 0.12, wl.Signal.constant(0.12 / 3.6e6)])
def test_a_price_is_that_of_a_kilowatt_hour_as_everywhere_else(price):
    found = advise_job("EP.A", price=price, carbon=300)
    for option in found.options:
        assert option.cost == pytest.approx(0.12 * option.energy_j / 3.6e6)
        assert option.carbon_g == pytest.approx(300 * option.energy_j / 3.6e6)


def test_watts_and_joules_of_a_line_must_agree(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("frequency_ghz,time_s,energy_j,power_w\n1.2,100,7000,70.4\n1.4,100,5000,70\n")
    with pytest.raises(InputError, match=r"line 3: 5000 J in 100 s are 50 W, and power_w says 70"):
        advise_job("x", Sources(table=str(path)))
    path.write_text("frequency_ghz,time_s,energy_j\n1.2,100,\n")
    with pytest.raises(InputError, match=r"line 2: it has neither energy_j nor power_w"):
        advise_job("x", Sources(table=str(path)))
