#!/usr/bin/env bash
# tools/netlab: what it refuses; that nodes come up with the names, cores and rates asked for, and
# that nothing is left behind.
# usage: netlab_test.sh REPOSITORY        Exit code 77: cannot be tried here.
set -u
cd "${1:-.}" || exit 2
netlab=tools/netlab
problems=0
. tests/tools/wait_for.sh

complain() {
    echo "netlab_test: $*"
    problems=$((problems + 1))
}

skip() {
    echo "skipped: $*"
    ((problems == 0)) && exit 77
    exit 1
}

# Refused with exit code 2 and one line that holds the words.
expect_refusal() { # WORDS ARGUMENT...
    local words=$1 said status=0
    shift
    said=$("$netlab" "$@" 2>&1) || status=$?
    ((status == 2)) || complain "\"netlab $*\" ended with $status instead of 2"
    [[ $said == "netlab: "*"$words"* && $said != *$'\n'* ]] || complain "\"netlab $*\" said \"$said\"; expected one line with \"$words\""
}

expect_words() { # WHAT WORDS TEXT
    [[ $3 == *"$2"* ]] || complain "$1: expected \"$2\" in \"$3\""
}

expect_refusal 'found "0"' up --nodes 0
expect_refusal 'found "65"' up --nodes 65
expect_refusal 'a number from 1 to 256' up --slots two
expect_refusal 'found "5"' up --rate 5
expect_refusal 'found "0mbit"' up --rate 0mbit
expect_refusal '1kbit to 100gbit' up --rate 99999999999999999999gbit
expect_refusal '1kbit to 100gbit' up --rate 101gbit
expect_refusal '1kbit to 100gbit' up --rate 0.0000001kbit
expect_refusal '10kb (a packet has 9 kB) to 16mb' up --burst 4kb
expect_refusal '10kb (a packet has 9 kB) to 16mb' up --burst 999999kb
expect_refusal '10kb (a packet has 9 kB) to 16mb' up --burst 17mb
expect_refusal 'found "2?3"' up --nodes $'2\n3'
expect_refusal 'found "soon"' up --delay soon
expect_refusal 'expected a value' up --nodes
expect_refusal 'only "run" takes a command' up -- true
expect_refusal 'expected -- and a command' run --nodes 2
expect_refusal 'expected up, run, status' sideways
expect_words "help" "Example" "$("$netlab" --help)"

if ((EUID != 0)); then
    expect_refusal 'needs root' up
    skip "the rest needs root"
fi
"$netlab" status >/dev/null && skip "a network is up; this test would take it down"
said=$("$netlab" up --nodes 2 --slots 2 --rate 200mbit 2>&1) || skip "$said"
scratch=$(mktemp -d)
trap '"$netlab" down; rm -rf "$scratch"' EXIT

expect_words "up" "2 nodes of 2 slots, links 200mbit" "$said"
"$netlab" up --nodes 2 --slots 2 --rate 200mbit >/dev/null || complain "a second \"up\" failed"
hostfile=$("$netlab" hostfile)
[[ $(sort "$hostfile" | uniq -c | awk '{ print $1 }' | tr '\n' ' ') == "2 2 " ]] || complain "the hostfile has not two lines a node"
[[ $(tc qdisc show | grep -c 'tbf.*rate 200Mbit') == 2 ]] || complain "not both links are shaped on the way to their node"
[[ $(ip netns exec auspex-node1 tc qdisc show dev eth0) == *"tbf"*"rate 200Mbit"* ]] || complain "node 1 is not shaped on its way out"

# What a rank sees; mpirun itself is in no node.
if command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # shellcheck disable=SC2016,SC2046
    seen=$(timeout 60 mpirun --oversubscribe --bind-to none --hostfile "$hostfile" --map-by slot $("$netlab" flags) -np 4 \
        sh -c 'echo "rank $OMPI_COMM_WORLD_RANK place $OMPI_COMM_WORLD_LOCAL_RANK core $AUSPEX_FIRST_CORE on $(hostname)"' 2>&1 | sort)
    expect_words "mpirun" "rank 0 place 0 core 0 on 10.77.0.11" "$seen"
    expect_words "mpirun" "rank 1 place 1 core 0 on 10.77.0.11" "$seen"
    expect_words "mpirun" "rank 2 place 0 core 2 on 10.77.0.12" "$seen"
    expect_words "mpirun" "rank 3 place 1 core 2 on 10.77.0.12" "$seen"
    "$netlab" up --nodes 2 --slots 1 --rate none >/dev/null || complain "nodes of one slot were refused"
    # shellcheck disable=SC2046
    seen=$(timeout 60 mpirun --oversubscribe --bind-to none --hostfile "$hostfile" --map-by slot $("$netlab" flags) -np 2 hostname 2>&1 | sort)
    expect_words "mpirun" "10.77.0.11"$'\n'"10.77.0.12" "$seen"
fi
# The ends of what is allowed are taken.
"$netlab" up --nodes 2 --rate 1kbit --burst 16mb >/dev/null || complain "the slowest link was refused"
"$netlab" up --nodes 2 --rate 100gbit --burst 10kb >/dev/null || complain "the fastest link was refused"
: >/run/auspex-netlab/settings
expect_refusal 'broken state' status
expect_refusal 'netlab down' hostfile
"$netlab" down || complain "\"down\" failed"
[[ $("$netlab" status) == down ]] || complain "\"status\" does not say down"

# "run" gives the command what it needs, hands back its exit code, and leaves nothing, whatever happens.
status=0
# shellcheck disable=SC2016
said=$("$netlab" run --nodes 2 --slots 1 --rate none -- bash -c \
    '[[ "$1" == "$AUSPEX_NETLAB_FLAGS" && -r $2 ]] && wc -l <"$2" && exit 7' - '{flags}' '{hostfile}' 2>&1) || status=$?
[[ $status == 7 && $said == 2 ]] || complain "\"run\" ended with $status and said \"$said\"; expected 7 and 2"
is_up() { "$netlab" status >/dev/null; }
"$netlab" run --nodes 2 --rate none -- sleep 60 2>"$scratch/said" &
process=$!
wait_for "$process" "$scratch/said" 10 is_up || complain "\"run\" did not come up"
expect_refusal 'in use' down
sleep 1
kill -TERM "$process"
wait_for "$process" "$scratch/said" 20 has_ended "$process" || kill -KILL "$process"
status=0
wait "$process" || status=$?
[[ $status == 143 ]] || complain "an interrupted \"run\" ended with $status instead of 143"
[[ $(ip netns list) != *auspex-node* && ! -e /run/auspex-netlab ]] || complain "an interrupted \"run\" left its network"

# What a killed "run" leaves, "down" ends.
# shellcheck disable=SC2016
"$netlab" run --nodes 2 --rate none -- bash -c 'echo $$ >"$1"; sleep 60' - "$scratch/command" 2>"$scratch/said" &
process=$!
has_begun() { [[ -s $scratch/command && -e /run/auspex-netlab/command ]]; }
wait_for "$process" "$scratch/said" 10 has_begun || complain "the command of a \"run\" did not begin"
kill -KILL "$process"
wait "$process" 2>/dev/null
left=$(cat "$scratch/command")
kill -0 "$left" || complain "the command of a killed \"run\" did not go on; there is nothing to test"
said=$("$netlab" down 2>&1) || complain "\"down\" behind a killed \"run\" failed"
expect_words "down" "ending the command of a \"run\" that was killed" "$said"
has_ended "$left" || complain "the command of a killed \"run\" goes on"
trap 'rm -rf "$scratch"' EXIT
[[ $(ip netns list) != *auspex-node* && ! -e /run/auspex-netlab ]] || complain "a killed \"run\" left its network"
((problems == 0))
