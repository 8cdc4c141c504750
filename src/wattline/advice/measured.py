"""Measured joules: what sites have of their jobs, entered in a ledger and asked for by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from wattline.account.ledger import runs
from wattline.account.measured.book import Entered, MeasuredLedger
from wattline.account.measured.importing import is_server, read_source
from wattline.account.measured.kept_rules import changed
from wattline.account.measured.listing import step_rows
from wattline.account.measured.names import some_of
from wattline.account.measured.periods import Period, between
from wattline.account.measured.quarters import even_said
from wattline.account.measured.questions import Conditions, Total, crossing, life_rows, totals
from wattline.account.measured.readers.options import ServerOptions
from wattline.account.measured.records import Found
from wattline.account.measured.remarking import (
    set_aside,
    too_much,
    too_much_said,
    unknown_names,
)
from wattline.account.measured.rules import Rules
from wattline.account.measured.scope import Scope
from wattline.account.measured.tables import lives, series
from wattline.account.store import Store, refuse_missing, shown_url
from wattline.advice.node_classes import classes_of_nodes
from wattline.model.errors import InputError, warn
from wattline.model.local_time import zone_of
from wattline.model.progress import Advance, silent
from wattline.model.shown import Shown
from wattline.model.units import format_energy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Imported(Shown):
    """What files told, and what the ledger made of it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> told = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> told.jobs, told.energy_j, told.coverage
    (1, 720000.0, 1.0)
    """

    jobs: int
    lives: int
    """A job that was requeued has several."""
    new: int
    """Lives that the ledger did not know."""
    changed: int
    rows: int
    """Rows with joules that the ledger has of these jobs."""
    energy_j: float
    coverage: float | None
    """Share of the jobs' node-seconds of which the joules are known; None without any."""
    running: int
    apart: int
    """Lives whose meters and Slurm's own figure differ by more than a fifth."""
    without_joules: int
    waiting_steps: int
    samples: int
    """Samples of meters, of which `new_samples` were new to the ledger."""
    new_samples: int
    metered_j: float | None
    """What the nodes' meters saw in the hours that the files tell of; None without any."""
    idle_j: float | None
    """Of it what was drawn while no job held the node."""
    unattributed_j: float | None
    unknown_jobs: tuple[str, ...]
    """Jobs of profiles of which the ledger does not know: their joules count as idle until then."""
    rules: dict[str, Any]
    """By which joules are divided; the store keeps them."""
    skipped: dict[str, int]
    mended: dict[str, int]
    remarks: tuple[str, ...]
    files: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "remarks": list(self.remarks), "files": list(self.files)}

    def to_pandas(self) -> pd.DataFrame:
        """A row per file."""
        import pandas as pd

        return pd.DataFrame(list(self.files))


def account_import(
    files: str | Path | Iterable[str | Path], *, store: str | Path, cluster: str = "",
    zone: str = "", columns: Iterable[str] = (), at: str = "", node: str = "",
    rules: Mapping[str, Any] | None = None, query: str = "", label: str = "",
    gpu_label: str = "", counter: bool = False, start: str = "", end: str = "", step: str = "",
    replace: bool = False, progress: Advance = silent,
) -> Imported:
    """Enter what files tell of jobs and their joules in a ledger; what is in there counts once.

    Understood are `sacct` as text and JSON, `scontrol show node` (taken `at` a time), and series of
    power: CSV, Parquet, ClusterCockpit's archive, Slurm's profiles. `columns` are those of a sacct
    text without header, or say what columns of a series are (`["time=t_s", "watts=p"]`); `node` is
    that of a series which does not name it, `at` also when one began whose times count from 0.
    Times without an offset are of `zone` ("Europe/Berlin", "local"), else of UTC. Each file is
    entered whole or not at all. One whose jobs or samples are there already under another zone or
    cluster is refused; with `replace` it takes their place.

    A Prometheus server is named by its address and asked for `query` from `start` to `end`: for its
    own samples where that is a selector, else, or where `step` is given, each `step`. `label` names
    the node, `gpu_label` its GPU, and values are watts unless `counter` says joules. `rules` say
    how joules are divided (idle_w, idle_by, fill, longest_gap, highest_w, counter_range); they are
    kept in the store.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> found = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> found.jobs, found.energy_j, found.coverage
    (1, 720000.0, 1.0)
    """
    paths = [files] if isinstance(files, (str, Path)) else list(files)
    given = {name: value for name, value in (rules or {}).items() if value is not None}
    if not paths and not given:
        raise InputError("name at least one file to import")
    server = ServerOptions(query, label, gpu_label, counter, start, end, step)
    if server != ServerOptions() and not any(map(is_server, paths)):
        raise InputError("-S, -E, --query, --label, --gpu-label, --counter and --step go with a "
                         "Prometheus server, like http://127.0.0.1:9090")
    zone_of(zone)  # a wrong one is said before a store is made
    changed(Rules(), given)

    def read(path: str | Path) -> Found:
        return read_source(path, cluster=cluster, zone=zone, columns=named, at=at, node=node,
                           server=server)

    named = tuple(columns)
    done: list[tuple[Found, Entered]] = []
    scope = Scope()
    # The first file is read before the store is opened, which would make its file.
    first = read(paths[0]) if paths else Found("")
    with Store(store) as opened:
        ledger = MeasuredLedger(opened)
        for number, path in enumerate(paths or [""]):
            try:
                found = first if not number else read(path)
                scope |= Scope.of(found)
                done.append((_without_samples(found), ledger.enter(
                    found, given, again="replace" if replace else "refuse")))
            except InputError as error:
                before = f"; before it were entered: {', '.join(f.source for f, _ in done)}"
                named_in = "" if str(path) in str(error) else f"{path}: "
                raise InputError(f"{named_in if path else ''}{error}{before if done else ''}"
                                 ) from None
            progress((number + 1) / max(1, len(paths)))
        # Files may overlap: what they tell of together is counted once.
        together = done[0][1] if len(done) == 1 else ledger.known(scope)
    imported = _imported(done, together, scope, cluster)
    warn(imported.remarks)
    return imported


def _without_samples(found: Found) -> Found:
    """What is still needed of a file once it is entered: a month of samples is not."""
    return replace(found, series=())


def _imported(
    done: list[tuple[Found, Entered]], together: Entered, scope: Scope, cluster: str
) -> Imported:
    skipped: Counter[str] = Counter()
    mended: Counter[str] = Counter()
    remarks: list[str] = []
    for found, entered in done:
        skipped.update(found.skipped)
        mended.update(found.mended)
        mended.update(entered.mended)
        before = f"{found.source}: " if found.source else ""
        remarks += [f"{before}{line}" for line in (*found.remarks, *entered.remarks)]
    return Imported(
        jobs=together.jobs, lives=together.lives, new=sum(e.new for _, e in done),
        changed=sum(e.changed for _, e in done), rows=together.rows, energy_j=together.energy_j,
        coverage=together.covered_s / together.node_s if together.node_s else None,
        running=together.running, apart=together.apart, without_joules=together.without_joules,
        waiting_steps=together.waiting_steps, samples=sum(e.samples for _, e in done),
        new_samples=sum(e.new_samples for _, e in done), metered_j=together.metered_j,
        idle_j=together.idle_j, unattributed_j=together.unattributed_j,
        unknown_jobs=together.unknown_jobs,
        rules=done[-1][1].rules, skipped=dict(skipped), mended=dict(mended),
        remarks=(*remarks, *_said(done, together, scope, cluster)),
        files=tuple({"file": found.source, **vars(entered)} for found, entered in done))


def _said(
    done: list[tuple[Found, Entered]], together: Entered, scope: Scope, cluster: str
) -> list[str]:
    """What must be known of the joules beside their number."""
    without, waiting = together.without_joules, together.waiting_steps
    twice = sum(entered.disagreeing for _, entered in done)
    unnamed = not cluster and not all([*(key.cluster for key in scope.lives),
                                       *(name for name, _ in scope.spans)])
    lines = [
        f"jobs without joules: {without} of {together.lives}; they count as not covered"
        if without else "",
        f"steps that wait for their job to be told of: {waiting}" if waiting else "",
        f"jobs told twice with another end or other joules: {twice}; the later end and more "
        "joules count" if twice else "",
        f"jobs of which meters cover less than Slurm tells: {together.set_aside}; Slurm's joules "
        "count (`wattline account job` shows both)" if together.set_aside else "",
        "the files name no cluster; --cluster NAME keeps several apart" if unnamed else "",
        _unknown_said(together),
    ]
    return [*(line for line in lines if line), *together.doubts]


def _unknown_said(together: Entered) -> str:
    """Joules of a job that is not known are nobody's only until its accounting comes."""
    if not together.unknown_jobs:
        return ""
    nobodys_j = (together.idle_j or 0.0) + (together.unattributed_j or 0.0)
    return (f"{format_energy(nobodys_j)} are of job {some_of(together.unknown_jobs)}, which the "
            "ledger does not know: import its sacct, until then they count as idle")


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredAccount(Shown):
    """Joules by name, or the jobs themselves.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> told = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> found = wl.account_show(folder / "site.db", by="account")
    >>> found.rows[0]["account"], found.total_j
    ('phys', 720000.0)
    """

    by: str
    rows: tuple[dict[str, Any], ...]
    """Each with its name under `key`, `jobs`, `energy_j` and `coverage`; or a row per life."""
    total_j: float
    jobs: int
    coverage: float | None
    without_joules: int
    period: Period
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"by": self.by, "rows": list(self.rows), "total_j": self.total_j,
                "jobs": self.jobs, "coverage": self.coverage,
                "without_joules": self.without_joules, "start_s": self.period.start_s,
                "end_s": self.period.end_s, "zone": self.period.zone.name,
                "remarks": list(self.remarks)}

    def to_pandas(self) -> pd.DataFrame:
        """A row per name, or per life of a job."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))


def account_show(
    store: str | Path, *, by: str = "", jobs: Iterable[str | int] = (), users: Iterable[str] = (),
    accounts: Iterable[str] = (), clusters: Iterable[str] = (), start: str = "", end: str = "",
    zone: str = "", classes: Mapping[str, str] | None = None, views: str | Path | None = None,
) -> MeasuredAccount:
    """Say who used which measured joules: by user, account, partition, application, class or node.

    Conditions hold together. Of jobs that cross `start` or `end` (dates in `zone`) the part between
    them counts. Without `by` there is a row per life of a job, with all its joules. `classes` has
    the class of nodes by partition, for jobs of which no source tells it; before it counts what
    `views`, a file of views, says of each node under the key `node_class`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T12:00:00|1|n1|energy=720000\\n")
    >>> _ = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> found = wl.account_show(folder / "site.db", by="user", start="2026-10-05T11:00", zone="UTC")
    >>> found.rows[0]["user"], found.total_j
    ('ann', 360000.0)
    """
    if (classes or views is not None) and by != "class":
        raise InputError("--class and --views give the classes of nodes; they go with --by class")
    node_classes = None if views is None else classes_of_nodes(views)
    period = between(start, end, zone_of(zone))
    asked = Conditions(tuple(map(str, jobs)), tuple(users), tuple(accounts),
                       tuple(clusters), period.start_s, period.end_s)
    with closing(open_ledger(store)) as opened:
        check_clusters(opened, asked.clusters)
        whole = totals(opened, "account", asked)
        unclassed = 0
        if by:
            found = whole if by == "account" else totals(opened, by, asked, classes, node_classes)
            rows = tuple(total_row(by, total) for total in found)
            unclassed = sum(total.jobs for total in found if by == "class" and not total.name)
        else:
            steps = step_rows(opened, asked)
            rows = tuple({**row, "steps": steps.get(row["id"], [])}
                         for row in life_rows(opened, asked))
        cut_even = evenness(crossing(opened, asked))
        cut_even = "; ".join(filter(None, [cut_even, even_said([asked.start_s, asked.end_s])]))
        aside = set_aside(opened, asked).said()
        unknown = [*too_much_said(too_much(opened, asked)), *unknown_names(opened, asked)]
    node_s = sum(total.node_s for total in whole)
    result = MeasuredAccount(
        by, rows, sum(total.energy_j for total in whole), sum(total.jobs for total in whole),
        sum(total.covered_s for total in whole) / node_s if node_s else None,
        sum(total.without_joules for total in whole), period,
        (*_show_remarks(whole, by, period, cut_even, node_classes is not None),
         *filter(None, [aside, _unclassed(unclassed)]), *unknown))
    warn(result.remarks)
    return result


def _unclassed(jobs: int) -> str:
    return (f"jobs of which nobody tells the class of nodes: {jobs}; --class PARTITION=CLASS says "
            "it of a partition, --views FILE of each node" if jobs else "")


def kept_in(store: str | Path) -> set[str]:
    """What a store has: `measured` jobs, simulated `runs`, both or nothing."""
    refuse_missing(store)
    with Store(store, create=False) as opened:
        try:
            there = set(inspect(opened.engine).get_table_names())
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise InputError(f"cannot open the store {shown_url(opened.url)}: {reason}") from None
        kept = {kind: select(table.c.id).limit(1)
                for kind, table in (("measured", lives), ("runs", runs)) if table.name in there}
        with opened.session() as session:
            return {kind for kind, query in kept.items() if session.scalar(query) is not None}


def open_ledger(store: str | Path) -> Store:
    """The store of a ledger that is only asked; one that is not there is not made."""
    refuse_missing(store)
    opened = Store(store)
    MeasuredLedger(opened)
    return opened


def check_clusters(store: Store, clusters: Iterable[str], option: str = "-M") -> None:
    """Refuse a cluster of which the ledger has neither jobs nor meters."""
    with store.session() as session:
        there = {name for column in (lives.c.cluster, series.c.cluster)
                 for name in session.scalars(select(column).distinct())}
    unknown = [name for name in clusters if name not in there]
    if unknown:
        known = ", ".join(f"'{name}'" for name in sorted(there)) or "none yet"
        raise InputError(f"{option}: the ledger has no cluster '{unknown[0]}'; it has {known}")


def total_row(by: str, total: Total) -> dict[str, Any]:
    """What is said of one name."""
    return {by: total.name, "key": total.name, "jobs": total.jobs, "lives": total.lives,
            "energy_j": total.energy_j, "coverage": total.coverage, "node_s": total.node_s,
            "without_joules": total.without_joules}


def evenness(lives: int) -> str:
    """What to say of jobs that were cut although only their sum is known."""
    return (f"jobs cut at an end of the period of which only Slurm's sum is known: {lives}; their "
            "power is taken as even" if lives else "")


def _show_remarks(
    whole: list[Total], by: str, period: Period, cut_even: str, by_node: bool = False
) -> tuple[str, ...]:
    without = sum(total.without_joules for total in whole)
    lines = [f"jobs without joules: {without}; they count as not covered" if without else ""]
    if period.start_s is not None or period.end_s is not None:
        lines.append(f"joules {period.said()}; of jobs that cross an end, the part between")
    lines.append(cut_even)
    if by == "node" or by_node:
        lines.append("joules that Slurm tells for a whole job are divided among its nodes alike")
    return tuple(line for line in lines if line)
