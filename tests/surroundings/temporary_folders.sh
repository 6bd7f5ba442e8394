# TMPDIR on another file system, with a long name, without permission, missing, a file.
mounting "mount -t tmpfs none /mnt; export TMPDIR=/mnt"
expect_same train checkpoint compare
long=$scratch/$(printf 'long-%.0s' {1..40})/$(printf 'name-%.0s' {1..40}) # beyond what sockets' names can be
mkdir -p "$long"
surrounding=(env TMPDIR="$long")
expect_same train checkpoint compare
: >"$scratch/file"
commands=("train -n 2 ${toy[*]} --data $scratch/data --steps 1" "verify --steps 2 --layouts 1 --kills 0"
    "compare --machine $machine --layouts $scratch/layouts.json --steps 3" "calibrate --out $work/new.json")
for command in "${commands[@]}"; do
    surrounding=(env TMPDIR="$scratch/none")
    # shellcheck disable=SC2086
    expect_refusal 2 "TMPDIR=$scratch/none: found no such folder; expected one that can be written to" "$auspex" $command
    surrounding=(env TMPDIR="$scratch/file")
    # shellcheck disable=SC2086
    expect_refusal 2 "TMPDIR=$scratch/file: found no such folder; expected one that can be written to" "$auspex" $command
done
[[ ! -e $work/new.csv ]] || complain "a calibration that was refused has left its table"
mounting "mount -t tmpfs -o ro none /mnt; export TMPDIR=/mnt"
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086
    expect_refusal 2 "TMPDIR=/mnt: found a folder that cannot be written to" "$auspex" $command
done
