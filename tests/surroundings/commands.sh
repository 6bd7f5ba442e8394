# The commands, each with what it comes to wherever it runs: a few lines of its output. To be sourced.
#
# surrounding=(PROGRAM ARGUMENT...) stands in front of a command; without it the surroundings are ordinary, whose results are
# kept in the folder $ordinary.
# Commands write below $work; what they say on stderr is in $said.

surrounding=()
machine=reports/local-calibration/machine.json # of two cores
work=$scratch/work
said=$scratch/said
mkdir -m 777 "$work"

cat >"$scratch/layouts.json" <<'END'
{"workloads": ["toy-moe"], "layouts": [{"name": "two", "plan": {"dp": 2, "micro_batches": 1, "precision": "fp32"}}]}
END

echo '{"dp": 2, "micro_batches": 1, "precision": "fp32"}' >"$scratch/plan.json"

"$auspex" data prepare --input README.md ARCHITECTURE.md --tokenizer bpe --vocab-size 512 --sequence-length 64 \
    --out "$scratch/data" >/dev/null || complain "there is no dataset to train on"

run_auspex() { "${surrounding[@]}" "$auspex" "$@" 2>"$said"; }

toy=(--workload toy-moe --plan toy-ep2-dp2 --set plan.dp=1)

predict() { run_auspex predict --machine "$machine" --stack auspex "${toy[@]}" --json | grep -v elapsed_s; }

scale() {
    rm -rf "$work/scaling"
    run_auspex scale --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles 384,768 \
        --out "$work/scaling" >/dev/null && cat "$work/scaling/points.csv"
}

train() { run_auspex train -n 2 "${toy[@]}" --data "$scratch/data" --steps 2 --json | grep -E '"(loss|grad_norm)":'; }

checkpoint() {
    rm -rf "$work/checkpoint"
    run_auspex train -n 2 "${toy[@]}" --data "$scratch/data" --steps 2 --checkpoint "$work/checkpoint" \
        --plot "$work/loss.svg" --json >/dev/null &&
        run_auspex train -n 2 "${toy[@]}" --data "$scratch/data" --steps 3 --checkpoint "$work/checkpoint" --resume --json |
        grep -E '"(loss|first_step)":' && grep -c '</svg>' "$work/loss.svg"
}

prepare() {
    rm -rf "$work/data"
    run_auspex data prepare --input README.md ARCHITECTURE.md --tokenizer bpe --vocab-size 512 --sequence-length 64 \
        --out "$work/data" >/dev/null && (cd "$work/data" && sha256sum ./*)
}

verify() {
    run_auspex verify --steps 2 --layouts 1 --kills 0 --max-ranks 2 --json |
        grep -E '"(passed|forced|norm|learned|memory|counts)":'
}

# Times differ, bytes do not.
compare() {
    rm -rf "$work/compare"
    run_auspex compare --machine "$machine" --layouts "$scratch/layouts.json" --steps 3 --repeat 1 --json \
        --out "$work/compare" >"$work/compare.json" && grep -q '"measured_step_s": [0-9]' "$work/compare.json" &&
        grep -E '"(failed|measured_memory_bytes|predicted_memory_bytes)":' "$work/compare.json" &&
        grep -c '</html>' "$work/compare/index.html" && ls "$work/compare"
}

# Sees to it that $ordinary/COMMAND holds what the command comes to in ordinary surroundings.
see_ordinary() { # COMMAND
    local -a surrounding=()
    [[ -s $ordinary/$1 ]] || { "$1" >"$scratch/seen" && mv "$scratch/seen" "$ordinary/$1"; } ||
        complain "in ordinary surroundings $1 fails: $(<"$said")"
}

# Each command's result is that of ordinary surroundings.
expect_same() { # COMMAND...
    local command found
    for command in "$@"; do
        see_ordinary "$command"
        found=$($command) || complain "$command ends with $?: $(tail -n 5 "$said")"
        [[ -n $found && $found == "$(<"$ordinary/$command")" ]] ||
            complain "$command does not give what it gives in ordinary surroundings:" \
                "$(diff "$ordinary/$command" <(echo "$found") | head -n 10)"
    done
}

# The command is refused: one line with the words, and the exit code; nothing is printed.
expect_refusal() { # EXIT_CODE WORDS COMMAND ARGUMENT...
    local code=$1 words=$2 status=0 out lines
    shift 2
    out=$("${surrounding[@]}" "$@" 2>"$said") || status=$?
    lines=$(wc -l <"$said")
    [[ $status == "$code" && -z $out && $lines == 1 && $(<"$said") == *"$words"* ]] ||
        complain "\"$*\" ended with $status and said \"$out$(<"$said")\"; expected $code and one line with \"$words\""
}

# This computer is measured: what is read of it, and its caches; the rest is the same
# everywhere. With AUSPEX_SURROUNDINGS=whole all of it, a minute or more, and a step is predicted.
expect_calibration() {
    rm -rf "$work"/new.*
    [[ ${AUSPEX_SURROUNDINGS:-} == whole ]] && { expect_whole_calibration; return; }
    "${surrounding[@]}" "$auspex" calibrate --max-ranks 2 --precision fp32 --budget-s 5 --out "$work/new.json" >/dev/null 2>"$said" &
    local calibrate=$! status=0
    wait_for "$calibrate" "$said" 120 grep -qs '^host,sweep,' "$work/new.csv" || complain "calibrate measures nothing: $(<"$said")"
    kill -TERM "$calibrate" 2>/dev/null
    wait "$calibrate" || status=$?
    [[ $status == @(1|143) && $(<"$said") == *interrupted* ]] ||
        complain "calibrate ended with $status, and not because it was interrupted: $(<"$said")"
    (($(grep -c '^host,sweep,' "$work/new.csv") >= 20)) || complain "calibrate does not look where caches end: $(<"$said")"
    grep -q '^host,computer,' "$work/new.csv" || complain "calibrate does not say which computer it is: $(<"$said")"
}

# Where so little time makes rows that no law fits, all are there, and the one line says so.
expect_whole_calibration() {
    local status=0 said_last
    run_auspex calibrate --max-ranks 2 --precision fp32 --budget-s 5 --out "$work/new.json" >/dev/null || status=$?
    said_last=$(tail -n 1 "$said")
    if ((status == 0)); then
        run_auspex predict --machine "$work/new.json" --stack auspex --workload toy-moe --plan "$scratch/plan.json" --json |
            grep '"step_time_s": [0-9.e-]*[1-9]' >/dev/null || [[ $(<"$said") == *"new.json: "*"found no law"* ]] ||
            complain "no step is predicted with what calibrate has written: $(<"$said")"
    elif ((status != 2)) || [[ $said_last != *"measure again with --fresh and a larger --budget-s"* ]]; then
        complain "calibrate ended with $status: $said_last"
    fi
    [[ $(grep -c '^# done: ' "$work/new.csv") -ge 2 ]] || complain "calibrate has not measured all: $(tail -n 3 "$work/new.csv")"
}
