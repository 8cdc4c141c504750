"""Every published figure beside ours: rows, pages, and figures that are kept."""

import json
import sys
from types import ModuleType

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.studies import every
from wattline.studies.every import DOCUMENTS, Document, study_all
from wattline.studies.published import VERDICTS, judge, page, rows_from

MADE = [("1.2", "gain | of a", "+10 %", "+9 %", "holds", ""),
        ("1.3", "loss of b", "-3 %", "+1 %", "fails", "the reverse")]


@pytest.fixture
def calls(monkeypatch):
    """A document of two rows in place of all others; gives how often its study was run."""
    ran = []

    def study(progress, size=9):
        ran.append(size)
        return {"size": size}

    module = ModuleType("made")
    module.rows = lambda figures: MADE[: figures["size"]]
    monkeypatch.setitem(sys.modules, "made", module)
    monkeypatch.setattr(every, "DOCUMENTS", {"made": Document("Made up", "made", {"size": 1})})
    monkeypatch.setattr(every, "STUDIES", {"made": study})
    return ran


def test_a_verdict_is_one_of_those_of_all_pages():
    assert set(VERDICTS) == {"holds", "holds on average", "holds in part", "holds, larger",
                             "holds, smaller", "fitted", "fails", "not reproduced"}
    for word in ("nearly", "20 % less", "holds, within the range", "missing"):
        with pytest.raises(ValueError, match="is none of: holds; holds on average"):
            rows_from([("1", "x", "1", "2", word, "")])


@pytest.mark.parametrize(("found", "verdict"), [
    (8.0, "holds"), (5.3, "holds, smaller"), (4.2, "holds, smaller"), (1.2, "fails"),
    (13.0, "holds, larger"), (41.0, "fails"), (-8.0, "fails")])
def test_a_size_is_judged_by_how_many_times_it_is(found, verdict):
    assert judge(8.0, found) == verdict


def test_a_study_may_know_better_what_is_the_same():
    assert (judge(0.64, 0.56, same=False), judge(0.03, 0.01, same=True)) == (
        "holds, smaller", "holds")


def test_rows_that_a_study_returns_itself_are_taken(monkeypatch):
    monkeypatch.setattr(every, "DOCUMENTS", {"made": Document("Made up")})
    monkeypatch.setattr(every, "STUDIES", {"made": lambda progress: {"published": MADE}})
    assert study_all(["made"]).rows["made"] == rows_from(MADE)


def test_a_page_has_a_line_per_row_and_says_how_it_is_made():
    text = page("made", "Made up", rows_from(MADE))
    assert "wattline study all --only made --docs" in text
    assert "2 figures:\n\n- 1 *holds*: as published\n- 1 *fails*: tried, and not found\n" in text
    assert "| 1.2 | gain \\| of a | +10 % | +9 % | holds | - |" in text
    assert "proves nothing" in page("made", "Made up", rows_from(MADE), small=True)


def test_figures_that_were_kept_are_not_made_again(tmp_path, calls):
    first = study_all(["made"], kept=tmp_path)
    again = study_all(["made"], kept=tmp_path)
    assert calls == [9]
    assert (first.resumed, again.resumed) == ((), ("made",))
    assert first.rows == again.rows
    study_all(["made"], small=True, kept=tmp_path)
    assert calls == [9, 1], "figures of another size are not those that were asked for"


def test_a_broken_checkpoint_and_other_sources_are_made_anew(tmp_path, calls, monkeypatch):
    study_all(["made"], kept=tmp_path)
    (tmp_path / "made.json").write_text("{")
    study_all(["made"], kept=tmp_path)
    monkeypatch.setattr(every, "sources_digest", lambda: "others")
    study_all(["made"], kept=tmp_path)
    assert calls == [9, 9, 9]


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_what_takes_hours_is_taken_as_it_was_measured_unless_asked_anew(
    tmp_path, calls, monkeypatch
):
    before = ModuleType("before")
    before.figures, before.commands = lambda: {"size": 2}, lambda: ("wattline study made",)
    monkeypatch.setitem(sys.modules, "before", before)
    monkeypatch.setattr(every, "DOCUMENTS", {
        "made": Document("Made up", "made", {"size": 1}, measured="before")})
    found = study_all()
    assert calls == []
    assert found.rows["made"] == rows_from(MADE)
    assert "--anew" in found.remarks[0]
    found.write_pages(tmp_path)
    assert "\n    wattline study made\n" in (tmp_path / "made.md").read_text()
    assert len(study_all(small=True).rows["made"]) == 1
    assert not study_all(anew=True).measured
    assert calls == [1, 9]


def test_public_files_that_are_not_there_are_named(tmp_path):
    with pytest.raises(InputError, match=r"configs.csv.xz: there is no such file"):
        study_all(["rmap"], data=tmp_path)


def test_an_unknown_study_is_refused():
    with pytest.raises(InputError, match="there is no study 'x'; there are: dragonfly, esp"):
        study_all(["x"])


def test_documents_are_the_studies():
    from wattline.studies.asking import STUDIES

    assert set(DOCUMENTS) == set(STUDIES)


def test_the_command_runs_a_small_study_and_writes_its_page(tmp_path):
    asked = ["study", "all", "--small", "--only", "fairshare", "--kept", str(tmp_path / "kept"),
             "--docs", str(tmp_path), "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    rows = said["documents"]["fairshare"]["rows"]
    assert {row["verdict"] for row in rows} <= set(VERDICTS)
    text = (tmp_path / "fairshare.md").read_text()
    assert all(row["ours"] in text for row in rows)


SMALLEST = {
    "dragonfly": {"quick": True, "part": "random", "workloads": 2, "packets": 1, "repeats": 1,
                  "workers": 1},
    "puppet": {"jobs": 100, "arrivals": "hours", "seed": 3},
    "rmap": {"seeds": 1, "jobs": 3, "part": "published"},
}
"""Settings of documents whose small run takes longer than a test may."""
MARKS = {**dict.fromkeys(("hetero", "puppet", "rmap"), pytest.mark.long),
         "dragonfly": pytest.mark.compiled, "regulation": (pytest.mark.compiled, pytest.mark.long)}
"""To compile what the others run would take longer than to run it as plain Python. Those of four
documents take seven seconds or more, and other tests run these studies."""


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=MARKS.get(name, ())) for name in DOCUMENTS if name != "fairshare"])
def test_a_small_run_of_every_document_has_rows_and_a_page(name, tmp_path, monkeypatch):
    document = DOCUMENTS[name]
    small = document._replace(small=SMALLEST.get(name, document.small))
    monkeypatch.setattr(every, "DOCUMENTS", {name: small})
    found = study_all([name], small=True, kept=tmp_path / "kept")
    rows = found.rows[name]
    assert {row.verdict for row in rows} <= set(VERDICTS)
    assert sum(row.ours != "-" for row in rows) > 1, "something was run"
    (path,) = found.write_pages(tmp_path)
    assert path.read_text().count("\n| ") == len(rows) + 1


def test_a_page_that_is_made_anew_keeps_the_sections_below_its_table(calls, tmp_path):
    old = page("made", "Made up", rows_from(MADE[:1])) + "\n## More\n\n| by | another |\n"
    (tmp_path / "made.md").write_text(old)
    study_all(["made"]).write_pages(tmp_path)
    text = (tmp_path / "made.md").read_text()
    assert text == page("made", "Made up", rows_from(MADE)) + "\n## More\n\n| by | another |\n"


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if DOCUMENTS[name].rows])
def test_rows_are_made_of_figures_whatever_else_these_hold(name, monkeypatch):
    """Whatever a study has under `published`, rows come from its document's own module."""
    empty = {"published": {"random": {}}, "findings": []}
    monkeypatch.setattr(every, "STUDIES", {name: lambda progress, **settings: empty})
    rows = study_all([name], small=True).rows[name]
    assert {row.verdict for row in rows} <= set(VERDICTS)
