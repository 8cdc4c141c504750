"""Two runs job by job: who was hurt, who gained, and who cannot be compared."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.printed import columns
from tests.support.run_maker import fcfs_run, some_jobs

from wattline.advice.per_job import compare_jobs
from wattline.analysis import rundir
from wattline.cli.main import cli, main
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.run import Outcome


def four_jobs(**columns):
    return JobTable.build(
        submit_s=[0.0, 3600.0, 7200.0, 90000.0], run_s=[100.0] * 4, procs=[1, 2, 4, 8],
        **{"user": [0, 0, 1, -1], "names": {"user": ("ada", "bob")}, **columns})


def moved(run, later_s, never=()):
    """The same run with jobs that start later, or never."""
    start_s, end_s = run.schedule.start_s + later_s, run.schedule.end_s + later_s
    outcome = run.schedule.outcome.copy()
    for row in never:
        start_s[row] = end_s[row] = np.nan
        outcome[row] = Outcome.NOT_RUN
    return replace(run, schedule=replace(run.schedule, start_s=start_s, end_s=end_s,
                                         outcome=outcome))


def test_jobs_that_end_later_are_hurt_and_those_that_end_earlier_gain():
    run = fcfs_run(four_jobs())
    found = compare_jobs(moved(run, [50, 0, 0, 60]), moved(run, [0, 0.5, 600, 0]))
    assert (found.total.jobs, found.total.hurt, found.total.gained) == (4, 1, 2)
    assert found.total.same == 1
    assert found.later_s == pytest.approx([-50, 0.5, 600, -60])
    assert found.total.later_s_mean == pytest.approx(490.5 / 4)
    assert [job.job_id for job in found.most_hurt] == [3]
    assert [job.job_id for job in found.most_gained] == [4, 1]
    assert found.most_hurt[0].wait_more_s == 600
    assert found.most_hurt[0].run_more_s == 0


def test_a_job_that_runs_longer_is_hurt_though_it_starts_as_before():
    run = fcfs_run(four_jobs())
    slow = replace(run, schedule=replace(run.schedule, end_s=run.schedule.end_s + 30))
    found = compare_jobs(run, slow)
    assert found.total.hurt == 4
    assert (found.most_hurt[0].wait_more_s, found.most_hurt[0].run_more_s) == (0, 30)


def test_the_groups_are_users_sizes_and_hours():
    run = fcfs_run(four_jobs())
    undated = replace(run, scenario={})
    found = compare_jobs(undated, moved(undated, [10, 20, 30, 40]))

    def means(by):
        return {group.name: group.later_s_mean for group in found.groups[by]}

    assert means("user") == {"unknown": 40, "ada": 15, "bob": 30}
    assert means("size") == {"1": 10, "2": 20, "3-4": 30, "5-8": 40}
    # The fourth is submitted at 1 o'clock of the second day.
    assert means("hour") == {"00": 10, "01": 30, "02": 30}
    for groups in found.groups.values():
        assert sum(group.jobs for group in groups) == 4


def test_hours_of_a_dated_log_are_those_of_its_day():
    run = fcfs_run(four_jobs())
    dated = replace(run, scenario={"trace": {"unix_start_s": 86400.0 * 10_000 + 23 * 3600.0}})
    found = compare_jobs(dated, dated)
    assert [(group.name, group.jobs) for group in found.groups["hour"]] == [
        ("00", 2), ("01", 1), ("23", 1)]
    assert "hours of the day are UTC" in found.notes


def test_jobs_that_ran_in_one_run_only_are_lost_or_won_and_in_no_mean():
    run = fcfs_run(four_jobs())
    found = compare_jobs(moved(run, [0] * 4, never=[0]), moved(run, [7] * 4, never=[1, 2]))
    assert (found.total.lost, found.total.won, found.total.hurt) == (2, 1, 1)
    assert found.total.later_s_mean == 7


def test_jobs_are_matched_by_number_and_restart_and_the_others_counted():
    first = fcfs_run(four_jobs(job_id=[7, 7, 8, 9], restart=[0, 1, 0, 0]))
    second = fcfs_run(four_jobs(job_id=[7, 8, 10, 11], restart=[1, 0, 0, 0]))
    found = compare_jobs(first, second, ("a", "b"))
    assert (found.total.jobs, found.only_first, found.only_second) == (2, 2, 2)
    assert "2 of 4 jobs of a are not in the other run and are not compared" in found.notes
    assert any("submitted at another time" in note for note in found.notes)


def test_what_cannot_be_matched_is_refused():
    run = fcfs_run(four_jobs())
    with pytest.raises(InputError, match="no job in common"):
        compare_jobs(run, fcfs_run(four_jobs(job_id=[11, 12, 13, 14])))
    with pytest.raises(InputError, match="two jobs of the same number"):
        compare_jobs(run, fcfs_run(four_jobs(job_id=[1, 1, 3, 4])))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    jobs, place = some_jobs(60), tmp_path_factory.mktemp("runs")
    return [str(rundir.write(fcfs_run(jobs, nodes), place / name))
            for name, nodes in (("wide", 32), ("narrow", 16))]


def test_run_folders_are_compared_and_drawn(folders, tmp_path):
    words = ["compare", *folders, "--per-job", "--no-report", "-o", str(tmp_path / "out")]
    drawn = [*words, "--json", "--plot", str(tmp_path / "who.png")]
    found = json.loads(CliRunner().invoke(cli, drawn, catch_exceptions=False).stdout)
    said = found["per_job"]["narrow"]
    runs = [rundir.read(folder) for folder in folders]
    later_s = runs[1].schedule.end_s - runs[0].schedule.end_s
    assert said["total"]["hurt"] == (later_s > 1).sum() > 0
    assert said["total"]["later_s_mean"] == pytest.approx(later_s.mean())
    assert {group["name"] for group in said["by_user"]} == {"ada", "bob", "chi", "dan", "eve"}
    assert (tmp_path / "who.png").read_bytes().startswith(b"\x89PNG")
    printed = CliRunner().invoke(cli, words, catch_exceptions=False).stdout
    assert "narrow beside wide, job by job: 60 jobs" in printed
    most = f"+{later_s.max() / 3600:.3g} h"  # in that order a job waits, and runs no longer
    assert columns(printed, "hurt most", "done later", "waits longer", "runs longer")[0] == (
        f"job {runs[0].jobs.job_id[later_s.argmax()]}", most, most, "+0 s")


@pytest.mark.parametrize(("words", "said"), [
    (("--vary", "power.cap=none,80%"), "which --vary cannot change"),
    (("--nodes", "4"), "which machine.nodes cannot change"),
])
def test_a_run_that_is_done_is_not_changed(folders, words, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", *folders, "--per-job", *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (("--per-job",), "compares two runs"), (("--plot", "x.png"), "--plot needs --per-job"),
    (("--per-job", "--plot", "x.txt"), "is not a picture"),
])
def test_one_run_is_not_enough(folders, words, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", folders[0], *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_sizes_and_named_jobs_are_in_one_unit():
    run = fcfs_run(four_jobs())
    cores = replace(run.schedule, nodes=np.array([1, 1, 2, 3]))
    found = compare_jobs(replace(run, schedule=cores), moved(replace(run, schedule=cores), [9] * 4))
    assert [(group.name, group.jobs) for group in found.groups["size"]] == [
        ("1", 2), ("2", 1), ("3-4", 1)]
    assert sorted(job.nodes for job in found.most_hurt) == [1, 1, 2, 3]
    assert found.to_dict()["unit"] == "nodes"
    shared = replace(run, units=8 * run.machine.node_count)
    assert compare_jobs(shared, shared).unit == "cores"


@pytest.mark.usefixtures("undrawn")
def test_the_report_of_the_command_has_who_was_hurt(folders, tmp_path):
    words = ["compare", *folders, "--per-job", "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "narrow beside wide, job by job" in page
    assert all(f"<h3>{title}</h3>" in page for title in (
        "Who was hurt, and who gained", "By hour of submission", "Hurt most"))
    assert [path.name for path in (tmp_path / "out" / "report").glob("chapter-1-*.png")]


@pytest.mark.parametrize("first", [(), (0,), (0, 3)])
@pytest.mark.parametrize("second", [(), (0,), (1, 3)])
def test_a_job_that_ran_in_neither_run_is_not_the_same(first, second):
    run = fcfs_run(four_jobs())
    total = compare_jobs(moved(run, 0, first), moved(run, 0, second)).total
    both = set(first) & set(second)
    assert total.neither == len(both)
    assert (total.lost, total.won) == (len(set(second) - both), len(set(first) - both))
    assert total.same == 4 - len(set(first) | set(second))


@pytest.mark.parametrize("narrow", [False, True])
def test_the_picture_of_the_report_has_the_colours_of_the_page(narrow):
    from wattline.advice.per_job_plot import per_job_figure
    from wattline.analysis.report_pictures import inline_svg

    run = fcfs_run(four_jobs())
    found = compare_jobs(run, moved(run, [0, 0, 600, 0]), ("<free>", "strict"))
    shown = inline_svg(per_job_figure(found, narrow), "x")
    assert shown.startswith("<svg")
    assert "var(--ink)" in shown
    assert "var(--cap)" in shown
    assert "<style" not in shown
    assert "#ffffff" not in shown
    assert "strict beside &lt;free&gt;" in shown


def killed(run, rows):
    """The same run, in which these jobs were killed half-way."""
    outcome, end_s = run.schedule.outcome.copy(), run.schedule.end_s.copy()
    for row in rows:
        outcome[row] = Outcome.KILLED
        end_s[row] -= 50
    return replace(run, schedule=replace(run.schedule, end_s=end_s, outcome=outcome))


def test_a_job_that_was_killed_in_one_run_only_neither_gained_nor_was_hurt():
    run = fcfs_run(four_jobs())
    found = compare_jobs(killed(run, [1]), killed(run, [0, 3]))
    assert (found.total.killed, found.total.spared) == (2, 1)
    assert (found.total.hurt, found.total.gained, found.total.same) == (0, 0, 1)
    assert found.total.later_s_mean == 0
    assert found.most_gained == found.most_hurt == ()
    assert {group.name: group.killed for group in found.groups["user"]} == {
        "ada": 1, "bob": 0, "unknown": 1}
    assert found.to_dict()["total"]["killed"] == 2


def test_a_job_that_was_killed_in_both_runs_is_compared():
    run = killed(fcfs_run(four_jobs()), [0])
    found = compare_jobs(run, moved(run, [30, 0, 0, 0]))
    assert (found.total.killed, found.total.spared, found.total.hurt) == (0, 0, 1)


def test_earlier_is_written_with_a_minus_sign():
    from wattline.advice.per_job_plot import per_job_figure

    run = fcfs_run(four_jobs())
    axes = per_job_figure(compare_jobs(moved(run, [700, 0, 0, 0]), run)).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "\N{MINUS SIGN}10 min" in names
    assert not any("-" in name for name in names)


def test_killed_jobs_stand_in_table_picture_and_report(tmp_path, monkeypatch):
    from wattline.advice.per_job_plot import per_job_figure
    from wattline.advice.per_job_report import per_job_chapter

    run = fcfs_run(four_jobs())
    found = compare_jobs(run, killed(run, [1]), ("free", "strict"))
    legend = per_job_figure(found).axes[0].get_legend()
    assert "killed in strict only: 1" in [text.get_text() for text in legend.get_texts()]
    assert per_job_chapter(found).sentences[1].startswith(
        "Killed or failed in the second run only: 1;")
    for name, each in (("free", run), ("strict", killed(run, [1]))):
        rundir.write(each, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(cli, ["compare", "free", "strict", "--per-job", "--no-report"])
    assert answer.exit_code == 0, answer.output
    assert "killed or failed in strict only, and so neither hurt nor gained: 1 job" in answer.output
    assert columns(answer.output, "", "jobs", "hurt", "gained", "same", "never ran", "killed",
                   "later, mean", "median", "95 % below", "energy ratio")[0] == (
        "all", "4", "0", "0", "3", "0", "1", "+0 s", "+0 s", "+0 s", "1.000")


def test_runs_are_given_by_folder_and_have_their_own_names(tmp_path):
    run = fcfs_run(four_jobs())
    for name in ("one", "two"):
        rundir.write(replace(run, scenario={**run.scenario, "name": name}), tmp_path / name)
    found = compare_jobs(tmp_path / "one", str(tmp_path / "two"))
    assert (found.first, found.second) == ("one", "two")
    table = found.to_pandas()
    assert table.loc[("all", "all"), "jobs"] == 4
    assert len(table) == 1 + sum(map(len, found.groups.values()))


def test_what_is_no_run_is_refused():
    with pytest.raises(InputError, match="not int"):
        compare_jobs(fcfs_run(four_jobs()), 5)
