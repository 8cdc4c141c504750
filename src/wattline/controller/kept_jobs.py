"""What users are told of jobs that something lasting keeps, and what is done once it is mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wattline.controller.beginning import FAILED, OPERATOR, Obstacle
from wattline.controller.told import News
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import HELD_BY_OPERATOR, NEVER_BEGINS, SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller


def tell_user(
    job: SlurmJob, obstacle: Obstacle | None, before: Obstacle | None, found: News, *,
    was_told: bool = False,
) -> None:
    """Of what keeps a job of ours now, and `before` at the last look; `was_told`: the books had it.

    The comment of a job whose dependency fails is also how we know later that its hold is no
    operator's: it is not written on one that may have been held by an operator before.
    """
    if NEVER_BEGINS in job.admin_comment and (obstacle is None or obstacle.reason != FAILED):
        found.mended.append(job.label)
    if obstacle is None or not obstacle.lasts or (before is not None and before.lasts):
        return
    found.remarks.append(f"job {job.label} is not decided upon: {obstacle.sentence}")
    unseen = before is None and not was_told
    if job.reason != HELD_BY_OPERATOR or not (unseen or before is OPERATOR):
        found.unmanaged.append((job.label, obstacle.sentence))


def tell_users(controller: Controller, news: News) -> list[str]:
    """Write on jobs what keeps them for long, and hold those as ours that it keeps no more."""
    said = say_unmanaged(controller, news.unmanaged)
    for label in news.mended if controller.act else ():
        try:
            controller.slurm.hold_as_user(
                label, controller.watcher.comment("its dependency was changed"))
            said.append(f"job {label} is decided upon again: its dependency was changed")
        except SlurmError as error:  # the next look tells whether it is needed still
            said.append(str(error))
    return said


def say_unmanaged(controller: Controller, jobs: Sequence[tuple[str, str]]) -> list[str]:
    """Write on jobs why they are not decided upon; what went wrong."""
    said = []
    for label, reason in jobs if controller.act else ():
        try:
            controller.slurm.explain(label, controller.watcher.comment(reason))
        except SlurmError as error:
            said.append(str(error))
    return said
