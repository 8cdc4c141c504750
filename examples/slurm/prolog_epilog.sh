#!/bin/sh
# Prolog and epilog of Slurm: note the node's energy counter when a job begins and ends there, so that
# short jobs are right. A line is time, node, meter, joules; `wattline account import` reads the file.
# It never fails: a node whose prolog fails is drained.
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
