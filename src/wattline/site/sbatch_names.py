"""The long options of `sbatch`, `srun` and `salloc`, which may be shortened while they are unique.

See getopt_long(3): `--part=debug` is `--partition=debug`; `--par` could be `--parsable` too.
"""

from __future__ import annotations

from functools import cache

from wattline.model.errors import InputError

_SBATCH = """
account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment constraint
container container-id contiguous core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task
deadline delay-boot dependency distribution error exclude exclusive export export-file extra
extra-node-info get-user-env gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task
gres gres-flags help hint hold ignore-pbs input job-name kill-on-invalid-dep licenses mail-type
mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nice no-kill no-requeue
nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket
oom-kill-step open-mode output overcommit oversubscribe parsable partition power prefer priority
profile propagate qos quiet reboot requeue reservation resv-ports segment signal sockets-per-node
spread-job stepmgr switches test-only thread-spec threads-per-core time time-min tmp tres-bind
tres-per-task uid umask usage use-min-nodes verbose version wait wait-all-nodes wckey wrap
"""
SBATCH = tuple(_SBATCH.split())
_OTHERS = """
accel-bind bcast bcast-exclude bell compress cpu-bind disable-status epilog exact external-launcher
het-group immediate interactive jobid kill-command kill-on-bad-exit label mpi msg-timeout multi-prog
no-allocate no-bell no-shell overlap preserve-env prolog pty quit-on-interrupt relative send-libs
slurmd-debug task-epilog task-prolog threads treewidth unbuffered whole x11
"""
OTHERS = tuple(_OTHERS.split())
"""Of `srun` and `salloc` alone."""


@cache
def _meant(short: str) -> tuple[str, ...]:
    """The options that begin so; those of `sbatch` come before the others."""
    for names in (SBATCH, OTHERS):
        found = tuple(name for name in names if name.startswith(short))
        if short in found:
            return (short,)
        if found and short not in OTHERS:
            return found
    return (short,)


def whole_name(short: str, where: str) -> str:
    """An option by its whole name; one that nobody here knows stays as it is."""
    found = _meant(short)
    if len(found) > 1:
        raise InputError(f"{where}: --{short[:40]} could be --{' or --'.join(found[:4])}")
    return found[0]
