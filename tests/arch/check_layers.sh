#!/bin/sh
# Checks what the compiler does not: includes point only down the layers, third-party headers stay in their home and out of
# our headers, files stay short, and some words do not occur.
# usage: check_layers.sh REPOSITORY
set -u
cd "${1:-.}" || exit 2

sources=$(find src tests bench -type f \( -name '*.cpp' -o -name '*.hpp' \) | LC_ALL=C sort)
[ -n "$sources" ] || { echo "no sources under $(pwd)"; exit 2; }

# shellcheck disable=SC2086
LC_ALL=C awk '
BEGIN {
    n = split("base models schedule sim exec compare report cli", order, " ")
    for (i = 1; i <= n; i++) level[order[i]] = i
    stranger["sim"] = "exec"
    stranger["exec"] = "sim"
    # third-party header prefix -> folders that may include it, in .cpp files only
    home["nlohmann/"] = "base"
    home["boost/graph/"] = "schedule sim"
    home["boost/program_options"] = "cli"
    home["oneapi/tbb"] = "sim cli tests"
    home["tbb/"] = "sim cli tests"
    home["benchmark/"] = "bench"
    home["gtest/"] = "tests"
    home["Eigen/"] = "exec compare bench"
    home["dnnl"] = "exec"
    home["mpi.h"] = "exec/mpi"
    home["hwloc"] = "exec/system"
    home["openssl/"] = "base"
    max_lines = 500
}
function complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; problems++ }
FNR == 1 {
    split(FILENAME, part, "/")
    folder = part[1] == "src" ? part[2] : part[1]
    subfolder = part[2] "/" part[3]
    is_header = FILENAME ~ /\.hpp$/
    if (part[1] == "src" && !(folder in level)) complain("folder " folder " is no layer")
}
FNR == max_lines + 1 { complain("the file has more than " max_lines " lines") }
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    target = $0
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*$/, "", target)
    split(target, piece, "/")
    if ((folder in level) && (piece[1] in level) && index(target, "/") && level[piece[1]] > level[folder])
        complain(folder " includes " target ": includes point only down (" folder " is below " piece[1] ")")
    if ((folder in stranger) && piece[1] == stranger[folder] && index(target, "/"))
        complain(folder " includes " target ": these two do not know each other")
    for (prefix in home) {
        if (index(target, prefix) != 1) continue
        allowed = 0
        m = split(home[prefix], homes, " ")
        for (i = 1; i <= m; i++) if (homes[i] == folder || homes[i] == subfolder) allowed = 1
        if (!allowed) complain("<" target "> belongs in: " home[prefix])
        else if (is_header) complain("<" target "> in a header; only .cpp files may include it")
    }
    if (target ~ /^boost/ && target !~ /^boost\/(graph\/|program_options)/)
        complain("<" target "> has no home in this project")
    next
}
/(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ { complain("unfinished work: finish it or leave it out") }
/using[ \t]+namespace[ \t]+std/ { complain("using namespace std") }
/(^|[^A-Za-z_:>.])s?rand[ \t]*\(/ { complain("rand(): use base/rng.hpp") }
END {
    if (problems) { printf "%d problem(s)\n", problems; exit 1 }
}
' $sources
