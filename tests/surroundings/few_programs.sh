# Nothing in the PATH but Open MPI's programs: no ssh, no ps, no ip, no shell's tools.
programs=$scratch/programs
mkdir "$programs"
for program in mpirun orted; do
    ln -s "$(command -v $program)" "$programs/" || skip "no $program"
done
surrounding=(env PATH="$programs")
expect_same predict train checkpoint verify compare
expect_calibration
rm "$programs/mpirun"
expect_same predict
for command in "train -n 2 ${toy[*]} --data $scratch/data --steps 1" "verify --steps 2 --layouts 1 --kills 0" \
    "compare --machine $machine --layouts $scratch/layouts.json" "calibrate --out $work/none.json"; do
    # shellcheck disable=SC2086
    expect_refusal 2 "mpirun: found no such program; expected Open MPI's mpirun in the PATH" "$auspex" $command
done
