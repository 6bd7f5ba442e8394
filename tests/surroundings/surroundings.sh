#!/usr/bin/env bash
# The commands in odd surroundings, made on the spot: each gives the result of ordinary ones, or is refused in one line.
# usage: surroundings.sh NAME REPOSITORY BUILD_FOLDER [ORDINARY]
# NAME.sh makes them; "ordinary" fills the folder ORDINARY, which spares the others to run everything twice. Exit code 77:
# cannot be made here.
set -u -o pipefail
name=$1 build=$3
cd "$2" || exit 2
here=tests/surroundings
auspex=$build/auspex
scratch=$(mktemp -d)
chmod 755 "$scratch"
ordinary=${4:-$scratch/ordinary}
mkdir -p "$ordinary"
finish=:
trap 'eval "$finish"; rm -rf "$scratch"' EXIT
problems=0

complain() {
    echo "$name: $*"
    problems=$((problems + 1))
}

skip() {
    echo "skipped: $*"
    ((problems == 0)) && exit 77
    exit 1
}

command -v mpirun >/dev/null || skip "no mpirun"
. tests/tools/wait_for.sh
. $here/commands.sh
. $here/namespaces.sh
. "$here/$name.sh"
((problems == 0))
