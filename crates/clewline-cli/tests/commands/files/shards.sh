#!/usr/bin/env bash
# The journals of the jobs 1 to 3 of four.
set -euo pipefail
for shard in 1 2 3; do
    clewline explore ms-queue --samples 1000 --seed 7 --shard $shard/4 --journal $shard.journal > log
done
