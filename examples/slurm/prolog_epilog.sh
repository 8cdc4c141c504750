#!/bin/sh
# Prolog and epilog of Slurm: note the node's energy counters when a job begins and ends there, so that
# short jobs are right. It never fails: a node whose prolog fails is drained.
# Where an agent runs, it is told; the controller then enters the job's joules into the ledger.
agent="${WATTLINE_AGENT:-/var/lib/wattline-agent}"
if [ -e "$agent/counters" ]; then
  case "$SLURM_SCRIPT_CONTEXT" in *epilog*) what=end ;; *) what=begin ;; esac
  read -r up idle < /proc/uptime
  shown=
  while read -r file; do
    read -r value rest < "$file" && shown="$shown $value"
  done < "$agent/counters"
  printf '%s %s %s%s\n' "$what" "$SLURM_JOB_ID" "$up" "$shown" >> "$agent/marks"
  printf '\n' 1<> "$agent/mark"
  exit 0
fi
# Without one, a line is time, node, meter, joules; `wattline account import` reads the file.
folder="${WATTLINE_READINGS:-/var/lib/wattline/readings}"
node="${SLURMD_NODENAME:-$(hostname -s)}"
file="$folder/$node.csv"
[ -d "$folder" ] || exit 0
if [ -r /sys/cray/pm_counters/energy ]; then
  meter=pm_counters
  joules=$(awk '{ print $1 }' /sys/cray/pm_counters/energy)
else
  meter=powercap
  joules=$(cat /sys/class/powercap/intel-rapl:[0-9]/energy_uj 2>/dev/null |
    awk '{ sum += $1 } END { if (NR) printf "%.3f", sum / 1e6 }')
fi
[ -n "$joules" ] || exit 0
[ -s "$file" ] || echo "time,node,meter,joules" >> "$file"
echo "$(date +%s.%N | cut -c1-14),$node,$meter,$joules" >> "$file"
exit 0
