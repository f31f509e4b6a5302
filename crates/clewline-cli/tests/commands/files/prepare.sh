#!/usr/bin/env bash
# Makes the files that the pages' commands name, anew before each block: run at the root of a clone.
set -euo pipefail
files=crates/clewline-cli/tests/commands/files
programs=crates/clewline-lab/programs
rm -f ./*.journal
mkdir -p ~/.local/share/bash-completion/completions client-{1,2}
cp "$files"/*.{c,cpp,h,edn,jsonl} "$programs"/{quasi_queue,transfer,vyukov_ring}.c .
# Dequeues out of order by one place.
for name in history recorded; do cp examples/lost.jsonl "$name.jsonl"; done
clewline generate --spec map --operations 1000 | tee keys.jsonl run.jsonl > log
clewline generate --spec set --operations 10000 | tee big.jsonl > huge.jsonl
if command -v cc > /dev/null; then cc -pthread -o some-program "$programs/transfer.c"; fi
printf 'C1 N1 write(1)\nC2 N2 read\nC2 N1 read\n' > calls.txt
# Reports of etcd's tests.
for client in 1 2; do cp fuzz/corpus/etcd/delete client-$client/operations.json; done
printf 'def initial():\n    return nil\n' > typo.star
