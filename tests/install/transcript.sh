#!/usr/bin/env bash
# From a package to a page on a bare Debian 12: installs the Debian package there, and runs the path from a config.json to a layout, a job
# script and the interactive page. What is typed and what is printed is written as a document.
# Needs root, the network, and Debian's mmdebstrap and dpkg-dev. Not one of ctest's: it takes minutes.
# usage: tests/install/transcript.sh FILE [MIRROR]
set -euo pipefail
file=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/auspex-transcript-XXXXXX")
# shellcheck source=tests/install/bare_root.sh
. tests/install/bare_root.sh
trap leave_roots EXIT

make_package debian
make_root bare "${2:-}"
cp build/debian/package/*.deb "$work/bare/root/auspex.deb"
cp tests/interop/configs/OLMoE-1B-7B-0924/config.json "$work/bare/root/config.json"
inside bare apt-get update --quiet=2

# typed COMMAND: as a prompt shows it, with what it prints; what fails ends the transcript.
typed() {
    printf '\n```console\n# %s\n' "$1"
    inside bare bash -c "cd; set -o pipefail; $1" 2>&1
    printf '```\n'
}

{
    cat <<'HEAD'
# On a bare Debian 12

The package installed where there is nothing else, and the path from a `config.json` to a layout, its page, a script to submit and the page with sliders: what was typed, and what it printed. `tests/install/transcript.sh
docs/bare-debian.md` makes this document; [the tutorial](tutorial.md) explains it.
HEAD
    typed 'apt-get install --yes --no-install-recommends ./auspex.deb 2>&1 | grep -E "newly installed|Setting up auspex"'
    typed 'auspex --version'
    typed 'auspex import hf config.json --sequence-length 4096 --out my-model.json'
    typed "auspex plan --machine aurora --stack megatron-deepspeed --workload my-model.json --tiles 96 --global-batch 96 --where 'pp<=2,tp=1' --format megatron-lm --out my-plan"
    typed 'auspex predict --machine aurora --stack megatron-deepspeed --workload my-model.json --plan my-plan/best.json --tiles 96 --out my-step'
    typed 'auspex emit --machine aurora --stack megatron-deepspeed --workload my-model.json --plan my-plan/best.json --tiles 96 --format megatron-lm --job pbs --steps 1000 --out job.pbs'
    typed 'cat job.pbs'
    typed 'auspex explore --json > address.json & sleep 2; cat address.json
port=$(grep -o "127.0.0.1:[0-9]*" address.json | cut -d: -f2); page=$(grep -o "/[0-9a-f]\{32\}/" address.json)
exec 3<>/dev/tcp/127.0.0.1/$port; printf "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n" "$page" "$port" >&3
tr -d "\r" <&3 | grep -E -o "^HTTP.*|<title>[^<]*</title>"; kill %1; wait %1; echo "exit code $?"'
} >"$work/document.md"
cp "$work/document.md" "$file"
echo "written to $1"
