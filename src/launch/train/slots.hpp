#pragma once
/// @file Places for ranks, and which of them are still trusted.
#include <string>
#include <vector>

#include "launch/run_folder.hpp"

namespace auspex::launch {

/// Slots 0 … ranks + buffer - 1; with a hostfile its lines. Ranks sit on the first healthy ones.
class Slots {
 public:
    /// `hostfile` may be empty. Throws InputError for one with too few lines, or with "slots=".
    Slots(const std::string& hostfile, int ranks, int buffer_ranks);

    /// Of the ranks. Without a hostfile rank i is on the i-th; with one mpirun decides which rank is on which.
    [[nodiscard]] std::vector<int> used() const { return {healthy_.begin(), healthy_.begin() + ranks_}; }
    /// On which these ranks of the last launch were, in their order: with a hostfile a line of the host that the rank
    /// has said it is on, another one for each rank of it. -1: no line is known to be that host.
    [[nodiscard]] std::vector<int> slots_of(const std::vector<int>& ranks, const RunFolder& folder) const;

    [[nodiscard]] bool are_enough_without(int count) const {
        return static_cast<int>(healthy_.size()) - count >= ranks_;
    }
    void leave_out(int slot) { std::erase(healthy_, slot); }

    /// The hostfile of the slots in use, or "" without hosts.
    [[nodiscard]] std::string hostfile(const RunFolder& folder) const;

 private:
    int ranks_;
    std::vector<int> healthy_;
    std::vector<std::string> hosts_;
};

/// How many slots each host of a hostfile has, in the order in which `mpirun --map-by slot` fills them, that of their
/// first lines: a line is a slot, or N with "slots=N". Throws InputError for a file without hosts, and where a host
/// before the last has neither "slots=" nor a second line: Open MPI then takes its cores for slots.
[[nodiscard]] std::vector<int> slots_by_host(const std::string& file);

}  // namespace auspex::launch
