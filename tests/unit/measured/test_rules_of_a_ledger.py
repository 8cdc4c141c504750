"""Rules by which joules are divided, kept in the store: given once, they hold for all."""

import json
from itertools import permutations

import pytest
from sqlalchemy import text
from tests.support.commands import call, ok, refused
from tests.support.measured import rows_of
from tests.unit.measured.test_from_sacct import HEAD, line
from tests.unit.measured.test_import_of_series import T0, power, steady

from wattline.account import schema
from wattline.account.measured.holdings import memory_mib
from wattline.account.store import Store

JOBS = "\n".join([HEAD, line("1", AllocCPUS=6, tres="mem=16G", TotalCPU="00:00:00"),
                  line("2", AllocCPUS=2, tres="mem=48G", TotalCPU="00:00:00", Account="bio"), ""])
GAPPY = power(*steady("n1", 100, last=20), *steady("n1", 200, first=30))


@pytest.fixture
def imported(tmp_path, capsys):
    (tmp_path / "jobs").write_text(JOBS)
    (tmp_path / "power").write_text(GAPPY)

    def enter(*words, store="s.db"):
        files = [tmp_path / word if word in ("jobs", "power") else word for word in words]
        status, out, err = call(capsys, "account", "import", *files, "--store", tmp_path / store,
                                "--zone", "UTC", "--cluster", "c", "--json")
        assert status == 0, err
        return json.loads(out)

    return enter


def owed(tmp_path, capsys):
    found = json.loads(ok(capsys, "account", "show", "--by", "account", "--store",
                          tmp_path / "s.db", "--json"))
    return {row["account"]: row["energy_j"] for row in found["rows"]}


@pytest.mark.parametrize(("words", "phys_part"), [
    # Power above idle goes by cores, as no processor time was used: 6 of 8.
    ((), 0.75), (("--idle-w", "1kW", "--idle-by", "memory"), 0.25),
    (("--idle-w", "1kW", "--idle-by", "equal"), 0.5), (("--idle-w", "n[1-4]=1000"), 0.75),
])
def test_idle_power_is_divided_as_the_site_says(imported, tmp_path, capsys, words, phys_part):
    imported("jobs", "power", *words)
    found = owed(tmp_path, capsys)
    assert found["phys"] / sum(found.values()) == pytest.approx(phys_part)


@pytest.mark.parametrize(("words", "in_gap_w"), [
    ((), 100), (("--fill", "interpolated"), 150), (("--fill", "none"), 0),
    (("--fill", "mean"), 160), (("--fill", "mean", "--longest-gap", "5m"), 160),
    (("--longest-gap", "5m"), 0), (("--highest-w", "150"), 0),
])
def test_gaps_are_filled_as_the_site_says(imported, tmp_path, capsys, words, in_gap_w):
    imported("jobs", "power", *words)
    known_j = 100 * 1200 + (0 if "150" in words else 200 * 1800)
    assert sum(owed(tmp_path, capsys).values()) == pytest.approx(known_j + in_gap_w * 600)


def test_rules_may_come_first_last_or_alone_and_hold_for_all(imported, tmp_path):
    rule = ("--idle-w", "80", "--fill", "none")
    seen = set()
    for number, order in enumerate(permutations((("jobs",), ("power",), rule))):
        for words in order:
            imported(*words, store=f"{number}.db")
        with Store(tmp_path / f"{number}.db") as store:
            seen.add(str(rows_of(store)))
    assert len(seen) == 1


def test_a_change_of_rules_is_said_and_later_imports_use_them(imported, tmp_path, capsys):
    first = imported("power", "--idle-w", "80")
    assert "rules changed: idle_w 80.0; all joules" in " ".join(first["remarks"])
    assert first["rules"]["idle_w"] == 80
    later = imported("jobs")
    assert "by the rules that the store keeps: idle_w 80.0" in " ".join(later["remarks"])
    assert later["idle_j"] is None  # no meter in this file
    same = imported("jobs", "--idle-w", "80")
    assert "rules changed" not in " ".join(same["remarks"])
    bill = json.loads(ok(capsys, "account", "bill", "--store", tmp_path / "s.db", "--period",
                         "2026-10", "--zone", "UTC", "--json"))
    assert bill["idle_j"] == 80 * 3600  # the second hour, which no job has
    assert bill["unattributed_j"] == 120 * 3600


@pytest.mark.parametrize(("words", "said"), [
    (("--idle-w", "-5"), "idle-w"), (("--idle-w", "x=y"), "write it like 90"),
    (("--idle-by", "colour"), "not one of cores, memory, equal"),
    (("--fill", "median"), "not one of held, interpolated, mean, none"),
    (("--longest-gap", "2-00:00:00"), "0 to 86400 s"), (("--highest-w", "0"), "above 0"),
    (("--step", "30s"), "go with a Prometheus server"), ((), "at least one file"),
])
def test_wrong_rules_are_refused_before_a_store_is_made(tmp_path, capsys, words, said):
    (tmp_path / "power").write_text(GAPPY)
    files = [tmp_path / "power"] if words else []
    assert said in refused(capsys, "account", "import", *files, "--store", tmp_path / "s.db",
                           *words)
    assert not (tmp_path / "s.db").exists()


def test_a_refused_file_leaves_the_rules_as_they_were(imported, tmp_path, capsys):
    imported("jobs")
    (tmp_path / "bad").write_text(power((T0, "n" * 300, 5)))
    refused(capsys, "account", "import", tmp_path / "bad", "--store", tmp_path / "s.db", "--idle-w",
            "5")
    assert imported("jobs")["rules"]["idle_w"] == 0


def test_a_mean_stays_the_same_however_often_it_is_filled_in(imported, tmp_path, capsys):
    imported("jobs", "power", "--fill", "mean")
    first = owed(tmp_path, capsys)
    assert first == pytest.approx({"phys": 0.75 * 576_000, "bio": 0.25 * 576_000})
    (tmp_path / "power").write_text(power(*steady("n1", 100, first=5, last=15)))
    imported("power")
    assert owed(tmp_path, capsys) == pytest.approx(first)
    bill = json.loads(ok(capsys, "account", "bill", "--store", tmp_path / "s.db", "--period",
                         "2026-10",
                         "--zone", "UTC", "--json"))
    assert any("96,000 J" in remark and "no meter saw" in remark for remark in bill["remarks"])
    imported("--fill", "held")
    assert sum(owed(tmp_path, capsys).values()) == pytest.approx(480_000 + 100 * 600)


def test_a_store_of_version_3_is_divided_anew_by_its_rules(imported, tmp_path, capsys):
    """Its rests had no suspect joules, and its hours no quarters."""
    imported("jobs", "power", "--fill", "none")
    with Store(tmp_path / "s.db") as store:
        wanted = rows_of(store)
        with store.session() as session:
            session.execute(text("ALTER TABLE measured_rest DROP COLUMN suspect_j"))
            session.execute(text("UPDATE measured_fact SET energy_j = 1"))
            session.execute(schema.version.update().values(version=3))
        assert schema.migrate(store) == 3
        assert rows_of(store) == wanted
    assert owed(tmp_path, capsys)["phys"] > 1


def test_memory_of_a_job_is_read_in_every_unit():
    assert [memory_mib(text) for text in ("cpu=8,mem=32G,node=1", "mem=512", "mem=1.5T", "cpu=8")
            ] == [32768.0, 512.0, 1572864.0, 0.0]
