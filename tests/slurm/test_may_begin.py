"""Jobs that may not begin yet, on a real Slurm: none starts before it may, and others go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.bedside import LONG_S, OURS, finish, slurm, submit, until
from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed

WHOLE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
"""
SHARED = """twin = "twin.toml"
nodes = "n[0001-0002]"
partitions = ["shared"]
"""
SITE = """cap = 2000
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""
TWIN = """name = "bed"
[trace]
file = "none.events"
[twin]
slurm_conf = "{conf}"
log = "events"
idle_w = 90
cpu_w = 5
"""
PARTITION = ("PartitionName=shared", "Nodes=n[0001-0002]", "OverSubscribe=NO", "MaxTime=60")
DAY_S = 86400


@pytest.fixture(params=["whole", "shared"])
def managed(bed: Bed, tmp_path: Path, request: pytest.FixtureRequest
            ) -> Iterator[tuple[SiteConfig, list[str]]]:
    """A site in decide mode, and what its jobs are submitted with."""
    file = tmp_path / "site.toml"
    if request.param == "whole":
        file.write_text(WHOLE + SITE.format(bed=bed.folder))
        yield read_configuration(file), ["-N", "1"]
        return
    conf = tmp_path / "slurm.conf"
    conf.write_text(f"{bed.configuration.read_text()}{' '.join(PARTITION)}\n")
    (tmp_path / "twin.toml").write_text(TWIN.format(conf=conf))
    file.write_text(SHARED + SITE.format(bed=bed.folder))
    slurm(bed, "scontrol", "create", *PARTITION)
    yield read_configuration(file), ["-p", "shared", "-n", "4"]
    slurm(bed, "scancel", "-p", "shared")
    until(lambda: not slurm(bed, "squeue", "-h"))
    slurm(bed, "scontrol", "delete", PARTITION[0])


class Watched:
    """Cycles of a controller, after each of which it is seen who runs."""

    def __init__(self, bed: Bed, here: Controller, site: SiteConfig) -> None:
        self.bed, self.here, self.site = bed, here, site
        self.begun_s: dict[str, float] = {}
        """Return when each was first seen to run."""
        self.together: set[frozenset[str]] = set()
        """All that ran at once, look by look."""

    @property
    def begun(self) -> set[str]:
        return set(self.begun_s)

    def until(self, *labels: str) -> None:
        """Cycle until all of these have begun."""
        def done() -> bool:
            self.here.cycle()
            running = slurm(self.bed, "squeue", "-h", "-r", "-t", "running", "-o", "%i").split()
            self.begun_s = dict.fromkeys(running, time.time()) | self.begun_s
            self.together.add(frozenset(running))
            return self.begun >= set(labels)

        until(done)

    def why(self, label: str) -> str:
        return str(explained(self.here, self.site, {"job": label}).result["reason"])


def test_none_starts_before_it_may_and_others_do_not_starve(
    bed: Bed, managed: tuple[SiteConfig, list[str]]
) -> None:
    site, asks = managed
    with serving(site, act=True) as here:
        seen = Watched(bed, here, site)
        # None ends by itself: on a busy machine it takes a minute until all were seen.
        options = (*OURS, *asks, "-t", "20")
        first = submit(bed, LONG_S, 200, *options)
        after = submit(bed, LONG_S, 200, *options, f"--dependency=afterok:{first}")
        wrong = submit(bed, LONG_S, 200, *options, f"--dependency=afternotok:{first}")
        soon = submit(bed, LONG_S, 200, *options, f"--begin=now+{DAY_S}")
        never = submit(bed, LONG_S, 200, *options, f"--begin=now+{DAY_S}")
        array = submit(bed, LONG_S, 200, *options, "--array=1-2%1")
        parts = slurm(bed, "sbatch", "--parsable", "-o", "/dev/null", *options, ":", *asks,
                      str(bed.folder / "job.sh"), "900", "200")
        last = submit(bed, LONG_S, 200, *options)
        tasks = [f"{array}_1", f"{array}_2"]
        components = [f"{parts}+0", f"{parts}+1"]

        seen.until(first, tasks[0], last)
        assert seen.begun == {first, tasks[0], last}
        assert {label: seen.why(label) for label in (after, wrong, soon, never, tasks[1])} == {
            after: "dependency", wrong: "dependency", soon: "begin time", never: "begin time",
            tasks[1]: "array limit"}
        assert {seen.why(label) for label in components} == {"not managed"}

        # Near enough to be waited for, only now that it was seen not to begin.
        begins_s = time.time() + 6.0
        slurm(bed, "scontrol", "update", f"JobId={soon}", "StartTime=now+8")
        finish(bed, first, 1)
        slurm(bed, "scancel", tasks[0])
        seen.until(after, tasks[1], soon)
        assert seen.begun_s[soon] >= begins_s, "Slurm's times are whole seconds"
        assert not any(running >= set(tasks) or running >= {first, after}
                       for running in seen.together)
        assert (seen.why(wrong), seen.why(never)) == ("dependency failed", "begin time")
        assert not seen.begun & {wrong, never, *components}
        said = slurm(bed, "squeue", "-h", "-j", components[0], "-O", "admin_comment:200")
        assert "heterogeneous" in said

        # Slurm calls the hold of such a job an operator's, though not at once.
        slurm(bed, "scontrol", "hold", wrong)
        here.cycle()
        assert seen.why(wrong) == "dependency failed"
        slurm(bed, "scontrol", "update", f"JobId={wrong}", "Dependency=")
        seen.until(wrong)
