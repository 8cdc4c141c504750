"""One job is one life: what tells two starts of it apart, what is said, and how to take it back."""

import json
from itertools import permutations

import pytest
from tests.support.commands import call, ok, refused
from tests.support.measured import rows_of
from tests.unit.measured.test_from_sacct import HEAD, line, read
from tests.unit.measured.test_import_of_series import power, steady

from wattline.account.measured.book import MeasuredLedger
from wattline.account.store import Store

# On 2026-10-25 the hour from 2 to 3 comes twice in Berlin; which one it was, the run time tells.
NIGHT = {"Start": "2026-10-25T02:30:00", "Submit": "2026-10-24T20:00:00"}
RUNS = [line("7", "RUNNING", end="", ElapsedRaw=600, **NIGHT),
        line("7.batch", "RUNNING", end="", ElapsedRaw=600, energy=1000, **NIGHT)]
LATER = {**NIGHT, "End": "2026-10-25T04:00:00", "ElapsedRaw": 5400}
ENDED = [line("7", **LATER), line("7.batch", energy=9000, **LATER)]


def ledger(*files):
    with Store("sqlite://") as store:
        book = MeasuredLedger(store)
        for lines in files:
            entered = book.enter(read(*lines, zone="Europe/Berlin"))
        return entered, rows_of(store)


def test_a_start_that_was_guessed_gives_way_to_one_that_is_known():
    entered, rows = ledger(RUNS, ENDED)
    assert (entered.lives, entered.energy_j, entered.waiting_steps) == (1, 9000.0, 0)
    start_s = 1792891800  # 01:30 UTC, the second half past two
    assert [row[2] for row in rows[0]] == [start_s]
    assert len(rows[1]) == 1
    orders = [ledger(*order)[1] for order in permutations([RUNS, ENDED])]
    assert orders[0] == orders[1] == ledger(RUNS + ENDED)[1] == ledger(ENDED, RUNS, ENDED)[1]


def test_two_lives_at_the_same_clock_time_stay_two():
    first = {**NIGHT, "End": "2026-10-25T02:40:00", "ElapsedRaw": 600}
    earlier = [line("7", "REQUEUED", **{**first, "End": "2026-10-25T00:40:00Z",
                                        "Start": "2026-10-25T00:30:00Z"})]
    assert ledger(earlier, [line("7", **LATER)])[0].lives == 1
    assert len(ledger(earlier, [line("7", **LATER)])[1][0]) == 2


@pytest.fixture
def imported(tmp_path, capsys):
    def enter(lines, *words, head=HEAD, zone="UTC"):
        (tmp_path / "jobs").write_text("\n".join([head, *lines, ""]))
        status, out, err = call(capsys, "account", "import", tmp_path / "jobs", "--store",
                                tmp_path / "s.db", "--zone", zone, "--json", *words)
        assert status == 0, err
        return json.loads(out)["remarks"]

    return enter


def said(remarks, words):
    return [remark for remark in remarks if words in remark]


UNNAMED = [line("1", Cluster="", Submit="", energy=5),
           line("2", Cluster="", Submit="", energy=7)]


def bill(tmp_path, capsys):
    found = json.loads(ok(capsys, "account", "show", "--store", tmp_path / "s.db", "--by", "user",
                          "--json"))
    return found["jobs"], found["total_j"]


DUMP = [line("1", energy=5), line("2", "REQUEUED", energy=7),
        line("2", start="12:00", end="13:00", energy=7), line("3", "RUNNING", end="")]


@pytest.mark.parametrize(("words", "said_of"), [
    (("--zone", "Europe/Berlin"), "3 jobs 02:00:00 later"),
    (("--zone", "America/New_York"), "3 jobs 04:00:00 earlier"),
    (("--cluster", "hot"), "3 jobs in cluster 'c'"),
    (("--zone", "Europe/Berlin", "--cluster", "hot"), "in cluster 'c', 02:00:00 later")])
def test_a_dump_under_another_zone_or_cluster_is_refused_or_replaces(
        tmp_path, capsys, words, said_of):
    (tmp_path / "jobs").write_text("\n".join([HEAD, *DUMP, ""]))
    enter = ("account", "import", tmp_path / "jobs", "--store", tmp_path / "s.db")
    ok(capsys, *enter)
    once = bill(tmp_path, capsys)
    assert once[0] == 3
    said = refused(capsys, *enter, *words)
    assert said_of in said
    assert "Nothing of it is entered" in said
    assert bill(tmp_path, capsys) == once
    _, out, err = call(capsys, *enter, *words, "--replace", "--json")
    assert json.loads(out)["new"] == 4, err
    assert any("replaced" in remark and said_of in remark for remark in json.loads(out)["remarks"])
    assert bill(tmp_path, capsys) == once
    assert json.loads(ok(capsys, *enter, *words, "--json"))["new"] == 0


def test_a_dump_over_a_change_of_the_clock_in_another_zone_is_refused(tmp_path, capsys):
    """In winter Berlin is one hour from UTC, in summer two."""
    days = [{name: f"2026-10-{day}T{hour}:00:00" for name, hour in (
        ("Submit", "09"), ("Start", "10"), ("End", "11"))} for day in (23, 24, 26, 27)]
    (tmp_path / "jobs").write_text("\n".join(
        [HEAD, *(line(str(number), **day) for number, day in enumerate(days)), ""]))
    enter = ("account", "import", tmp_path / "jobs", "--store", tmp_path / "s.db")
    ok(capsys, *enter)
    said = refused(capsys, *enter, "--zone", "Europe/Berlin")
    assert "2 jobs 01:00:00 later and 2 jobs 02:00:00 later" in said


def test_two_clusters_that_number_their_jobs_alike_are_two(tmp_path, capsys):
    """Times of a few jobs may agree by chance, and those of most do not."""
    one = [line(str(number), start=f"10:{number:02d}") for number in range(10)]
    other = [line(str(number), start=f"10:{5 * (number > 1) + number:02d}") for number in range(10)]
    for name, lines in (("one", one), ("other", other)):
        (tmp_path / name).write_text("\n".join([HEAD, *lines, ""]))
        ok(capsys, "account", "import", tmp_path / name, "--store", tmp_path / "s.db",
           "--cluster", name)
    assert bill(tmp_path, capsys)[0] == 20


def test_jobs_that_are_in_another_cluster_too_are_said_and_can_be_taken_back(
        imported, tmp_path, capsys):
    assert not said(imported(UNNAMED), "count twice")
    assert said(imported(UNNAMED, "--cluster", "alpha"), "jobs that are in cluster '' too, with "
                "the same number, start, user and nodes: 2; they count twice")
    words = ("account", "forget", "--store", tmp_path / "s.db", "--cluster", "")
    assert ok(capsys, *words).startswith(
        "would be forgotten: 2 jobs (2 lives) with 12 J")
    assert json.loads(ok(capsys, *words, "--json"))["done"] is False
    assert ok(capsys, *words, "--yes").startswith("forgotten: 2 jobs")
    found = json.loads(ok(capsys, "account", "show", "--by", "user", "--store", tmp_path / "s.db",
                          "--json"))
    assert (found["total_j"], found["jobs"]) == (12.0, 2)


def test_a_dump_without_submissions_in_another_zone_is_said(imported):
    lines = [line("1", Submit="", energy=5), line("2", "REQUEUED", Submit="", energy=7),
             line("2", start="12:00", end="13:00", Submit="", energy=7)]
    assert not said(imported(lines), "another start")  # lives of a requeued job
    remarks = imported(lines, zone="Asia/Kolkata")
    assert said(remarks, "another start, off by quarters of an hour: 3; if that is a wrong --zone")


def test_a_task_by_its_raw_number_is_said_in_either_order(imported, tmp_path, capsys):
    bare = HEAD.replace("JobID|", "", 1)
    raw, task = line("305", energy=5), line("300_1", JobIDRaw="305", energy=5)
    imported([raw.partition("|")[2]], head=bare)
    assert said(imported([task]), "their other number too, like 300_1 and 305: 1")
    forget = ("account", "forget", "--store", tmp_path / "s.db", "--yes", "--json", "-j")
    assert json.loads(ok(capsys, *forget, "300"))["jobs"] == 1
    assert said(imported([task]), "other number")
    assert json.loads(ok(capsys, *forget, "305"))["jobs"] == 1
    assert said(imported([raw.partition("|")[2]], head=bare), "other number")


def test_forgotten_jobs_leave_the_ledger_as_if_they_had_never_come(tmp_path, capsys):
    jobs = [line("1"), line("2", "REQUEUED", end="10:30"), line("2.0", end="10:30", energy=3),
            line("2", start="10:40"), line("2.0", start="10:40", energy=4)]
    kept = jobs[:1] + jobs[3:]
    for name, lines in (("all", jobs), ("kept", kept)):
        (tmp_path / name).write_text("\n".join([HEAD, *lines, ""]))
    (tmp_path / "power").write_text(power(*steady("n1", 100)))
    for name in ("all", "kept"):
        ok(capsys, "account", "import", tmp_path / name, tmp_path / "power", "--cluster", "c",
           "--store", tmp_path / f"{name}.db", "--zone", "UTC")
    ok(capsys, "account", "forget", "--store", tmp_path / "all.db", "-j", "2", "-E",
       "2026-10-05T10:40", "--zone", "UTC", "--yes")
    with Store(tmp_path / "all.db") as one, Store(tmp_path / "kept.db") as other:
        assert rows_of(one) == rows_of(other)
    out = ok(capsys, "account", "forget", "--store", tmp_path / "all.db", "--cluster", "c",
             "--meters", "--yes")
    assert out == "forgotten: 1 meter with 1 day of samples\n"
    (tmp_path / "none").write_text("\n".join([HEAD, *kept, ""]))
    ok(capsys, "account", "import", tmp_path / "none", "--store", tmp_path / "none.db", "--zone",
       "UTC")
    with Store(tmp_path / "all.db") as one, Store(tmp_path / "none.db") as other:
        assert rows_of(one) == rows_of(other)


@pytest.mark.parametrize(("words", "said"), [
    ((), "what is to be forgotten?"), (("--cluster", "x"), "no cluster 'x'; it has 'c'"),
    (("-j", "x"), "'x' is not a job"), (("--meters", "-j", "1"), "goes with --cluster alone"),
])
def test_what_is_to_be_forgotten_must_be_named(imported, tmp_path, capsys, words, said):
    imported([line("1")])
    assert said in refused(capsys, "account", "forget", "--store", tmp_path / "s.db", *words)


@pytest.mark.parametrize(("start", "end", "count"), [
    ("12:15", "13:15", 1), ("12:15", "13:16", 0), ("12:10", "13:10", 0)])
def test_a_job_is_the_same_at_another_hour_where_all_times_are_off_alike(
        imported, start, end, count):
    """By a quarter of an hour; not where it is of another length, or off by ten minutes."""
    imported([line("2", start="12:00", end="13:00", Submit="", energy=7)])
    remarks = imported([line("2", start=start, end=end, Submit="", energy=7)])
    assert len(said(remarks, "off by quarters of an hour: 1;")) == count
