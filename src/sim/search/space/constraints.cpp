/// @file Fields by name, comparisons by sign.
#include "sim/search/space/constraints.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.hpp"

namespace auspex::search {
namespace {

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
                                         : c.micro_batches;
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
        throw InputError(flag,
                         "found \"" + part +
                             "\"; expected FIELD<=N, FIELD<N, FIELD>=N, FIELD>N or FIELD=N with a field of dp, ep, "
                             "etp, tp, cp, pp, virtual_stages, micro_batch_size, micro_batches, and commas between");
    }
    return constraints;
}

bool holds(const Constraint& constraint, const Candidate& candidate) {
    const int found = value_of(candidate, constraint.field), value = constraint.value;
    return constraint.comparison == "<="   ? found <= value
           : constraint.comparison == "<"  ? found < value
           : constraint.comparison == ">=" ? found >= value
           : constraint.comparison == ">"  ? found > value
                                           : found == value;
}

}  // namespace auspex::search
