"""Wattline plans, runs and accounts for an HPC cluster under a power limit.

    import wattline as wl

    run = wl.simulate("KTH.swf.gz", machine=wl.Machine(nodes=100), power=wl.Dvfs(cap="70%"))
    run.metrics()["wait_s"]["mean"]
    run.jobs().to_pandas()
    run.plot.power()

docs/python.md lists what there is. Everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from wattline._places import PLACES as _places

if _TYPE_CHECKING:
    from wattline.advice import advise
    from wattline.advice.account import RunAccount, account_run
    from wattline.advice.bill import Bill, account_bill
    from wattline.advice.cap import CapAdvice, advise_cap
    from wattline.advice.claims import (
        Claims,
        ClaimsImported,
        ClaimsLearnt,
        ClaimsVerified,
        choose_claim,
        import_claims,
        learn_claims,
        list_claims,
        verify_claims,
    )
    from wattline.advice.configure import ConfigurationAdvice, configure
    from wattline.advice.energy import BudgetTrial, EnergyPlan, plan_energy, try_budget
    from wattline.advice.energy_metered import energy_metered
    from wattline.advice.energy_status import energy_status
    from wattline.advice.fairshare import FairShare, fairshare
    from wattline.advice.fit import fit, learn_priors
    from wattline.advice.forgetting import Forgotten, account_forget
    from wattline.advice.futures.following import PolicyRound, follow_policy
    from wattline.advice.futures.policy import CandidateFigures, PolicyAdvice, advise_policy
    from wattline.advice.futures.regret import RegretCase, RegretStudy, tuning_regret
    from wattline.advice.futures.self_tuning import SelfTuning, self_tune
    from wattline.advice.futures.start import StartAdvice, advise_start
    from wattline.advice.job import Sources, advise_job
    from wattline.advice.job_options import JobAdvice
    from wattline.advice.limits import Limits
    from wattline.advice.measured import (
        Imported,
        MeasuredAccount,
        account_import,
        account_show,
    )
    from wattline.advice.measured_compare import MetersBesideSlurm, account_compare
    from wattline.advice.measured_job import MeasuredJob, account_job
    from wattline.advice.net_analysis import NetAnalysis, analyse_net
    from wattline.advice.nets import NetRun, list_nets, run_net, write_net
    from wattline.advice.network import (
        PlacedJobs,
        choose_nodes,
        describe_network,
        list_placements,
        network_load,
        network_sensitivity,
        place_jobs,
    )
    from wattline.advice.per_job import PerJob, compare_jobs
    from wattline.advice.power import CapWritten, PowerNow, power_status, reserve_power, set_power
    from wattline.advice.predict import predict
    from wattline.advice.procure import procure
    from wattline.analysis.accessor import Drawing, Plots
    from wattline.analysis.budget_status import EnergyStatus
    from wattline.analysis.comparison import Comparison
    from wattline.analysis.metrics import metrics
    from wattline.analysis.report import report
    from wattline.analysis.result import Result, open_run, verify
    from wattline.analysis.tables import event_table, job_table
    from wattline.benchmarks._asking import bench, list_benchmarks
    from wattline.controller.doctor.asking import doctor
    from wattline.controller.doctor.check import Check
    from wattline.controller.replaying import replay
    from wattline.controller.speaking import explain_job, live_order, live_status
    from wattline.controller.testbed.meters import try_meters
    from wattline.controller.testbed.trying import TriedRun, try_workload
    from wattline.demand_response.api import bid, regulate
    from wattline.live.comparing import MeterRow, SensorComparison, compare_sensors
    from wattline.live.fitting import FittedServer, fit_server_power
    from wattline.live.reading import read_sensors
    from wattline.model.errors import InputError, PolicyError, WattlineError, WattlineWarning
    from wattline.model.jobs import JobTable
    from wattline.model.run import Run
    from wattline.model.signal import Signal
    from wattline.policies.declaration import Declaration, Parameters
    from wattline.policies.listing import describe_policy, list_policies
    from wattline.policies.view import (
        Pause,
        PowerDown,
        PowerUp,
        SetLevel,
        SetSpeed,
        Start,
        View,
        WakeAt,
    )
    from wattline.results.verify._base import Finding
    from wattline.results.verify.judge import Verification
    from wattline.scenario.api import simulate
    from wattline.scenario.examples import Example, copy_examples, list_examples
    from wattline.scenario.load import load as load_scenario
    from wattline.scenario.machine_views import check_views, machine_view
    from wattline.scenario.model import Scenario
    from wattline.scenario.objects import (
        Adaptive,
        AdaptiveConfiguration,
        Block,
        Bounded,
        Budget,
        ClaimedConfiguration,
        ClaimedOrder,
        ClaimedPlacement,
        Conservative,
        Counted,
        Dvfs,
        Easy,
        EnergyShare,
        Fcfs,
        FirstFit,
        Fixed,
        Largest,
        Lending,
        Machine,
        Multifactor,
        Naive,
        NoBackfill,
        NodeClass,
        NoLimit,
        Requested,
        Sjf,
        Traditional,
        Varied,
        Wait,
        Watts,
        Wfp,
    )
    from wattline.scenario.opening import open_books
    from wattline.scenario.side_by_side import compare
    from wattline.scenario.sweep import sweep
    from wattline.site.importing import ImportedViews, import_views
    from wattline.studies.asking import study
    from wattline.studies.every import PublishedRows, study_all
    from wattline.sweeps.api import run_sweep
    from wattline.sweeps.optimise import optimise_sweep
    from wattline.sweeps.results import SweepResult, SweptSetting
    from wattline.traces import Trace, generate, read, write
    from wattline.traces.summary import describe_trace
    from wattline.twin.check import TwinCheck, check_twin
    from wattline.twin.held import judge_twin
    from wattline.twin.judging import TwinJudgement
    from wattline.twin.make import Twin, make_twin
    from wattline.web.serving import serve

__all__ = [
    "Adaptive",
    "AdaptiveConfiguration",
    "Bill",
    "Block",
    "Bounded",
    "Budget",
    "BudgetTrial",
    "CandidateFigures",
    "CapAdvice",
    "CapWritten",
    "Check",
    "ClaimedConfiguration",
    "ClaimedOrder",
    "ClaimedPlacement",
    "Claims",
    "ClaimsImported",
    "ClaimsLearnt",
    "ClaimsVerified",
    "Comparison",
    "ConfigurationAdvice",
    "Conservative",
    "Counted",
    "Declaration",
    "Drawing",
    "Dvfs",
    "Easy",
    "EnergyPlan",
    "EnergyShare",
    "EnergyStatus",
    "Example",
    "FairShare",
    "Fcfs",
    "Finding",
    "FirstFit",
    "FittedServer",
    "Fixed",
    "Forgotten",
    "Imported",
    "ImportedViews",
    "InputError",
    "JobAdvice",
    "JobTable",
    "Largest",
    "Lending",
    "Limits",
    "Machine",
    "MeasuredAccount",
    "MeasuredJob",
    "MeterRow",
    "MetersBesideSlurm",
    "Multifactor",
    "Naive",
    "NetAnalysis",
    "NetRun",
    "NoBackfill",
    "NoLimit",
    "NodeClass",
    "Parameters",
    "Pause",
    "PerJob",
    "PlacedJobs",
    "Plots",
    "PolicyAdvice",
    "PolicyError",
    "PolicyRound",
    "PowerDown",
    "PowerNow",
    "PowerUp",
    "PublishedRows",
    "RegretCase",
    "RegretStudy",
    "Requested",
    "Result",
    "Run",
    "RunAccount",
    "Scenario",
    "SelfTuning",
    "SensorComparison",
    "SetLevel",
    "SetSpeed",
    "Signal",
    "Sjf",
    "Sources",
    "Start",
    "StartAdvice",
    "SweepResult",
    "SweptSetting",
    "Trace",
    "Traditional",
    "TriedRun",
    "Twin",
    "TwinCheck",
    "TwinJudgement",
    "Varied",
    "Verification",
    "View",
    "Wait",
    "WakeAt",
    "WattlineError",
    "WattlineWarning",
    "Watts",
    "Wfp",
    "account_bill",
    "account_compare",
    "account_forget",
    "account_import",
    "account_job",
    "account_run",
    "account_show",
    "advise",
    "advise_cap",
    "advise_job",
    "advise_policy",
    "advise_start",
    "analyse_net",
    "bench",
    "bid",
    "check_twin",
    "check_views",
    "choose_claim",
    "choose_nodes",
    "compare",
    "compare_jobs",
    "compare_sensors",
    "configure",
    "copy_examples",
    "describe_network",
    "describe_policy",
    "describe_trace",
    "doctor",
    "energy_metered",
    "energy_status",
    "event_table",
    "explain_job",
    "fairshare",
    "fit",
    "fit_server_power",
    "follow_policy",
    "generate",
    "import_claims",
    "import_views",
    "job_table",
    "judge_twin",
    "learn_claims",
    "learn_priors",
    "list_benchmarks",
    "list_claims",
    "list_examples",
    "list_nets",
    "list_placements",
    "list_policies",
    "live_order",
    "live_status",
    "load_scenario",
    "machine_view",
    "make_twin",
    "metrics",
    "network_load",
    "network_sensitivity",
    "open_books",
    "open_run",
    "optimise_sweep",
    "place_jobs",
    "plan_energy",
    "power_status",
    "predict",
    "procure",
    "read",
    "read_sensors",
    "regulate",
    "replay",
    "report",
    "reserve_power",
    "run_net",
    "run_sweep",
    "self_tune",
    "serve",
    "set_power",
    "simulate",
    "study",
    "study_all",
    "sweep",
    "try_budget",
    "try_meters",
    "try_workload",
    "tuning_regret",
    "verify",
    "verify_claims",
    "write",
    "write_net",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("wattline")
    if name not in _places:
        raise AttributeError(f"module 'wattline' has no attribute '{name}'")
    from importlib import import_module

    place, renamed, there = _places[name].partition(":")
    module = import_module(place)
    if renamed and not there:
        return module
    found = getattr(module, there or name)
    if isinstance(found, type):
        return found
    from wattline.model.arguments import checked

    return checked(found, name)


def __dir__() -> list[str]:
    return sorted({*_places, "__version__"})
