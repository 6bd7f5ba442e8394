# A place whose name has spaces, quotes and letters beyond ASCII: programs, inputs, data, reports, temporary files.
place="$scratch/Jörg's größtes \"日本\" \$HOME 100%"
mkdir -p "$place/build/release" "$place/tmp"
ln "$build/auspex" "$build/auspex-mpi" "$place/build/release/" 2>/dev/null ||
    cp "$build/auspex" "$build/auspex-mpi" "$place/build/release/"
cp -r machines stacks workloads plans reports/local-calibration/machine.json README.md ARCHITECTURE.md quickstart check "$place/"
for command in predict train compare prepare; do
    see_ordinary $command
done

cd "$place" || exit 2
auspex=$place/build/release/auspex machine=machine.json work=$place/work said=$place/said
mkdir "$work"
cp -r "$scratch/data" "$place/the data"
cp "$scratch/layouts.json" "$scratch/plan.json" "$place/"
surrounding=(env TMPDIR="$place/tmp")
(
    scratch=$place/other # where commands.sh looks for data and layouts
    mkdir "$scratch"
    mv "$place/the data" "$scratch/data"
    mv "$place/layouts.json" "$place/plan.json" "$scratch/"
    expect_same predict train compare prepare
    checkpoint >/dev/null || complain "checkpoints: $(tail -n 5 "$said")"
    printf 'localhost\nlocalhost\n' >"$scratch/the hosts"
    run_auspex train -n 2 "${toy[@]}" --data "$scratch/data" --steps 1 --hostfile "$scratch/the hosts" >/dev/null ||
        complain "a hostfile: $(tail -n 5 "$said")"
    expect_calibration
    ((problems == 0))
) || problems=1
