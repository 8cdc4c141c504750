"""What an owner is told: the machine, and of jobs the own ones; no other's number, no other's name.

Sources answer for those who see all. Whatever names jobs beside the one that was asked for passes
through here on its way to an owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from wattline.web.sources.shape import About, JobDetail, NodePage, Now, Source

ANOTHER = "another job"
_NAMED = re.compile(r"\b[Jj]ob (\d[\w+\[\]-]*)")
"""A job as sentences name it: by a number, of an array or of a het job too."""
Users = Callable[[Collection[str]], dict[str, str | None]]


def own_now(source: Source, found: Now, owner: str) -> Now:
    """Decisions about the machine and about own jobs; who ordered the former is not said."""
    texts = [each.text for each in found.decisions] + [each.text for each in found.alarms]
    mine = _own(source.users, owner, (
        *(each.job for each in found.decisions if each.job is not None), *_named(texts)))
    return replace(
        found,
        decisions=[replace(each, who=None) for each in found.decisions
                   if (each.job is None or each.job in mine) and _named([each.text]) <= mine],
        alarms=[replace(each, text=_without_others(each.text, mine)) for each in found.alarms])


def own_nodes(source: Source, found: NodePage, owner: str) -> NodePage:
    """Nodes of others are busy, and with what is not said."""
    lists = [[] if each is None else each.split(",") for each in found.job]  # a node can be shared
    mine = _own(source.users, owner, {job for jobs in lists for job in jobs})
    return replace(found, job=[",".join(job for job in jobs if job in mine) or None
                               for jobs in lists])


def own_detail(source: Source, found: JobDetail, owner: str) -> JobDetail:
    """What it waits for, without saying which job of somebody else's that is."""
    why = found.job.why or ""
    mine = _own(source.users, owner, _named((found.explanation, why)))
    return replace(found, explanation=_without_others(found.explanation, mine),
                   job=replace(found.job, why=_without_others(why, mine) or None))


def own_about(source: Source, found: About, owner: str) -> About:
    mine = _own(source.users, owner, _named(found.assumptions))
    return replace(found, assumptions=[_without_others(each, mine) for each in found.assumptions])


def _own(users: Users, owner: str, jobs: Iterable[str]) -> set[str]:
    wanted = set(jobs)
    return {job for job, user in users(wanted).items() if user == owner} if wanted else set()


def _named(texts: Iterable[str]) -> set[str]:
    return {job for text in texts for job in _NAMED.findall(text)}


def _without_others(text: str, mine: Collection[str]) -> str:
    def said(found: re.Match[str]) -> str:
        if found[1] in mine:
            return found[0]
        return ANOTHER.capitalize() if found[0].startswith("J") else ANOTHER

    return _NAMED.sub(said, text)
