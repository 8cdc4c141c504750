"""Reservations of a twin: from the site's list and from sections of the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run_clock import NoDates, RunClock, parse_time
from wattline.scenario.twin.asked import NO_CLOCK, AskedJob, Counter, Log
from wattline.scenario.twin.section import ReservationSection, TwinSection
from wattline.scenario.twin.settings import SlurmSettings, number
from wattline.scenario.twin.told import Told
from wattline.shared_nodes.machine import BoolArray, IntArray, Nodes, Reservations
from wattline.site.lines import hosts_of
from wattline.site.moments import is_local
from wattline.site.reservations import Reservation, read_reservations

_HARMLESS = {"MAINT", "OVERLAP", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "PART_NODES", "STATIC"}
_CHANGES = {
    "FLEX": "its jobs may run outside of it too",
    "MAGNETIC": "jobs that may use it do so without asking",
    "TIME_FLOAT": "it stays as far ahead",
    "REPLACE": "nodes that jobs took are replaced by others",
    "REPLACE_DOWN": "nodes that are down are replaced by others",
    "NO_HOLD_JOBS_AFTER_END": "jobs that wait at its end run outside of it",
    "ANY_NODES": "its jobs may run on any node",
} | dict.fromkeys(("HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"),
                  "only the one time that is given counts")


_BESIDE = {
    "Groups": "who is in a group is not known, and users and accounts alone decide who may use it",
    "Licenses": "its nodes are reserved, and no licences",
    "BurstBuffer": "its nodes are reserved, and no burst buffer",
    "Watts": "its nodes are reserved, and no watts",
    "MaxStartDelay": "it has no effect",
}


def reservations_of(
    section: TwinSection, nodes: Nodes, settings: SlurmSettings, log: Log, told: Told,
) -> tuple[Reservations | None, list[Reservation]]:
    """The tables of the machine, and who may use each of them; times are those of the log."""
    listed = [_relative(each, log, told, str(section.reservations)) for each in (
        [] if section.reservations is None else read_reservations(
            section.reservations, log.zone.info))]
    listed += [_of_section(each, log) for each in section.reservation]
    names = [each.name for each in listed]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"reservation '{twice[0]}' is there twice; give each time its own name")
    masks = [_nodes(each, nodes, told) for each in listed]
    kept = [at for at, mask in enumerate(masks) if mask.any()]
    listed = [listed[at] for at in kept]
    for each in listed:
        _say(each, told)
        if each.end_s is not None and each.end_s <= 0:
            told.contradictions.append(f"{each.where}: reservation '{each.name}' ended before the "
                                       "log begins, and changes nothing")
        if each.local:
            told.assumed.append(f"{each.where}: {log.zone.note()}")
    if not listed:
        return None, []
    told.understood.append(f"{len(listed)} reservations of nodes "
                           f"({', '.join(each.name for each in listed[:8])})")
    told.assumed.append("reservations are known from the beginning of the log")
    end_s = np.array([np.inf if each.end_s is None else each.end_s for each in listed])
    return Reservations(
        tuple(each.name for each in listed), np.array([masks[at] for at in kept]),
        np.array([each.start_s for each in listed]), end_s, end_s + _over_run_s(settings),
        np.array(["MAINT" in each.flags for each in listed]),
        np.array(["OVERLAP" in each.flags for each in listed])), listed


def _relative(each: Reservation, log: Log, told: Told, source: str) -> Reservation:
    if log.unix_start_s is None:
        if each.by_calendar:
            raise InputError(f"{each.where}: {NO_CLOCK}")
        told.assumed.append(f"{source}: its times count from the beginning of the log")
    begin_s = log.unix_start_s or 0.0
    return replace(each, start_s=each.start_s - begin_s,
                   end_s=None if each.end_s is None else each.end_s - begin_s)


def _of_section(given: ReservationSection, log: Log) -> Reservation:
    where = f"twin.reservation '{given.name}'"
    start_s = _moment_s(given.start, log, where)
    end_s = None if given.end is None else _moment_s(given.end, log, where)
    if end_s is not None and end_s <= start_s:
        raise InputError(f"{where}: ends before it starts")
    return Reservation(given.name, given.nodes, start_s, end_s, given.users, given.accounts,
                       tuple(flag.upper() for flag in given.flags), where=where,
                       local=any(isinstance(each, str) and is_local(each)
                                 for each in (given.start, given.end)))


def _moment_s(given: str | float, log: Log, where: str) -> float:
    """A date, or seconds from the first submission, on the clock of the log."""
    first_s = log.jobs[0].submit_s if log.jobs else 0.0
    try:
        return RunClock(first_s, first_s, log.unix_start_s, log.zone.info).at(
            parse_time(given), where)
    except NoDates:
        raise
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _nodes(each: Reservation, nodes: Nodes, told: Told) -> BoolArray:
    if each.nodes.upper() == "ALL":
        return np.ones(len(nodes.names), dtype=np.bool_)
    named = set(hosts_of(each.nodes, each.where)) if each.nodes else set()
    strange = sorted(named - set(nodes.names))
    if strange:
        told.contradictions.append(f"{each.where}: reservation '{each.name}' has nodes that "
                                   f"slurm.conf does not: {', '.join(strange[:5])}; they are left "
                                   "out")
    if not named - set(strange):
        told.not_modelled.append(f"{each.where}: reservation '{each.name}' has no nodes: licences "
                                 "and burst buffers are not reserved")
    return np.isin(np.array(nodes.names), sorted(named))


def _say(each: Reservation, told: Told) -> None:
    if each.cores:
        told.not_modelled.append(f"{each.where}: reservation '{each.name}' of some cores: the "
                                 "whole nodes are reserved")
    for word in each.beside:
        told.not_modelled.append(f"{each.where}: reservation '{each.name}' has {word}: "
                                 f"{_BESIDE[word.partition('=')[0]]}")
    for flag in each.flags:
        if flag not in _HARMLESS:
            told.not_modelled.append(
                f"{each.where}: reservation '{each.name}' has the flag {flag}: "
                f"{_CHANGES.get(flag, 'what it changes is left out')}")


def _over_run_s(settings: SlurmSettings) -> float:
    text = settings.text("ResvOverRun", "0", matters=False)
    if text.strip().lower() in ("unlimited", "infinite"):
        return float("inf")
    return 60.0 * number(text, "ResvOverRun", settings.where("ResvOverRun"))


def asked_rows(jobs: Sequence[AskedJob], listed: Sequence[Reservation], filled: Counter,
               ) -> tuple[IntArray | None, Mapping[int, str]]:
    """Rows of the reservations that jobs are to run in, and why some of these cannot."""
    row_of = {each.name: at for at, each in enumerate(listed)}
    rows = np.full(len(jobs), -1, dtype=np.int64)
    refused: dict[int, str] = {}
    for at, job in enumerate(jobs):
        if not job.reservation:
            continue
        if job.reservation not in row_of:
            filled.note(f"its reservation '{job.reservation[:60]}' is not among those given: runs "
                        "as any other", job.job_id)
            continue
        rows[at] = row_of[job.reservation]
        each = listed[rows[at]]
        ran = job.start_s == job.start_s
        if not ran and not _may_use(job, each):
            refused[at] = f"may not use the reservation '{each.name}'"
        elif each.end_s is not None and job.submit_s >= each.end_s:
            refused[at] = f"comes after the end of the reservation '{each.name}'"
        elif ran and not each.start_s <= job.start_s < (
                float("inf") if each.end_s is None else each.end_s):
            filled.note(f"started outside of the time of its reservation '{each.name}' in the log: "
                        "held to that time here", job.job_id)
    return (rows if (rows >= 0).any() else None), refused


def _may_use(job: AskedJob, each: Reservation) -> bool:
    """Who is named, by user or account; with - before the name, all others."""
    account = job.account.lower()
    accounts = [name.lower() for name in each.accounts]
    if f"-{job.user}" in each.users or f"-{account}" in accounts:
        return False
    wanted = [name for name in (*each.users, *each.accounts) if not name.startswith("-")]
    return not wanted or job.user in each.users or account in accounts
