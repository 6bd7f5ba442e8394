# A file system without locks, such as some network mounts: commands say so, and go on.
command -v cc >/dev/null || skip "no C compiler"
nm -D "$auspex" 2>/dev/null | grep -q asan && skip "the address sanitizer does not take a library in front of it"
cc -shared -fPIC -o "$scratch/no_locks.so" -x c - <<'END' || skip "no shared library can be made"
#include <errno.h>
int flock(int file, int how) {
    (void)file, (void)how;
    errno = ENOLCK;
    return -1;
}
END
surrounding=(env LD_PRELOAD="$scratch/no_locks.so")
expect_same checkpoint compare scale
grep -q "note: --out $work/scaling: its file system has no locks (No locks available)" "$said" ||
    complain "expected a note on locks, not \"$(<"$said")\""
