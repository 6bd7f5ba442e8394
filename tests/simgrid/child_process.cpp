/// @file fork, a pipe for the values, wait4 for the memory.
#include "child_process.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace auspex::simgrid_check {
namespace {

constexpr double kBytesPerMaxrss = 1024;

/// Never returns: what the parent would do at its exit is not the child's to do.
[[noreturn]] void compute_and_leave(const std::function<std::vector<double>()>& compute, int pipe) {
    int status = 1;
    try {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<double> values = compute();
        values.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        const std::size_t bytes = values.size() * sizeof(double);
        status = write(pipe, values.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "simgrid_check: %s\n", failure.what());
    }
    _exit(status);
}

}  // namespace

Measured run_in_child(const std::function<std::vector<double>()>& compute) {
    int ends[2];
    if (pipe(ends) != 0) {
        throw std::runtime_error("no pipe to a process");
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        compute_and_leave(compute, ends[1]);
    }
    close(ends[1]);
    Measured measured;
    double value = 0;
    while (child > 0 && read(ends[0], &value, sizeof value) == sizeof value) {
        measured.values.push_back(value);
    }
    close(ends[0]);
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0 || measured.values.size() < 2) {
        throw std::runtime_error("a simulation did not end with a result");
    }
    measured.wall_s = measured.values.back();
    measured.values.pop_back();
    measured.peak_bytes = static_cast<double>(used.ru_maxrss) * kBytesPerMaxrss;
    return measured;
}

}  // namespace auspex::simgrid_check
