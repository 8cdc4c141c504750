"""Books of eight nodes that are told events, and the journals that they write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.workloads import compose
from wattline.books import Books, Decision, JournalWriter, Terms, read_journal
from wattline.model.machine import Machine, NodeClass

node = NodeClass(power_w_idle=90.0, power_w_active=300.0, power_w_off=5.0)
machine = Machine.uniform(8, node)


def opened(policy: Any = None, *, nodes: bool = False, **more: Any) -> Books:
    """Books of the machine; they choose its nodes where this is asked for."""
    return Books.open(machine, policy or compose(), Terms(choose_nodes=nodes), **more)


def told(decisions: Iterable[Decision]) -> list[list[Any]]:
    """Kind and job of each decision."""
    return [[each.kind, each.job] for each in decisions]


def writing(policy: Any = None, **more: Any) -> tuple[Books, list[str]]:
    """Books, and the lines of the journal that they write."""
    books, lines = opened(policy, **more), []
    books.keep_journal(JournalWriter(lines.append))
    return books, lines


def read(lines: Sequence[str]) -> list[Any]:
    """The entries of such a journal."""
    return list(read_journal("".join(lines), "journal").entries())
