/// @file Places of a step as numbers, and flags made of them.
#include "exec/operations/health.hpp"

#include "base/error.hpp"

namespace auspex::exec {

std::int32_t position_in_step(const schedule::Program& program, const models::Plan& plan,
                              const CurrentOperation& current) {
    AUSPEX_CHECK(current.block.kind != schedule::BlockKind::kOptimizer, "only passes have places");
    std::int64_t longest = 0;
    for (const schedule::Block& block : program.blocks) {
        longest = std::max<std::int64_t>(longest, block.op_end - block.op_begin);
    }
    const std::int64_t stages = std::int64_t{plan.pp} * plan.virtual_stages;
    const bool forward = current.block.kind == schedule::BlockKind::kForward;
    const std::int64_t stop = forward ? current.virtual_stage : 2 * stages - 1 - current.virtual_stage;
    const std::int64_t operation = &current.op - program.operations_of(current.block).data();
    const std::int64_t position = (current.micro_batch * 2 * stages + stop) * longest + operation;
    return static_cast<std::int32_t>(std::min<std::int64_t>(position, kPositionOfCheck - 1));
}

float health_flag(std::int32_t first_not_finite) {
    return first_not_finite == kAllFinite ? 0.0F : static_cast<float>(first_not_finite + 1);
}

std::vector<int> first_unhealthy(std::span<const float> flags) {
    float smallest = 0;
    for (const float flag : flags) {
        smallest = flag > 0 && (smallest == 0 || flag < smallest) ? flag : smallest;
    }
    std::vector<int> ranks;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        if (smallest > 0 && flags[i] == smallest) {
            ranks.push_back(static_cast<int>(i));
        }
    }
    return ranks;
}

}  // namespace auspex::exec
