# What /proc says of the computer: less than usual, or other things.
proc() { cat "/proc/$1"; }
proc stat | grep -v '^cpu' >"$scratch/stat-without-cores"
proc stat | sed -E '/^cpu/s/^((\S+\s+){7}\S+).*/\1/' >"$scratch/stat-without-steal" # as Linux 2.6.10 and gVisor have it
proc cpuinfo | grep -vi '^model name' >"$scratch/cpuinfo-without-names" # as on ARM
for pair in stat-without-cores:/proc/stat stat-without-steal:/proc/stat cpuinfo-without-names:/proc/cpuinfo; do
    mounting "$(in_place_of "${pair#*:}" "${pair%%:*}")"
    cmp -s "$scratch/${pair%%:*}" <("${surrounding[@]}" cat "${pair#*:}") || skip "nothing can be put in the place of ${pair#*:}"
    expect_same compare
done
# Kernels without autogroups, and sandboxes that hide all of the kernel's settings.
mkdir "$scratch/empty"
mounting "$(in_place_of /proc/sys/kernel empty)"
expect_same predict train compare
mounting "$(in_place_of /proc/stat stat-without-cores) $(in_place_of /proc/cpuinfo cpuinfo-without-names) $(
    in_place_of /proc/sys/kernel empty)"
expect_calibration
# No /proc: nothing says where the program lies, and the trainer is not looked for elsewhere.
mounting "mount -t tmpfs none /proc;"
expect_same predict
expect_refusal 1 "/proc/self/exe" "$auspex" train -n 2 "${toy[@]}" --data "$scratch/data" --steps 2
