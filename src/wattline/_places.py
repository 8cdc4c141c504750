"""Where each name of the package lives, so that it is imported when it is used."""

from __future__ import annotations

# The module, and what the name is called there if not the same; nothing: the module itself.
PLACES = {
    **dict.fromkeys((
        "Claims", "ClaimsImported", "ClaimsLearnt", "ClaimsVerified", "choose_claim",
        "import_claims", "learn_claims", "list_claims", "verify_claims"
    ), "wattline.advice.claims"),
    **dict.fromkeys(("check_views", "machine_view"), "wattline.scenario.machine_views"),
    **dict.fromkeys(("NetRun", "list_nets", "run_net", "write_net"), "wattline.advice.nets"),
    **dict.fromkeys(("NetAnalysis", "analyse_net"), "wattline.advice.net_analysis"),
    **dict.fromkeys(("bench", "list_benchmarks"), "wattline.benchmarks._asking"),
    "read_sensors": "wattline.live.reading",
    **dict.fromkeys(("Twin", "make_twin"), "wattline.twin.make"),
    **dict.fromkeys(("TwinCheck", "check_twin"), "wattline.twin.check"),
    "TwinJudgement": "wattline.twin.judging",
    "judge_twin": "wattline.twin.held",
    **dict.fromkeys((
        "MeterRow", "SensorComparison", "compare_sensors"
    ), "wattline.live.comparing"),
    "try_meters": "wattline.controller.testbed.meters",
    **dict.fromkeys(("FittedServer", "fit_server_power"), "wattline.live.fitting"),
    "describe_trace": "wattline.traces.summary",
    **dict.fromkeys((
        "CapWritten", "PowerNow", "power_status", "reserve_power", "set_power"
    ), "wattline.advice.power"),
    "Check": "wattline.controller.doctor.check",
    "doctor": "wattline.controller.doctor.asking",
    "serve": "wattline.web.serving",
    **dict.fromkeys((
        "explain_job", "live_order", "live_status"
    ), "wattline.controller.speaking"),
    **dict.fromkeys(("TriedRun", "try_workload"), "wattline.controller.testbed.trying"),
    **dict.fromkeys((
        "BudgetTrial", "EnergyPlan", "plan_energy", "try_budget"
    ), "wattline.advice.energy"),
    "EnergyStatus": "wattline.analysis.budget_status",
    "energy_metered": "wattline.advice.energy_metered",
    "energy_status": "wattline.advice.energy_status",
    **dict.fromkeys((
        "PlacedJobs", "choose_nodes", "describe_network", "list_placements", "network_load",
        "network_sensitivity", "place_jobs"
    ), "wattline.advice.network"),
    **dict.fromkeys(("FairShare", "fairshare"), "wattline.advice.fairshare"),
    **dict.fromkeys(("RunAccount", "account_run"), "wattline.advice.account"),
    **dict.fromkeys(("Bill", "account_bill"), "wattline.advice.bill"),
    **dict.fromkeys(("Forgotten", "account_forget"), "wattline.advice.forgetting"),
    **dict.fromkeys((
        "Imported", "MeasuredAccount", "account_import", "account_show"
    ), "wattline.advice.measured"),
    **dict.fromkeys(("MetersBesideSlurm", "account_compare"), "wattline.advice.measured_compare"),
    **dict.fromkeys(("MeasuredJob", "account_job"), "wattline.advice.measured_job"),
    "advise": "wattline.advice.advise:",
    **dict.fromkeys(("CapAdvice", "advise_cap"), "wattline.advice.cap"),
    **dict.fromkeys(("Sources", "advise_job"), "wattline.advice.job"),
    "JobAdvice": "wattline.advice.job_options",
    "Limits": "wattline.advice.limits",
    **dict.fromkeys(("CandidateFigures", "PolicyAdvice", "advise_policy"),
                    "wattline.advice.futures.policy"),
    **dict.fromkeys(("SelfTuning", "self_tune"), "wattline.advice.futures.self_tuning"),
    **dict.fromkeys(("PolicyRound", "follow_policy"), "wattline.advice.futures.following"),
    **dict.fromkeys(("RegretCase", "RegretStudy", "tuning_regret"),
                    "wattline.advice.futures.regret"),
    **dict.fromkeys(("StartAdvice", "advise_start"), "wattline.advice.futures.start"),
    **dict.fromkeys(("PerJob", "compare_jobs"), "wattline.advice.per_job"),
    **dict.fromkeys(("ConfigurationAdvice", "configure"), "wattline.advice.configure"),
    "fit": "wattline.advice.fit",
    "learn_priors": "wattline.advice.fit",
    "predict": "wattline.advice.predict",
    "procure": "wattline.advice.procure",
    **dict.fromkeys(("Drawing", "Plots"), "wattline.analysis.accessor"),
    "Comparison": "wattline.analysis.comparison",
    "compare": "wattline.scenario.side_by_side",
    "metrics": "wattline.analysis.metrics",
    "report": "wattline.analysis.report",
    **dict.fromkeys(("Result", "open_run", "verify"), "wattline.analysis.result"),
    "Finding": "wattline.results.verify._base",
    "Verification": "wattline.results.verify.judge",
    **dict.fromkeys(("event_table", "job_table"), "wattline.analysis.tables"),
    **dict.fromkeys((
        "InputError", "PolicyError", "WattlineError", "WattlineWarning"
    ), "wattline.model.errors"),
    "JobTable": "wattline.model.jobs",
    "Run": "wattline.model.run",
    "Signal": "wattline.model.signal",
    **dict.fromkeys(("Declaration", "Parameters"), "wattline.policies.declaration"),
    **dict.fromkeys(("describe_policy", "list_policies"), "wattline.policies.listing"),
    **dict.fromkeys((
        "Pause", "PowerDown", "PowerUp", "SetLevel", "SetSpeed", "Start", "View", "WakeAt"
    ), "wattline.policies.view"),
    "simulate": "wattline.scenario.api",
    "bid": "wattline.demand_response.api",
    "regulate": "wattline.demand_response.api",
    **dict.fromkeys(("Example", "copy_examples", "list_examples"), "wattline.scenario.examples"),
    "Scenario": "wattline.scenario.model",
    **dict.fromkeys((
        "Adaptive", "AdaptiveConfiguration", "Block", "Bounded", "Budget", "ClaimedConfiguration",
        "ClaimedOrder", "ClaimedPlacement", "Conservative", "Counted", "Dvfs", "Easy",
        "EnergyShare", "Fcfs", "FirstFit", "Fixed", "Largest", "Lending", "Machine",
        "Multifactor", "Naive", "NoBackfill", "NoLimit", "NodeClass", "Requested", "Sjf",
        "Traditional", "Varied", "Wait", "Watts", "Wfp"
    ), "wattline.scenario.objects"),
    "open_books": "wattline.scenario.opening",
    "sweep": "wattline.scenario.sweep",
    "run_sweep": "wattline.sweeps.api",
    "optimise_sweep": "wattline.sweeps.optimise",
    **dict.fromkeys(("SweepResult", "SweptSetting"), "wattline.sweeps.results"),
    **dict.fromkeys(("ImportedViews", "import_views"), "wattline.site.importing"),
    "study": "wattline.studies.asking",
    "study_all": "wattline.studies.every",
    "PublishedRows": "wattline.studies.every",
    **dict.fromkeys(("Trace", "generate", "read", "write"), "wattline.traces"),
    "load_scenario": "wattline.scenario.load:load",
    "replay": "wattline.controller.replaying",
}
