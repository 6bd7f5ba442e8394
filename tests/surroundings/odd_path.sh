# A place whose name has spaces, quotes and letters beyond ASCII: programs, inputs, data, reports, temporary files.
place="$scratch/Jörg's größtes \"日本\" \$HOME 100%"
mkdir -p "$place/build/release" "$place/tmp"
ln "$build/auspex" "$build/auspex-mpi" "$place/build/release/" 2>/dev/null ||
    cp "$build/auspex" "$build/auspex-mpi" "$place/build/release/"
cp -r machines stacks workloads plans reports/local-calibration/machine.json README.md ARCHITECTURE.md quickstart check "$place/"
normal_predict=$(predict)
normal_train=$(train)
normal_compare=$(compare)
normal_prepare=$(prepare)

cd "$place" || exit 2
auspex=$place/build/release/auspex machine=machine.json work=$place/work said=$place/said
mkdir "$work"
cp -r "$scratch/data" "$place/the data"
cp "$scratch/layouts.json" "$scratch/plan.json" "$place/"
surrounding=(env TMPDIR="$place/tmp")
expect() { # COMMAND EXPECTED
    local found
    found=$($1) || complain "$1 ends with $?: $(tail -n 5 "$said")"
    [[ $found == "$2" ]] || complain "$1: $(diff <(echo "$2") <(echo "$found") | head -n 10)"
}
(
    scratch=$place/other # where commands.sh looks for data and layouts
    mkdir "$scratch"
    mv "$place/the data" "$scratch/data"
    mv "$place/layouts.json" "$place/plan.json" "$scratch/"
    expect predict "$normal_predict"
    expect train "$normal_train"
    expect compare "$normal_compare"
    expect prepare "$normal_prepare"
    checkpoint >/dev/null || complain "checkpoints: $(tail -n 5 "$said")"
    printf 'localhost\nlocalhost\n' >"$scratch/the hosts"
    run_auspex train -n 2 "${toy[@]}" --data "$scratch/data" --steps 1 --hostfile "$scratch/the hosts" >/dev/null ||
        complain "a hostfile: $(tail -n 5 "$said")"
    expect_calibration
    ((problems == 0))
) || problems=1
