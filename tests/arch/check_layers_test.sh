#!/bin/sh
# Plants what check_layers.sh is to find into a copy of the sources and asks for its complaint of each; without, it has none.
# usage: check_layers_test.sh REPOSITORY
set -u
repository=$(cd "${1:-.}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$repository/src" "$repository/tests" "$repository/bench" "$copy"
check="$repository/tests/arch/check_layers.sh"
failed=0

# A line a plant: a file, what stands in front of it, and the words of the complaint.
plants='src/launch/mpirun.cpp|#include "report/parts/svg.hpp"|launch includes report/parts/svg.hpp: launch may include
src/launch/mpirun.cpp|#include "sim/predict/predict.hpp"|launch includes sim/predict/predict.hpp: launch may include
src/compare/evaluate/comparison.cpp|#include "sim/engine/engine.hpp"|compare/evaluate may include
src/compare/fit/calibration.cpp|#include "compare/evaluate/comparison.hpp"|compare/fit may include
src/base/error.cpp|#include "models/plan.hpp"|base may include nothing
src/sim/engine/engine.cpp|#include "sim/cpu/player.hpp"|sim/engine may include
src/exec/run/trainer.cpp|#include "sim/network/node/link_kind.hpp"|exec may include
src/exec/kernels/gemm.cpp|#include "exec/state/rank.hpp"|exec/kernels is below exec/state
src/workflows/verify/verification.cpp|#include "workflows/compare/compare.hpp"|do not know each other
src/models/plan.hpp|#include <nlohmann/json.hpp>|belongs in: base
src/base/json.hpp|#include <nlohmann/json.hpp>|in a header
src/base/rng.hpp|#include "base/statistics/bootstrap.hpp"|base is below base/statistics
src/models/plan.cpp|// TODO|unfinished work'

sh "$check" "$copy" || { echo "the sources themselves are not clean"; exit 1; }
printf '%s\n' "$plants" > "$copy/plants"
while IFS='|' read -r file line words; do
    { printf '%s\n' "$line"; cat "$copy/$file"; } > "$copy/planted"
    mv "$copy/planted" "$copy/$file"
done < "$copy/plants"
for i in $(seq 31); do : > "$copy/src/base/statistics/planted_$i.cpp"; done
sh "$check" "$copy" > "$copy/said" && { echo "nothing was found"; failed=1; }
while IFS='|' read -r file line words; do
    grep -F "$file:" "$copy/said" | grep -qF "$words" || { echo "not found: $line in $file"; failed=1; }
done < "$copy/plants"
grep -q '^src/base/statistics: [0-9]* files; at most 30' "$copy/said" || { echo "not found: a crowded folder"; failed=1; }
grep -q '^includes run in a circle' "$copy/said" || { echo "not found: a circle"; failed=1; }
[ "$(grep -c '^src/.*:[0-9]*: ' "$copy/said")" -eq "$(wc -l < "$copy/plants")" ] || { echo "other complaints:"; cat "$copy/said"; failed=1; }
exit $failed
