/// @file Passes as cells.
#include "schedule/program/pipeline_csv.hpp"

#include "schedule/program/program.hpp"

namespace auspex::schedule {

std::string pipeline_csv(const models::Plan& plan) {
    std::string text;
    for (int rank = 0; rank < plan.pp; ++rank) {
        bool is_first = true;
        for (const Pass& pass : pipeline_order(plan, rank)) {
            text += (is_first ? "" : ",") + std::to_string(virtual_stage_of(plan, pass.chunk, rank)) +
                    (pass.backward ? "B" : "F") + std::to_string(pass.micro_batch);
            is_first = false;
        }
        text += "\n";
    }
    return text;
}

}  // namespace auspex::schedule
