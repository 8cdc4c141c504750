"""What a worker can be asked, by name; each is imported when it is asked first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Task = Callable[[dict[str, Any]], Any]


def _whatif() -> Task:
    from wattline.web.whatif.answer import what_if

    return what_if


def _upload() -> Task:
    from wattline.web.uploads.reading import read_upload

    return read_upload


def _configure() -> Task:
    from wattline.web.plan.configuring import configuration_space

    return configuration_space


def _procure() -> Task:
    from wattline.web.plan.procuring import break_even

    return break_even


def _bid() -> Task:
    from wattline.web.plan.bidding import bid_surface

    return bid_surface


def _placement() -> Task:
    from wattline.web.plan.placing import placement

    return placement


def _nodes() -> Task:
    from wattline.web.plan.placing import nodes_for_job

    return nodes_for_job


TASKS: Mapping[str, Callable[[], Task]] = {
    "whatif": _whatif, "upload": _upload, "configure": _configure, "procure": _procure,
    "bid": _bid, "placement": _placement, "nodes": _nodes,
}
