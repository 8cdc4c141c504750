"""A machine with shared nodes, its rules and its jobs, from the files that `[twin]` names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.model.reading import read_unpacked
from wattline.model.units import fold_hosts
from wattline.scenario.twin.accounts import (
    Accounts,
    accounts_above,
    associations_of,
    qos_of,
)
from wattline.scenario.twin.against_log import against_log
from wattline.scenario.twin.asked import AskedJob, Log, plain_numbers
from wattline.scenario.twin.from_events import read_events
from wattline.scenario.twin.from_sacct import read_sacct
from wattline.scenario.twin.from_table import is_table, read_table
from wattline.scenario.twin.gpu_defaults import gpu_defaults_of
from wattline.scenario.twin.nodes import (
    gres_with_more,
    in_order_of_names,
    nodes_of,
    with_more,
)
from wattline.scenario.twin.nodes_down import outages_of, spans_of
from wattline.scenario.twin.part_powers import more_names, node_powers, say_watts
from wattline.scenario.twin.partitions import cluster_mode_of, default_rows, partitions_of
from wattline.scenario.twin.requests import Builder, Made
from wattline.scenario.twin.reservations import reservations_of
from wattline.scenario.twin.rules import rules_of
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.settings import SlurmSettings, settings_of
from wattline.scenario.twin.spelling import Spelling
from wattline.scenario.twin.told import Lists, Told
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.rules import Rules
from wattline.site.associations import read_associations
from wattline.site.gres import read_gres
from wattline.site.licences import licences_of, licences_twice
from wattline.site.qos import QosTable, is_qos_table, read_qos
from wattline.site.reservations import Reservation
from wattline.site.slurm_conf import Node, SlurmConf, read_slurm_conf
from wattline.site.topology import read_topology

LOG_USER = "unknown"
"""Whoever a log does not name."""

LAUNCH_S = 0.1
TICK_S = 1.006
PROMPT_ENDS = 0.15
BF_TRY_S = 0.0006
"""All measured on a real Slurm with 40 jobs on a busy machine. They decide whether a job of a few
seconds ends just before or just after the tick that sees its end; for long jobs that is chance."""


@dataclass(frozen=True, eq=False)
class Site:
    """All that a simulation of a twin takes, and what was made of its files."""

    machine: SharedMachine
    rules: Rules
    made: Made
    log: Log
    outages: Outages | None
    lists: Lists


def _prompt_ends(settings: SlurmSettings) -> float:
    """With an Epilog or an extern step a node has work left when a job ends, and says when it is
    done; without it is chance whether slurmd still has the step."""
    flags = settings.text("PrologFlags", "", matters=False).lower()
    epilog = settings.text("Epilog", "", matters=False).strip()
    return 1.0 if epilog or "contain" in flags or "x11" in flags else PROMPT_ENDS


def _said_of_ends(part: float) -> str:
    if part < 1.0:
        return (f"a pass follows {part:.0%} of the jobs that end by themselves at once (with an "
                "Epilog, or PrologFlags with contain or x11, all of them)")
    return ("a pass follows every end of a job at once, as slurm.conf has an Epilog or PrologFlags "
            "with contain or x11")


def read_site(
    section: TwinSection, file: str | Path, most_jobs: int | None = None, zone: str = ""
) -> Site:
    """Read every file once; nothing is left out without being said in the lists."""
    log = read_log(file, section.log, zone)
    if most_jobs is None or most_jobs >= len(log.jobs):
        return site_with(section, log, reserves=True)
    found = site_with(section, log.first(most_jobs), reserves=True)
    cut = (f"trace.jobs: the first {most_jobs:,} of {len(log.jobs):,} jobs of the log; records "
           "that are left out are those of the whole log")
    return replace(found, lists=replace(found.lists, assumed=(*found.lists.assumed, cut)))


def read_machine(section: TwinSection) -> Site:
    """The machine alone, without jobs: accounts are those of the site's files."""
    return site_with(section, Log([], "no log"))


def site_with(section: TwinSection, log: Log, reserves: bool = False) -> Site:
    """The machine of the files with the jobs of a log.

    Reservations are followed where asked: beside a running Slurm it keeps to them itself.
    """
    told = Told()
    conf = read_slurm_conf(section.slurm_conf)
    told.contradictions += conf.remarks
    conf = _without_future(conf, told)
    if section.add_nodes is not None:
        conf = with_more(conf, section.add_nodes.like, section.add_nodes.count)
    conf = in_order_of_names(conf)
    settings = settings_of(conf, told, {
        key: value if isinstance(value, str) else f"{value:.15g}"  # 500 and not 500.0
        for key, value in section.settings.items()})
    machine, rules = _machine(section, conf, settings, log, told)
    requeues = settings.text("JobRequeue", "1").strip().lower() not in ("0", "no")
    settings.text("FirstJobId", "1", matters=False)
    listed: list[Reservation] = []
    if reserves:
        found, listed = reservations_of(section, machine.nodes, settings, log, told)
        machine = replace(machine, reservations=found)
    made = Builder(machine, log.jobs, requeues, rules.enforce_qos, rules.kill_invalid_depend,
                   listed, gpu_defaults_of(conf, settings)).made()
    spans = spans_of(section.down, conf, log, told)
    outages = outages_of(spans, told, rules.suspend_time_s >= 0)
    told.contradictions += against_log(log, conf, spans)
    told.not_modelled += [*log.not_modelled, *made.not_modelled]
    rules = replace(rules, start_latency_s=LAUNCH_S, tick_s=TICK_S, bf_try_s=BF_TRY_S,
                    prompt_ends=_prompt_ends(settings),
                    unix_start_s=log.unix_start_s or 0.0,
                    asleep_first=_cloud(conf, rules, told))
    told.assumed.append("jobs at their limit are killed up to 30 s late, when Slurm looks next")
    told.assumed.append(f"a job's work begins {LAUNCH_S:g} s after Slurm has started it, and "
                        f"slurmctld's loop takes {TICK_S:g} s; a backfill cycle takes "
                        f"{1e3 * BF_TRY_S:g} ms per job that waits, and the next follows its end")
    told.assumed.append(_said_of_ends(rules.prompt_ends))
    told.assumed.append("usage for fair-share begins at 0, and no job runs before the log's first")
    told.assumed += log.assumed
    if log.jobs and plain_numbers(log.jobs) is None:
        told.assumed.append("not every job has a number of its own as its id (tasks of arrays, "
                            "runs of requeued jobs): the tables of a run count jobs from 1")
    _say_machine(machine, conf, told)
    return Site(machine, rules, made, log, outages, told.lists())


def _without_future(conf: SlurmConf, told: Told) -> SlurmConf:
    """Without the nodes that are only planned: they draw nothing, and no job gets them."""
    planned = {node.name for node in conf.nodes if _state(node) == "FUTURE"}
    if not planned:
        return conf
    told.assumed.append(f"{len(planned):,} nodes of State=FUTURE ({fold_hosts(sorted(planned))}) "
                        "are not there yet: they are no part of the machine")
    nodes = tuple(node for node in conf.nodes if node.name not in planned)
    if not nodes:
        raise InputError(f"{conf.source}: all nodes are State=FUTURE, so there is no machine")
    partitions = tuple(replace(each, nodes=tuple(name for name in each.nodes
                                                 if name not in planned))
                       for each in conf.partitions)
    return replace(conf, nodes=nodes, partitions=partitions)


def _cloud(conf: SlurmConf, rules: Rules, told: Told) -> tuple[str, ...]:
    """Nodes that are not there until a job needs them, which takes power saving."""
    found = tuple(node.name for node in conf.nodes if _state(node) == "CLOUD")
    if not found:
        return ()
    begin = f"{len(found):,} nodes of State=CLOUD ({fold_hosts(found)})"
    if rules.suspend_time_s < 0:
        told.assumed.append(f"{begin} are up throughout, as nothing powers them down")
        return ()
    told.assumed.append(f"{begin} are powered down when the log begins")
    return found


def _state(node: Node) -> str:
    return node.settings.get("state", "UNKNOWN").strip().upper()


def read_log(file: str | Path, kind: str | None, zone: str = "") -> Log:
    """The jobs of a log by its kind, or by how it begins."""
    if kind is None:
        kind = _kind_of(Path(file))
    if kind == "events":  # its times count from its beginning
        return replace(read_events(file), zone=zone_of(zone))
    return {"sacct": read_sacct, "table": read_table}[kind](file, zone)


def _kind_of(path: Path) -> str:
    if is_table(path):
        return "table"
    begins = read_unpacked(path)[0][:4096].lstrip()
    if begins.startswith(b"PAR1"):
        return "table"
    if begins.startswith(b"-dt"):
        return "events"
    return "sacct"


def _machine(section: TwinSection, conf: SlurmConf, settings: SlurmSettings, log: Log,
             told: Told) -> tuple[SharedMachine, Rules]:
    gres = None if section.gres is None else read_gres(section.gres)
    if gres is not None and section.add_nodes is not None:
        gres = gres_with_more(gres, section.add_nodes.like, section.add_nodes.count)
    topology = None if section.topology is None else read_topology(section.topology)
    more = section.add_nodes
    added = frozenset(() if more is None else more_names(more.like, more.count))
    nodes = nodes_of(conf, gres, topology, node_powers(section, conf), told, added)
    say_watts(section, nodes, told)
    qos = qos_of(_qos_table(section, told), nodes.gres_kinds, cluster_mode_of(settings), told)
    rules = rules_of(settings, conf.partitions, nodes.gres_kinds, topology is not None)
    if "tree" in settings.values.get("topologyplugin", "").lower() and topology is None:
        told.not_modelled.append("TopologyPlugin=topology/tree without its topology.conf: jobs "
                                 "would be kept on few switches")
    accounts = _accounts(section, conf, log, rules, told)
    associations = associations_of(accounts, qos.names, nodes.gres_kinds, told)
    partitions = partitions_of(conf, settings, qos.names, accounts_above(associations))
    licences = _licences(settings)
    cluster = conf.cluster or "cluster"
    return SharedMachine(cluster, nodes, partitions, qos, associations, tuple(licences),
                         np.array(list(licences.values()), dtype=np.int64)), rules


def _qos_table(section: TwinSection, told: Told) -> QosTable | None:
    found = None if section.assoc is None else read_qos(section.assoc)
    if section.qos is not None:
        found = read_qos(section.qos)
        if found is None or not found.stated:
            raise InputError(f"{section.qos}: has no QOS; write it with sacctmgr show qos -P")
    if found is not None:
        told.not_modelled += found.remarks
        told.unknown += found.unknown
    return found


def _accounts(section: TwinSection, conf: SlurmConf, log: Log, rules: Rules,
              told: Told) -> Accounts:
    """Those of the site and, where they ran or nothing checks them, those of the log."""
    found = None if section.assoc is None or is_qos_table(section.assoc) else \
        read_associations(section.assoc)
    accounts = Accounts.of(found, conf.cluster)
    if found is not None:
        told.not_modelled += [remark for remark in found.remarks if "passed over" not in remark]
        told.unknown += found.unknown
        told.understood.append(f"{len(accounts.rows)} associations of {found.source}")
    else:
        told.assumed.append("no associations: each account and user of the log has one share, "
                            "without limits")
    known = {(row.account, row.user, row.partition) for row in accounts.rows}
    usual = next((conf.partitions[row].name for row in default_rows(conf.partitions)[-1:]), "")
    default = _defaults(accounts)
    people, spelling = (Spelling(getattr(row, part) for row in accounts.rows)
                        for part in ("user", "account"))
    added: dict[tuple[str, str], list[str]] = {}
    for job in log.jobs:
        _name(job, default, people, spelling)
        key = (job.account, job.user)
        if {(*key, job.first_partition or usual), (*key, "")} & known:
            continue
        ran = job.start_s == job.start_s
        if found is None or ran or not rules.enforce_associations:
            if key not in added:
                accounts.add(*key)
            added.setdefault(key, []).append(job.job_id)
    if found is not None and added:
        jobs = [job for ids in added.values() for job in ids]
        told.assumed.append(
            f"{len(jobs):,} jobs are of {len(added)} accounts or users that {found.source} does "
            f"not have ({_first(f'{user} in {account}' for account, user in added)}; jobs "
            f"{_first(jobs)}): each of these has one share")
    return accounts


def _first(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")


def _defaults(accounts: Accounts) -> dict[str, str]:
    """The account of each user that names none."""
    found: dict[str, str] = {}
    for row in accounts.rows:
        if row.user and (row.default or row.user not in found):
            found[row.user] = row.account
    return found


def _name(job: AskedJob, default: dict[str, str], people: Spelling, accounts: Spelling) -> None:
    job.user = people.of(job.user or LOG_USER)
    job.account = accounts.of(job.account or default.get(job.user, LOG_USER))


def _licences(settings: SlurmSettings) -> dict[str, int]:
    text = settings.text("Licenses", "", matters=False)
    found = licences_of(text, settings.where("Licenses"))
    settings.told.contradictions += [
        f"{settings.where('Licenses')}: the licence '{name}' stands more than once in Licenses; "
        f"they are {found[name]} together, as in Slurm" for name in licences_twice(text)]
    return found


def _say_machine(machine: SharedMachine, conf: SlurmConf, told: Told) -> None:
    nodes = machine.nodes
    kinds = ", ".join(f"{int(nodes.gres[:, at].sum()):,} {':'.join(filter(None, kind))}"
                      for at, kind in enumerate(nodes.gres_kinds))
    told.understood.insert(0, (
        f"cluster {machine.cluster}: {len(nodes.names):,} nodes with {int(nodes.cpus.sum()):,} "
        f"CPUs{' and ' + kinds if kinds else ''}, {len(machine.partitions.names)} partitions "
        f"({', '.join(machine.partitions.names[:8])}), {len(machine.qos.names)} QOS, "
        f"{len(machine.associations.accounts)} accounts"))
