#!/usr/bin/env bash
# Installs into a folder with a space and a letter beyond ASCII in its name, moves that, and uses what is there from
# another folder.
# usage: install_test.sh BUILD-FOLDER
set -euo pipefail
build=$1
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/auspex-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
unset AUSPEX_DATA

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Runs a command, and wants its exit code and a text in what it prints.
expect() { # CODE TEXT COMMAND...
    local code=$1 text=$2 status=0
    shift 2
    "$@" >"$work/output" 2>&1 || status=$?
    if [[ $status != "$code" ]] || ! grep --quiet --fixed-strings -- "$text" "$work/output"; then
        head -20 "$work/output" >&2
        fail "exit code $status, expected $code and \"$text\": $*"
    fi
}
expect_refused() { # TEXT COMMAND...
    expect 2 "$@"
    [[ $(wc -l <"$work/output") == 1 ]] || fail "more than one line: ${*:2}"
}

cmake --install "$build" --strip --prefix "$work/first" >"$work/log" || { cat "$work/log" >&2; fail "cmake --install"; }
prefix="$work/zweiter Präfix"
mv "$work/first" "$prefix"
mkdir "$work/elsewhere" && cd "$work/elsewhere"
auspex=$prefix/bin/auspex
case=(--machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b --tiles 768)
toy=(--workload toy-moe --plan toy-ep2-dp2 --set plan.dp=1 --data data --steps 2)

echo "programs"
expect 0 "data      $prefix/share/auspex" "$auspex" --version
expect 0 "\"trainer\": \"$prefix/libexec/auspex/auspex-mpi\"" "$auspex" --version --json
expect 0 "step" "$auspex" predict "${case[@]}"
expect 0 "parameters" "$auspex" describe --workload toy-moe
expect 0 "rows" "$auspex" data prepare --input "$prefix/share/doc/auspex/README.md" --sequence-length 64 --out data
mpirun=$(command -v mpirun || true)
[[ -z $mpirun ]] || expect 0 "loss" "$auspex" train -n 2 "${toy[@]}"
ln -s "$auspex" "$work/link"
expect 0 "parameters" "$work/link" describe --workload toy-moe
expect 0 "usage" "$prefix/share/auspex/tools/netlab" --help
[[ -f $prefix/share/auspex/machines/measurements/aurora.csv ]] || fail "no measurements"
[[ ! -e $prefix/share/auspex/machines/local.json ]] || fail "this computer's machine file was installed"
if grep --recursive --files-with-matches --text --fixed-strings "$sources/" "$prefix"; then
    fail "these files name the folder of the sources"
fi

echo "AUSPEX_DATA before the working directory before the program's data"
cp -r "$prefix/share/auspex" "$work/other data"
mkdir workloads
cp "$prefix/share/auspex/workloads/toy-moe.json" workloads/
describe=("$auspex" describe --workload toy-moe --json)
expect 0 '"file": "workloads/toy-moe.json"' "${describe[@]}"
expect 0 '"file": "workloads/toy-moe.json"' env AUSPEX_DATA= "${describe[@]}"
expect 0 "\"file\": \"$work/other data/workloads/toy-moe.json\"" env AUSPEX_DATA="$work/other data" "${describe[@]}"
rm -r workloads
expect 0 "\"file\": \"$prefix/share/auspex/workloads/toy-moe.json\"" "${describe[@]}"
[[ -z $mpirun ]] || expect 0 "loss" env AUSPEX_DATA="$work/other data" "$auspex" train -n 2 "${toy[@]}"

echo "AUSPEX_DATA that is wrong"
expect_refused "found \"/nowhere\", which is no folder" env AUSPEX_DATA=/nowhere "$auspex" describe --workload toy-moe
expect_refused "a folder without machines/" env AUSPEX_DATA="$work" "$auspex" predict "${case[@]}"
rm -r "$work/other data/plans"
expect_refused "a folder without plans/" env AUSPEX_DATA="$work/other data" "$auspex" describe --workload toy-moe
expect 0 "data      none, AUSPEX_DATA: found \"$work/other data\", a folder without plans/" \
    env AUSPEX_DATA="$work/other data" "$auspex" --version
expect 0 "\"data_problem\": \"AUSPEX_DATA: found" env AUSPEX_DATA=/nowhere "$auspex" version --json
expect 0 "_auspex" env AUSPEX_DATA=/nowhere "$auspex" completion bash

echo "without data"
mv "$prefix/share/auspex" "$prefix/share/gone"
expect_refused "AUSPEX_DATA names the folder that has it" "$auspex" describe --workload toy-moe
mv "$prefix/share/gone" "$prefix/share/auspex"

echo "manual pages"
for page in "$prefix"/share/man/man1/*.1; do
    if command -v groff >/dev/null; then
        [[ -z $(groff -man -ww -Tutf8 -z "$page" 2>&1) ]] || fail "groff warns of $page"
    fi
done
[[ -f $prefix/share/man/man1/auspex-data-prepare.1 ]] || fail "no page of auspex data prepare"

echo "completion"
complete_in_bash() { # what completes the last of the words
    bash -c 'source "$1/share/bash-completion/completions/auspex"; COMP_WORDS=("$1/bin/auspex" "${@:2}")
             COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _auspex; echo "${COMPREPLY[*]}"' bash "$prefix" "$@"
}
completes() { # EXPECTED WORD...
    local found
    found=$(complete_in_bash "${@:2}")
    [[ $found == "$1" ]] || fail "completion of auspex ${*:2}: found \"$found\", expected \"$1\""
}
completes "predict" pre
completes "prepare" data pre
completes "--machine" predict --mac
completes "aurora" predict --machine au
completes "aurora" predict --machine = au
completes "unfolded" predict --lens un
completes "toy-pp2-dp2 toy-pp2-ep2" compare --plans toy-dp4 toy-pp
completes "one-node" compare --layouts on
completes "" train --steps 1
if command -v zsh >/dev/null; then
    zsh -n "$prefix/share/zsh/site-functions/_auspex" || fail "zsh does not read its completion"
fi
if command -v fish >/dev/null; then
    export PATH="$prefix/bin:$PATH"
    found=$(fish --no-config -c 'source $argv[1]; complete -C "auspex predict --machine dgx-h"' "$prefix/share/fish/vendor_completions.d/auspex.fish")
    [[ $found == dgx-h100* ]] || fail "fish completes a machine to \"$found\""
fi
echo "all as expected"
[[ -n $mpirun ]] || { echo "skipped: no mpirun to train with"; exit 77; }
