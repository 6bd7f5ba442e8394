#!/bin/sh
# Page faults, time and memory of whole processes: one step of Mula-220B on 12,288 tiles of Aurora by two programs, in turns;
# medians. Says so if they do not answer the same.
# usage: bench/cold_predict.sh AUSPEX OTHER_AUSPEX [RUNS [FLAG...]]   FLAGs come after those of the step: --tiles 3072
set -eu
[ $# -ge 2 ] || { sed -n 's/^# usage: //p' "$0"; exit 2; }
one=$(realpath "$1") other=$(realpath "$2") runs=${3:-15}
shift 2
[ $# -eq 0 ] || shift
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

[ $# -gt 0 ] || set -- --tiles 12288
run=0
while [ "$run" -lt "$runs" ]; do
    for which in one other; do
        [ $which = one ] && program=$one || program=$other
        /usr/bin/time -a -o "$folder/$which" -f '%R %U %S %M' "$program" predict --machine aurora --stack optimus \
            --workload mula-220b-a10b --plan mula-220b-a10b "$@" --json > "$folder/$which.json"
        sed -n 's/^ *"elapsed_s": \([^,]*\),*$/\1/p' "$folder/$which.json" >> "$folder/$which.elapsed"
    done
    run=$((run + 1))
done

for which in one other; do
    grep -v 'elapsed_s"' "$folder/$which.json" > "$folder/$which.answer"
    paste -d ' ' "$folder/$which" "$folder/$which.elapsed" | awk -v name="$which" '
        function median(column, i, j, least, sorted) {
            for (i = 1; i <= NR; i++) sorted[i] = value[i, column]
            for (i = 1; i <= NR; i++) {
                least = i
                for (j = i + 1; j <= NR; j++) if (sorted[j] < sorted[least]) least = j
                j = sorted[i]; sorted[i] = sorted[least]; sorted[least] = j
            }
            return sorted[int((NR + 1) / 2)]
        }
        { for (i = 1; i <= 5; i++) value[NR, i] = $i + 0; value[NR, 6] = $2 + $3 }
        END {
            printf "%-6s %7d minor faults  user %.2f s  sys %.2f s  both %.2f s  peak %.1f MB  elapsed_s %.4f\n", name,
                median(1), median(2), median(3), median(6), median(4) / 1024, median(5)
        }'
done
cmp -s "$folder/one.answer" "$folder/other.answer" || { echo "their answers differ"; exit 1; }
