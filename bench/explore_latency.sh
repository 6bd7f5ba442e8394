#!/bin/sh
# Drags a slider of auspex explore in a browser, for Mula-220B-A10B on 12,288 tiles of Aurora, and prints milliseconds from the mouse's
# event to the drawn picture. Exit code 1 where the median of step and timeline, or of the curve behind them, is not under 50 ms.
# usage: explore_latency.sh AUSPEX [TILES]
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.." || exit 2
scratch=$(mktemp -d)
"$1" explore --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles "${2:-12288}" --json \
    > "$scratch/served.json" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$scratch"' EXIT
# shellcheck source=tests/tools/wait_for.sh
. tests/tools/wait_for.sh
wait_for $server "$scratch/served.json" 20 grep -q address "$scratch/served.json" || exit 1
PYTHONPATH=tests/browser python3 bench/explore_latency.py "$(sed 's/.*"address": *"\([^"]*\)".*/\1/' "$scratch/served.json")"
