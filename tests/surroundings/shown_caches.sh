# Caches are shown: 48 KiB and 2 MiB of each core, 8 MiB of all, whatever this computer says.
system=/sys/devices/system/cpu
covers=
cache() { # FOLDER LEVEL TYPE SIZE CORES: a cache of these cores, which /sys shows as a mask and as a list
    local folder=$1
    mkdir -p "$folder"
    echo "$2" >"$folder/level"
    echo "$3" >"$folder/type"
    echo "$4" >"$folder/size"
    echo 64 >"$folder/coherency_line_size"
    echo 8 >"$folder/ways_of_associativity"
    echo 1 >"$folder/physical_line_partition"
    echo "$5" >"$folder/shared_cpu_list"
    local mask=0 core
    for core in ${5//,/ }; do mask=$((mask | 1 << core)); done
    printf '%x\n' "$mask" >"$folder/shared_cpu_map"
}
cores=$(cd $system && ls -d cpu[0-9]* | sed 's/cpu//' | sort -n)
(($(wc -w <<<"$cores") <= 32)) || skip "more than 32 cores: their masks would have commas"
all=$(tr '\n' ',' <<<"$cores")
for core in $cores; do
    shown=$scratch/cpu$core
    mkdir "$shown"
    cp -r --no-preserve=all "$system/cpu$core/topology" "$shown/" 2>/dev/null
    rm -rf "$shown/cache"
    cache "$shown/cache/index0" 1 Data 48K "$core"
    cache "$shown/cache/index1" 2 Unified 2048K "$core"
    cache "$shown/cache/index2" 3 Unified 8192K "${all%,}"
    covers+=$(in_place_of $system/cpu$core cpu$core)
done
mounting "$covers"
[[ $("${surrounding[@]}" cat $system/cpu0/cache/index2/size 2>/dev/null) == 8192K ]] || skip "caches cannot be shown here"
expect_same predict train compare
expect_calibration
grep -qE '^host,last_level_cache,.*,8388608,' "$work/new.csv" ||
    complain "the last-level cache is not the 8 MiB shown: $(grep last_level_cache "$work/new.csv")"
