# Few open files, files for their owner only, cores of programs that die wanted.
surrounding=(bash -c 'ulimit -n 64; umask 077; ulimit -c unlimited; exec "$@"' -)
expect_same predict train checkpoint compare
surrounding=(bash -c 'ulimit -u 4096; nice -n 19 "$@"' -)
expect_same train
