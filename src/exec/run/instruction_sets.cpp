/// @file Compiled for any processor, unlike the kernels.
#include "exec/run/instruction_sets.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "exec/kernels/compiled_for.hpp"

namespace auspex::exec {
namespace {

/// Of those that compiled_for.cpp names.
std::vector<std::string> sets_of_this_processor() {
    std::vector<std::string> sets;
#ifdef __x86_64__
    const auto add = [&sets](const char* name, int has) {
        if (has != 0) {
            sets.emplace_back(name);
        }
    };
    add("popcnt", __builtin_cpu_supports("popcnt"));
    add("sse4.2", __builtin_cpu_supports("sse4.2"));
    add("avx", __builtin_cpu_supports("avx"));
    add("avx2", __builtin_cpu_supports("avx2"));
    add("fma", __builtin_cpu_supports("fma"));
    add("bmi", __builtin_cpu_supports("bmi"));
    add("bmi2", __builtin_cpu_supports("bmi2"));
    add("gfni", __builtin_cpu_supports("gfni"));
    add("vpclmulqdq", __builtin_cpu_supports("vpclmulqdq"));
    add("avx512f", __builtin_cpu_supports("avx512f"));
    add("avx512bw", __builtin_cpu_supports("avx512bw"));
    add("avx512dq", __builtin_cpu_supports("avx512dq"));
    add("avx512vl", __builtin_cpu_supports("avx512vl"));
    add("avx512vbmi", __builtin_cpu_supports("avx512vbmi"));
    add("avx512vbmi2", __builtin_cpu_supports("avx512vbmi2"));
    add("avx512vnni", __builtin_cpu_supports("avx512vnni"));
    add("avx512bf16", __builtin_cpu_supports("avx512bf16"));
    add("avx512bitalg", __builtin_cpu_supports("avx512bitalg"));
    add("avx512vpopcntdq", __builtin_cpu_supports("avx512vpopcntdq"));
#ifndef __clang__  // which knows the names from a later version on
    add("f16c", __builtin_cpu_supports("f16c"));
    add("movbe", __builtin_cpu_supports("movbe"));
    add("lzcnt", __builtin_cpu_supports("lzcnt"));
    add("vaes", __builtin_cpu_supports("vaes"));
    add("avxvnni", __builtin_cpu_supports("avxvnni"));
#endif
#endif
    return sets;
}

}  // namespace

std::string missing_instruction_sets() {
    const std::vector<std::string> there = sets_of_this_processor();
    std::istringstream needed(kKernelInstructionSets);
    std::string missing;
    for (std::string name; needed >> name;) {
        if (std::find(there.begin(), there.end(), name) == there.end()) {
            missing += (missing.empty() ? "" : ", ") + name;
        }
    }
    return missing;
}

}  // namespace auspex::exec
