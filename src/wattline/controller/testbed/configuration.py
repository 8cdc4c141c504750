"""The files that a bed's daemons are configured with."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from wattline.controller.testbed.layout import Bed
from wattline.live.agent.marks import SCRIPT
from wattline.live.transport.broker import make_broker_files

DATABASE = "slurm_acct_db"

JOB = """#!/bin/sh
# One emulated job: $1 seconds of work at full speed, $2 watts per node while it does it; on the
# numbers of nodes that follow (NODES=SECONDS,WATTS) what stands there.
# The emulator sees the file, lets the work pass, and writes into the pipe when it is done. A step
# with a process on each node waits there: Slurm counts joules by steps. Where a node or Slurm does
# not answer it is tried again, as a job that wants to survive would, unless the work is done.
id="$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}"
work={work}
nodes="$SLURM_JOB_NUM_NODES"
seconds="$1" watts="${{2:-nan}}"
for size in "$@"; do
  case $size in "$nodes="*) size="${{size#*=}}" seconds="${{size%,*}}" watts="${{size#*,}}" ;; esac
done
rm -f "$work/$id"
mkfifo "$work/$id"
printf '%s %s %s %s\\n' "$seconds" "$watts" "$$" "$SLURM_JOB_NODELIST" > "$work/.$id"
mv "$work/.$id" "$work/$id.job"
until srun --overlap -n "$nodes" --ntasks-per-node=1 sh -c 'read -r ended < "$0"' "$work/$id"; do
  [ -e "$work/$id.done" ] && exit 0
  sleep 1
done
"""

SWITCHING = "wattline.controller.testbed.switching"
SWITCH = """#!/bin/sh
# What Slurm runs to switch nodes: $1 is a host list. It has none of our environment.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PYTHONPATH='{paths}'
exec {outside}{python} -m {module} {bed} {way} "$1"
"""
OUTSIDE = 'nsenter --target "$(cat {pids}/emulator)" --mount --root '
"""A Slurm in a folder of its own sees no Python of this machine; the emulator does."""


MARK = """#!/bin/sh
# Prolog and epilog: a mark for the node's agent, and one for the emulator, whose own count of what
# the job's node drew is the truth. It never fails a job.
agent="{agents}/$SLURMD_NODENAME"
{script}: > "{work}/$SLURM_JOB_ID.$SLURMD_NODENAME.$what"
exit 0
"""

TASK = """#!/bin/sh
# Task prolog: threads that the controller chose for a job, from its admin comment. It never fails.
[ -n "$SLURM_STEP_ID" ] && exit 0  # steps have what the batch script has
chosen=$(scontrol show job "$SLURM_JOB_ID" 2>/dev/null | sed -n 's/^ *AdminComment=wattline: //p')
for word in $chosen; do
  case $word in
    threads=*) echo "export OMP_NUM_THREADS=$(echo "${word#threads=}" | tr x ,)" ;;
  esac
done
exit 0
"""


def write_all(bed: Bed) -> None:
    """Write every file of the bed's folder."""
    for folder in (bed.configuration.parent, bed.work, bed.meters, bed.logs, bed.pids,
                   bed.folder / "spool", bed.folder / "state", bed.folder / "run",
                   bed.folder / "profile"):
        folder.mkdir(parents=True, exist_ok=True)
    # The pipes of jobs are made by whoever submits them.
    bed.work.chmod(0o1777)
    _write(bed.configuration, slurm_conf(bed))
    _write(bed.configuration.parent / "slurmdbd.conf", slurmdbd_conf(bed), 0o600)
    _write(bed.configuration.parent / "cgroup.conf",
           "CgroupPlugin=disabled\n" if bed.root else "CgroupAutomount=no\n")
    _write(bed.configuration.parent / "acct_gather.conf", acct_gather_conf(bed))
    _write(bed.folder / "job.sh", JOB.format(work=bed.work), 0o755)
    _write(bed.folder / "mark.sh", MARK.format(
        agents=bed.agents, script=SCRIPT, work=bed.work), 0o755)
    _write(bed.folder / "task.sh", TASK, 0o755)
    for way in ("down", "up"):
        _write(bed.folder / f"switch_{way}", SWITCH.format(
            paths=os.pathsep.join(sys.path[1:]), python=sys.executable, module=SWITCHING,
            bed=bed.folder, way=way, outside=OUTSIDE.format(pids=bed.pids) if bed.root else ""),
            0o755)
    for name, size in (("munge.key", 128), ("jwt_hs256.key", 32)):
        write_secret(bed.folder / "etc" / name, size)
    make_broker_files(bed.broker.folder, bed.cluster, (), host=bed.broker.host,
                      port=bed.broker.port, user="root", everyone=True)
    bed.save()


def slurm_conf(bed: Bed) -> str:
    first, last = bed.node_ports
    ports = f"[{first}-{last}]" if bed.nodes > 1 else str(first)
    return f"""# A test bed: real daemons, emulated nodes, all on loopback.
ClusterName={bed.cluster}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={bed.controller_port}
SlurmctldParameters=enable_configless
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={bed.folder}/run/munge.socket
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={bed.folder}/etc/jwt_hs256.key
CredType=cred/munge
StateSaveLocation={bed.folder}/state
SlurmdSpoolDir={bed.folder}/spool/%n
SlurmctldPidFile={bed.pids}/slurmctld
SlurmdPidFile={bed.pids}/slurmd.%n
SlurmctldLogFile={bed.logs}/slurmctld.log
SlurmdLogFile={bed.logs}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmctldTimeout=60
SlurmdTimeout=60
KillWait=2
UnkillableStepTimeout=60
MessageTimeout=30
TCPTimeout=10
PriorityType=priority/basic
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=5,batch_sched_delay=0,bf_max_job_test=1000,bf_licenses
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={bed.accounting_port}
AccountingStoragePass={bed.folder}/run/munge.socket
AccountingStorageTRES=energy,license/watts
AccountingStoreFlags=job_comment
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2,energy=2
AcctGatherEnergyType=acct_gather_energy/pm_counters
AcctGatherNodeFreq=2
AcctGatherProfileType=acct_gather_profile/hdf5
JobRequeue=1
Prolog={bed.folder}/mark.sh
Epilog={bed.folder}/mark.sh
TaskProlog={bed.folder}/task.sh
PrologFlags=Alloc
SuspendProgram={bed.folder}/switch_down
ResumeProgram={bed.folder}/switch_up
SuspendTime=30000000
SuspendTimeout=5
ResumeTimeout=60
Licenses=watts:{int(bed.nodes * bed.power.maximum_w)}
NodeName={bed.host_list} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} CPUs={bed.cores} \
RealMemory=64000 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""


def slurmdbd_conf(bed: Bed) -> str:
    return f"""AuthType=auth/munge
AuthInfo=socket={bed.folder}/run/munge.socket
DbdAddr=127.0.0.1
DbdHost=localhost
DbdPort={bed.accounting_port}
SlurmUser=root
LogFile={bed.logs}/slurmdbd.log
PidFile={bed.pids}/slurmdbd
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={bed.database_port}
StorageLoc={DATABASE}
StorageUser=slurm
StoragePass=slurm
"""


def acct_gather_conf(bed: Bed) -> str:
    return f"ProfileHDF5Dir={bed.folder}/profile\nProfileHDF5Default=None\n"


def _write(file: Path, text: str, mode: int = 0o644) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)


def write_secret(file: Path, size: int) -> None:
    file.touch(0o600)
    file.write_bytes(secrets.token_bytes(size))
    file.chmod(0o400)
