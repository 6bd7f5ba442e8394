/// @file The end of a run whose own invariant broke.
#include "base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace auspex {

void check_failed(const char* condition, const char* why, const char* file, int line) {
    std::fprintf(stderr, "auspex: internal error: %s (%s) at %s:%d\n", why, condition, file, line);
    std::abort();
}

}  // namespace auspex
