"""From a file of shares to the order by joules."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Said, Seconds, Weight
from wattline.model.jobs import JobTable
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.setting import Setting

MOST_USERS = 1_000_000


class EnergyShareParameters(Parameters):
    """`store` is a measured ledger: what users drew there counts from the start."""

    shares: FileName = ""
    store: Annotated[FileName, Said("forms", "a file or a database's URL")] | None = None
    half_life: Seconds = Field(604800.0, ge=1)
    fair: Weight = 1.0
    age: Weight = 0.0
    size: Weight = 0.0
    age_max_s: Seconds = Field(604800.0, ge=1)


def _make(setting: Setting, given: EnergyShareParameters) -> Any:
    from wattline.policies.order.energy_share import (
        EnergyShare,
        account_of,
        fresh_memory,
        with_strangers,
    )

    jobs = setting.jobs
    before_j = setting.outside.used(given.store, given.half_life) if given.store else {}
    users = user_names(jobs) or ["0"]
    tree = setting.outside.shares(given.shares, list(dict.fromkeys((*users, *sorted(before_j)))))
    used = {jobs.name_of("user", int(code)) for code in np.unique(jobs.user) if code >= 0}
    missing = sorted(user for user in used if user not in tree.index)
    if missing:
        raise InputError(f"{given.shares}: user '{missing[0]}' of the log is in no account")
    strangers = len(tree.parent)
    return EnergyShare(
        **with_strangers(tree),
        memory=fresh_memory(strangers + 1, account_of(tree.index, strangers),
                            {tree.index[user]: used_j for user, used_j in before_j.items()
                             if user in tree.index}),
        fair=given.fair, age=given.age, size=given.size, age_max_s=given.age_max_s,
        half_life_s=given.half_life,
    )


def user_names(jobs: JobTable) -> list[str]:
    """The name of each user by code, in a list that is as long as the highest code is high."""
    last = int(jobs.user.max(initial=-1))
    if last >= MOST_USERS:
        raise InputError(f"the log has a user number {last}; shares work up to {MOST_USERS:,}, so "
                         "number the users from 0 on")
    return [jobs.name_of("user", code) for code in range(last + 1)]


ENERGY_SHARE = Declaration(
    "order", "energy-share", "Multifactor with fair-share by joules over an account tree.",
    _make, EnergyShareParameters)
