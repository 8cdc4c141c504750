"""The workloads of the ESP study: the mix of the slides, and two that lean to large or small jobs.

The slides name Light-ESP: 230 jobs of eight profiles, by size and execution time, and print
neither. The benchmark's fourteen types have exactly eight sizes, so a profile is taken to be one
of them, with the mean run time of its jobs: every size keeps its jobs and its node-seconds. That
is an inference, not a quote; `esp2` is the benchmark itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.traces.generators import esp2

IntArray = npt.NDArray[np.int64]

MIXES = ("light", "esp2")
LARGE_FROM = 0.095
"""Part of the machine from which a job is large; jobs of the whole machine are among them."""
SMALL_TO, MEDIUM_TO = 0.0625, 0.25
MAINLY = 0.8


@dataclass(frozen=True)
class Profile:
    """A kind of job: its part of the machine, how many there are, how long each runs."""

    name: str
    share: float
    count: int
    run_s: float


def profiles(mix: str) -> tuple[Profile, ...]:
    """Those of a mix, in order of size for `light`."""
    types = [Profile(name, share, count, run_s) for name, share, count, run_s in esp2.TYPES]
    if mix == "esp2":
        return tuple(types)
    if mix != "light":
        raise InputError(f"mix is '{mix}', must be one of {', '.join(MIXES)}")
    found = []
    for number, share in enumerate(sorted({kind.share for kind in types}), 1):
        same = [kind for kind in types if kind.share == share]
        count = sum(kind.count for kind in same)
        run_s = sum(kind.count * kind.run_s for kind in same) / count
        found.append(Profile(f"P{number}", share, count, run_s))
    return tuple(found)


def esp_jobs(nodes: int, seed: int, lean: str = "", mix: str = "light") -> JobTable:
    """230 jobs of the profiles of a mix; `lean` is empty, `large` or `small`.

    A leaning mix draws four fifths of its jobs from the large (or small) profiles and the rest from
    the others, each profile as often as the mix has it, in the benchmark's rhythm.
    """
    kinds = profiles(mix)
    benchmark = esp2.generate(seed=seed, nodes=nodes).jobs
    share = np.array([kind.share for kind in kinds])
    if not lean:
        if mix == "esp2":
            return benchmark
        of_type = np.array([int(np.argmin(np.abs(share - part))) for _, part, _, _ in esp2.TYPES])
        return _of_profiles(kinds, of_type[benchmark.application], benchmark, nodes)
    count = np.array([kind.count for kind in kinds], dtype=np.float64)
    if lean == "large":
        main = share >= LARGE_FROM
        rest = share < LARGE_FROM
    else:
        main = share <= SMALL_TO
        rest = (share > SMALL_TO) & (share <= MEDIUM_TO)
    weight = np.where(main, MAINLY * count / count[main].sum(), 0.0)
    weight += np.where(rest, (1 - MAINLY) * count / count[rest].sum(), 0.0)
    kind = np.random.default_rng(seed).choice(share.size, size=len(benchmark), p=weight)
    position = np.arange(len(benchmark))
    submit_s = esp2.GAP_S * np.maximum(0, position - esp2.FIRST_BURST + 1)
    bare = JobTable.build(submit_s=submit_s, run_s=np.ones(kind.size), procs=np.ones(kind.size))
    return _of_profiles(kinds, kind, bare, nodes)


def _of_profiles(kinds: tuple[Profile, ...], kind: IntArray, jobs: JobTable,
                 nodes: int) -> JobTable:
    """These jobs, submitted as they are, each of its profile's size and run time."""
    run_s = np.array([each.run_s for each in kinds])[kind]
    share = np.array([each.share for each in kinds])[kind]
    found = jobs.with_columns(
        run_s=run_s, requested_s=np.ceil(run_s), application=kind,
        procs=np.maximum(1, np.rint(share * nodes)))
    names = {**jobs.names, "application": tuple(each.name for each in kinds)}
    return replace(found, names=names)
