"""A scenario with a [twin] is an ordinary one: runs, folders, caps, more nodes, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.twin_sites import CONF, sacct

import wattline as wl
from wattline.scenario.load import load, validate

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    files = sacct(tmp_path)
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], idle_w=100,
                 cpu_w=10, gpu_w=0, out=tmp_path / "twin.toml")
    return tmp_path / "twin.toml"


def test_a_twin_runs_whole_and_holds_together(twin: Path) -> None:
    run = wl.simulate(twin)
    assert run.ran.all()
    assert wl.verify(run).sentences == []
    assert run.units == 40  # CPUs
    # Four nodes at a time are full: 5 x 100 W idle and 4 x 8 CPUs of 10 W.
    assert run.power_w_peak == 820.0
    assert any(line.startswith("not modelled: ") and "Prolog=" in line for line in run.remarks)
    assert any("usage for fair-share" in line for line in run.assumed)


def test_a_run_folder_is_read_back_and_run_again(twin: Path, tmp_path: Path) -> None:
    run = wl.simulate(twin)
    folder = run.save(tmp_path / "run")
    assert wl.open_run(folder).energy_j == run.energy_j
    again = wl.simulate(folder / "scenario.toml")
    assert again.schedule.start_s.tolist() == run.schedule.start_s.tolist()


def test_a_cap_is_kept_and_a_watched_one_measured(twin: Path) -> None:
    capped = wl.simulate(twin, cap=700)  # two jobs at a time
    assert capped.time_above_cap_s == 0.0
    assert capped.power_w_peak <= 700.0
    assert capped.metrics()["wait_s"]["mean"] > wl.simulate(twin).metrics()["wait_s"]["mean"]
    assert wl.verify(capped).sentences == []
    watched = wl.simulate(twin, watch_cap=700)
    assert watched.time_above_cap_s > 0.0
    assert watched.power_w_peak == 820.0
    with pytest.raises(wl.InputError, match="below the idle power"):
        wl.simulate(twin, cap=400)


def test_more_nodes_shorten_the_queue(twin: Path) -> None:
    more = wl.simulate(twin, twin__add_nodes={"like": "n1", "count": 4})
    assert more.machine.node_count == 9
    assert more.metrics()["wait_s"]["mean"] < wl.simulate(twin).metrics()["wait_s"]["mean"]


def test_settings_of_slurm_conf_can_be_tried(twin: Path) -> None:
    with pytest.raises(wl.InputError, match="SelectType is 'select/odd'"):
        wl.simulate(twin, twin__settings={"SelectType": "select/odd"})


@pytest.mark.parametrize(("fields", "message"), [
    ({"order": "sjf"}, "policy.order: it does not go with shared nodes"),
    ({"power": "dvfs", "cap": 700}, "policy.power: 'dvfs'"),
    ({"power": "lending", "cap": 700}, "policy.power: 'lending' lends watts to jobs by whole"),
    ({"configure": "fixed"}, "policy.configure: it does not go with shared nodes"),
    ({"placement": "claims"}, "set policy.configure = 'claims' too"),
    ({"configure": "claims"}, "set policy.placement = 'claims' too"),
    ({"placement": "claims", "configure": "claims", "order": "claims"},
     "policy.order: it does not go with shared nodes: the order is Slurm's priority"),
    ({"placement": "claims", "configure": "claims",
      "power": {"name": "budget", "energy": "1MWh", "period": "1d"}},
     "before claims have chosen its node class"),
    ({"backfill": "conservative"}, "policy.backfill: 'conservative' plans whole nodes"),
    ({"backfill": "easy"}, "policy.backfill: 'easy' plans whole nodes"),
    ({"placement": "first-fit"}, "policy.placement"),
    ({"machine__nodes": 4}, "machine.nodes: a twin takes it from the site's files"),
    ({"trace__drop_larger": True}, "trace.drop_larger"),
    ({"power__alpha": 3}, "power.alpha"),
    ({"shares": {"ada": 1}}, "shares: a twin does not use it"),
])
def test_what_does_not_go_with_shared_nodes_is_refused(
    twin: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(wl.InputError, match=message):
        wl.simulate(twin, **fields)


def test_the_backfill_of_slurm_needs_a_twin() -> None:
    with pytest.raises(wl.InputError, match=r"give \[twin\] too"):
        validate({"trace": {"generate": "lublin"}, "policy": {"backfill": "slurm"}})


def test_books_and_journals_are_refused(twin: Path, tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="journal is of a policy that decides for whole nodes"):
        wl.simulate(twin, journal=tmp_path / "journal")


def test_files_lie_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sacct(tmp_path)
    text = ('name = "near"\n[trace]\nfile = "sacct.txt"\n[twin]\nslurm_conf = "slurm.conf"\n'
            'assoc = "assoc"\n')
    (tmp_path / "near.toml").write_text(text)
    monkeypatch.chdir(tmp_path.parent)
    found = load(tmp_path / "near.toml")
    assert found.twin is not None
    assert found.twin.slurm_conf == str(tmp_path / "slurm.conf")
    assert found.twin.assoc == str(tmp_path / "assoc")


def test_jobs_that_never_run_are_said_with_their_reason(tmp_path: Path) -> None:
    files = sacct(tmp_path, conf=CONF.replace("PartitionName=batch", "PartitionName=other"))
    twin = wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"])
    assert twin.unfit == ("12 jobs: unknown partition 'batch' (1, 2, 3, 4, 5, ...)",)
    run = wl.simulate(twin.scenario)
    assert not run.ran.any()
    assert any("12 of 12 jobs never ran: unknown or closed partition (12)" in line
               for line in run.remarks)
    checked = wl.check_twin(twin, phases=1)
    assert checked.never_ran_reasons == {"unknown or closed partition": 12}
    assert "No job ran that could be compared" in checked.verdict


def test_a_sweep_goes_over_caps_of_a_twin(twin: Path) -> None:
    found = wl.sweep(load(twin), vary={"power.cap": ["none", 700]})
    waits = found.to_pandas()["wait_s.mean"].tolist()
    assert waits[1] > waits[0]


def test_what_a_twin_does_otherwise_is_said(twin: Path) -> None:
    run = wl.simulate(twin, policy__overrun="extend", machine__granularity="node")
    said = "\n".join(run.remarks)
    assert "policy.overrun = extend has no effect: jobs at their limit are killed" in said
    assert "machine.granularity = node has no effect: a twin counts CPUs" in said
    assert not any("has no effect" in line for line in wl.simulate(twin).remarks)
