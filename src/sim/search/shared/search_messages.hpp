#pragma once
/// @file What processes of a search tell one another.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/search/state/search_state.hpp"

namespace auspex::search {

/// From a process that helps: what it has found since the last one, and how many of its threads have nothing to do.
struct HelperReport {
    std::string key;  ///< of the search: a digest
    std::uint64_t idle_threads = 0;
    bool is_done = false;  ///< its threads have ended
    SearchState news = {};
};

/// A part to do, and the plans of it that were looked at.
struct GivenPart {
    std::uint64_t part = 0;
    std::vector<std::uint64_t> known;
};

enum class SearchPhase : std::uint64_t {
    kOpen,
    kOver,               ///< nothing more is to be begun
    kLeave,              ///< helpers may go
    kLeaveWithoutOthers  ///< and must not wait for one another: some are gone
};

/// From the process that leads.
struct LeadOrder {
    SearchPhase phase = SearchPhase::kOpen;
    double cutoff_s = 0;
    std::vector<GivenPart> parts = {};
};

[[nodiscard]] std::string bytes_of(const HelperReport& report);
[[nodiscard]] std::string bytes_of(const LeadOrder& order);
/// Throw InputError that names the sender where the bytes are no such message.
[[nodiscard]] HelperReport report_of(std::string_view bytes, int from);
[[nodiscard]] LeadOrder order_of(std::string_view bytes, int from);

}  // namespace auspex::search
