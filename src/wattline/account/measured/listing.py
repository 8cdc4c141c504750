"""What the measured ledger has row by row: steps and facts of lives, and its clusters."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, case, func, select

from wattline.account.measured.questions import (
    UNTIL_S,
    Conditions,
    believed_of_steps,
    lives_asked,
    steps_asked,
)
from wattline.account.measured.tables import facts, lives, steps
from wattline.account.store import Store

RUN_ON = ("RUNNING", "SUSPENDED")
"""States of a step that has not ended."""


def step_rows(store: Store, asked: Conditions) -> dict[int, list[dict[str, Any]]]:
    """The steps with joules, by the number of their life; each with its times and its source.

    A job ends with its steps: one that nobody has told of since has the state of its job.
    """
    own = and_(*(steps.c[name] == lives.c[name] for name in ("cluster", "label")),
               steps.c.step == facts.c.step, steps.c.start_s >= lives.c.start_s,
               steps.c.start_s <= UNTIL_S)
    names = (facts.c.life_id, facts.c.step, facts.c.source)
    sums = (func.sum(facts.c[name]).label(name) for name in ("energy_j", "covered_s", "filled_j"))
    told = select(*names, *sums, func.min(facts.c.start_s).label("start_s"),
                  func.max(facts.c.end_s).label("end_s")).join(
        lives, facts.c.life_id == lives.c.id).where(
        facts.c.step != "", lives_asked(asked), steps_asked(asked), believed_of_steps()).group_by(
        *names)
    own_words = (func.max(steps.c[name]).label(name) for name in ("state", "start_s", "node_list"))
    over = case((lives.c.end_s.is_(None), ""), else_=lives.c.state)
    words = select(
        facts.c.life_id, facts.c.step, *own_words, func.max(over).label("job_state")).join(
        lives, facts.c.life_id == lives.c.id).join(steps, own).where(
        facts.c.step != "", lives_asked(asked)).group_by(facts.c.life_id, facts.c.step)
    found: dict[int, list[dict[str, Any]]] = {}
    with store.session() as session:
        seen = {(row["life_id"], row["step"]): row for row in session.execute(words).mappings()}
        for row in session.execute(told).mappings():
            # One that began after the end of its job, as it is told, is known by its joules alone.
            told_too = dict(seen.get((row["life_id"], row["step"]),
                                     {"state": None, "node_list": "", "job_state": ""}))
            job_state = told_too.pop("job_state")
            if told_too["state"] in RUN_ON and job_state:
                told_too["state"] = job_state
            found.setdefault(int(row["life_id"]), []).append({**row, **told_too})
    return {life: sorted(rows, key=lambda row: (row["start_s"], row["step"]))
            for life, rows in found.items()}


def clusters_of(store: Store) -> list[str]:
    """The clusters of which there are jobs, in order."""
    with store.session() as session:
        return sorted(session.scalars(select(lives.c.cluster).distinct()))


def facts_of(store: Store, life_id: int) -> list[dict[str, Any]]:
    """The facts of a life, in order of time."""
    query = select(facts).where(facts.c.life_id == life_id).order_by(
        facts.c.start_s, facts.c.step, facts.c.node)
    with store.session() as session:
        return [dict(row) for row in session.execute(query).mappings()]
