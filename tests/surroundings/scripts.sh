# quickstart and check where packages are missing, where there is no dpkg, and in a folder with an odd name.
place="$scratch/a größeres place"
mkdir "$place" "$scratch/programs"
cp quickstart check "$place/"
for program in bash env dirname grep cat date; do
    ln -s "$(command -v "$program")" "$scratch/programs/"
done
# Stand-ins that say how they are called; a user who is not root is made by another EUID where that is possible.
stand_in() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/programs/$1"
    chmod +x "$scratch/programs/$1"
}
in_place() { (cd / && "${surrounding[@]}" env PATH="$scratch/programs" "$place/$1" "${@:2}" 2>&1); }
expect_words() { # WHAT EXIT_CODE WORDS TEXT STATUS
    [[ $5 == "$2" && $4 == *"$3"* ]] || complain "$1 ended with $5 and said \"$4\"; expected $2 and \"$3\""
}
said_by=$(in_place quickstart --install-only)
expect_words "quickstart without dpkg and cmake" 1 "quickstart: no dpkg here, and no c++, cmake, ninja, mpirun" "$said_by" $?
for program in c++ cmake ninja mpirun; do
    stand_in $program "echo $program \"\$*\" in \"\$PWD\""
done
said_by=$(in_place quickstart --install-only)
expect_words "quickstart without dpkg" 0 "no dpkg here" "$said_by" $?
stand_in dpkg-query 'echo installed'
stand_in ctest 'echo ctest "$*" in "$PWD"'
stand_in nproc 'echo 1'
said_by=$(in_place quickstart --install-only)
expect_words "quickstart with all there" 0 "" "$said_by" $?
[[ -z $said_by ]] || complain "quickstart with all there said \"$said_by\""
said_by=$(in_place check)
expect_words "check" 0 "ctest --preset release --parallel 1 in $place" "$said_by" $?
expect_words "check" 0 "check: passed after 0 min" "$said_by" 0
stand_in ctest 'exit 8'
said_by=$(in_place check)
expect_words "a check that fails" 8 "check: failed after 0 min" "$said_by" $?
if ((EUID == 0)); then
    command -v setpriv >/dev/null || skip "the rest needs setpriv"
    chmod -R a+rX "$scratch"
    surrounding=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
stand_in dpkg-query 'exit 1'
chmod a+rx "$scratch/programs/dpkg-query"
said_by=$(in_place quickstart --install-only)
expect_words "quickstart without sudo" 1 "apt-get install g++ cmake" "$said_by" $?
[[ $said_by != *$'\n'* ]] || complain "quickstart without sudo said more than a line: $said_by"
expect_words "quickstart without sudo" 1 "there is no sudo" "$said_by" 1
