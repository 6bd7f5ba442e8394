# /dev/shm as containers have it: 64 MiB, read-only, none at all. Open MPI keeps messages between ranks of a node there.
without="mount -t tmpfs none /mnt; for one in null zero full random urandom; do
    : >/mnt/\$one; mount --bind /dev/\$one /mnt/\$one; done; mount --rbind /mnt /dev"
for how in "mount -t tmpfs -o size=64m none /dev/shm" "mount -t tmpfs -o ro none /dev/shm" "$without"; do
    mounting "$how"
    "${surrounding[@]}" true || complain "not made: $how"
    before=$problems
    expect_same train compare
    ((problems == before)) || echo "with $how"
done
# Open MPI tries UCX, which complains about that.
surrounding+=(env OMPI_MCA_pml=^cm)
expect_same compare
