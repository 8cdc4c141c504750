"""examples/slurm and the page that uses it: commands exist, files fit, the unit is tight."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from wattline.cli.main import cli
from wattline.controller.configuration import read_configuration
from wattline.controller.doctor.slurm import _options
from wattline.controller.testbed.configuration import TASK
from wattline.live.agent.marks import SCRIPT, Marks
from wattline.live.agent.settings import read_settings

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "slurm"
PAGE = (ROOT / "docs" / "live-guard.md").read_text(encoding="utf-8")
UNITS = sorted(EXAMPLES.glob("*.service"))
MOST_EXPOSED = {"wattline-agent.service": 40}
"""Tenths; 20 otherwise. An agent is root, for the kernel gives its meters to nobody else."""


def shell_lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def wattline_calls() -> list[list[str]]:
    found = [shlex.split(line)[1:] for line in shell_lines() if line.startswith("wattline ")]
    starts = [re.findall(r"^ExecStart=\S+/wattline (.*)$", unit.read_text(), re.MULTILINE)
              for unit in UNITS]
    assert all(len(each) == 1 for each in starts)
    return [*found, *(shlex.split(start) for start, in starts)]


@pytest.mark.parametrize("words", wattline_calls(), ids=" ".join)
def test_every_command_of_the_page_and_the_unit_can_be_called(words: list[str]) -> None:
    """Their options are parsed as they stand, without being carried out."""
    group: click.Command = cli
    context = click.Context(cli)
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        name, words = words[0], words[1:]
        found = group.get_command(context, name)
        assert found is not None, name
        group = found
    given = [str(EXAMPLES / "site.toml") if word.startswith(("/etc/wattline", "/tmp/bed/"))
             else word for word in words]
    group.make_context("wattline", given)


def test_what_the_page_copies_is_there() -> None:
    copied = re.findall(r"/root/wattline-examples/slurm/(\S+)", PAGE)
    assert copied
    assert [name for name in copied if not (EXAMPLES / name).is_file()] == []


def test_the_figures_of_the_files_fit_each_other() -> None:
    site = read_configuration(EXAMPLES / "site.toml")
    conf = _options((EXAMPLES / "slurm.conf").read_text())
    lua = (EXAMPLES / "job_submit.lua").read_text()
    above_idle_w = site.cap - len(site.node_names) * site.node_idle_w
    assert conf["licenses"] == f"watts:{above_idle_w:.0f}"
    assert f"{above_idle_w:,.0f} W" in PAGE
    assert f"local node_active_w = {site.node_active_w:g}\n" in lua
    assert "managed = { batch = true }" in lua
    assert site.partitions == ("batch",)
    assert f'local mode = "{site.mode}"' in lua
    assert site.mode == "guard"
    assert site.licences
    assert conf["prologflags"] == "Alloc"


def test_the_agents_file_is_one_that_an_agent_takes() -> None:
    settings = read_settings(EXAMPLES / "agent.toml")
    assert settings.limits.low < settings.limits.safe < settings.limits.high


def test_prolog_and_epilog_never_fail(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = subprocess.run(["sh", str(EXAMPLES / "prolog_epilog.sh")], check=False,
                              capture_output=True, env={"WATTLINE_READINGS": str(folder),
                                                        "PATH": "/usr/bin:/bin"})
        assert (done.returncode, done.stderr) == (0, b"")


def test_prolog_and_epilog_mark_jobs_for_an_agent_as_it_reads_them(tmp_path: Path) -> None:
    script = EXAMPLES / "prolog_epilog.sh"
    said = [line.strip() for line in script.read_text().splitlines()]
    assert [line for line in SCRIPT.splitlines() if line.strip() not in said] == []
    counter = tmp_path / "energy_uj"
    counter.write_text("42\n")
    marks = Marks(tmp_path, [counter])
    subprocess.run(["sh", str(script)], check=True, env={
        "WATTLINE_AGENT": str(tmp_path), "PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "7",
        "SLURM_SCRIPT_CONTEXT": "epilog_slurmd"})
    assert [(each.job, each.shown) for each in marks.noted()] == [("end 7", (42.0,))]
    marks.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_the_units_expose_little(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                           f"--threshold={MOST_EXPOSED.get(unit.name, 20)}", str(unit)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    level, = re.findall(r"exposure level for \S+: ([\d.]+)", done.stdout)
    if unit.stem == "wattline-controller":
        assert f"an exposure of {level} of 10" in PAGE


def test_the_task_prolog_exports_the_threads_of_the_admin_comment(tmp_path: Path) -> None:
    script = EXAMPLES / "task_prolog.sh"
    assert script.read_text() == TASK, "test beds have the same"
    scontrol = tmp_path / "scontrol"
    scontrol.write_text('#!/bin/sh\necho "   AdminComment=$SAID"\n')
    scontrol.chmod(0o755)
    for said, step, exported in (
            ("wattline: class=arm threads=4x2 cap_w=35", "", "export OMP_NUM_THREADS=4,2\n"),
            ("wattline: threads=8", "", "export OMP_NUM_THREADS=8\n"),
            ("wattline: threads=8", "0", ""), ("threads=8", "", ""), ("", "", "")):
        done = subprocess.run(
            ["sh", str(script)], capture_output=True, text=True, check=True,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "SAID": said, "SLURM_STEP_ID": step,
                 "SLURM_JOB_ID": "7"})
        assert done.stdout == exported
