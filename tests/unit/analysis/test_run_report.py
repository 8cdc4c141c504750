"""The report: a page that stands alone, pictures beside it, figures that people read."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.analysis import plots, rundir
from wattline.analysis.bundle import script
from wattline.analysis.describe import sentences
from wattline.analysis.drawing import picture_bytes
from wattline.analysis.metrics import metrics
from wattline.analysis.naming import named_runs
from wattline.analysis.report import report
from wattline.analysis.report_pictures import common_pictures, map_picture
from wattline.analysis.summary import (
    TIME,
    aligned,
    compare_table,
    comparison,
    number_text,
    scale_for,
    time_text,
)
from wattline.cli.report import _named, command
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.run import Run
from wattline.model.signal import Signal

HOSTILE = "</script><script>alert(1)</script>"
HOSTILE_USER = "</script><img src=x onerror=alert(1)>"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def plain() -> Run:
    jobs = some_jobs(120)
    return fcfs_run(replace(jobs, names={"user": (HOSTILE_USER,) * 5}))


@pytest.fixture(scope="module")
def capped() -> Run:
    return fcfs_run(some_jobs(120, power_w=some_jobs(120).procs * 200.0),
                    cap_w=Signal.constant(2500.0, "W"), placed=False)


class Page(HTMLParser):
    """Collects what a page would fetch, and checks that its tags close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.images = 0
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        for name, value in attrs:
            if name in ("src", "href"):
                self.images += str(value).startswith("data:image/png;base64,")
                self.fetched += [] if str(value).startswith("data:") else [str(value)]

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def told() -> list[float]:
    return []


@pytest.fixture(scope="module")
def page(plain: Run, told: list[float], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report({HOSTILE: plain}, tmp_path_factory.mktemp("page") / "report", told.append)


def test_one_run(page: Path) -> None:
    text = page.read_text()
    parsed = Page(text)
    assert parsed.fetched == []
    assert parsed.images == 6
    assert "url(" not in text
    words = re.sub(r"base64,[^\"]*|<script>.*</script>|http-equiv", "", text, flags=re.DOTALL)
    assert "http" not in words  # the bundle's comments name where uPlot comes from
    assert "default-src &#39;none&#39;" in text
    pictures = {path.name for path in page.parent.iterdir()} - {"index.html"}
    assert pictures == {"power.png", "power-duration.png", "utilisation.png", "queue.png",
                        "waits.png", "job-map.png"}
    assert all((page.parent / name).read_bytes().startswith(PNG) for name in pictures)


def test_the_page_shows_the_figures(page: Path, plain: Run) -> None:
    text = page.read_text()
    rows = {row.key: row for row in compare_table({"plain": plain})}
    for key in ("wait_s.mean", "energy_j", "power_w.peak", "utilisation"):
        assert f"<td>{rows[key].texts[0]}</td>" in text
    assert "120 jobs" in text
    assert "1996" in text  # the scenario dates the log
    assert "There is no power cap." in text
    assert "policy.backfill" in text


def test_names_cannot_break_the_page(page: Path) -> None:
    text = page.read_text()
    assert HOSTILE not in text
    data, code = Page(text).scripts
    assert code.strip() == script().strip()
    assert "<" not in data
    charts = json.loads(data)["charts"]
    assert charts[0]["runs"][0]["name"] == HOSTILE
    assert charts[-1]["colours"][0][1] == HOSTILE_USER


def test_only_the_bundle_may_run(page: Path) -> None:
    _, code = Page(page.read_text()).scripts
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in page.read_text()


def test_progress_is_told(page: Path, told: list[float]) -> None:
    assert page.is_file()
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_equal_runs_give_equal_files(page: Path, plain: Run, tmp_path: Path) -> None:
    assert report({HOSTILE: plain}, tmp_path).read_bytes() == page.read_bytes()


def test_pictures_are_written_in_the_form_that_is_asked_for(
    plain: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = named_runs(plain)
    monkeypatch.setattr("wattline.analysis.report.common_pictures",
                        lambda runs: common_pictures(runs)[-1:])
    first = report(plain, tmp_path / "svg", pictures="svg").parent
    assert (first / "waits.svg").read_text().startswith("<?xml")
    again = common_pictures(runs)[-1].drawn("svg")
    assert again.file == "waits.svg"
    assert again.content == (first / "waits.svg").read_bytes()
    book = map_picture(plain, runs, "").drawn("pdf")
    assert book.file == "job-map.pdf"
    assert book.content.startswith(b"%PDF")
    with pytest.raises(InputError, match="pictures are png, svg, pdf, not 'gif'"):
        report(plain, tmp_path / "gif", pictures="gif")


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_picture_is_drawn_once_and_left_as_it_was(
    plain: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    draw = Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda self, renderer: (
        drawn.append(form), draw(self, renderer)))
    figure = plots.waits({"plain": plain})
    layout, dpi = figure.get_layout_engine(), figure.dpi
    first = picture_bytes(figure, form)
    assert drawn == [form]
    assert layout is not None
    assert (figure.get_layout_engine(), figure.dpi) == (layout, dpi)
    assert picture_bytes(figure, form) == first


@pytest.fixture(scope="module")
def compared(plain: Run, capped: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report({"plain": plain, "with a cap": capped}, tmp_path_factory.mktemp("compared"))


def test_two_runs_are_compared(compared: Path) -> None:
    text = compared.read_text()
    assert "2 runs compared" in text
    assert 'class="ratio better"' in text
    assert "&#39;plain&#39; is measured against the cap of &#39;with a cap&#39;" in text
    names = {path.name for path in compared.parent.iterdir()}
    assert {"job-map-1-plain.png", "use-by-size-2-with-a-cap.png"} <= names
    assert "did not record which units each job held" in " ".join(text.split())


def test_maps_say_how_fine_they_are(plain: Run, capped: Run, compared: Path) -> None:
    text = compared.read_text()
    point = time_text((plain.end_s - plain.start_s) / 1200)
    assert f"A point is {point} long." in text
    span = time_text((capped.end_s - capped.start_s) / 1000)
    assert f"has a mean per {span}." in " ".join(text.split())


@pytest.mark.usefixtures("unpainted")
def test_runs_of_different_work_are_not_called_better(capped: Run, tmp_path: Path) -> None:
    fewer = fcfs_run(some_jobs(120, nodes=16), nodes=8)
    text = report({"all": capped, "fewer": fewer}, tmp_path).read_text()
    assert "Not all jobs ran in fewer" in text
    assert 'class="ratio better"' not in text


@pytest.mark.usefixtures("unpainted")
def test_a_column_has_one_unit_in_the_tables_of_all_runs(tmp_path: Path) -> None:
    runs = {f"{nodes} nodes": fcfs_run(some_jobs(120), nodes) for nodes in (20, 16)}
    waits = [scale_for(TIME, [row["wait_s"]["mean"] for row in metrics(run)["by_size"]]).sign
             for run in runs.values()]
    assert len(set(waits)) == 2  # each alone would have a unit of its own
    page = report(runs, tmp_path).read_text()
    heads = re.findall(r"<th data-sort>(Mean wait \(\w+\))</th>", page)
    assert len(heads) == 4  # by size and by user
    assert heads[0] == heads[2]
    assert heads[1] == heads[3]


@pytest.mark.parametrize(("users", "others"), [(5, False), (9, True)])
def test_the_map_names_other_users_only_where_there_are_some(users: int, others: bool) -> None:
    jobs = some_jobs(120)
    run = fcfs_run(replace(jobs, user=np.arange(120) % users,
                           names={"user": tuple("abcdefghi")}))
    drawn = map_picture(run, {"run": run}, "")
    named = [name for _, name in drawn.chart.spec["colours"]]
    assert ("other users" in named) == others
    assert ("all others are grey" in drawn.caption) == others
    (legend,) = drawn.draw().legends
    assert ("other users" in [text.get_text() for text in legend.get_texts()]) == others


@pytest.mark.usefixtures("unpainted")
def test_many_runs(plain: Run, tmp_path: Path) -> None:
    page = report({f"run {number}": plain for number in range(5)}, tmp_path)
    assert Page(page.read_text()).images == 5 + 5


@pytest.mark.usefixtures("unpainted")
def test_a_run_in_which_nothing_ran(tmp_path: Path) -> None:
    run = fcfs_run(JobTable.build(submit_s=[5], run_s=[10], procs=[99]))
    assert "1 never did" in report({"none": run}, tmp_path).read_text()


def test_ratios_are_to_the_first(plain: Run, capped: Run) -> None:
    rows = {row.key: row for row in compare_table({"plain": plain, "capped": capped})}
    energy = rows["energy_j"]
    assert energy.values == (plain.energy_j, capped.energy_j)
    assert energy.ratios == (1.0, capped.energy_j / plain.energy_j)
    assert energy.better == "lower"
    above = rows["time_above_cap_s"]
    assert above.values[0] > above.values[1] == capped.time_above_cap_s
    headers, lines = comparison(["plain", "capped"], list(rows.values()))
    assert headers == ["figure", "unit", "plain", "capped", "ratio"]
    assert all(len(line) == 5 for line in lines)


def test_no_rows_about_a_cap_that_is_not_there(plain: Run) -> None:
    assert not any("cap" in row.key for row in compare_table({"plain": plain}))


def test_units_for_people() -> None:
    assert [time_text(value) for value in (5, 600, 7200, 3 * 86400, float("nan"))] == [
        "5 s", "10 min", "2 h", "3 d", "-"]
    assert [number_text(value) for value in (0.1234, 12.345, 123.45, 12345.6, 7.0, 3e15)] == [
        "0.123", "12.3", "123.5", "12,346", "7", "3.000e+15"]


def test_one_value_far_beyond_the_others_does_not_choose_the_unit() -> None:
    waits_s = [5.53 * 3600, 7.2 * 3600, 100 * 86400.0]
    assert scale_for(TIME, waits_s).sign == "h"
    assert aligned([value / 3600 for value in waits_s]) == ("5.53", "7.20", "2,400.00")
    assert scale_for(TIME, [45 * 86400.0, 0.0, 0.0]).sign == "d"  # zeros read well in any unit
    assert scale_for(TIME, [0.0, float("nan")]).sign == "s"


def test_a_peak_above_what_the_nodes_draw_is_explained(plain: Run, capped: Run) -> None:
    hot = replace(capped, power_w_peak=16 * 250.0 + 1000)
    assert "5 kW at its peak (above the 4 kW of all nodes active, because jobs have powers" in (
        " ".join(sentences(hot, metrics(hot))))
    for quiet in (capped, replace(plain, power_w_peak=5000.0)):
        assert "above the 4 kW" not in " ".join(sentences(quiet, metrics(quiet)))


def test_a_cap_that_changes_in_words(plain: Run) -> None:
    steps = Signal.from_steps([(0.0, float("inf")), (3000.0, 2e3), (9000.0, 3e3)], "W")
    words = " ".join(sentences(replace(plain, cap_w=steps), metrics(plain)))
    assert "changes 2 times, between 2 kW and no limit" in words
    assert "never rose above the cap" in words


@pytest.mark.usefixtures("unpainted")
def test_command(
    plain: Run, capped: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattline.analysis.report_pictures.picture_bytes",
                        lambda figure, form: f"painted as {form}".encode())
    one = rundir.write(plain, tmp_path / "one")
    two = rundir.write(capped, tmp_path / "two")
    result = CliRunner().invoke(command, [str(one)], catch_exceptions=False)
    assert "Mean wait" in result.output
    assert (one / "report" / "index.html").is_file()
    assert len(rundir.read(one).jobs) == 120  # a report in the folder does not spoil the run
    argv = [str(one), str(two), "-o", str(tmp_path / "both"), "--pictures", "svg", "--json"]
    found = json.loads(CliRunner().invoke(command, argv, catch_exceptions=False).output)
    assert (tmp_path / "both" / "power.svg").read_text() == "painted as svg"
    assert found["report"] == str(tmp_path / "both" / "index.html")
    assert found["runs"] == ["one", "two"]
    by_name = {row["name"]: row for row in found["figures"]}
    assert by_name["energy_j"]["values"] == [plain.energy_j, capped.energy_j]


def test_command_tells_runs_of_one_name_apart(tmp_path: Path) -> None:
    folders = (tmp_path / "a" / "run", tmp_path / "b" / "run")
    assert _named(folders) == [("a/run", folders[0]), ("b/run", folders[1])]


def test_command_on_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        CliRunner().invoke(command, [str(tmp_path / "x")], catch_exceptions=False)
    with pytest.raises(InputError, match="named twice"):
        CliRunner().invoke(command, [str(tmp_path), str(tmp_path)], catch_exceptions=False)
