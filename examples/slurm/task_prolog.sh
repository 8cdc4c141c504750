#!/bin/sh
# Task prolog: threads that the controller chose for a job, from its admin comment. It never fails.
[ -n "$SLURM_STEP_ID" ] && exit 0  # steps have what the batch script has
chosen=$(scontrol show job "$SLURM_JOB_ID" 2>/dev/null | sed -n 's/^ *AdminComment=wattline: //p')
for word in $chosen; do
  case $word in
    threads=*) echo "export OMP_NUM_THREADS=$(echo "${word#threads=}" | tr x ,)" ;;
  esac
done
exit 0
