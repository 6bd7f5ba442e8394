# One core of several, as a batch system gives it.
command -v taskset >/dev/null || skip "no taskset"
surrounding=(taskset --cpu-list "$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[,-].*//')")
expect_same predict train prepare compare
expect_calibration
"${surrounding[@]}" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 4 "$build/tests/message_bench_check" 2>"$said" ||
    complain "messages and sharing are not measured: $(<"$said")"
