#!/bin/sh
# Checks what the compiler does not: rooms include those that they may, and never in a circle; third-party headers stay in
# their home and out of our headers, files stay short and folders small, and some words do not occur.
# usage: check_layers.sh REPOSITORY
set -u
cd "${1:-.}" || exit 2

sources=$(find src tests bench -type f \( -name '*.cpp' -o -name '*.hpp' \) | LC_ALL=C sort)
[ -n "$sources" ] || { echo "no sources under $(pwd)"; exit 2; }
problems=0

# shellcheck disable=SC2086
LC_ALL=C awk '
BEGIN {
    # What each group of rooms may include beside itself. ARCHITECTURE.md draws it.
    may["base"] = ""
    may["models"] = "base"
    may["campaign"] = "base models"
    may["interop"] = "base models"
    may["schedule"] = "base models"
    may["sim/network"] = "base models schedule"
    may["sim/engine"] = may["sim/cpu"] = "base models schedule sim/network"
    may["sim/orders"] = "base models schedule sim/network sim/engine"
    may["sim/graph"] = "base models schedule sim/network"
    may["sim/predict"] = "base models schedule sim/network sim/engine sim/cpu"
    may["sim/search"] = "base models schedule sim/network sim/engine sim/cpu sim/predict"
    may["exec"] = "base models schedule"
    may["microbench"] = "base models schedule exec"
    may["compare/fit"] = "base models schedule sim/network sim/cpu"
    may["compare/evaluate"] = "base models schedule"
    may["compare/kineto"] = "base models schedule sim/network sim/engine sim/predict"
    may["report"] = "base models campaign schedule sim/network sim/orders sim/predict sim/search compare/fit compare/evaluate compare/kineto"
    may["explore"] = "base models campaign interop schedule sim/network sim/predict report"
    may["launch"] = "base models interop schedule exec"
    may["workflows"] = "base models campaign interop schedule sim/network sim/graph sim/predict exec microbench compare/fit compare/evaluate compare/kineto report launch"
    may["cli"] = may["workflows"] " sim/orders sim/search explore workflows"
    may["python"] = "base launch cli"
    # Rooms within a group: each includes those in front of it only.
    n = split("base base/statistics models/cpu models/transport models/jobs models campaign/start campaign interop interop/measurements interop/megatron interop/optimus " \
              "interop/torchtitan interop/deepspeed interop/frameworks schedule schedule/orders schedule/program schedule/inspection schedule/bindings schedule/rounds " \
              "schedule/kernel_calls schedule/memory sim/network/sharing sim/network/node sim/network/fabric " \
              "sim/network/collective sim/network/use sim/engine sim/orders sim/graph sim/cpu sim/predict sim/search/space sim/search/bounds sim/search/state sim/search sim/search/shared sim/search/answers sim/search/advice exec/kernels exec/data exec/system " \
              "exec/transport exec/blend exec/state exec/operations exec/checkpoint exec/run exec/mpi microbench " \
              "compare/fit/cost_models compare/fit compare/evaluate/words compare/evaluate compare/evaluate/published compare/evaluate/names compare/evaluate/runs " \
              "compare/kineto/trace compare/kineto/match compare/kineto/account compare/kineto/explain compare/kineto report/parts report/timeline report/traces report/run report/calibration report/comparison " \
              "report/fabric report/orders report/training report/endurance report/validation report/scaling report/memory report/campaign report/plans report/prediction report/difference explore explore/server launch launch/train workflows/calibrate workflows/compare " \
              "workflows/verify workflows/endure workflows/chakra workflows/difference workflows/validate workflows/blend cli/terminal cli/flags cli/output cli/campaigns cli/plans cli/blends cli/worker cli/commands cli python", order, " ")
    for (i = 1; i <= n; i++) {
        level[order[i]] = i
        group[order[i]] = order[i]
        for (g in may) if (index(order[i] "/", g "/") == 1) group[order[i]] = g
    }
    apart("workflows/calibrate", "workflows/compare")
    apart("workflows/calibrate", "workflows/verify")
    apart("workflows/compare", "workflows/verify")
    apart("workflows/chakra", "workflows/calibrate")
    apart("workflows/chakra", "workflows/compare")
    apart("workflows/chakra", "workflows/verify")
    apart("workflows/chakra", "workflows/difference")
    apart("workflows/difference", "workflows/calibrate")
    apart("workflows/difference", "workflows/compare")
    apart("workflows/difference", "workflows/verify")
    for (other in level) if (index(other, "workflows/") == 1 && other != "workflows/blend") apart("workflows/blend", other)
    for (other in level) if (index(other, "workflows/") == 1 && other != "workflows/endure") apart("workflows/endure", other)
    apart("cli/worker", "cli/commands")
    # third-party header prefix -> rooms that may include it, in .cpp files only
    home["nlohmann/"] = "base"
    home["boost/math/"] = "base/statistics"
    home["boost/graph/"] = "schedule/program sim/network/node sim/network/fabric"
    home["boost/property_map/"] = home["boost/graph/"]
    home["boost/program_options"] = "cli/flags"
    home["oneapi/tbb"] = "campaign sim/predict sim/search sim/search/answers sim/search/advice explore cli/commands workflows/validate tests"
    home["tbb/"] = "campaign sim/predict sim/search sim/search/answers sim/search/advice explore cli/commands workflows/validate tests"
    home["pybind11/"] = "python bench"
    home["benchmark/"] = "bench"
    home["gtest/"] = "tests"
    home["Eigen/"] = "exec/kernels compare/fit bench compare/fit/cost_models"
    home["dnnl"] = "exec/kernels"
    home["mpi.h"] = "exec/mpi"
    home["hwloc"] = "exec/system"
    home["httplib.h"] = "explore/server tests"
    home["openssl/"] = "base"
    home["zlib.h"] = "base tests"
    max_lines = 400
}
function apart(a, b) { strangers[a, b] = strangers[b, a] = 1 }
function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; problems++ }
function room_of(path) {  # the folder of the file, or the nearest above it that is a room
    sub(/\/[^\/]*$/, "", path)
    while (!(path in level) && sub(/\/[^\/]*$/, "", path)) {}
    return path
}
FNR == 1 {
    split(FILENAME, part, "/")
    is_ours = part[1] == "src"
    room = is_ours ? room_of(substr(FILENAME, 5)) : part[1]
    is_header = FILENAME ~ /\.hpp$/
    if (is_ours && !(room in level)) complain("the folder is no room")
}
FNR == max_lines + 1 { complain("the file has more than " max_lines " lines") }
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    target = $0
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*$/, "", target)
    other = room_of(target)
    if (is_ours && index(target, "/") && (other in level)) {
        if (group[room] != group[other] && index(" " may[group[room]] " ", " " group[other] " ") == 0)
            complain(room " includes " target ": " group[room] " may include " (may[group[room]] == "" ? "nothing" : may[group[room]]))
        else if (group[room] == group[other] && level[other] > level[room])
            complain(room " includes " target ": " room " is below " other)
        else if ((room, other) in strangers)
            complain(room " includes " target ": these two do not know each other")
    }
    for (prefix in home) {
        if (index(target, prefix) != 1) continue
        allowed = 0
        m = split(home[prefix], homes, " ")
        for (i = 1; i <= m; i++) if (homes[i] == room) allowed = 1
        if (!allowed) complain("<" target "> belongs in: " home[prefix])
        else if (is_header) complain("<" target "> in a header; only .cpp files may include it")
    }
    if (target ~ /^boost/ && target !~ /^boost\/(graph\/|math\/|property_map\/|program_options)/)
        complain("<" target "> has no home in this project")
    next
}
/(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ { complain("unfinished work: finish it or leave it out") }
is_ours && /using[ \t]+namespace/ { complain("using namespace") }
/using[ \t]+namespace[ \t]+std/ { complain("using namespace std") }
/(^|[^A-Za-z_:>.])s?rand[ \t]*\(/ { complain("rand(): use base/rng.hpp") }
END {
    if (problems) { printf "%d problem(s)\n", problems; exit 1 }
}
' $sources || problems=1

# A circle: a source with its header is one brick; tsort names the bricks of a loop of includes.
# shellcheck disable=SC2086
circles=$(awk '/^#include "/ {
    brick = FILENAME; sub(/^src\//, "", brick); sub(/\.[ch]pp$/, "", brick)
    target = $2; gsub(/"/, "", target); sub(/\.hpp$/, "", target)
    if (FILENAME ~ /^src\// && brick != target) print brick, target
}' $sources | sort -u | tsort 2>&1 >/dev/null)
[ -z "$circles" ] || { echo "includes run in a circle:"; echo "$circles"; problems=1; }

max_files=30
crowded=$(find src tests -type f \( -name '*.cpp' -o -name '*.hpp' \) -printf '%h\n' | sort | uniq -c |
    awk -v most=$max_files '$1 > most { print $2 ": " $1 " files; at most " most }')
[ -z "$crowded" ] || { echo "$crowded"; problems=1; }
exit $problems
