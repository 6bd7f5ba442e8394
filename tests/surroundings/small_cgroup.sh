# A container's limits: one core by its number, half a core of time, 1 GiB of memory.
root=/sys/fs/cgroup
group=auspex-test-$$
made=()
((EUID == 0)) || skip "cgroups need root"

# Version 1 has a hierarchy a controller, version 2 one for all.
group_of() { # CONTROLLER FILE VALUE...: makes the group and writes each VALUE into its FILE
    local folder=$root/$1/$group
    [[ -w $root/$1 ]] && mkdir "$folder" 2>/dev/null || return 0
    made+=("$folder")
    shift
    while (($# > 0)); do
        echo "$2" >"$folder/$1" || complain "$folder/$1 takes no $2"
        shift 2
    done
}
finish='for folder in "${made[@]}"; do rmdir "$folder"; done'
core=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[,-].*//')
if [[ -e $root/cgroup.controllers ]]; then
    grep -q cpu "$root/cgroup.subtree_control" || skip "cgroups of this system have no cpu controller"
    group_of . cpu.max "50000 100000" memory.max 1073741824 cpuset.cpus "$core"
else
    group_of cpuset cpuset.cpus "$core" cpuset.mems 0
    group_of cpu cpu.cfs_period_us 100000 cpu.cfs_quota_us 50000
    group_of memory memory.limit_in_bytes 1073741824
fi
((${#made[@]} > 0)) || skip "no cgroup can be made here"
surrounding=(bash -c 'for folder; do shift; [[ $folder == -- ]] && break; echo $$ >"$folder/cgroup.procs"; done; exec "$@"' - "${made[@]}" --)
[[ $("${surrounding[@]}" nproc) == 1 || ! -d $root/cpuset/$group ]] || complain "the group has not one core"
expect_same predict train prepare
expect_calibration kernel
