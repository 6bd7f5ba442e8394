# A user who is nobody: no home, no sudo, no file of his own but below $work.
((EUID == 0)) || skip "to become another user needs root"
command -v setpriv >/dev/null || skip "no setpriv"
programs=$scratch/programs
mkdir "$programs"
for folder in /usr/local/bin /usr/bin /bin; do
    for program in "$folder"/*; do
        [[ $program == */sudo || -e $programs/${program##*/} ]] || ln -s "$program" "$programs/"
    done
done
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u HOME "PATH=$programs")
"${user[@]}" test -x "$auspex" -a -r README.md || skip "another user cannot read the repository or run what is built"
chmod -R a+rX "$scratch"

mkdir -m 755 "$scratch/home"
surrounding=("${user[@]}" HOME="$scratch/home") # which he cannot write to
expect_same train prepare compare
surrounding=("${user[@]}")
expect_same predict train
expect_calibration
said_by=$("${surrounding[@]}" ./quickstart --install-only 2>&1) || [[ $said_by == *"there is no sudo"* ]] ||
    complain "quickstart --install-only: $said_by"
chmod 700 "$work"
expect_refusal 2 "--out $work/scaling" "$auspex" scale --machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b \
    --tiles 384 --out "$work/scaling"
cd "$work" # which he cannot enter
expect_refusal 2 "found one that cannot be entered" "$auspex" train -n 2 "${toy[@]}" --data "$scratch/data" --steps 2
expect_refusal 2 "cannot be written to (Permission denied)" "$auspex" calibrate --max-ranks 2
expect_refusal 2 "cannot be looked into (Permission denied)" "$auspex" predict --machine "$work/machine.json" --stack auspex \
    "${toy[@]}"
