"""How a cluster's `slurm.conf` has jobs scheduled: the scheduler's settings and priorities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from wattline.model.errors import InputError
from wattline.scenario.twin.columns import Kinds, weights_row
from wattline.scenario.twin.power_saving import kept_awake, suspend_time_s
from wattline.scenario.twin.settings import SlurmSettings, not_below, number
from wattline.scenario.twin.switches import keeps_to_switches
from wattline.scenario.twin.words import PART_LIMITS, one_of, says_yes
from wattline.shared_nodes.resets import PERIODS
from wattline.shared_nodes.rules import (
    BACKFILL,
    BASIC,
    BUILTIN,
    CLASSIC,
    CONS_TRES,
    FAIR_TREE,
    LINEAR,
    MULTIFACTOR,
    Priority,
    Rules,
)
from wattline.site.conf_keys import SCHEDULER_NOT_MODELLED
from wattline.site.slurm_conf import Partition

RUNNING_RESERVE = "bf_running_job_reserve"
_FLAGS = {"bf_continue", "bf_licenses", "bf_one_resv_per_job", "kill_invalid_depend"}
_MOST = 2**31 - 1
_NUMBERS = {
    "default_queue_depth": (0, _MOST), "sched_interval": (0, _MOST),
    "sched_min_interval": (0, _MOST), "batch_sched_delay": (0, _MOST),
    "partition_job_depth": (0, _MOST), "bf_interval": (1, 10_800), "bf_window": (1, 43_200),
    "bf_resolution": (1, 3600), "bf_max_job_test": (1, 1_000_000), "bf_max_job_user": (0, _MOST),
    "bf_max_job_part": (0, _MOST), "bf_max_job_assoc": (0, _MOST), "bf_max_job_start": (0, 10_000),
    "bf_max_job_array_resv": (0, 1000),
    "bf_min_age_reserve": (0, 2_592_000), "bf_min_prio_reserve": (1, 2**32 - 1),
    "bf_max_time": (1, 3600)}
"""Numbers of `SchedulerParameters` with the least and the most that Slurm takes; it has its default
instead of any other."""
CREDENTIAL_S = 120.0
"""So long a job's credential lasts where AuthInfo has no cred_expire."""
PREEMPTS_MORE = ("backfill has jobs give way too, at times to one that does not start then; here "
                 "main passes do alone")
NO_LOOP = -1
"""An interval that ends a loop of the scheduler."""
_PREEMPTION = {"preempt/none": "none", "preempt/qos": "qos", "preempt/partition_prio": "partition"}
_PRIORITY_FLAGS = {"no_normal_tres", "small_relative_to_time", "accrue_always", "no_fair_tree",
                   "fair_tree"}
_FLAG_CHANGES = {
    "max_tres": "usage is billed by the largest of the weighted resources of a node; here by their "
                "sum",
    "max_tres_gres": "usage is billed by the largest of the weighted resources of a node, and all "
                     "devices; here by the sum of all",
    "no_age_reset": "jobs that are requeued keep their age, as here all of them do",
    "calculate_running": "priorities of running jobs change too, which may be preempted by them",
    "depth_oblivious": "fair-share counts deep trees of accounts otherwise",
    "incr_only": "priorities only rise",
    "level_based": "fair-share is counted level by level, as older versions did",
    "ticket_based": "fair-share is counted by tickets, as older versions did",
    **{f"no_normal_{part}": "factors of it are not divided by the largest one"
       for part in ("all", "assoc", "part", "qos")}}

_SELECT_FOLLOWED = {"cr_core", "cr_core_memory", "cr_cpu", "cr_cpu_memory", "cr_memory", "cr_lln",
                    "cr_core_default_dist_block", "other_cons_tres", "other_cons_res", "none"}
_LINEAR = ("cr_memory", "cr_one_task_per_core", "none")
_SELECT_CHANGES = {
    "cr_socket": "jobs get whole sockets; here they get cores",
    "cr_socket_memory": "jobs get whole sockets; here they get cores",
    "cr_one_task_per_core": "a core takes one task, however many threads it has",
    "cr_pack_nodes": "jobs are packed onto as few of their nodes as can be",
    "ll_shared_gres": "shared devices are taken from the least loaded one",
    "multiple_sharing_gres_pj": "a job may share parts of several devices",
    "one_task_per_sharing_gres": "tasks do not share a device",
    "enforce_binding_gres": "jobs get only devices beside their cores"}


def rules_of(
    settings: SlurmSettings, partitions: Sequence[Partition], kinds: Kinds, has_topology: bool,
) -> Rules:
    """All that stands for the whole cluster."""
    scheduler = one_of(settings, "SchedulerType", "sched/backfill",
                        {"sched/backfill": BACKFILL, "sched/builtin": BUILTIN})
    given = _parameters(settings)
    if given.get("bf_interval") == NO_LOOP:
        scheduler = BUILTIN
    enforce = _words(settings.text("AccountingStorageEnforce", "none"))
    select = settings.text("SelectType", "select/cons_tres").lower()
    if select not in ("select/cons_tres", "select/cons_res", "select/linear"):
        raise InputError(f"{settings.where('SelectType')}: SelectType is '{select}', must be "
                         "select/cons_tres, select/cons_res or select/linear")
    usual = "CR_Memory" if select.endswith("linear") else "CR_Core_Memory"
    asked = settings.text("SelectTypeParameters", usual)
    counted = _words(asked)
    _say_counted(settings, asked)
    if select.endswith("linear"):
        _say_linear(settings, counted)
    every_s = max(1.0, given.get("bf_interval", 30.0))
    tests = int(given.get("bf_max_job_test", 500))
    tree = keeps_to_switches(settings, has_topology)
    resets = settings.text("PriorityUsageResetPeriod", "NONE", matters=False).lower()
    suspend_s = suspend_time_s(settings)
    return Rules(
        scheduler=scheduler,
        select=LINEAR if select.endswith("linear") else CONS_TRES,
        memory_counts=any("memory" in word for word in counted),
        least_loaded="cr_lln" in counted,
        default_queue_depth=int(given.get("default_queue_depth", 100)),
        sched_interval_s=max(1.0, given.get("sched_interval", 60.0)),
        sched_min_interval_s=given.get("sched_min_interval", 2.0) / 1e6,
        batch_sched_delay_s=given.get("batch_sched_delay", 3.0),
        partition_job_depth=int(given.get("partition_job_depth", 0)),
        bf_interval_s=every_s,
        bf_window_s=given.get("bf_window", 1440.0) * 60.0,
        bf_resolution_s=given.get("bf_resolution", 60.0),
        bf_max_job_test=tests,
        bf_max_job_user=int(given.get("bf_max_job_user", 0)),
        bf_max_job_part=int(given.get("bf_max_job_part", 0)),
        bf_max_job_assoc=int(given.get("bf_max_job_assoc", 0)),
        bf_max_job_start=int(given.get("bf_max_job_start", 0)),
        bf_max_job_array_resv=int(given.get("bf_max_job_array_resv", 20)),
        bf_min_age_reserve_s=given.get("bf_min_age_reserve", 0.0),
        bf_min_prio_reserve=int(given.get("bf_min_prio_reserve", 0)),
        bf_max_time_s=given.get("bf_max_time", every_s),
        bf_continue="bf_continue" in given,
        bf_licences="bf_licenses" in given,
        bf_one_resv_per_job="bf_one_resv_per_job" in given,
        preempt=_preempts(settings),
        requeue_delay_s=_requeue_delay_s(settings),
        enforce_limits=bool({"limits", "safe", "all"} & set(enforce)),
        enforce_qos=bool({"qos", "all"} & set(enforce)),
        enforce_associations=bool({"associations", "limits", "safe", "qos", "wckeys", "all"}
                                  & set(enforce)),
        enforce_part_limits=one_of(settings, "EnforcePartLimits", "no", PART_LIMITS),
        topology_tree=tree,
        kill_wait_s=settings.number("KillWait", 30),
        over_time_limit_s=_over_time_s(settings),
        max_job_count=_max_job_count(settings),
        min_job_age_s=settings.number("MinJobAge", 300) or math.inf,
        kill_invalid_depend="kill_invalid_depend" in (*given, *_words(
            settings.text("DependencyParameters", "", matters=False))),
        suspend_time_s=suspend_s,
        resume_timeout_s=settings.seconds("ResumeTimeout", 60.0),
        suspend_excluded=kept_awake(settings) if suspend_s >= 0 else (),
        priority=_priority(settings, partitions, kinds, resets),
    )


def _max_job_count(settings: SlurmSettings) -> int:
    if "maxjobcount" in settings.values:
        settings.told.assumed.append(
            "MaxJobCount: a job for which slurmctld has no room is refused at once; sbatch would "
            "try again for two minutes")
    return settings.whole("MaxJobCount", 10000)


def _preempts(settings: SlurmSettings) -> str:
    """How jobs come to preempt others; what Slurm would not start with is said."""
    found = one_of(settings, "PreemptType", "preempt/none", _PREEMPTION, matters=False)
    mode = settings.values.get("preemptmode", "OFF")
    is_off = not {"requeue", "suspend", "cancel"} & set(_words(mode))
    if (found != "none") == is_off:
        kind = settings.values.get("preempttype", "preempt/none")
        settings.told.contradictions.append(
            f"{settings.where('PreemptType')}: PreemptType={kind} does not go with PreemptMode="
            f"{mode} ({settings.where('PreemptMode')}); Slurm does not start with these")
    if found != "none":
        settings.told.not_modelled.append(
            f"{settings.where('PreemptType')}: PreemptType={settings.values['preempttype']}: "
            f"{PREEMPTS_MORE}")
    return found


def _requeue_delay_s(settings: SlurmSettings) -> float:
    """A requeued job may begin a second after its old credential has expired (job_mgr.c)."""
    text = settings.text("AuthInfo", "", matters=False)
    given = [word.partition("=")[2] for word in text.split(",")
             if word.strip().lower().startswith("cred_expire=")]
    if given:
        where = settings.where("AuthInfo")
        return 1.0 + not_below(number(given[0], "cred_expire", where), 0, "cred_expire", where)
    if "preempttype" in settings.values:
        settings.told.assumed.append(f"AuthInfo: cred_expire={CREDENTIAL_S:g} (Slurm's default): "
                                     f"a requeued job may begin again {1 + CREDENTIAL_S:g} s later")
    return 1.0 + CREDENTIAL_S


def _say_counted(settings: SlurmSettings, asked: str) -> None:
    """Words of `SelectTypeParameters` that nothing is done with."""
    for word in filter(None, (part.strip() for part in asked.split(","))):
        if word.lower() in _SELECT_CHANGES:
            settings.told.not_modelled.append(
                f"{settings.where('SelectTypeParameters')}: SelectTypeParameters {word}: "
                f"{_SELECT_CHANGES[word.lower()]}")
        elif word.lower() not in _SELECT_FOLLOWED:
            settings.told.unknown.append(f"{settings.where('SelectTypeParameters')}: "
                                         f"SelectTypeParameters {word}")


def _say_linear(settings: SlurmSettings, counted: Sequence[str]) -> None:
    """slurm.conf(5): linear takes CR_Memory and CR_ONE_TASK_PER_CORE alone."""
    strange = [word for word in counted if word not in _LINEAR]
    if strange and "selecttypeparameters" in settings.values:
        memory = "counts" if any("memory" in word for word in counted) else "does not count"
        settings.told.contradictions.append(
            f"{settings.where('SelectTypeParameters')}: SelectTypeParameters="
            f"{settings.values['selecttypeparameters']} does not go with SelectType=select/linear "
            f"({settings.where('SelectType')}), which takes CR_Memory and CR_ONE_TASK_PER_CORE; "
            f"jobs get whole nodes here, and memory {memory}")


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def _over_time_s(settings: SlurmSettings) -> float:
    text = settings.text("OverTimeLimit", "0", matters=False)
    if text.strip().lower() in ("unlimited", "infinite"):
        return 1e9
    return 60.0 * not_below(number(text, "OverTimeLimit", settings.where("OverTimeLimit")), 0,
                            "OverTimeLimit", settings.where("OverTimeLimit"))


def _parameters(settings: SlurmSettings) -> dict[str, float]:
    """Numbers and flags of `SchedulerParameters`; a what-if may set each by its own name."""
    text = settings.text("SchedulerParameters", "", matters=False)
    where = settings.where("SchedulerParameters")
    found: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = word.partition("=")
        name = name.strip().lower()
        if name in found:
            settings.told.contradictions.append(
                f"{where}: SchedulerParameters {word}: {name} stands there before, and the first "
                "counts, as in Slurm")
        elif name in _FLAGS:
            found[name] = 1.0
            if name == "bf_licenses" and RUNNING_RESERVE not in text.lower():
                settings.told.not_modelled.append(
                    f"{where}: SchedulerParameters {RUNNING_RESERVE}, which {word} implies: "
                    f"{SCHEDULER_NOT_MODELLED[RUNNING_RESERVE]}")
        elif name in _NUMBERS and not equals:
            settings.told.contradictions.append(f"{where}: SchedulerParameters {word} has no "
                                                "value; Slurm passes over it")
        elif name in _NUMBERS:
            amount = number(value, name, where)
            if _is_taken(settings, name, amount, value):
                found[name] = amount
        elif name in SCHEDULER_NOT_MODELLED:
            change = SCHEDULER_NOT_MODELLED[name]
            if change:
                settings.told.not_modelled.append(f"{where}: SchedulerParameters {word}: {change}")
        else:
            settings.told.unknown.append(f"{where}: SchedulerParameters {word}")
    _say_usual(settings, found)
    return found


def _is_taken(settings: SlurmSettings, name: str, amount: float, text: str) -> bool:
    """Whether Slurm takes this number of `SchedulerParameters`; if not, it has its default."""
    least, most = _NUMBERS[name]
    if least <= amount <= most or (name == "bf_interval" and amount == NO_LOOP):
        return True
    if name == "sched_interval" and amount == NO_LOOP:
        raise InputError(f"{settings.where('SchedulerParameters')}: sched_interval is -1, which "
                         "ends Slurm's main loop; the twin does not follow that")
    settings.told.contradictions.append(
        f"{settings.where('SchedulerParameters')}: SchedulerParameters {name}={text} is not "
        f"from {least:,} to {most:,}; Slurm takes its default instead")
    return False


def _say_usual(settings: SlurmSettings, found: Mapping[str, float]) -> None:
    """Defaults of the scheduler that decide much and stand in no file."""
    usual = {"bf_interval": "30 s", "bf_window": "1440 minutes", "bf_resolution": "60 s",
             "bf_max_job_test": "500", "bf_max_job_array_resv": "20",
             "default_queue_depth": "100", "sched_interval": "60 s", "batch_sched_delay": "3 s"}
    missing = [f"{name}={value}" for name, value in usual.items() if name not in found]
    if missing:
        settings.told.assumed.append(f"SchedulerParameters: {', '.join(missing)} (Slurm's "
                                     "defaults)")


def _priority_kind(settings: SlurmSettings) -> str:
    """Without weights both kinds are first come, first served."""
    weighs = [key for key, value in settings.values.items()
              if key.startswith("priorityweight") and value.strip() not in ("", "0")]
    if "prioritytype" not in settings.values:
        settings.told.assumed.append(
            "PriorityType=priority/multifactor (not in slurm.conf; Slurm's default since 23.11, "
            "priority/basic before)" + ("" if weighs else ": without weights, first come first "
                                        "served"))
        return MULTIFACTOR if weighs else BASIC
    return one_of(settings, "PriorityType", "priority/multifactor",
                  {"priority/multifactor": MULTIFACTOR, "priority/basic": BASIC})


def _say_flags(settings: SlurmSettings, given: str) -> None:
    """Words of `PriorityFlags` that nothing is done with."""
    for flag in filter(None, (word.strip() for word in given.split(","))):
        said = f"{settings.where('PriorityFlags')}: PriorityFlags {flag}"
        if flag.lower() in _FLAG_CHANGES:
            settings.told.not_modelled.append(f"{said}: {_FLAG_CHANGES[flag.lower()]}")
        elif flag.lower() not in _PRIORITY_FLAGS:
            settings.told.unknown.append(said)


def _priority(
    settings: SlurmSettings, partitions: Sequence[Partition], kinds: Kinds, resets: str
) -> Priority:
    kind = _priority_kind(settings)
    given = settings.text("PriorityFlags", "", matters=False)
    flags = _words(given)
    _say_flags(settings, given)
    weights = weights_of(settings.text("PriorityWeightTRES", "", matters=False),
                         settings.where("PriorityWeightTRES"))
    tres, left = weights_row(weights, kinds)
    for resource in left:
        settings.told.not_modelled.append(f"PriorityWeightTRES {resource}: no node has it")
    if resets not in PERIODS:
        raise InputError(f"{settings.where('PriorityUsageResetPeriod')}: PriorityUsageResetPeriod "
                         f"is '{resets}', must be one of {', '.join(PERIODS)}")
    if resets not in ("none", "now"):
        settings.told.assumed.append(f"PriorityUsageResetPeriod={resets}: midnights are those of "
                                     "the log's clock; submissions without dates begin at one")
    matters = kind == MULTIFACTOR
    half_life_s = settings.time_s("PriorityDecayHalfLife", "7-0", matters)
    return Priority(
        kind=kind,
        age=settings.whole("PriorityWeightAge", 0),
        fairshare=settings.whole("PriorityWeightFairshare", 0),
        job_size=settings.whole("PriorityWeightJobSize", 0),
        partition=settings.whole("PriorityWeightPartition", 0),
        qos=settings.whole("PriorityWeightQOS", 0),
        association=settings.whole("PriorityWeightAssoc", 0),
        tres=tres if any(tres) else (),
        no_normal_tres="no_normal_tres" in flags,
        max_age_s=max(1.0, settings.time_s("PriorityMaxAge", "7-0", matters)),
        half_life_s=0.0 if half_life_s == float("inf") else half_life_s,
        reset_period=resets,
        calc_period_s=settings.time_s("PriorityCalcPeriod", "5", matters, least_s=60.0),
        favor_small=says_yes(settings.text("PriorityFavorSmall", "NO", matters),
                             "PriorityFavorSmall", settings.where("PriorityFavorSmall"),
                             settings.told),
        small_relative_to_time="small_relative_to_time" in flags,
        fairshare_rule=CLASSIC if "no_fair_tree" in flags else FAIR_TREE,
        dampening=settings.number("FairShareDampeningFactor", 1, least=1),
        accrue_always="accrue_always" in flags,
        billing=_billing(settings, partitions, kinds),
    )


def weights_of(text: str, where: str) -> dict[str, float]:
    """`CPU=1.0,Mem=0.25G,GRES/gpu=2.0`: weights for each unit, memory by the MB."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        scale = 1.0
        if value[-1:].upper() in ("K", "M", "G", "T") and value[:-1]:
            scale = {"K": 1024.0, "M": 1.0, "G": 1 / 1024.0, "T": 1 / 1048576.0}[value[-1].upper()]
            value = value[:-1]
        if not equals:
            raise InputError(f"{where}: '{part}' is no weight; write it like CPU=1.0")
        found[name.strip().lower()] = number(value, name, where) * scale
    return found


def _billing(
    settings: SlurmSettings, partitions: Sequence[Partition], kinds: Kinds
) -> tuple[tuple[float, ...], ...]:
    """Per partition; empty where none of them has weights, so that a CPU counts 1."""
    found = []
    for partition in partitions:
        text = partition.settings.get("tresbillingweights", "")
        row, left = weights_row(weights_of(text or "cpu=1", partition.where), kinds)
        found.append(row)
        for resource in left:
            settings.told.not_modelled.append(f"{partition.where}: TRESBillingWeights {resource}: "
                                              "no node has it")
    given = any("tresbillingweights" in partition.settings for partition in partitions)
    return tuple(found) if given else ()


