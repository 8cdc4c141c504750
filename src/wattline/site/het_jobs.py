"""Heterogeneous jobs: `sbatch -n4 : -n8 --gres=gpu:1 a.sh`, parts that Slurm starts together.

A part has options of its own; what is not about its nodes is handed on from the part before, as
sbatch does.
"""

from __future__ import annotations

from collections.abc import Sequence

from wattline.site.sbatch import Options, options_of

_NAMES = """constraint cluster-constraint contiguous core-spec cores-per-socket
cpus-per-gpu cpus-per-task exclude exclusive gpus gpus-per-node gpus-per-socket gpus-per-task gres
licenses mem mem-per-cpu mem-per-gpu mincpus nodefile nodelist nodes ntasks ntasks-per-core
ntasks-per-gpu ntasks-per-node ntasks-per-socket oversubscribe partition sockets-per-node spread-job
switches thread-spec threads-per-core tmp use-min-nodes"""
_OF_A_PART = frozenset(_NAMES.split())


def options_of_parts(
    words: Sequence[str], where: str, further: Sequence[str] = ()
) -> list[Options]:
    """The options of each part of a line; of most lines there is one. `rest` is with the last."""
    found: list[Options] = []
    handed_on: dict[str, str] = {}
    while True:
        own = options_of(words, where, further)
        values = {**handed_on, **own.values}
        if own.rest[:1] != (":",):
            found.append(Options(values, own.rest))
            return found
        found.append(Options(values))
        handed_on = {name: value for name, value in values.items() if name not in _OF_A_PART}
        words = own.rest[1:]
