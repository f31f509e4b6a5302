#!/bin/sh
#SBATCH --job-name=clewline
#SBATCH --array=0-99
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#
# Shards of one command as a Slurm array, in a folder that all nodes share:
# `sbatch deploy/slurm-array.sh SHARDS COMMAND…`, for example
# `sbatch --array=0-99 deploy/slurm-array.sh 100 explore ms-queue --samples 100000 --seed 7`.
# A shard that is requeued continues from its journal, and so does one that is
# submitted again by itself: `sbatch --array=7 deploy/slurm-array.sh 100 …`. Then
# `clewline merge journals/*.journal`, by hand or as a job that depends on the array:
# `sbatch --dependency=afterok:JOB --wrap 'clewline merge journals/*.journal --html report.html'`.
set -eu
shards=$1
shift
mkdir -p journals
exec clewline "$@" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$shards" --journal "journals/$SLURM_ARRAY_TASK_ID.journal"
