# Other files in the place of the system's, for one command: mount namespaces. To be sourced.

# The shell's COMMANDS are run before the command, in a mount namespace of its own.
mounting() { # COMMANDS
    local -a namespace=(unshare --mount)
    ((EUID == 0)) || namespace=(unshare --user --map-root-user --mount)
    "${namespace[@]}" mount -t tmpfs none /mnt 2>/dev/null || skip "this system has no mount namespaces for this user"
    surrounding=("${namespace[@]}" bash -c "set -e
$1
"'exec "$@"' -)
}

# FILE shows what is in the file $scratch/NAME.
in_place_of() { echo "mount --bind '$scratch/$2' $1;"; } # FILE NAME
