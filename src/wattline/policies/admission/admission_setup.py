"""Declarations of the admissions that need nothing but numbers."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from wattline.model.fields import Said, Seconds, Whole
from wattline.policies.declaration import Declaration, Parameters, of_numbers
from wattline.policies.setting import Setting

A_CAP = "a cap (power.cap)"


class WaitParameters(Parameters):
    wait_s: Annotated[Seconds, Said("otherwise", "power.wait_time_s")] = Field(30_000.0, ge=0)
    slots: Annotated[Whole, Said("otherwise", "power.wait_slots")] = Field(10, ge=0)


class DvfsParameters(Parameters):
    latency_s: Annotated[Seconds, Said("otherwise", "power.latency_s")] = Field(0.0, ge=0)


def _block(setting: Setting, given: Parameters) -> Any:
    from wattline.policies.admission.block import Block

    return Block(jobs_only=setting.power.jobs_only)


def _wait(setting: Setting, given: WaitParameters) -> Any:
    from wattline.policies.admission.wait import Wait

    usual = {"wait_s": setting.power.wait_s, "slots": setting.power.wait_slots,
             "jobs_only": setting.power.jobs_only}
    return Wait(**usual | given.model_dump(exclude_unset=True))


def _dvfs(setting: Setting, given: DvfsParameters) -> Any:
    from wattline.policies.admission.dvfs import Dvfs

    power = setting.power
    levels = np.array(power.levels)
    said = "latency_s" in given.model_fields_set
    return Dvfs(
        speed=levels**power.beta, share=levels,
        power_factor=power.core_share * levels**power.alpha + 1.0 - power.core_share,
        latency_s=given.latency_s if said else power.latency_s, jobs_only=power.jobs_only,
    )


NONE = Declaration("power", "none", "Power is measured, not limited.",
                   of_numbers("admission.none", "NoLimit"))
BLOCK = Declaration("power", "block", "A job over the cap stops everything behind it.",
                    _block, needs=A_CAP)
WAIT = Declaration("power", "wait", "A job over the cap steps aside for others, for a while.",
                   _wait, WaitParameters, needs=A_CAP)
DVFS = Declaration("power", "dvfs", "All processors slow down to stay under the cap.",
                   _dvfs, DvfsParameters, needs=A_CAP)
