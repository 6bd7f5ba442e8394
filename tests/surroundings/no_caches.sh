# Sizes of caches are not shown, as by many virtual machines and containers, nor by the processor itself, as on ARM.
mkdir "$scratch/empty"
covers=
for folder in /sys/devices/system/cpu/cpu*/cache; do
    [[ ! -d $folder ]] || covers+=$(in_place_of "$folder" empty)
done
mounting "$covers"
surrounding+=(env HWLOC_COMPONENTS=-x86) # hwloc asks no CPUID
"${surrounding[@]}" bash -c '! ls /sys/devices/system/cpu/cpu*/cache/* 2>/dev/null' || skip "caches cannot be hidden here"
expect_same predict train compare
expect_calibration
! grep -E '^host,(own|last_level)_cache,' "$work/new.csv" || complain "caches are told that nothing shows"
