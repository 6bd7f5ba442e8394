# One core of several, as a batch system gives it.
command -v taskset >/dev/null || skip "no taskset"
surrounding=(taskset --cpu-list "$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[,-].*//')")
expect_same predict train prepare compare
expect_calibration kernel
