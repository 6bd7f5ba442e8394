# A container's limits: one core by its number, half a core of time, 1 GiB of memory; those of them that can be set here.
root=/sys/fs/cgroup
group=auspex-test-$$
declare -A limited=()
made=()
((EUID == 0)) || skip "cgroups need root"

# Version 1 has a hierarchy a controller, version 2 one for all.
limit() { # CONTROLLER HIERARCHY FILE VALUE...: makes the group and writes each VALUE into its FILE
    local controller=$1 folder=$root/$2/$group
    [[ -d $folder ]] || { [[ -w $root/$2 ]] && mkdir "$folder" 2>/dev/null && made+=("$folder"); } || return 0
    limited[$controller]=yes
    shift 2
    while (($# > 0)); do
        echo "$2" >"$folder/$1" || complain "$folder/$1 takes no $2"
        shift 2
    done
}
finish='for folder in "${made[@]}"; do rmdir "$folder"; done'
core=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[,-].*//')
if [[ -e $root/cgroup.controllers ]]; then
    for controller in $(<"$root/cgroup.subtree_control"); do
        case $controller in
            cpu) limit cpu . cpu.max "50000 100000" ;;
            memory) limit memory . memory.max 1073741824 ;;
            cpuset) limit cpuset . cpuset.cpus "$core" ;;
        esac
    done
else
    limit cpuset cpuset cpuset.cpus "$core" cpuset.mems 0
    limit cpu cpu cpu.cfs_period_us 100000 cpu.cfs_quota_us 50000
    limit memory memory memory.limit_in_bytes 1073741824
fi
((${#limited[@]} > 0)) || skip "no cgroup can be made here that limits cores, time or memory"
surrounding=(bash -c 'for folder; do shift; [[ $folder == -- ]] && break; echo $$ >"$folder/cgroup.procs"; done; exec "$@"' - "${made[@]}" --)
[[ ! -v limited[cpuset] || $("${surrounding[@]}" nproc) == 1 ]] || complain "the group has not one core"
expect_same predict train prepare compare
if [[ -v limited[cpu] ]]; then
    grep -q 'the control group of this process has the time of 0.5 of ' "$work/compare.json" ||
        complain "compare does not say that the group has half a core: $(<"$said")"
fi
expect_calibration
IFS=, read -ra computer < <(grep '^host,computer,' "$work/new.csv") # columns 9 and 12: active, bytes
[[ ! -v limited[cpu] && ! -v limited[cpuset] || ${computer[8]-} == 1 ]] || complain "ranks have more than one core: ${computer[*]}"
[[ ! -v limited[memory] || ${computer[11]-} == 1073741824 ]] || complain "the memory is not the group's 1 GiB: ${computer[*]}"
