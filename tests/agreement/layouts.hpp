#pragma once
/// @file Small models under every kind of plan that the trainer runs.
#include <functional>
#include <string>
#include <vector>

#include "../exec/exec_fixture.hpp"

namespace auspex::testing_agreement {

struct AgreementCase {
    std::string name;
    models::Workload workload;
    models::Plan plan;
    double bucket_bytes = 1;  ///< of the stack, where gradients are summed beside passes
};
inline void PrintTo(const AgreementCase& c, std::ostream* out) { *out << c.name; }

[[nodiscard]] std::vector<AgreementCase> agreement_cases();

}  // namespace auspex::testing_agreement
