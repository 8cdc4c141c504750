"""A look ahead from the books of a live controller, on a machine whose nodes are chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wattline.advice.futures.live import LiveNow
    from wattline.books import Submitted
    from wattline.controller.remembering import Remembered

NODES_EACH = 4
OVER, LARGEST = 60, 12
"""Jobs that ended before, to draw run times from; and the most nodes of one that waits."""
ACTIVE_W = 300.0
SITE = """nodes = "n[1-{nodes}]"
node_idle_w = 90
node_active_w = {active_w}
cap = {cap_w}
folder = "kept"

[policy]
power = "block"
"""


def stand_live_at(folder: Path, horizon_s: float, running: int, pending: int) -> LiveNow:
    """A controller's folder with so many jobs running and waiting, as somebody beside it reads it.

    The machine is just as large as the jobs that run need, and the cap a little tighter.
    """
    from wattline.advice.futures.live import stand_live
    from wattline.controller.configuration import read_configuration
    from wattline.controller.remembering import open_remembered

    nodes = NODES_EACH * running
    file = folder / "site.toml"
    file.write_text(SITE.format(nodes=nodes, active_w=ACTIVE_W, cap_w=0.95 * nodes * ACTIVE_W),
                    encoding="utf-8")
    (folder / "kept").mkdir()
    site = read_configuration(file)
    kept = open_remembered(site, Path(site.folder), 0.0, act=True)
    _tell(kept, running, pending)
    kept.save(kept.books)
    kept.close()
    return stand_live(file, horizon_s, "none")


def _tell(kept: Remembered, running: int, pending: int) -> None:
    from wattline.books import Ended, Event, Started

    random = np.random.default_rng(1)

    def told(now_s: float, events: list[Event]) -> None:
        kept.books.apply(now_s, [
            Started(each.job, each.control.nodes) for each in kept.books.step(now_s, events)
            if each.kind == "start" and each.job is not None])

    told(0.0, [_job(random, f"over {row}", 1) for row in range(OVER)])
    told(1000.0, [Ended(f"over {row}") for row in range(OVER)])
    told(2000.0, [_job(random, f"first {row}", NODES_EACH) for row in range(running)])
    told(2001.0, [_job(random, f"later {row}", int(random.integers(2, LARGEST)))
                  for row in range(pending)])


def _job(random: np.random.Generator, name: str, nodes: int) -> Submitted:
    from wattline.books import Submitted

    return Submitted(name, nodes, 2.0 * float(random.lognormal(9.0, 1.0)),
                     names={"user": f"u{random.integers(20)}"})
