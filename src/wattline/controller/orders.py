"""Orders to a running controller: files that are renamed into a folder, taken once, answered.

Whoever may write into the controller's folder may order; who it was is the owner of the file, not
what the file says. An order moves from `orders` to `taken` before anything is done about it, and
ends in `done` or `refused` with its outcome. One that a controller had taken when it was stopped
is not repeated by the next: it is refused, and whoever gave it looks at what holds.
"""

from __future__ import annotations

import json
import os
import pwd
import stat
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError, WattlineError
from wattline.model.files import write_whole

ORDERS, TAKEN, DONE, REFUSED = "orders", "taken", "done", "refused"
LARGEST = 65_536
"""Bytes of an order."""
MOST_AT_ONCE = 100
"""Orders of one cycle; the others are taken in the next."""
KEPT = 1000
"""Outcomes that are kept in each folder; the oldest go."""
PATIENCE_S = 10.0


@dataclass(frozen=True)
class Order:
    """Something that somebody wants done, or known."""

    name: str
    """Of its file, without the folder: they are taken in the order of their names."""
    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    when_s: float = 0.0


@dataclass(frozen=True)
class OrderOutcome:
    """What came of an order: what was done, or why it was refused."""

    ok: bool
    said: str
    result: Mapping[str, Any] = field(default_factory=dict)
    time_s: float = 0.0


def give(folder: Path, kind: str, fields: Mapping[str, Any], *,
         within_s: float = PATIENCE_S) -> OrderOutcome:
    """Put an order before the controller of a folder and wait for its outcome.

    One that is not taken in time is withdrawn, so that it is not done when nobody expects it.
    """
    name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.json"
    place = folder / ORDERS / name
    try:
        write_whole(folder / ORDERS / f".{name}", json.dumps({"kind": kind, **fields}))
        (folder / ORDERS / f".{name}").rename(place)
    except (OSError, InputError) as error:
        raise InputError(f"{folder / ORDERS} cannot be written to, so nothing can be ordered: "
                         f"{getattr(error, 'strerror', None) or error}") from None
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        found = _outcome(folder, name)
        if found is not None:
            return found
        time.sleep(0.02)
    return _late(folder, name, within_s)


def _late(folder: Path, name: str, within_s: float) -> OrderOutcome:
    try:
        (folder / ORDERS / name).unlink()
    except FileNotFoundError:  # it was taken at the last moment
        time.sleep(1.0)
        found = _outcome(folder, name)
        if found is not None:
            return found
        raise WattlineError(f"the controller took the order {name} and has not answered in "
                            f"{within_s:g} s: look at what holds before you repeat it") from None
    raise WattlineError(f"the controller gave no answer in {within_s:g} s; the order was "
                        "withdrawn, and nothing was done")


def _outcome(folder: Path, name: str) -> OrderOutcome | None:
    for place in (DONE, REFUSED):
        try:
            said = json.loads((folder / place / name).read_text(encoding="utf-8"))["outcome"]
        except FileNotFoundError:
            continue
        return OrderOutcome(**said)
    return None


class Inbox:
    """The controller's side of the folder."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.clock = clock
        for name in (ORDERS, TAKEN, DONE, REFUSED):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for path in sorted((folder / TAKEN).iterdir()):
            self.answer(Order(path.name, ""), OrderOutcome(
                False, "the controller stopped while it had this order: look at what holds before "
                "you repeat it"))

    def take(self) -> list[Order]:
        """The orders that have come, oldest first; those that cannot be read are refused."""
        found = []
        for path in self._come():
            order = Order(path.name, "")
            try:
                path.rename(self.folder / TAKEN / path.name)
                order = _read(self.folder / TAKEN / path.name)
            except FileNotFoundError:  # withdrawn meanwhile
                continue
            except (InputError, OSError) as error:
                with suppress(InputError):
                    self.answer(order, OrderOutcome(False, f"it cannot be read: {error}"))
                continue
            found.append(order)
        return found

    def answer(self, order: Order, outcome: OrderOutcome) -> None:
        """Say what came of an order that was taken."""
        place = self.folder / (DONE if outcome.ok else REFUSED) / order.name
        said = {"kind": order.kind, **order.fields, "who": order.who, "when_s": order.when_s,
                "outcome": {**vars(outcome), "time_s": self.clock()}}
        write_whole(place, json.dumps(said, indent=1, default=str) + "\n")
        (self.folder / TAKEN / order.name).unlink(missing_ok=True)
        self._prune(place.parent)

    def _come(self) -> list[Path]:
        try:
            names = sorted(entry.name for entry in os.scandir(self.folder / ORDERS)
                           if not entry.name.startswith("."))
        except OSError:  # whoever removed the folder wants no orders
            return []
        return [self.folder / ORDERS / name for name in names[:MOST_AT_ONCE]]

    def _prune(self, place: Path) -> None:
        names = sorted(entry.name for entry in os.scandir(place))
        for name in names[:-KEPT]:
            (place / name).unlink(missing_ok=True)


def _read(path: Path) -> Order:
    """An order from its file, which anybody may have put there: a small plain one, or none."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        raise InputError("an order is a plain file")
    if about.st_size > LARGEST:
        raise InputError(f"it has {about.st_size:,} bytes; an order has at most {LARGEST:,}")
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError("it is no JSON") from None
    if not isinstance(said, dict) or not isinstance(said.get("kind"), str):
        raise InputError("an order is an object with a `kind`")
    fields = {name: value for name, value in said.items() if name != "kind"}
    return Order(path.name, said["kind"], fields, owner(about.st_uid), about.st_mtime)


def owner(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
