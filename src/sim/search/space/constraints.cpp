/// @file Fields by name, comparisons by sign.
#include "sim/search/space/constraints.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.hpp"

namespace auspex::search {
namespace {

constexpr const char* kStages = "stages";

const std::set<std::string>& fields() {
    static const std::set<std::string> kFields{
        "dp", "ep", "etp", "tp", "cp", "pp", "virtual_stages", "micro_batch_size", "micro_batches"};
    return kFields;
}

int value_of(const Candidate& c, const std::string& field) {
    return field == "dp"                 ? c.dp
           : field == "ep"               ? c.ep
           : field == "etp"              ? c.etp
           : field == "tp"               ? c.tp
           : field == "cp"               ? c.cp
           : field == "pp"               ? c.pp
           : field == "virtual_stages"   ? c.virtual_stages
           : field == "micro_batch_size" ? c.micro_batch_size
           : field == kStages            ? static_cast<int>(c.stages)
                                         : c.micro_batches;
}

/// Of the text behind "stages".
Constraint read_deal(const std::string& flag, const std::string& comparison, const std::string& word) {
    std::string words;
    for (const models::StageDeal deal : models::kNamedDeals) {
        if (comparison == "=" && word == to_string(deal)) {
            return {kStages, comparison, static_cast<int>(deal)};
        }
        words += (words.empty() ? "" : ", ") + std::string(to_string(deal));
    }
    throw InputError(flag, "found \"" + std::string(kStages) + comparison + word +
                               "\"; expected stages=WORD with a word of " + words);
}

}  // namespace

std::vector<Constraint> read_constraints(const std::string& flag, const std::string& text) {
    std::vector<Constraint> constraints;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const std::size_t at = part.find_first_of("<>="), behind = part.find_first_not_of("<>=", at);
        Constraint constraint;
        if (at != std::string::npos && behind != std::string::npos) {
            constraint.field = part.substr(0, at);
            constraint.comparison = part.substr(at, behind - at);
            if (constraint.field == kStages) {
                constraints.push_back(read_deal(flag, constraint.comparison, part.substr(behind)));
                begin = end + 1;
                continue;
            }
            const auto [stop, error] =
                std::from_chars(part.data() + behind, part.data() + part.size(), constraint.value);
            static const std::set<std::string> kComparisons{"<=", "<", ">=", ">", "="};
            if (error == std::errc() && stop == part.data() + part.size() && fields().contains(constraint.field) &&
                kComparisons.contains(constraint.comparison)) {
                constraints.push_back(constraint);
                begin = end + 1;
                continue;
            }
        }
        throw InputError(
            flag,
            "found \"" + part +
                "\"; expected FIELD<=N, FIELD<N, FIELD>=N, FIELD>N or FIELD=N with a field of dp, ep, "
                "etp, tp, cp, pp, virtual_stages, micro_batch_size, micro_batches, or stages=WORD, and commas between");
    }
    return constraints;
}

std::string text_of(const Constraint& constraint) {
    return constraint.field + constraint.comparison +
           (constraint.field == kStages ? to_string(static_cast<models::StageDeal>(constraint.value))
                                        : std::to_string(constraint.value));
}

bool holds(const Constraint& constraint, const Candidate& candidate) {
    const int found = value_of(candidate, constraint.field), value = constraint.value;
    return constraint.comparison == "<="   ? found <= value
           : constraint.comparison == "<"  ? found < value
           : constraint.comparison == ">=" ? found >= value
           : constraint.comparison == ">"  ? found > value
                                           : found == value;
}

bool leave_deal(const std::vector<Constraint>& constraints, models::StageDeal deal) {
    return std::ranges::all_of(constraints, [&](const Constraint& constraint) {
        return constraint.field != kStages || constraint.value == static_cast<int>(deal);
    });
}

}  // namespace auspex::search
