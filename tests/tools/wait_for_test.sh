#!/usr/bin/env bash
# tests/tools/wait_for.sh: a wait for a command that has died ends at once, with what it said.
# usage: wait_for_test.sh FOLDER_OF_THIS_FILE
set -u
here=${1:-.}
. "$here/wait_for.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=0

complain() {
    echo "wait_for_test: $*"
    problems=$((problems + 1))
}

# Dies without getting there: nobody waits on.
begin=$SECONDS
bash -c 'echo "no such cores" >&2; exit 3' 2>"$scratch/said" &
words=$(wait_for $! "$scratch/said" 60 test -e "$scratch/never" 2>&1) && complain "a wait for nothing succeeded"
((SECONDS - begin <= 5)) || complain "a wait for a dead command took $((SECONDS - begin)) s"
[[ $words == *"has ended; it said:"*"no such cores"* ]] || complain "expected the command's words in \"$words\""

# Gets there and goes on; gets there and dies.
bash -c 'touch "$1"; sleep 60' - "$scratch/started" &
wait_for $! /dev/null 60 test -e "$scratch/started" || complain "a wait for a file that was made failed"
kill $!
bash -c 'touch "$1"' - "$scratch/last" &
wait_for $! /dev/null 60 test -e "$scratch/last" || complain "a wait for a last breath failed"

# Lives on and does not get there.
sleep 60 &
words=$(wait_for $! /dev/null 1 test -e "$scratch/never" 2>&1) && complain "a wait for nothing succeeded"
[[ $words == *"nothing for 1 s"* ]] || complain "expected the patience in \"$words\""
kill $!
((problems == 0))
