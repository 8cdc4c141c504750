"""A journal asked again, with what its controller decided about jobs that share nodes.

Slurm's rules choose the nodes of such jobs, so the books of the journal only hear of their starts:
what was decided lies beside it, and is compared with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError
from wattline.model.progress import Advance, silent
from wattline.scenario.asking import Since, replay_journal
from wattline.scenario.journals import DecidedBeside, JournalAsked

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario

STAMP_S = 1e-6
"""The last digit of the time that a journal is named by."""


def replay(
    journal: str | Path, scenario: str | Path | Scenario | None = None, *,
    since: Since | str | None = None, assume_requested: bool = False, allow_code: bool = False,
    progress: Advance = silent,
) -> JournalAsked:
    """Ask a journal again, decision by decision; or what the policy of a scenario would do.

    `since` is a time (`90m`) or `decision:N`: up to there the journal's own policy decides. A
    scenario's file that you name may run code; a journal, or a `Scenario`, with `allow_code`.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> with TemporaryDirectory() as folder:
    ...     run = wl.simulate(trace, machine=wl.Machine(nodes=32), journal=f"{folder}/journal")
    ...     found = wl.replay(f"{folder}/journal")
    >>> found.equal, found.decisions
    (True, 20)
    """
    asked = replay_journal(journal, scenario, since=since, assume_requested=assume_requested,
                           allow_code=allow_code, progress=progress)
    site = _site_of(Path(journal))
    if scenario is not None or not site.get("twin"):
        return asked
    return replace(asked, beside=_beside(Path(journal), site))


def _site_of(journal: Path) -> Mapping[str, Any]:
    """What of its site a controller keeps beside a journal; nothing of other journals."""
    try:
        said = json.loads(journal.with_suffix(".site").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _beside(journal: Path, site: Mapping[str, Any]) -> DecidedBeside:
    from wattline.controller.sharing.deciding import BEFORE, DECISIONS
    from wattline.controller.sharing.deciding_again import decided_again
    from wattline.controller.sharing.parts import read_section
    from wattline.model.units import parse_hosts

    file = journal.parent / DECISIONS
    if not file.exists() and not file.with_suffix(BEFORE).exists():
        return DecidedBeside()
    after_s, until_s = _span(journal)
    try:
        return decided_again(file, read_section(site["twin"]), list(parse_hosts(site["nodes"])),
                             after_s=after_s, until_s=until_s)
    except (InputError, OSError, KeyError) as error:
        return DecidedBeside(remarks=(
            f"what was decided on shared nodes cannot be compared: {error}",))


def _span(journal: Path) -> tuple[float, float]:
    """From when to when a folder's journal was written: until the next one begins."""
    later = sorted(each for each in journal.parent.glob("*.journal") if each.name > journal.name)
    return (_begin_s(journal, -math.inf) + STAMP_S,
            _begin_s(later[0], math.inf) + STAMP_S if later else math.inf)


def _begin_s(journal: Path, otherwise_s: float) -> float:
    from wattline.controller.remembering import STAMP

    try:
        return datetime.strptime(journal.stem, STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return otherwise_s
