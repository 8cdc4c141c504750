"""The commands `regulate` and `bid`: every bad input is refused in one line that says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.contracts import contract_text

from wattline.cli.main import cli
from wattline.cli.study_regulation import command as study_command
from wattline.model.errors import InputError
from wattline.studies.regulation.study import PARTS, USED_BY, RegulationStudy, refuse_unused

HOUR = "t_s,y\n" + "".join(f"{t},0.1\n" for t in range(0, 3600, 4))


def refused(tmp_path: Path, *arguments: str, signal: str = HOUR) -> str:
    """Run `regulate` and return what it refuses with."""
    path = tmp_path / "signal.csv"
    path.write_text(signal)
    argv = ["regulate", "--workload", "W4", "--warmup", "0s", "--signal", str(path), *arguments]
    result = CliRunner().invoke(cli, argv)
    assert result.exit_code != 0
    if isinstance(result.exception, InputError):
        return str(result.exception)
    return result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bid", "8434,3435"), "P - R is 4999 W, 916 W below the idle machine"),
        (("--bid", "13000,2000"), "W above the machine at full power"),
        (("--bid", "9000,-5"), "must be above 0 W"),
        (("--bid", "9000"), "write auto, a method, or P,R"),
        (("--bid", "9000,2000,1"), "write auto, a method, or P,R"),
        (("--bid", "guess"), "bidding"),
        (("--bid", "9000,2000", "--weights", "0.5,0.5"), "2 weights are given for 8"),
        (("--bid", "9000,2000", "--weights", ",".join(["0.2"] * 8)), "sum to 1.6, 0.6 above one"),
        (("--bid", "9000,2000", "--weights", "a,b"), "not numbers"),
        (("--bid", "9000,2000", "--weights", ",".join(["nan"] * 8)), "must be a finite number"),
        (("--bid", "9000,2000", "--start-share", "1.5"), "1.5 is not in the range 0<=x<=1"),
        (("--servers", "4"), "needs 8 servers, the cluster has 4"),
        (("--utilisation", "1.5"), "load: must be above 0 and at most 1"),
        (("--workload", "W15"), "known: W1"),
        (("--duration", "2h"), "not inside"),
        (("--duration", "soon"), "is not a time"),
        (("--policy", "best"), "best"),
        (("--log", "none.swf"), "leave `workload` out"),
    ],
)
def test_bad_flags(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(tmp_path, *arguments)


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        ("t_s,y\n0,1.5\n", "0.5 outside [-1, 1]"),
        ("t_s,y\n0,0\n4,0\n8,0\n100,0\n", "gap of 92 s"),
        ("t_s,y\n0,0\n4,\n", "gap"),
        ("time,y\n0,0\n", "header"),
        ("t_s,y\n0,0.1\n", "has one row, which does not say how long it holds"),
    ],
)
def test_bad_signals(tmp_path: Path, signal: str, words: str) -> None:
    assert words in refused(tmp_path, "--bid", "9000,2000", signal=signal)


def scenario(tmp_path: Path, text: str, command: str = "bid") -> str:
    path = tmp_path / "scenario.toml"
    path.write_text(contract_text(text))
    result = CliRunner().invoke(cli, [command, str(path)])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workload = 4\n", "scenario.toml: trace: 'workload': name"),
        ("contract__bids = 'auto'\n", "contract.bids: there is no such field"),
        ("[prices]\nreserve = -1\n", "reserve price is negative"),
        ("[signal]\nstd = 2.0\n", "std"),
        ("[prices]\nenergy = [[0, 0.1], [60, 0.2], [30, 0.3]]\n", "30 s after 60 s"),
        ("[prices]\nerror = [[60, 0.1]]\n", "must be at 0"),
        ("[prices]\nerror = nan\n", "must be a finite number"),
        ("[[types]]\nname='a'\nnodes=1\ntime_s_min=1\ntime_s_max=2\npower_w_max=9\n"
         "power_w_min=8\nthreshold=1\n", "own types need"),
    ],
)
def test_bad_scenarios(tmp_path: Path, text: str, words: str) -> None:
    assert words in scenario(tmp_path, text)


@pytest.mark.parametrize(("text", "words"), [
    ("[curtailment]\nstart = '30m'\n", "after the contract's start"),
    ("[curtailment]\nstart = '1m'\nduration = '10m'\n", "notice"),
])
def test_bad_curtailments(tmp_path: Path, text: str, words: str) -> None:
    assert words in scenario(tmp_path, text, "regulate")
    assert "beside a curtailment no bid is chosen" in scenario(tmp_path, text)


def test_missing_scenario_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["regulate", str(tmp_path / "none.toml")])
    assert "no such file" in str(result.exception)


def test_adaptive_bids_belong_to_regulate() -> None:
    result = CliRunner().invoke(cli, ["bid", "--workload", "W4", "--bid", "adaptive"])
    assert isinstance(result.exception, InputError)
    assert "regulate" in str(result.exception)


def test_shipped_examples_are_valid() -> None:
    from wattline.demand_response.building import case_of
    from wattline.demand_response.reading import read_contract

    examples = Path(__file__).resolve().parents[3] / "examples"
    for name in ("curtailment.toml", "regulation.toml"):
        case = case_of(read_contract(examples / name, {}))
        assert len(case.jobs) > 0
    assert case_of(read_contract(examples / "curtailment.toml", {})).limit_w is not None


def test_a_log_becomes_a_workload_of_types(tmp_path: Path) -> None:
    from wattline.demand_response.logs import log_case
    from wattline.traces import read

    lines = ["; MaxNodes: 16"]
    for number in range(40):
        run_s = 900 if number % 2 else 7200
        fields = [number + 1, number * 600, 0, run_s, 1 + number % 4, -1, -1, 1 + number % 4,
                  run_s * 2, -1, 1, 1, 1, 1, 1, 1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path = tmp_path / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    found = log_case(read(path), "log.swf", servers=None, start_s=0.0, duration_s=86400.0,
                     power_w_idle=None, seed=1)
    assert found.workload.servers == 16
    assert len(found.jobs) == 40
    assert {t.servers for t in found.workload.types} == {1, 2, 3, 4}
    for row in range(40):
        job_type = found.workload.types[int(found.jobs.application[row])]
        assert job_type.servers == found.jobs.procs[row]


def asked(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code != 0
    if isinstance(result.exception, InputError):
        return str(result.exception)
    assert isinstance(result.exception, SystemExit), result.exception
    return result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bid", "9000,2400"), "chooses the bid"),
        (("--bid", "dayahead"), "--hours N"),
        (("--hours-most", "3"), "needs --hours"),
        (("--with", "b.toml", "--out", "ab.png"), "leave --hours and --out"),
        (("--with", "b.toml", "--workload", "W4"), "each site's file"),
        (("--out", "surface.txt"), "pictures end in .png"),
    ],
)
def test_bid_refuses_what_it_would_not_use(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "b.toml").write_text(contract_text("workload = 'W4'\n"))
    site = str(tmp_path / "b.toml")
    given = [site if a == "b.toml" else a for a in arguments]
    # Beside another site the first is a file too: a workload is of one site.
    first = [site] if "--with" in arguments else ["--workload", "W4"]
    assert words in asked("bid", *first, *given)


def test_places_that_cannot_be_written_are_found_before_the_run(tmp_path: Path) -> None:
    taken = tmp_path / "f.txt"
    taken.write_text("")
    words = "is a file, not a folder"
    assert words in asked("regulate", "--workload", "W4", "--bid", "9000,2400", "--out", str(taken))
    assert words in asked("bid", "--workload", "W4", "--out", str(taken / "surface.png"))


def test_signals_that_are_no_text_are_refused(tmp_path: Path) -> None:
    for name in ("signal.csv", "signal.csv.gz", "signal.csv.xz"):
        path = tmp_path / name
        path.write_bytes(bytes(range(256)) * 4)
        words = asked("regulate", "--workload", "W4", "--signal", str(path), "--bid", "9000,2400")
        assert f"{name}: not a readable CSV file" in words


def test_prices_and_events_move_with_the_warmup(tmp_path: Path) -> None:
    from wattline.demand_response.building import case_of
    from wattline.demand_response.curtailing import event_of
    from wattline.demand_response.reading import contract_of, read_contract
    from wattline.demand_response.reference import uncontrolled_w

    path = tmp_path / "warm.toml"
    path.write_text(contract_text(
        "workload = 'W4'\nwarmup = '1h'\nduration = '2h'\n"
        "[prices]\nenergy = [[0, 0.1], [3600, 1.0]]\n"
        "[curtailment]\nstart = '30m'\nduration = '1h'\n"
    ))
    scenario = read_contract(path, {})
    case = case_of(scenario)
    assert case.prices.mean(case.judged_s, case.judged_s + 3600)[0] == pytest.approx(0.1)
    assert case.prices.mean(case.judged_s + 3600, case.end_s)[0] == pytest.approx(1.0)
    assert event_of(contract_of(scenario)).start_s == 5400
    # The bill leaves the warm-up out, and so does what it is compared with.
    late = case.jobs.take(case.jobs.submit_s < 1.0)
    idle_w = case.workload.servers * case.workload.power_w_idle
    assert uncontrolled_w(replace(case, jobs=late)) == pytest.approx(idle_w)


LOG = "; MaxNodes: 16\n" + "".join(
    f"{n + 1} {600 * n} 0 1200 2 -1 -1 2 2400 -1 1 1 1 1 1 1 -1 -1\n" for n in range(30)
)


def test_a_log_refuses_what_describes_the_jobs_of_a_workload(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    given = ("regulate", "--log", str(path), "--bid", "heuristic")
    assert "none.swf: there is no such file" in asked("regulate", "--log", "none.swf")
    for more in (("--workload", "W4"), ("--utilisation", "0.3"), ("--mislabelled", "0.2"),
                 ("--level", "tight"), ("--burst", "2")):
        assert f"leave `{more[0][2:]}` out" in asked(*given, *more)


def test_standby_jobs_wait_beside_a_log_from_the_start(tmp_path: Path) -> None:
    from wattline.demand_response.building import case_of
    from wattline.demand_response.reading import read_contract

    path = tmp_path / "log.swf"
    path.write_text(LOG)
    fields = {"log": str(path), "duration": "2h", "warmup": "0s"}
    bare, filled = (case_of(read_contract(None, fields | {"standby": s})) for s in (False, True))
    extra = len(filled.jobs) - len(bare.jobs)
    standby = filled.workload.standby
    assert standby is not None
    assert extra == filled.workload.standby_jobs(7200.0) > 0
    assert filled.jobs.application[:extra].tolist() == [len(filled.workload.types)] * extra
    assert filled.jobs.run_s[extra:].tolist() == bare.jobs.run_s.tolist()
    assert extra * standby.time_s_min * standby.servers >= 7200.0 * 16


def test_the_study_refuses_bad_files_before_it_works(tmp_path: Path) -> None:
    short = tmp_path / "short.csv"
    short.write_text("t_s,y\n0,0.5\n4,0.1\n")
    study = ("study", "regulation", "--workers", "1")
    assert "an hour is needed" in asked(*study, "--part", "workloads", "--signal", str(short))
    assert "there is no such file" in asked(*study, "--log", str(tmp_path / "none.swf"))
    assert "not be negative" in asked(*study, "--warmup", "-5m")
    assert "give --log FILE too" in asked(*study, "--log-start", "1d")


def test_every_option_of_the_study_is_used_or_refused_by_each_part() -> None:
    """Orders of a part are known; others are refused by name."""
    options = [option for option in study_command.params
               if option.name not in ("part", "as_json")]
    assert {option.name for option in options} == set(USED_BY)
    for part in PARTS:
        for option in options:
            name = str(option.name)
            if part in USED_BY[name]:
                refuse_unused(part, {option.opts[0]: name})
                continue
            value = () if option.is_flag else ("1",)
            said = asked("study", "regulation", "--part", part, option.opts[0], *value)
            assert f"{option.opts[0]} has no effect on part '{part}'" in said


@pytest.mark.parametrize("part", ["default", "workloads", "large", "hours"])
def test_a_part_of_the_study_uses_what_it_does_not_refuse(part: str, tmp_path: Path) -> None:
    path = tmp_path / "signal.csv"
    path.write_text("t_s,y\n" + "".join(f"{t},0.1\n" for t in range(0, 7200, 4)))
    plain = RegulationStudy(signal_file=str(path))
    for name, value in (("rounds", 7), ("warmup", "5m"), ("seed", 3), ("hours_each", 2),
                        ("standby", True), ("below_idle", True), ("forecast", 3)):
        changed = repr(replace(plain, **{name: value})._orders(part))
        assert (changed != repr(plain._orders(part))) is (part in USED_BY[name]), name


def test_signals_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    from wattline.grid.signals import hours, load_signal

    path = tmp_path / "one.csv"
    path.write_bytes(b"\xef\xbb\xbft_s,y\n0,0.5\n1800,0.25\n")
    assert [s.value.tolist() for s in hours(load_signal(path))] == [[0.5, 0.25]]
    assert "is a folder" in asked("regulate", "--workload", "W4", "--signal", str(tmp_path))
