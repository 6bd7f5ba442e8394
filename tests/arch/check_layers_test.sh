#!/bin/sh
# Plants what check_layers.sh is to find into a copy of the sources, one thing after the other, and asks for its complaint.
# usage: check_layers_test.sh REPOSITORY
set -u
repository=$(cd "${1:-.}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$repository/src" "$repository/tests" "$repository/bench" "$copy"
check="$repository/tests/arch/check_layers.sh"
failed=0

# plant FILE LINE WORDS: with the line in front of the file the check fails and says WORDS.
plant() {
    cp "$copy/$1" "$copy/kept"
    { printf '%s\n' "$2"; cat "$copy/kept"; } > "$copy/$1"
    said=$(sh "$check" "$copy") && { echo "not found: $2 in $1"; failed=1; }
    case $said in *"$3"*) ;; *) echo "$2 in $1 gave: $said"; failed=1 ;; esac
    cp "$copy/kept" "$copy/$1"
}

sh "$check" "$copy" || { echo "the sources themselves are not clean"; exit 1; }
plant src/launch/mpirun.cpp '#include "report/parts/svg.hpp"' 'launch may include'
plant src/launch/mpirun.cpp '#include "sim/predict/predict.hpp"' 'launch may include'
plant src/compare/evaluate/comparison.cpp '#include "sim/engine/engine.hpp"' 'compare/evaluate may include'
plant src/compare/fit/calibration.cpp '#include "compare/evaluate/comparison.hpp"' 'compare/fit may include'
plant src/base/error.cpp '#include "models/plan.hpp"' 'base may include nothing'
plant src/sim/engine/engine.cpp '#include "sim/cpu/player.hpp"' 'sim/engine may include'
plant src/exec/run/trainer.cpp '#include "sim/network/node/link_kind.hpp"' 'exec may include'
plant src/exec/kernels/gemm.cpp '#include "exec/state/rank.hpp"' 'exec/kernels is below exec/state'
plant src/workflows/verify/verification.cpp '#include "workflows/compare/compare.hpp"' 'do not know each other'
plant src/models/plan.hpp '#include <nlohmann/json.hpp>' 'belongs in: base'
plant src/base/json.hpp '#include <nlohmann/json.hpp>' 'in a header'
plant src/base/rng.hpp '#include "base/statistics/bootstrap.hpp"' 'base is below base/statistics'
plant src/models/plan.cpp '// TODO' 'unfinished work'
exit $failed
