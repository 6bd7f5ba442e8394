# Other files in the place of the system's, for one command: mount namespaces. To be sourced.

# The shell's COMMANDS are run before the command, in a mount namespace of its own.
mounting() { # COMMANDS
    local -a namespace=(unshare --mount)
    local own=
    if ((EUID != 0)); then # who is root in there is not the root whose files of Open MPI are in /tmp
        namespace=(unshare --user --map-root-user --mount)
        mkdir -p "$scratch/temporary"
        own="export TMPDIR='$scratch/temporary'"
    fi
    "${namespace[@]}" mount -t tmpfs none /mnt 2>/dev/null || skip "this system has no mount namespaces for this user"
    surrounding=("${namespace[@]}" bash -c "set -e
$own
$1
"'exec "$@"' -)
}

# FILE shows what is in the file $scratch/NAME.
in_place_of() { echo "mount --bind '$scratch/$2' $1;"; } # FILE NAME
