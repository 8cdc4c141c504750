"""Every published figure beside ours: rows, pages, and figures that are kept."""

import json

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.studies import every
from wattline.studies.every import DOCUMENTS, Document, study_all
from wattline.studies.published import VERDICTS, Row, page, rows_from

MADE = [("1.2", "gain | of a", "+10 %", "+9 %", "holds", ""),
        ("1.3", "loss of b", "-3 %", "+1 %", "fails", "the reverse")]


@pytest.fixture
def calls(monkeypatch):
    """A document of two rows in place of all others; gives how often its study was run."""
    ran = []

    def study(progress, size=9):
        ran.append(size)
        return {"size": size}

    monkeypatch.setattr(every, "DOCUMENTS", {"made": Document("Made up", "made", {"size": 1}),
                                             "mute": Document("Mute", "nowhere", {})})
    monkeypatch.setattr(every, "STUDIES", {"made": study, "mute": study})
    monkeypatch.setattr(every, "_maker", lambda document: (
        (lambda figures: MADE[: figures["size"]]) if document.module == "made" else None))
    return ran


def test_a_verdict_is_one_of_five():
    assert len(VERDICTS) == 5
    with pytest.raises(ValueError, match="is none of: holds; holds on average"):
        Row("1", "x", "1", "2", "nearly", "")


def test_words_of_a_study_that_are_no_verdict_say_why_nothing_is_reproduced():
    rows = rows_from([("1", "a", "1", "1", "equal", ""), ("1", "b", "1", "2", "differs", ""),
                      ("1", "c", "a picture", "-", "inferred", "no figures")])
    assert [row.verdict for row in rows] == ["holds", "fails", "not reproduced"]
    assert rows[2].why == "inferred; no figures"


def test_rows_that_a_study_returns_itself_are_taken(monkeypatch):
    monkeypatch.setattr(every, "DOCUMENTS", {"made": Document("Made up", "made", {})})
    monkeypatch.setattr(every, "STUDIES", {"made": lambda progress: {"published": MADE}})
    monkeypatch.setattr(every, "_maker", lambda document: pytest.fail)
    assert study_all(["made"]).rows["made"] == rows_from(MADE)


def test_a_page_has_a_line_per_row_and_says_how_it_is_made():
    text = page("made", "Made up", rows_from(MADE))
    assert "wattline study all --only made --docs" in text
    assert "2 figures (holds 1; fails 1)." in text
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
    monkeypatch.setattr(every, "_sources", lambda: "others")
    study_all(["made"], kept=tmp_path)
    assert calls == [9, 9, 9]


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_a_study_without_rows_is_said_and_has_no_page(tmp_path, calls):
    found = study_all(small=True)
    assert found.remarks == ("the study 'mute' has no rows of published figures",)
    assert [path.name for path in found.write_pages(tmp_path)] == ["made.md"]
    assert found.to_dict()["documents"]["made"]["verdicts"]["holds"] == 1


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


@pytest.mark.long
@pytest.mark.parametrize("name", ["esp", "hetero"])
def test_a_study_that_takes_plain_python_minutes_has_its_rows(name):
    assert {row.verdict for row in study_all([name], small=True).rows[name]} <= set(VERDICTS)


def test_a_page_that_is_made_anew_keeps_the_sections_below_its_table(calls, tmp_path):
    old = page("made", "Made up", rows_from(MADE[:1])) + "\n## More\n\n| by | another |\n"
    (tmp_path / "made.md").write_text(old)
    study_all(["made"]).write_pages(tmp_path)
    text = (tmp_path / "made.md").read_text()
    assert text == page("made", "Made up", rows_from(MADE)) + "\n## More\n\n| by | another |\n"
