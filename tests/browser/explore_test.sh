#!/bin/sh
# Serves auspex explore to a browser without a window, drags sliders and compares what is drawn with auspex predict. Skipped (77) where
# there is no Chromium, or no Python.
# usage: explore_test.sh AUSPEX REPOSITORY
set -u
cd "$2" || exit 2
command -v python3 > /dev/null || { echo "skipped: no Python"; exit 77; }
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}
scratch=$(mktemp -d)
"$1" explore --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles 3072 --json \
    > "$scratch/served.json" 2> "$scratch/said.txt" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$scratch"' EXIT
# shellcheck source=tests/tools/wait_for.sh
. tests/tools/wait_for.sh
wait_for $server "$scratch/said.txt" 20 grep -q address "$scratch/served.json" || exit 1
address=$(sed 's/.*"address": *"\([^"]*\)".*/\1/' "$scratch/served.json")
python3 tests/browser/explore_page.py "$1" "$address" || exit 1
kill -TERM $server # a shell's background has SIGINT ignored
wait $server
status=$?
[ $status -eq 0 ] || { echo "SIGTERM ended it with $status"; exit 1; }
