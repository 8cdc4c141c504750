"""How to run a job: time, joules, money and grams of every way that is known or predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wattline.advice.frequency_table import applications_in, from_frequencies, has_frequencies
from wattline.advice.job_options import JobAdvice, JobOption, Known, best_of, pareto_front
from wattline.advice.job_sources import (
    BETA,
    at_frequencies,
    from_claims,
    from_model,
    from_table,
)
from wattline.model.errors import InputError
from wattline.model.nearest import did_you_mean
from wattline.model.signal import Signal
from wattline.physics.claims import ClaimBook, npb_claims, read_claims
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.measurements import read_measurements
from wattline.physics.regression import load_models, shipped_models
from wattline.traces.rates import carbon_from, end_note, is_flat, price_from
from wattline.traces.tariffs import currency_of


@dataclass(frozen=True)
class Sources:
    """Where to look; without any, the claims and the models that come with the package.

    >>> import wattline as wl
    >>> wl.Sources(claims="claims.csv").claims
    'claims.csv'
    """

    table: str | None = None
    """Measured configurations, or measured runs at several frequencies (CSV)."""
    claims: str | None = None
    """A file of claims (CSV)."""
    model: str | None = None
    """A model file of `wattline fit`."""
    store: str | None = None
    """A store with claims or configurations."""

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if given is not None and not isinstance(given, (str, Path)):
                raise InputError(f"{name} is a {type(given).__name__}, must be the name of a file")


def advise_job(
    application: str, sources: Sources | str | Path | None = None, *, nodes: int | None = None,
    beta: float = BETA, price: float | str | Signal | None = None,
    carbon: float | str | Signal | None = None, start: str = "",
) -> JobAdvice:
    """Every way to run an application that is known or predicted, and the best of them.

    `sources` says where to look; a name alone is that of a table of measured runs.
    `price` is that of a kWh (`0.12`, `"0.12EUR"`) or a table of prices, in which the job starts at
    the date `start`; `carbon` grams per kWh or a table. A `Signal` is money or grams per joule.

    >>> import wattline as wl
    >>> found = wl.advise_job("CG.A")
    >>> found.options[found.best["energy"]].node_class
    'xeon'
    """
    if not 0 <= beta <= 1:
        raise InputError(f"--beta is {beta:g}, must lie between 0 and 1")
    if nodes is not None and nodes < 1:
        raise InputError(f"--nodes is {nodes}, must be at least 1")
    asked = _asked(sources)
    price, carbon = _rate(price, price_from, start), _rate(carbon, carbon_from, start)
    if start and all(rate is None or is_flat(rate) for rate in (price, carbon)):
        raise InputError("--start is a date in a table; give one with --price FILE or --carbon "
                         "FILE")
    names: list[str] = []
    found = [known for known in _all(asked, application, nodes, names) if known.options]
    if not found:
        raise InputError(_unknown(application, nodes, names))
    options = [option for known in found for option in known.options]
    # Claims name their class of node, for which there is no table of cores.
    predicted = at_frequencies([option for option in options if not option.node_class], beta)
    options = [option.priced(price, carbon) for option in (*options, *predicted.options)]
    notes = dict.fromkeys(note for known in (*found, predicted) for note in known.notes)
    return JobAdvice(
        application, tuple(options), pareto_front(options), best_of(options),
        (*notes, *_of_rates(options, price, carbon, start), *_scope(found, application, names)),
        currency_of(price))


def _asked(sources: Sources | str | Path | None) -> Sources:
    return Sources(table=str(sources)) if isinstance(sources, str | Path) else (
        sources or Sources())


def _rate(
    given: float | str | Signal | None, read: Callable[..., Signal], start: str
) -> Signal | None:
    return given if given is None or isinstance(given, Signal) else read(str(given), start=start)


def _all(
    sources: Sources, application: str, nodes: int | None, names: list[str]
) -> Iterator[Known]:
    """What each source knows; `names` collects the applications that there are."""
    nothing = sources == Sources()
    if sources.table is not None:
        if has_frequencies(sources.table):
            names += applications_in(sources.table)
            yield from_frequencies(sources.table, application, nodes)
        else:
            yield _tables(read_measurements(sources.table, application), application, nodes,
                          sources.table, names)
    if sources.claims is not None or nothing:
        book = npb_claims() if sources.claims is None else read_claims(Path(sources.claims))
        yield _claims(book, application, nodes, sources.claims or "shipped claims", names)
    if sources.store is not None:
        yield from _stored(sources.store, application, nodes, names)
    if sources.model is not None or nothing:
        models = shipped_models() if sources.model is None else load_models(sources.model)
        names += models
        yield from_model(models, application, nodes, sources.model or "shipped models")


def _stored(
    store: str, application: str, nodes: int | None, names: list[str]
) -> Iterator[Known]:
    """A store may hold claims, configurations, or both."""
    from sqlalchemy import inspect

    from wattline.account.claim_table import ClaimTable
    from wattline.account.claim_table import table as claim_rows
    from wattline.account.configurations import job_details, read_catalogue
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        there = set(inspect(opened.engine).get_table_names())
        if not there & {claim_rows.name, job_details.name}:
            raise InputError(f"the store {store} holds neither claims nor configurations")
        if claim_rows.name in there:
            yield _claims(ClaimTable(opened).load(), application, nodes, "claims of the store",
                          names)
    if job_details.name in there:
        yield _tables(dict(read_catalogue(store).by_name), application, nodes, "store", names)


def _claims(
    book: ClaimBook, application: str, nodes: int | None, source: str, names: list[str]
) -> Known:
    names += book.applications
    return from_claims(book, application, nodes, source)


def _tables(
    tables: dict[str, ConfigurationTable], application: str, nodes: int | None, source: str,
    names: list[str],
) -> Known:
    names += tables
    return from_table(tables, application, nodes, source)


def _unknown(application: str, nodes: int | None, names: Iterable[str]) -> str:
    known = sorted(set(names))
    if any(name.casefold() == application.strip().casefold() for name in known):
        return (f"nothing is known of '{application}' on {nodes} nodes; leave --nodes out to see "
                "on how many it is known")
    listed = f"known are: {', '.join(known)}" if known else "the table has no run of it"
    return f"nothing is known of '{application}'; {listed}{did_you_mean(application, known)}"


def _of_rates(
    options: list[JobOption], price: Signal | None, carbon: Signal | None, start: str
) -> Iterator[str]:
    """What costs and grams rest on."""
    for name, rate in (("prices", price), ("carbon intensities", carbon)):
        if rate is not None and not is_flat(rate):
            longest_s = max(option.time_s for option in options)
            yield (end_note(f"the table of {name}", rate, longest_s)
                   or (f"the job starts at {start} in the table of {name}" if start else
                       f"the job starts at the first row of the table of {name} (--start)"))
    if price is not None:
        yield "costs are those of the energy; the hours of the nodes are not charged"
        if len(options) > 1 and len({option.cost for option in options}) == 1:
            yield "all options cost the same: best by cost is the fastest"


def _scope(found: list[Known], application: str, names: Iterable[str]) -> Iterator[str]:
    """What the figures leave out, and other things of that name."""
    if len(found) > 1:
        yield ("the sources may count different watts (claims at the wall plug, models of "
               "processors and memory): compare options of one source")
    key = application.strip().casefold() + "."
    near = sorted({name for name in names if name.casefold().startswith(key)})
    if near:
        yield f"also known: {', '.join(near)}"
