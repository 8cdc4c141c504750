"""Meters under another zone or cluster again: refused, or in the place of what is there."""

import json
import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from tests.support.commands import call, ok, refused

from wattline.account.measured.sample_codec import decode
from wattline.account.measured.tables import series
from wattline.account.store import Store

T0 = 1_791_194_400  # 2026-10-05T10:00 UTC


def noisy(seed, count, low=180, high=400):
    draw = random.Random(seed)
    return [draw.randint(low, high) for _ in range(count)]


def table(start_s=T0, step_s=60, kind="watts", **nodes):
    """Readings of nodes by a clock that names no zone."""
    rows = [f"{datetime.fromtimestamp(start_s + step_s * at, UTC):%Y-%m-%dT%H:%M:%S},{node},{value}"
            for node, values in nodes.items() for at, value in enumerate(values)]
    return "\n".join([f"time,node,{kind}", *rows, ""])


def summed(values):
    total, found = 0, []
    for value in values:
        found.append(total := total + value * 60)
    return found


@pytest.fixture
def ledger(tmp_path, capsys):
    class Ledger:
        def __init__(self):
            self.store = tmp_path / "s.db"

        def words(self, text, *words):
            (tmp_path / "meter.csv").write_text(text)
            return ("account", "import", tmp_path / "meter.csv", "--store", self.store, *words)

        def enter(self, text, *words):
            status, out, err = call(capsys, *self.words(text, *words), "--json")
            assert status == 0, err
            return json.loads(out)

        def refuse(self, text, *words):
            before = self.metered()
            said = refused(capsys, *self.words(text, *words))
            assert self.metered() == before
            return said

        def metered(self):
            """Return what meters drew by the bill, in Wh."""
            found = json.loads(ok(capsys, "account", "bill", "--store", self.store,
                                  "--period", "2026", "--json"))
            return round(found["metered_j"] / 3600, 6)

        def samples(self):
            with Store(self.store) as opened, opened.session() as session:
                return sum(decode(packed)[0].size
                           for packed in session.scalars(select(series.c.samples)))

    return Ledger()


TWO_HOURS = {"n1": noisy(1, 120), "n2": [100] * 120, "feed:A": noisy(2, 120, 900, 1200)}
WH = sum(TWO_HOURS["n1"] + TWO_HOURS["n2"]) / 60
"""A bill has nodes; what stands above them would count these again."""


@pytest.mark.parametrize(("words", "said_of"), [
    (("--zone", "Europe/Berlin"), "2 meters 02:00:00 later"),
    (("--zone", "Asia/Kolkata"), "2 meters 05:30:00 later"),
    (("--cluster", "hot"), "2 meters in cluster ''"),
    (("--zone", "America/New_York", "--cluster", "hot"),
     "2 meters in cluster '', 04:00:00 earlier")])
def test_meters_under_another_zone_or_cluster_are_refused_or_replace(ledger, words, said_of):
    text = table(**TWO_HOURS)
    ledger.enter(text)
    assert ledger.metered() == pytest.approx(WH)
    said = ledger.refuse(text, *words)
    assert said_of in said
    assert "Nothing of it is entered" in said
    replaced = ledger.enter(text, *words, "--replace")
    assert any("replaced" in line and said_of in line for line in replaced["remarks"])
    assert replaced["new_samples"] == 360
    assert ledger.metered() == pytest.approx(WH)
    assert ledger.samples() == 360
    assert ledger.enter(text, *words)["new_samples"] == 0


def test_counters_under_another_zone_are_refused(ledger):
    values = noisy(3, 200)
    text = table(kind="joules", n1=summed(values))
    ledger.enter(text)
    assert "1 meter 02:00:00 later" in ledger.refuse(text, "--zone", "Europe/Berlin")


def test_meters_over_a_change_of_the_clock_are_refused_and_replace(ledger):
    """On 2026-10-25 Berlin goes from two hours before UTC to one."""
    day = int(datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp())
    parts = [table(day, 600, n1=noisy(4, 60)),
             table(day + 20 * 3600, 600, n1=noisy(5, 60)).split("\n", 1)[1]]
    text = "".join(parts)
    ledger.enter(text)
    before = ledger.metered()
    said = ledger.refuse(text, "--zone", "Europe/Berlin")
    assert "1 meter 01:00:00 later and 1 meter 02:00:00 later" in said
    ledger.enter(text, "--zone", "Europe/Berlin", "--replace")
    assert ledger.metered() == pytest.approx(before)


def test_a_part_that_is_there_in_another_zone_is_found_in_a_longer_file(ledger):
    values = noisy(6, 400)
    ledger.enter(table(n1=values[:100]))
    ledger.enter(table(T0 - 300 * 60, n1=noisy(7, 100)))
    longer = table(n1=values)
    assert "1 meter 02:00:00 later" in ledger.refuse(longer, "--zone", "Europe/Berlin")
    ledger.enter(longer, "--zone", "Europe/Berlin", "--replace")
    assert ledger.metered() == pytest.approx((sum(values) + sum(noisy(7, 100))) / 60)


def test_pieces_that_overlap_and_files_that_come_again_are_entered(ledger):
    values = noisy(8, 300)
    for begin, end in ((0, 200), (100, 300), (0, 200), (50, 120)):
        ledger.enter(table(T0 + 60 * begin, n1=values[begin:end]))
    assert ledger.metered() == pytest.approx(sum(values) / 60)
    later = noisy(9, 300)
    ledger.enter(table(T0 + 300 * 60, n1=later))
    assert ledger.metered() == pytest.approx(sum(values + later) / 60)


STEADY = {
    "flat": [100] * 240,
    "a load that comes each hour": noisy(10, 60) * 4,
    "few values": ([100] * 30 + [250] * 30 + [100] * 60 + [250] * 60 + [100] * 60),
}


@pytest.mark.parametrize("name", STEADY)
def test_what_stays_or_comes_again_is_no_evidence(ledger, name):
    values = STEADY[name]
    ledger.enter(table(n1=values))
    ledger.enter(table(T0 + 240 * 60, n1=values))
    ledger.enter(table(n1=values), "--cluster", "other")
    assert ledger.metered() == pytest.approx(3 * sum(values) / 60)


def test_what_is_the_same_each_day_is_entered(ledger):
    day = noisy(11, 144)
    for at in range(3):
        ledger.enter(table(T0 + 86_400 * at, 600, n1=day))
    assert ledger.metered() == pytest.approx(3 * sum(day) / 6)


def test_nodes_of_the_same_names_in_two_clusters_are_two(ledger):
    """Idle nodes of one kind draw nearly the same, and never long alike."""
    one, other = ({f"n{node}": noisy(f"{name}{node}", 600, 100, 102) for node in range(4)}
                  for name in "ab")
    ledger.enter(table(**one), "--cluster", "one")
    ledger.enter(table(**other), "--cluster", "other", "--zone", "Europe/Berlin")
    both = [sum(map(sum, each.values())) for each in (one, other)]
    assert ledger.metered() == pytest.approx(sum(both) / 60)
