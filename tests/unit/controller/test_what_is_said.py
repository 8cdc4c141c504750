"""A controller's words about orders, of jobs that are withdrawn, and of tasks by their numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.test_modes import OneSlurm, ordered

from wattline.cli.main import main
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.orders import owner
from wattline.controller.serving import serving


def listening(here: Controller) -> list[str]:
    said: list[str] = []
    here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))
    return said


@pytest.mark.parametrize(("kind", "fields", "words"), [
    ("set_cap", {"watts": 700.0}, "the cap is 700 W from now on"),
    ("reserve", {"name": "noon", "duration_s": 60.0, "watts": 100.0}, "100 W are reserved (noon)"),
    ("set_mode", {"mode": "guard"}, "guard mode from now on"),
    ("set_cap", {"watts": 300.0}, ""), ("energy", {}, ""),
    ("preview_mode", {"mode": "guard"}, "")])
def test_the_output_says_what_was_ordered_and_by_whom(
    slurm: OneSlurm, site: SiteConfig, kind: str, fields: dict[str, object], words: str
) -> None:
    """Neither what is refused nor a question."""
    with serving(site, act=True) as here:
        said = listening(here)
        who = owner(Path(site.folder).stat().st_uid)
        ordered(here, site, kind, **fields)
        for _ in range(3):
            here.cycle()
    found = [line for line in said if " ordered: " in line]
    assert len(found) == bool(words)
    assert all(line.startswith(f"{who} ordered: {words}") for line in found)


def test_the_output_says_that_a_cap_file_was_changed(slurm: OneSlurm, site: SiteConfig) -> None:
    file = Path(site.folder).parent / "cap"
    file.write_text("800W")
    with serving(site.model_copy(update={"cap_file": str(file)}), act=True) as here:
        said = listening(here)
        for text in ("800W", "800W", "700W"):
            file.write_text(text)
            here.cycle()
        here.cycle()
    assert [line for line in said if "from now on" in line] == [
        f"{file}: the cap is {watts} W from now on" for watts in (800, 700)]


@pytest.mark.parametrize("text", ["350W", "2", "0", "-5W", "3kW", "much"])
def test_a_cap_file_below_an_idle_machine_or_above_the_site_leaves_the_cap(
    slurm: OneSlurm, site: SiteConfig, text: str
) -> None:
    """Four nodes draw 360 W idle, and the site allows 900 W; a file may be half written."""
    file = Path(site.folder).parent / "cap"
    file.write_text("800W")
    with serving(site.model_copy(update={"cap_file": str(file)}), act=True) as here:
        said = listening(here)
        here.cycle()
        file.write_text(text)
        for _ in range(3):
            here.cycle()
        assert here.books.state.clock[0].cap_w == 800.0
    assert sum("the cap stays as it is" in line for line in said) == 1


def test_a_cap_file_with_dates_is_followed_and_one_with_seconds_is_not(
    slurm: OneSlurm, site: SiteConfig
) -> None:
    file = Path(site.folder).parent / "cap"
    file.write_text("time,watts\n2020-01-01,500\n2020-01-02T12:00:00+02:00,800\n2099-01-01,600\n")
    with serving(site.model_copy(update={"cap_file": str(file)}), act=True) as here:
        said = listening(here)
        here.cycle()
        assert here.books.state.clock[0].cap_w == 800.0
        file.write_text("0,700\n3600,600\n")
        here.cycle()
        assert here.books.state.clock[0].cap_w == 800.0
    assert sum("the cap stays as it is: its steps are in seconds" in line for line in said) == 1


@pytest.mark.parametrize("nodes", [4, 5])
def test_a_refused_job_that_is_withdrawn_is_no_fault(
    slurm: OneSlurm, site: SiteConfig, nodes: int
) -> None:
    """Four nodes would draw 1,200 W of 900; five are more than there are."""
    with serving(site, act=True) as here:
        said = listening(here)
        slurm.submit("7", nodes=nodes)
        here.cycle()
        assert said
        said.clear()
        slurm.jobs["7"] = replace(slurm.jobs["7"], state="CANCELLED")
        here.cycle()
        here.cycle()
        assert said == []


def test_a_task_is_explained_by_its_own_number_too(slurm: OneSlurm, site: SiteConfig) -> None:
    """The last task has the number of the array, by which all are meant."""
    with serving(site, act=True) as here:
        for label, job_id in (("33_1", 34), ("33_2", 35), ("33_3", 33)):
            slurm.submit("1")
            slurm.jobs[label] = replace(slurm.jobs.pop("1"), label=label, job_id=job_id,
                                        licenses={"watts": 200})
        here.cycle()
        here.cycle()
        by_label = ordered(here, site, "explain", job="33_1")
        assert by_label.result["job"] == ordered(here, site, "explain", job="34").result["job"]
        assert ordered(here, site, "explain", job="35").result["job"] == "33_2"
        assert "33_1, 33_2, 33_3" in ordered(here, site, "explain", job="33").said
        assert "neither the books nor Slurm" in ordered(here, site, "explain", job="36").said


def test_a_reservation_to_be_withdrawn_is_asked_for_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "site.toml").write_text('nodes = "n1"\nnode_idle_w = 90\nnode_active_w = 300\n'
                                        'cap = 900\nfolder = "controller"\n')
    with pytest.raises(SystemExit) as ended:
        main(["power", "reserve", "--live", "--config", str(tmp_path / "site.toml"), "--remove"])
    assert ended.value.code == 2
    assert "'--name'" in capsys.readouterr().err


@pytest.mark.parametrize("partitions", [(), ("batch",), ("batch", "nope")])
@pytest.mark.parametrize("nodes", ["n[1-4]", "n[1-9]"])
def test_a_start_says_which_nodes_and_partitions_slurm_does_not_have(
    slurm: OneSlurm, site: SiteConfig, monkeypatch: pytest.MonkeyPatch, nodes: str,
    partitions: tuple[str, ...]
) -> None:
    look = OneSlurm.look
    monkeypatch.setattr(OneSlurm, "look", lambda self: replace(seen := look(self), nodes=tuple(
        replace(node, partitions=("batch",)) for node in seen.nodes)))
    given = {"nodes": nodes, "partitions": partitions, "cap": 2000.0}
    with serving(site.model_copy(update=given), act=True) as here:
        said = listening(here)
        for _ in range(3):
            here.cycle()
    assert [line for line in said if "site's file" in line] == [
        *(["Slurm does not have 5 nodes of the site's file, whose idle power is counted all the "
           "same: n5, n6, n7, n8 ..."] if nodes == "n[1-9]" else []),
        *(["no node of Slurm's is in a partition of the site's file: nope"]
          if "nope" in partitions else [])]


def test_a_running_job_of_others_that_is_above_the_highest_cap_is_left_as_it_is(
    slurm: OneSlurm, site: SiteConfig
) -> None:
    """Four nodes as nodes usually draw are 1,200 W, and the cap is 900 W."""
    slurm.submit("1", 4, comment="", licenses={})
    slurm.run("1", "n1", "n2", "n3", "n4")
    with serving(site, act=True) as here:
        said = listening(here)
        here.cycle()
        here.cycle()
        assert explained(here, site, {"job": "1"}).result["reason"] == "running"
    assert slurm.jobs["1"].admin_comment == ""  # our mark in it would make the job ours
    assert not [line for line in said if "held" in line]
    assert len([line for line in said if "job 1 runs" in line]) == 1, said
