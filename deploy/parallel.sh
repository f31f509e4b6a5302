#!/bin/sh
# Shards of one command with GNU parallel: `deploy/parallel.sh SHARDS COMMAND…`, for example
# `deploy/parallel.sh 8 explore ms-queue --samples 1000 --seed 7`.
#
# The same call again continues where it ended: finished shards only read their journals.
set -eu
shards=$1
shift
mkdir -p journals
seq 0 $((shards - 1)) | parallel --line-buffer clewline "$@" --shard "{}/$shards" --journal "journals/{}.journal"
seq 0 $((shards - 1)) | sed 's|.*|journals/&.journal|' | xargs clewline merge
