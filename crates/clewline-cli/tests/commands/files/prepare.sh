#!/usr/bin/env bash
# Makes the files that the pages' commands name, anew before each block: run at the root of a clone.
set -euo pipefail
files=crates/clewline-cli/tests/commands/files
programs=crates/clewline-lab/programs
cp "$files"/*.{c,h,edn,jsonl} "$programs"/{quasi_queue,transfer}.c .
# Dequeues out of order by one place.
for name in history recorded; do cp examples/lost.jsonl "$name.jsonl"; done
clewline generate --spec map --operations 1000 | tee keys.jsonl > log
clewline generate --spec set --operations 10000 | tee big.jsonl > huge.jsonl
if command -v cc > /dev/null; then cc -pthread -o some-program "$programs/transfer.c"; fi
printf 'C1 N1 write(1)\nC2 N2 read\nC2 N1 read\n' > calls.txt
