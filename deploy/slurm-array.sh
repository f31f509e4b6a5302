#!/bin/sh
#SBATCH --job-name=clewline
#SBATCH --array=0-99
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#
# Shards of one command as a Slurm array: `sbatch deploy/slurm-array.sh explore ms-queue --samples
# 100000 --seed 7`, in a folder that all nodes share. A shard that is requeued continues from its
# journal. Then `clewline merge journals/*.journal`, by hand or as a job that depends on the array:
# `sbatch --dependency=afterok:JOB --wrap 'clewline merge journals/*.journal --html report.html'`.
set -eu
mkdir -p journals
exec clewline "$@" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --journal "journals/$SLURM_ARRAY_TASK_ID.journal"
