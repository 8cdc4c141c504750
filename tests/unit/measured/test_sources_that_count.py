"""The source that counts of several of a job's joules, and which joules of Slurm cannot be."""

import json
from dataclasses import replace

import pytest
from tests.support.commands import call, ok
from tests.support.printed import columns
from tests.unit.measured.test_from_sacct import HEAD, line
from tests.unit.measured.test_import_of_series import power, steady

import wattline as wl
from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.checking import IMPOSSIBLE
from wattline.account.measured.records import Found, Life, LifeKey, StepSeen
from wattline.account.measured.tables import lives
from wattline.account.store import Store

T0 = 1_700_000_000
TWO = line("1", nodes="n[1-2]", tres="cpu=16,energy=5760000")
ONE = line("1", nodes="n1", tres="energy=2880000")


@pytest.fixture
def imported(tmp_path, capsys):
    def enter(jobs, meters, *words):
        (tmp_path / "jobs").write_text("\n".join([HEAD, *jobs, ""]))
        (tmp_path / "meters").write_text(power(*meters))
        files = ["jobs", "meters"] if meters else ["jobs"]
        status, out, err = call(capsys, "account", "import", *(tmp_path / name for name in files),
                                "--store", tmp_path / "s.db", "--zone", "UTC", "--cluster", "c",
                                "--json", *words)
        assert status == 0, err
        return json.loads(out)

    return enter


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize(("job", "minutes", "energy_j", "source"), [
    (TWO, 60, 5.76e6, "slurm"),  # one of two nodes is metered
    (ONE, 36, 2.88e6, "slurm"), (ONE, 24, 2.88e6, "slurm"), (ONE, 56, 2.88e6, "slurm"),
    (ONE, 58, 800 * 58 * 60, "series"), (ONE, 60, 2.88e6, "series"),
    (line("1", nodes="n[1-2]"), 60, 2.88e6, "series"),  # where Slurm says nothing
])
def test_a_source_that_knows_all_of_a_job_beats_one_that_knows_part(
        imported, tmp_path, job, minutes, energy_j, source):
    found = imported([job], steady("n1", 800, last=minutes))
    assert found["energy_j"] == pytest.approx(energy_j)
    aside = [remark for remark in found["remarks"] if "meters cover less than Slurm" in remark]
    assert bool(aside) == (source == "slurm")
    told = wl.account_job(1, tmp_path / "s.db")
    assert (told.lives[0]["source"], told.energy_j) == (source, pytest.approx(energy_j))
    bill = wl.account_bill(tmp_path / "s.db", "2026-10", zone="UTC")
    assert bill.jobs_j == pytest.approx(energy_j)
    if source == "slurm":
        metered_j = 800 * 60 * minutes
        assert told.lives[0]["quality"].endswith("its meters cover too little")
        assert any(f"have {metered_j:,} J" in remark and f"{metered_j / energy_j - 1:+.1%}" in
                   remark for remark in told.remarks)
        assert any(f"and not the {metered_j:,} J" in remark for remark in bill.remarks)


def test_steps_that_cover_more_than_a_series_count_before_it(imported, tmp_path):
    steps = [line("1", nodes="n1"), line("1.batch", nodes="n1", energy=2_000_000)]
    assert imported(steps, steady("n1", 800, last=30))["energy_j"] == 2e6
    part = [line("2", nodes="n2"), line("2.0", nodes="n2", end="10:10", energy=300_000)]
    found = imported(part, steady("n2", 800, last=30))
    assert found["energy_j"] == pytest.approx(800 * 1800)


@pytest.mark.parametrize("cells", [
    {"tres": "energy=9000000000000"}, {"energy": 50_000_000_000, "end": "10:00"},
])
def test_joules_that_no_node_could_draw_are_unknown_and_said_with_the_job(imported, cells):
    found = imported([line("41", **cells), line("42", energy=1000)], [])
    assert (found["energy_j"], found["without_joules"]) == (1000.0, 1)
    assert found["mended"] == {IMPOSSIBLE: 1}
    assert any("100 kW per node (--highest-w), taken as unknown: 41" in remark
               for remark in found["remarks"])


def test_impossible_joules_of_a_step_leave_those_of_the_others(imported):
    found = imported([line("7"), line("7.batch", energy=10**12),
                      line("7.0", end="10:30", energy=5000)], [])
    assert found["energy_j"] == 5000
    assert any("taken as unknown: 7.batch" in remark for remark in found["remarks"])


def test_what_a_node_may_draw_is_a_rule_of_the_ledger(imported, tmp_path):
    jobs = [line("1", energy=3_600_000)]  # 1 kW
    assert imported(jobs, [], "--highest-w", "900W")["without_joules"] == 1
    assert imported([line("2")], [])["without_joules"] == 1
    imported([line("2")], [], "--highest-w", "2kW")
    assert wl.account_job(1, tmp_path / "s.db").energy_j == 3.6e6


def test_the_uncovered_part_of_a_step_that_overlaps_counts_by_its_time():
    job = Life(LifeKey("c", "7", T0), nodes=2, end_s=T0 + 14400.0, state="COMPLETED")
    batch = StepSeen("c", "7", "batch", T0, T0 + 14400.0, "n1", 14400.0)
    first = StepSeen("c", "7", "0", T0, T0 + 7200.0, "n2", 7200.0)
    second = replace(first, step="1", start_s=T0 + 7200, end_s=T0 + 10800.0, energy_j=3600.0)
    third = replace(first, step="2", start_s=T0 + 9000, end_s=T0 + 12600.0, energy_j=3600.0)
    with Store("sqlite://") as store:
        MeasuredLedger(store).enter(Found("f", (job,), (batch, first, second, third)))
        with store.session() as session:
            row = session.execute(lives.select()).mappings().one()
    assert row["coverage"] == pytest.approx(0.9375)
    assert row["energy_j"] == pytest.approx(14400 + 12600)  # 1 W on each node
    assert row["quality"].endswith("parts of steps that overlap by their time")


def test_meters_stand_beside_slurms_own_joules(tmp_path, capsys):
    """Two hours at 800 W on one node: Slurm counts the first job's right, the second's not."""
    jobs, meters, store = (tmp_path / name for name in ("jobs", "power.csv", "s.db"))
    jobs.write_text("\n".join([
        HEAD, line("1", energy=2_880_000),
        line("2", start="11:00", end="12:00", energy=2_304_000),
        line("3", start="13:00", end="14:00", energy=1000), ""]))
    meters.write_text("time,node,joules\n" + "".join(
        f"2026-10-05T{10 + at // 60:02d}:{at % 60:02d}:00,n1,{48000 * at}\n" for at in range(121)))
    ok(capsys, "account", "import", jobs, meters, "--store", store, "--zone", "UTC", "--cluster",
       "c")
    found = json.loads(ok(capsys, "account", "compare", "--store", store, "--json"))
    assert [(row["job"], round(row["apart"], 6)) for row in found["rows"]] == [("1", 0.0),
                                                                              ("2", -0.2)]
    assert (found["apart_max"], found["only_slurm"]) == (pytest.approx(0.2), 1)
    shown = ok(capsys, "account", "compare", "--store", store, "-j", "2")
    assert columns(shown, "job", "nodes", "seconds", "meters", "Slurm", "Slurm is off",
                   "counts") == [
        ("2", "1", "3600", "2880000 J", "2304000 J", "-20.0 %", "series")]
