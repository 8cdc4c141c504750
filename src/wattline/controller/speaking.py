"""Speaking to the live machine: what its controller shows, and orders to it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.orders import PATIENCE_S, OrderOutcome, give
from wattline.controller.status import read_status
from wattline.model.cap_value import read_cap_value
from wattline.model.errors import InputError, WattlineError
from wattline.model.run_clock import parse_date, unix_s
from wattline.model.units import parse_duration, says_no_cap

USUAL_CONFIG = Path("/etc/wattline/site.toml")


def live_status(config: str | Path = USUAL_CONFIG) -> dict[str, Any]:
    """How the controller of a site stands: cap, power, nodes, who runs and who waits, and why.

    >>> import wattline as wl
    >>> try:
    ...     waiting = wl.live_status("site.toml")["waiting"]["count"]
    ... except wl.WattlineError as error:  # there is no site here, or no controller runs
    ...     waiting = None
    """
    return read_status(Path(site_at(config).folder))


def live_order(
    config: str | Path = USUAL_CONFIG, kind: str = "energy", *, within_s: float = PATIENCE_S,
    **fields: Any,
) -> OrderOutcome:
    """Order something of a running controller, or ask it, and wait for the outcome.

    Orders are `set_cap` (watts; none: no cap), `reserve` (start_s, duration_s, watts, name),
    `unreserve` (name), `set_mode` (mode: `decide` or `guard`) and `set_policy` (changes: fields of
    a scenario, like policy.order; give it time to be compiled); questions are `explain` (job),
    `energy`, `fairshare`, `applications` and `preview_mode` (mode: what would follow from it).
    What is refused raises an error with the reason.

    >>> import wattline as wl
    >>> try:
    ...     said = wl.live_order("site.toml", "set_cap", watts=1200.0).said
    ... except wl.WattlineError as error:  # there is no site here, or no controller runs
    ...     said = ""
    """
    folder = Path(site_at(config).folder)
    status = read_status(folder)  # one line where no controller runs there
    try:
        found = give(folder, kind, fields, within_s=within_s)
    except WattlineError as error:
        if not status["slurm_answers"]:
            raise WattlineError(f"{error} (Slurm does not answer it: {status['last_error']})"
                                ) from None
        raise
    if not found.ok:
        raise InputError(found.said)
    return found


def explain_job(
    job: str, config: str | Path = USUAL_CONFIG, *, within_s: float = PATIENCE_S
) -> dict[str, Any]:
    """Why a job of the live machine waits: a reason, a sentence, figures, and its expected start.

    >>> import wattline as wl
    >>> try:
    ...     why = wl.explain_job("4711", "site.toml")["sentence"]
    ... except wl.WattlineError as error:  # there is no site here, or no controller runs
    ...     why = ""
    """
    return dict(live_order(config, "explain", job=job, within_s=within_s).result)


def cap_fields(cap: str, status: Mapping[str, Any]) -> dict[str, float | None]:
    """A cap as people write it, or `none`; per cent are of rated power."""
    return {"watts": None if says_no_cap(cap) else _watts("--cap", cap, status)}


def window_fields(start: str, duration: str, watts: str, name: str,
                  status: Mapping[str, Any]) -> dict[str, Any]:
    now_s = time.time()
    start_s = moment_s(start, now_s)
    if start_s < now_s:
        raise InputError(f"--start {start} is past; a reservation begins now or later")
    return {"start_s": start_s, "duration_s": parse_duration(duration),
            "watts": _watts("--watts", watts, status), "name": name}


def _watts(option: str, given: str, status: Mapping[str, Any]) -> float:
    try:
        return read_cap_value(given).watts(status["machine_w"])
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def moment_s(text: str, now_s: float) -> float:
    """`now`, `2h` (from now on) or a date: the Unix time that is meant."""
    if text.strip() in ("", "now"):
        return now_s
    at = parse_date(text)
    return now_s + parse_duration(text.removeprefix("now+")) if at is None else unix_s(at)


def site_at(config: str | Path) -> SiteConfig:
    """The site of a file that somebody named; one line where there is no such file."""
    if not Path(config).is_file():
        raise InputError(f"there is no file {config}: name the controller's with --config")
    return read_configuration(config)
