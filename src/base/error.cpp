/// @file The end of a run whose own invariant broke.
#include "base/error.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace auspex {
namespace {

std::atomic<bool> throws{false};

}  // namespace

void throw_broken_invariants() { throws = true; }

void check_failed(const char* condition, const char* why, const char* file, int line) {
    if (throws) {
        throw InternalFault(std::string(why) + " (" + condition + ") at " + file + ":" + std::to_string(line));
    }
    std::fprintf(stderr, "auspex: internal error: %s (%s) at %s:%d\n", why, condition, file, line);
    std::abort();
}

}  // namespace auspex
