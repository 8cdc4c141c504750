"""How else a job of the live machine could run: what stores and the ledger know of it."""

from __future__ import annotations

import math
import warnings

from wattline.advice.job_options import JobOption
from wattline.model.errors import InputError, WattlineError, WattlineWarning
from wattline.web.sources.live_ledger import LedgerPages, Ran
from wattline.web.sources.shape import Alternative, JobRow

MOST = 24
OTHERS = ("earlier jobs are those of the same name and user that completed; what they computed may "
          "have been something else")


def alternatives(ledger: LedgerPages, job: JobRow) -> tuple[list[Alternative], list[str], str]:
    """The ways that are known, what they rest on, and where there is none, why."""
    if not ledger.there:
        return [], [], ("they come from the ledger, and this site has none: its file names no "
                        "[broker] over which agents of nodes report")
    name = job.application or ""
    known, notes = _known(ledger.store, name)
    ran = ledger.ran(name, job.user or "", leave_out=job.id)
    found = [*_itself(job), *map(_measured, ran), *known]
    if not ran and not known:
        return [], [], (f"the ledger has no earlier job called '{name}' of this user, nor has its "
                        "store configurations or claims of it (`wattline fit --store` and "
                        "`wattline claims import --store` put them there)")
    return found[:MOST], [*notes, *([OTHERS] if ran else [])], ""


def _itself(job: JobRow) -> list[Alternative]:
    """The job as it ran, once its joules are known."""
    if job.end_s is None or job.energy_j is None or not job.elapsed_s:
        return []
    return [Alternative(job.nodes, None, None, None, None, job.elapsed_s, job.energy_j,
                        chosen=True, basis="measured, this job")]


def _measured(ran: Ran) -> Alternative:
    if ran.jobs == 1:  # one job has no range
        return Alternative(ran.nodes, None, None, None, None, ran.time_s, ran.energy_j,
                           basis="measured, 1 earlier job")
    return Alternative(ran.nodes, None, None, None, None, ran.time_s, ran.energy_j,
                       basis=f"measured, mean of {ran.jobs:,} earlier jobs",
                       time_range_s=ran.time_range_s, energy_range_j=ran.energy_range_j,
                       range_means="lowest and highest of them")


def _known(store: str, application: str) -> tuple[list[Alternative], list[str]]:
    """Configurations and claims that the site has put into the ledger's store: those unbeaten."""
    from wattline.advice.job import Sources, advise_job

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        try:
            found = advise_job(application, Sources(store=store))
        except (InputError, WattlineError):
            return [], []
    return [_option(found.options[at]) for at in found.front], list(found.notes)


def _option(option: JobOption) -> Alternative:
    basis = option.basis if not option.runs else f"{option.basis}, {option.runs} runs"
    return Alternative(
        option.nodes, int(option.threads) if option.threads.isdecimal() else None,
        option.cap_w if math.isfinite(option.cap_w) else None,
        option.frequency_ghz if math.isfinite(option.frequency_ghz) else None, None,
        option.time_s, option.energy_j, basis=basis,
        time_range_s=_around(option.time_s, option.time_error),
        energy_range_j=_around(option.energy_j, option.energy_error),
        range_means="one standard deviation" if math.isfinite(option.time_error) or math.isfinite(
            option.energy_error) else "")


def _around(value: float, error: float) -> tuple[float, float] | None:
    """A relative error as a range; none where nobody knows it."""
    if not math.isfinite(error):
        return None
    return max(value * (1.0 - error), 0.0), value * (1.0 + error)
