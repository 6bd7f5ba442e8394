# Waiting for a command in the background, no longer than it lives. To be sourced, by sh or bash.

# Has the process ended? One that nobody has waited for yet is still listed, as a zombie.
has_ended() { # PROCESS
    ! grep -q '^State:[[:space:]]*[A-WYa-wy]' "/proc/$1/status" 2>/dev/null
}

# Until the command CONDITION succeeds. Fails at once where the process has ended without it, and after SECONDS; then
# says so on stderr, with the last lines of the file SAID, where the process writes what it has to say.
wait_for() { # PROCESS SAID SECONDS CONDITION ARGUMENT...
    waited_process=$1 waited_said=$2 waited_seconds=$3
    shift 3
    waited_end=$(($(date +%s) + waited_seconds))
    until "$@"; do
        if has_ended "$waited_process"; then
            "$@" && return 0 # it may have got there with its last breath
            waited_why="process $waited_process has ended"
        elif [ "$(date +%s)" -ge "$waited_end" ]; then
            waited_why="nothing for $waited_seconds s from process $waited_process"
        else
            sleep 0.05
            continue
        fi
        echo "waited for \"$*\": $waited_why; it said:" >&2
        tail -n 20 "$waited_said" >&2
        return 1
    done
}
