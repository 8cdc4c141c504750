"""Who used which joules: the jobs of a run, or of a run in the ledger, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.entries import Entries
from wattline.account.ledger import GROUPS, Chosen, Entered, Ledger
from wattline.account.run_ledger import AnyLedger, RunLedger
from wattline.account.store import Store, refuse_missing
from wattline.analysis import rundir
from wattline.analysis.describe import unix_start_s
from wattline.model.errors import InputError, warn
from wattline.model.local_time import zone_of
from wattline.model.progress import Advance, silent
from wattline.model.run import Run
from wattline.model.shown import Shown
from wattline.model.signal import Signal
from wattline.model.units import counted, format_energy, joules_text, parse_duration

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RunAccount(Shown):
    """The jobs of a run as the ledger has them, or their totals, and what must be known of them.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> found = wl.account_run(wl.simulate(trace, machine=machine))
    >>> len(found.jobs), found.price
    (20, '')
    """

    run: dict[str, Any]
    """Name, machine, joules in all, the time of its clock's zero, what was left out or assumed."""
    jobs: list[dict[str, Any]]
    """A row per life of a job; with `cost` where there is a price."""
    steps: dict[tuple[int, int], list[dict[str, Any]]]
    """By a job's number and life: the stretches in which it ran."""
    by: str = ""
    totals: tuple[dict[str, Any], ...] = ()
    """Where totals were asked for: a row for each name."""
    already_entered: bool | None = None
    """Whether the ledger had this run before; None where none was to be entered."""
    price: str = ""
    currency: str | None = None
    cost: float | None = None
    remarks: tuple[str, ...] = ()
    price_notes: tuple[str, ...] = ()

    def said(self) -> dict[str, Any]:
        """What stands at the top of the command's JSON."""
        found: dict[str, Any] = {"run": self.run["name"], "remarks": [
            line for line in self.remarks if line not in self.price_notes]}
        if self.already_entered is not None:
            found["already_entered"] = self.already_entered
        if self.cost is not None:
            found |= {"price": self.price, "currency": self.currency, "cost": self.cost,
                      "price_notes": list(self.price_notes)}
        return found

    def to_dict(self) -> dict[str, Any]:
        from wattline.account import sacct

        known = {"left_out": self.run["left_out"], "assumed": self.run["assumed"]}
        if self.by:
            return {**self.said(), "by": self.by, "run_energy_j": self.run["energy_j"],
                    "energy_j": sum(total["energy_j"] for total in self.totals), **known,
                    "totals": list(self.totals)}
        return {**self.said(), **known,
                **sacct.json_jobs(self.jobs, self.steps, self.run["epoch_s"])}

    def to_pandas(self) -> pd.DataFrame:
        """A row per job, or per total."""
        import pandas as pd

        return pd.DataFrame(list(self.totals) if self.by else self.jobs)

    def _told(self) -> str:
        rows = self.totals if self.by else self.jobs
        used_j = sum(row["energy_j"] for row in rows)
        what = (f"{counted(len(rows), 'total')} by {self.by}" if self.by
                else counted(len(rows), "job"))
        cost = "" if self.cost is None else f", cost {self.cost:.4g} {self.currency or ''}".rstrip()
        return f"{self.run['name']!r}: {what}, {format_energy(used_j)}{cost}"


def account_run(
    run: Run | str | Path | None = None, *, store: str = "", run_name: str = "",
    jobs: Iterable[int] = (), users: Iterable[str] = (), accounts: Iterable[str] = (),
    start: float | str | None = None, end: float | str | None = None, by: str | None = None,
    price: float | str | None = None, price_start: str = "", epoch_s: float | None = None,
    replace_run: bool = False, with_steps: bool = True, profile: str | Path | None = None,
    profile_interval_s: float = 30.0, zone: str = "", progress: Advance = silent,
) -> RunAccount:
    """Say who used which joules in a run, in the folder of one, or in a run of a ledger.

    With a folder and a `store` the run is entered first. Only jobs of these numbers, `users` and
    `accounts` count that were in the system between `start` and `end`; with `by` (user, account,
    partition, application, node_class) they are added up. With a `price` (one figure, or a table
    of them) each job's joules are charged at the price of their time. A table is read by the dates
    of the log; where these have none in common, it begins with the first submission, or at its date
    `price_start`; its dates without an offset are of `zone`, else of UTC. `epoch_s` is the Unix
    time of the run's second 0, where its log does not say it.
    With `profile`, power profiles are written into that folder as Slurm's HDF5 files.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=50, nodes=16)
    >>> run = wl.simulate(trace, machine=wl.Machine(nodes=16, node_idle_w=90, node_active_w=300))
    >>> found = wl.account_run(run, by="user", price="0.12EUR")
    >>> bool(abs(found.to_pandas()["cost"].sum() - found.cost) < 1e-9), found.currency
    (True, 'EUR')
    """
    if by is not None and by not in GROUPS:
        raise InputError(f"by is '{by}'; totals are by one of: {', '.join(GROUPS)}")
    rate = _price(price, price_start, zone)
    if run is None and not store:
        raise InputError("name a run folder, or a store with --store")
    if isinstance(run, Run) and store:
        raise InputError("only the folder of a run is entered in a store: run.save(folder) first")
    chosen = Chosen(tuple(jobs), tuple(users), tuple(accounts), _time(start), _time(end))
    # Whatever is not there is found out before the store is opened, which would make its file.
    read = run if isinstance(run, Run) or run is None else rundir.read(run)
    if read is None:
        refuse_missing(store)
    progress(0.1)
    asked = _Asked(chosen, by or "", rate, str(price), price_start, with_steps, zone)
    entering = None if read is None else _Entering.of(read, run, run_name, epoch_s)

    def profiles() -> None:
        if entering is not None and profile is not None:
            _write_profiles(entering, chosen, Path(profile), profile_interval_s, progress)

    if store:
        found = _in_store(store, entering, run_name, replace_run, asked, profiles)
    else:
        assert entering is not None
        progress(0.5)
        profiles()
        found = replace(_answered(RunLedger(entering.entries, entering.row), asked),
                        already_entered=False)
    progress(1.0)
    warn(found.remarks)
    return found


@dataclass(frozen=True)
class _Asked:
    """What is to be said of a run."""

    chosen: Chosen
    by: str
    rate: Signal | None
    price: str
    price_start: str
    with_steps: bool
    zone: str


@dataclass(frozen=True, eq=False)
class _Entering:
    """A run as a ledger would have it."""

    run: Run
    name: str
    digest: str
    dated_s: float | None
    """The Unix time of its second 0, where somebody says it."""
    said: bool
    """Whether it is said anew, and not read from its log."""

    @classmethod
    def of(cls, read: Run, given: Run | str | Path | None, name: str,
           epoch_s: float | None) -> _Entering:
        folder = Path(given) if isinstance(given, str | Path) else None
        named = Path("run") if folder is None else folder.resolve()
        return cls(read, name or named.name, "" if folder is None else rundir.identity(folder),
                   unix_start_s(read) if epoch_s is None else epoch_s, epoch_s is not None)

    @cached_property
    def entries(self) -> Entries:
        from wattline.account.from_run import entries_of
        from wattline.results.verify.pace import mean_frequencies_hz

        return entries_of(self.run, mean_frequencies_hz(self.run))

    @property
    def row(self) -> dict[str, Any]:
        """What a ledger keeps of the run itself."""
        from wattline.account.from_run import left_out

        return {"name": self.name, "digest": self.digest or f"name {self.name}",
                "machine": self.run.machine.name, "epoch_s": float(self.dated_s or 0.0),
                "energy_j": float(self.run.energy_j), "left_out": left_out(self.run),
                "assumed": list(self.run.assumed)}

    def enter(self, ledger: Ledger, replace_run: bool) -> Entered:
        row = self.row | {"digest": self.digest}
        # Most of the work is in the entries; a run that is there already is not read again.
        entered = ledger.add(row.pop("name"), lambda: self.entries, replace=replace_run, **row)
        # What was said of it before holds, unless it is said anew; 0 is what nobody said.
        if entered.already and self.dated_s is not None and (
                self.said or not ledger.run_of(entered.name)["epoch_s"]):
            ledger.set_epoch(entered.name, self.dated_s)
        return entered


def _in_store(
    store: str, entering: _Entering | None, run_name: str, replace_run: bool, asked: _Asked,
    then: Callable[[], None],
) -> RunAccount:
    """The answer of a store, in which the run is entered first where there is one."""
    with Store(store) as opened:
        ledger = Ledger(opened)
        if entering is None:
            return _answered(ledger, asked, run_name)
        entry = entering.enter(ledger, replace_run)
        then()
        found = _answered(ledger, asked, entry.name, _entry_remarks(entry, entering.name))
        return replace(found, already_entered=entry.already)


def _answered(
    ledger: AnyLedger, asked: _Asked, run_name: str = "", remarks: Sequence[str] = ()
) -> RunAccount:
    row = ledger.run_of(run_name)
    chosen = asked.chosen
    said = (*remarks, *_left_out(row), *row["assumed"], *_nobody(ledger, row["id"], chosen))
    listed = ledger.jobs_of(row["id"], chosen) if asked.rate is not None or not asked.by else []
    found = RunAccount(row, listed, {}, asked.by, remarks=said)
    if asked.rate is not None:
        found = _charged(found, ledger, asked.rate, asked.price, asked.price_start,
                         asked.zone)
    if asked.by:
        return replace(found, totals=_totals(found, ledger, asked.by, chosen))
    return replace(found, steps=_steps(ledger, found)) if asked.with_steps else found


def _steps(ledger: AnyLedger, found: RunAccount) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Those of the jobs that were asked for."""
    from wattline.account.sacct import life

    steps = ledger.steps_of(found.run["id"])
    return {at: steps[at] for at in map(life, found.jobs) if at in steps}


def _entry_remarks(entered: Entered, name: str) -> list[str]:
    if entered.already:
        return [f"this run is already entered as {entered.name}; it is not counted again"]
    if entered.name != name:
        return [f"entered as {entered.name}: the store has another run called {name} (--replace "
                "would replace it)"]
    return []


def _write_profiles(entering: _Entering, chosen: Chosen, folder: Path, interval_s: float,
                    progress: Advance) -> None:
    from wattline.account.profile import write_profile

    wanted = [record for record in entering.entries.records()
              if record.steps and chosen.holds(record)]
    for at, record in enumerate(wanted):
        write_profile(record, folder, epoch_s=entering.dated_s or 0.0, interval_s=interval_s)
        progress(0.5 + 0.4 * (at + 1) / len(wanted))


def _left_out(run: dict[str, Any]) -> list[str]:
    """Joules that the log knew and no simulation can repeat, such as those of running jobs."""
    return [f"{int(lost['jobs']):,} job{'' if lost['jobs'] == 1 else 's'} of the log with "
            f"{joules_text(lost['energy_j'])} left out of the run (rule {rule} of `wattline trace "
            "info`)" for rule, lost in run["left_out"].items()]


def _nobody(ledger: AnyLedger, run_id: int, chosen: Chosen) -> list[str]:
    """Who was asked for and has no job: an empty answer looks as if nothing had been used."""
    asked = (("user", "user", chosen.users), ("account", "account", chosen.accounts),
             ("job_id", "number", chosen.job_ids))
    return [f"no job of the run is of {what} '{name}'" for column, what, names in asked
            for name in ledger.unknown(run_id, column, names)]


def _price(price: float | str | None, start: str, zone: str) -> Signal | None:
    """What is wrong with a price is found out before anything is read or entered."""
    from wattline.traces.rates import is_flat, price_from

    if price is None:
        if start:
            raise InputError("--price-start goes with --price FILE")
        return None
    found = price_from(str(price), start=start, zone=zone_of(zone).info)
    if start and is_flat(found):
        raise InputError("--price-start goes with a table of prices; one price holds at any time")
    return found


def _charged(
    found: RunAccount, ledger: AnyLedger, rate: Signal, price: str, price_start: str,
    zone: str,
) -> RunAccount:
    """Put its cost to each job, and say what the costs rest on."""
    from wattline.account.costs import job_costs
    from wattline.account.from_run import MEAN_POWER
    from wattline.account.sacct import life
    from wattline.model.run_clock import RunClock
    from wattline.traces.dated_tariffs import rate_beside, shifted
    from wattline.traces.rates import end_note, is_flat, price_from
    from wattline.traces.tariffs import currency_of

    first_s, last_s = ledger.submissions(found.run["id"])
    notes: tuple[str, ...] = ()
    if not price_start:
        log = RunClock.of(first_s, last_s, found.run["epoch_s"], zone_of(zone).info)
        rate, notes = rate_beside(price, price_from, log, "--price-start DATE")
    used = [job for job in found.jobs if job["nodes"]]
    _check_overlap(rate, price, min((job["start_s"] for job in used), default=first_s) - first_s)
    costs = job_costs(ledger, found.run["id"], found.jobs, shifted(rate, first_s))
    jobs = [job | {"cost": costs[life(job)]} for job in found.jobs]
    end_s = max((float(job["end_s"]) for job in jobs), default=first_s)
    notes = (*notes, end_note(price, rate, end_s - first_s))
    rough = sum(job["quality"] == MEAN_POWER for job in jobs)
    if rough and not is_flat(rate):
        notes += (f"{counted(rough, 'job')} of {len(jobs):,} charged by mean power: the log of "
                  "the run does not say when they drew how much",)
    notes += ("costs are those of the joules of jobs; what idle nodes draw is in nobody's",)
    kept = tuple(note for note in notes if note)
    return replace(found, jobs=jobs, price=price, currency=currency_of(rate),
                   cost=sum(costs.values()), price_notes=kept, remarks=(*found.remarks, *kept))


def _check_overlap(rate: Signal, price: str, first_s: float) -> None:
    """Refuse prices that are all of times before the first job: each would get the last one."""
    from wattline.traces.rates import is_flat

    if not is_flat(rate) and first_s >= 2 * rate.time_s[-1] - rate.time_s[-2]:
        raise InputError(f"--price: {price} ends before the first job begins; another table, or "
                         "--price-start with the date at which the first job is submitted")


def _totals(
    found: RunAccount, ledger: AnyLedger, by: str, chosen: Chosen
) -> tuple[dict[str, Any], ...]:
    from wattline.account.costs import totals_by

    totals: Sequence[Any] = ledger.totals(found.run["id"], by, chosen)
    if found.cost is None:
        return tuple(vars(total) for total in totals)
    costs = totals_by(found.jobs, by)
    return tuple(vars(total) | {"cost": costs[total.name]} for total in totals)


def _time(given: float | str | None) -> float | None:
    if given is None or given == "":
        return None
    return parse_duration(given) if isinstance(given, str) else float(given)
