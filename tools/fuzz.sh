#!/bin/sh
# Lets every fuzz target of build/fuzz look for new inputs: tools/fuzz.sh SECONDS [TARGET...]
# What it finds worth keeping goes to build/fuzz/corpus/TARGET; an input that breaks a decoder to build/fuzz/found/TARGET-*,
# and belongs into test/fuzz/corpus/TARGET together with the fix, where the fuzz_replay test runs it for ever.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-60}
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
  for folder in test/fuzz/corpus/*/; do set -- "$@" "$(basename "$folder")"; done
fi

mkdir -p build/fuzz/found
status=0
for name in "$@"; do
  mkdir -p "build/fuzz/corpus/$name"
  echo "== $name, $seconds s"
  if ! "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" "test/fuzz/corpus/$name" \
      >"build/fuzz/$name.log" 2>&1; then
    status=1
    tail -n 30 "build/fuzz/$name.log"
  fi
  grep -E '^stat::number_of_executed_units|^stat::peak_rss_mb' "build/fuzz/$name.log" || true
done
exit $status
