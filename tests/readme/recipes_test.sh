#!/usr/bin/env bash
# The README's five recipes, run as they stand there, one after another: each ends with exit code 0 and leaves what it says.
# usage: tests/readme/recipes_test.sh AUSPEX [LAST]; LAST: the last one alone, the path from a config.json to a job
set -euo pipefail
auspex_file=$1
only=${2:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/auspex-readme-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

ln -s "$root/tests" "$scratch/tests"
recipes=$(sed -n '/^## Five recipes/,/^```$/p' "$root/README.md" | sed -n '/^```sh/,/^```$/p' | grep -v '^```')
begin='auspex=build/release/auspex '
case $recipes in
    "$begin"*) ;;
    *) echo "README.md: found a first recipe that does not begin with \"$begin\""; exit 1 ;;
esac
[[ $(grep -c '^# [1-5]\. ' <<<"$recipes") -eq 5 ]] || { echo "README.md: expected five recipes"; exit 1; }
[[ $only != LAST ]] || recipes="$begin"$'\n'"$(sed -n '/^# 5\. /,$p' <<<"$recipes")"
cd "$scratch"
# The first line is cut off with its comment; "set -x" tells which command it was that failed.
printf 'set -ex\nauspex=%q\n%s\n' "$auspex_file" "$(tail -n +2 <<<"$recipes")" >recipes.sh
bash recipes.sh >said.txt 2>errors.txt || { tail -n 20 said.txt errors.txt; exit 1; }

files="build/my-plan/best.json build/my-plan/index.html build/my-step/index.html build/my-run/index.html job.pbs my-model.json"
[[ $only == LAST ]] || files="build/scaling/index.html build/plan/index.html $files"
for file in $files; do
    [[ -s $file ]] || { echo "no $file"; exit 1; }
done
grep -q '^#PBS -l walltime=' job.pbs
echo "${only:-five} recipes, as they stand in README.md"
