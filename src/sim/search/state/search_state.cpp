/// @file Records one after another.
#include "sim/search/state/search_state.hpp"

#include "sim/search/state/byte_records.hpp"

namespace auspex::search {

std::string bytes_of(const SearchState& state) {
    std::string bytes;
    append_record(bytes, static_cast<std::uint64_t>(state.has_first_plans));
    append_record(bytes, state.elapsed_s);
    append_records(bytes, state.parts);
    append_records(bytes, state.played);
    append_records(bytes, state.unfit);
    return bytes;
}

SearchState state_of(std::string_view bytes, const std::string& name) {
    RecordReader reader(bytes, name);
    SearchState state;
    state.has_first_plans = reader.one<std::uint64_t>() != 0;
    state.elapsed_s = reader.one<double>();
    state.parts = reader.many<DonePart>();
    state.played = reader.many<PlayedPlan>();
    state.unfit = reader.many<UnfitPlan>();
    reader.require_end();
    return state;
}

}  // namespace auspex::search
