/// @file Which of a process's cores is a rank's.
#include "exec/run/process_binding.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "exec/system/cores.hpp"

namespace auspex::exec {
namespace {

std::optional<int> whole_number(std::string_view text) {
    constexpr int kMax = 100'000;
    int number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_fine = status == std::errc() && end == text.data() + text.size() && number >= 0 && number <= kMax;
    return is_fine ? std::optional(number) : std::nullopt;
}

int first_core() {
    const char* const text = std::getenv(kFirstCoreVariable);
    const std::optional<int> number = text == nullptr ? 0 : whole_number(text);
    if (!number) {
        throw InputError(kFirstCoreVariable,
                         "found \"" + std::string(text) + "\"; expected a whole number from 0 to 100000");
    }
    return *number;
}

}  // namespace

int local_rank_of(int rank) {
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
        if (const char* const text = std::getenv(name)) {
            return whole_number(text).value_or(rank);
        }
    }
    return rank;
}

std::optional<int> bind_to_core(int local_rank) {
    const std::vector<int> cores = affinity_cores();
    const std::size_t first = static_cast<std::size_t>(first_core()), number = static_cast<std::size_t>(local_rank);
    const int core = cores[(first + number % allowed_cores().size()) % cores.size()];
    return pin_to_core(core) ? std::optional(core) : std::nullopt;
}

std::optional<int> bind_rank(const models::Stack& stack, int rank) {
    return stack.has_processes && stack.binds_ranks ? bind_to_core(local_rank_of(rank)) : std::nullopt;
}

}  // namespace auspex::exec
