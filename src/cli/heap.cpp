/// @file mallopt and madvise.
#include "cli/heap.hpp"

#include <cstdint>
#include <cstdlib>  // says __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace auspex::cli {

#ifdef __GLIBC__

void keep_heap() {
    constexpr int kFirstBytes = 32 << 20;
    constexpr std::uintptr_t kHugePageBytes = 2U << 20U;
    (void)mallopt(M_MMAP_THRESHOLD, kFirstBytes);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
    (void)mallopt(M_TOP_PAD, kFirstBytes);
    void* const first = std::malloc(kFirstBytes / 2);  // makes the heap grow; nothing of it is touched
    const auto begin = (reinterpret_cast<std::uintptr_t>(first) + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kHugePageBytes * kHugePageBytes;
    std::free(first);
    if (begin < end) {
        (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
    }
    (void)mallopt(M_TOP_PAD, kFirstBytes / 16);
}

#else

void keep_heap() {}

#endif

}  // namespace auspex::cli
