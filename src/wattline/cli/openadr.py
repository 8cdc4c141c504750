"""`wattline openadr`: follow the events of an OpenADR server with the file of the cap."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wattline.cli.choices import Choice
from wattline.cli.needs import among, given, option
from wattline.model.cap_value import WATTS, read_cap_value
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.live.openadr import PriceFile
    from wattline.model.signal import Signal


SECOND = among("standard", "2.0b", why="version 3 has --client-id in place of certificates")
THIRD = among("standard", "3")


@click.command("openadr")
@click.option("--vtn", required=True, metavar="URL",
              help="The server, like http://host:8080/OpenADR2/Simple/2.0b.")
@click.option("--ven", required=True, metavar="NAME", help="What we are called there.")
@click.option("--cap", required=True, metavar="POWER", help="The usual cap, without an event.")
@click.option("--cap-file", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Written with the cap that holds: `cap_file` of the controller.")
@option("--price-file", type=click.Path(path_type=Path), metavar="FILE",
        help="Keep a table of the price of energy here, a row per change; with --price.",
        needs=given("price"))
@option("--price", metavar="X|FILE",
        help="The usual price of a kWh, without an event: like 0.12 or 0.12EUR, or a table "
             "with dates (CSV, also compressed).", needs=given("price_file"))
@option("--currency", default="", metavar="TEXT",
        help="Of the price, where it names none; prices of events in another are not "
             "followed.", needs=given("price"))
@option("--cert", type=click.Path(path_type=Path), metavar="FILE",
        help="Our certificate (PEM), for a server behind TLS; with --key and --ca.", needs=SECOND)
@option("--key", type=click.Path(path_type=Path), metavar="FILE",
        help="Its key; what opens an encrypted one is OPENADR_PASSPHRASE of the environment.",
        needs=SECOND)
@option("--ca", type=click.Path(path_type=Path), metavar="FILE",
        help="The authority that the server's certificate must come from.", needs=SECOND)
@option("--vtn-fingerprint", metavar="TEXT",
        help="Of the server's certificate: its messages must be signed with that.", needs=SECOND)
@click.option("--standard", type=Choice(["2.0b", "3"]), default="2.0b", show_default=True,
              help="Which version of OpenADR the server speaks.")
@option("--program", default="", metavar="ID", help="Of 3: only events of this programme.",
        needs=THIRD)
@option("--client-id", default="", metavar="TEXT",
        help="Of 3: who we are; the secret is OPENADR_CLIENT_SECRET of the environment.",
        needs=THIRD)
@option("--token-url", default="", metavar="URL",
        help="Of 3: where tokens are given out; /auth/token of the server if not given.",
        needs=THIRD)
@click.option("--status", type=click.Path(path_type=Path), metavar="FILE",
              help="status.json of the controller: its measured power is reported to the server.")
def command(vtn: str, ven: str, cap: str, cap_file: Path, price_file: Path | None,
            price: str | None, currency: str, cert: Path | None, key: Path | None,
            ca: Path | None, vtn_fingerprint: str | None, standard: str, program: str,
            client_id: str, token_url: str, status: Path | None) -> None:
    """Follow the events of an OpenADR server: the file of the cap says what may be drawn.

    SIMPLE levels 0 to 3 are 100, 90, 75 and 50 % of the usual cap; setpoints of LOAD_DISPATCH are
    watts (2.0b), limits and setpoints of version 3 kilowatts. Prices need --price-file. Other
    signals are refused. Of events that overlap the lowest cap holds. Stopped with Ctrl-C, the file
    stays as it is.
    """
    from wattline.grid.events import EventBook
    from wattline.live.openadr import CapWriter, follow
    from wattline.live.openadr_link import Certificates, MeasuredPower

    certificates = Certificates(cert, key, ca, vtn_fingerprint)
    value = read_cap_value(cap)
    if value.of != WATTS:
        raise InputError(f"--cap {cap}: the machine is not known here; write watts, like 1.4MW")
    measured = None if status is None else MeasuredPower(status, time.time)
    prices = _prices(price_file, price, currency)
    writer = CapWriter(cap_file, EventBook(value.number), say=click.echo, prices=prices)
    if standard == "3":
        from wattline.live.openadr3 import Follower, Server, follow3

        server = Server(vtn, client_id, os.environ.get("OPENADR_CLIENT_SECRET", ""), token_url)
        follow3(Follower(server, writer, program, ven, measured), time.time)
        return
    asyncio.run(follow(writer, vtn, ven, time.time, certificates=certificates, measured=measured))


def _prices(file: Path | None, usual: str | None, currency: str) -> PriceFile | None:
    """The table to keep, with what holds where no event says a price."""
    from wattline.live.openadr import PriceFile
    from wattline.model.run_clock import NoDates
    from wattline.traces.rates import is_flat, price_from
    from wattline.traces.tariffs import J_PER_KWH, currency_of

    if file is None or usual is None:
        return None
    try:
        per_j = price_from(usual, unix=True)
    except NoDates:
        raise InputError(f"--price: the times of {usual} are no dates, which events have") from None
    if not is_flat(per_j) and Path(usual).resolve() == file.resolve():
        raise InputError(f"--price and --price-file are both {usual}: the usual prices are read "
                         "from the one, and what holds is written to the other")
    named = currency_of(per_j) or ""
    if currency and named and currency.upper() != named:
        raise InputError(f"--currency is {currency}, and --price is in {named}")
    found = PriceFile(file, per_j.scaled(J_PER_KWH, "1/kWh"), currency or named)
    if not is_flat(per_j):
        _say_reach(usual, per_j)
    return found


def _say_reach(usual: str, table: Signal) -> None:
    """Refuse prices that are over, and say from when on the last one stands for all."""
    end_s = float(2 * table.time_s[-1] - table.time_s[-2])
    if time.time() >= end_s:
        raise InputError(f"--price: {usual} ends before today; its prices are over")
    until = datetime.fromtimestamp(end_s, UTC).strftime("%Y-%m-%dT%H:%MZ")
    click.echo(f"usual prices are known until {until}; then the last one holds")
