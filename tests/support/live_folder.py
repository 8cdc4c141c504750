"""The folder of a controller whose machine did what a log says, up to an instant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wattline.books import CapChanged, Ended, Event, Started, Submitted
from wattline.controller.configuration import read_configuration
from wattline.controller.remembering import Remembered, open_remembered
from wattline.engine.telling import Teller
from wattline.scenario.build import Plan

SITE = """nodes = "n[1-{nodes}]"
node_idle_w = 90
node_active_w = 300
cap = {cap_w}
folder = "kept"
{more}

[policy]
order = "{order}"
power = "{power}"
"""


def write_site(
    folder: Path, *, nodes: int = 64, cap_w: float = 1e6, order: str = "fcfs",
    power: str = "block", more: str = "",
) -> Path:
    """The file of a site; its controller's folder is `kept` beside it."""
    file = folder / "site.toml"
    file.write_text(SITE.format(nodes=nodes, cap_w=cap_w, order=order, power=power, more=more))
    (folder / "kept").mkdir(exist_ok=True)
    return file


def tell_up_to(file: Path, ready: Plan, at_s: float) -> Remembered:
    """Tell a controller's books all that the plan's log does by an instant.

    They decide themselves: that they decide as the simulation does is asserted on the way. Books
    are saved in the middle, so that the rest stands in the journal alone. Close what comes back.
    """
    site = read_configuration(file)
    teller = Teller(ready.jobs, ready.machine, ready.policy, ready.rules)
    kept = open_remembered(site, Path(site.folder), float(ready.jobs.submit_s[0]), act=True)
    half = False
    while not teller.finished() and teller.next_s() <= at_s:
        now_s, events, decisions, _ = teller.instant()
        here = kept.books.step(now_s, list(filter(None, (_live(each, ready) for each in events))))
        began = [each for each in here if each.kind == "start"]
        assert [each.job for each in began] == [
            _name(each.job, ready) for each in decisions if each.kind == "start"]
        kept.books.apply(now_s, [Started(each.job, each.control.nodes) for each in began])
        assert not kept.books.refused
        if not half and now_s > at_s / 2:
            kept.save(kept.books)
            half = True
    kept.books.apply(at_s, ())
    return kept


def _name(row: Any, ready: Plan) -> str:
    return str(ready.jobs.job_id[row])


def _live(event: Event, ready: Plan) -> Event | None:
    """Return what a controller would be told: no run times, and jobs as Slurm calls them."""
    if isinstance(event, CapChanged):  # the site's own
        return None
    if isinstance(event, Submitted):
        user = event.codes.get("user", -1)
        return Submitted(_name(event.job, ready), event.units, event.requested_s, event.watts,
                         names={"user": f"u{user}"} if user >= 0 else {})
    assert isinstance(event, Ended)
    return replace(event, job=_name(event.job, ready))
