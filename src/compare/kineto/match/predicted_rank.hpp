#pragma once
/// @file What a plan's program expects of one rank, in an order: products and other kernels one by one, communications,
/// and when they run.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compare/kineto/trace/measured_step.hpp"
#include "models/inputs.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::kineto {

/// A kernel that the program expects.
struct Slot {
    std::uint32_t use = 0;        ///< into Role::order
    std::uint32_t operation = 0;  ///< into Program::operations
    std::uint32_t kernel = 0;     ///< into Program::kernels
    schedule::OpKind kind = schedule::OpKind::kCount;
    models::KernelType type = models::KernelType::kMemory;
    Pass pass = Pass::kForward;
    int layer = -1;
    Product product;
    bool is_routed = false, is_routed_depth = false;  ///< rows, or depth, as the router deals them
    double launches = 1;
    double kernel_s = 0;  ///< bound by rate, stragglers and uneven routing included
    double launch_s = 0;  ///< launches and host waits
    double share = 1;     ///< of its Program::kernels entry, of one call: parts of a product that is done in several
    [[nodiscard]] bool is_product() const { return type == models::KernelType::kGemm; }
};

/// A communication that the program expects.
struct ExpectedMessage {
    std::uint32_t use = 0, operation = 0;
    schedule::CommKind comm = schedule::CommKind::kNone;
    models::GroupKind group = models::GroupKind::kTp;
    int group_size = 1;
    double bytes = 0;
    double start_s = 0;  ///< as played
    double seconds = 0;  ///< as played, waiting of a message's receiver left out
};

/// Of one rank, whose role the program knows.
struct PredictedRank {
    int rank = 0, stage = 0;
    std::vector<Slot> slots;                ///< in the order of the role's passes
    std::vector<ExpectedMessage> messages;  ///< in the order in which they start
    std::vector<schedule::Span> spans;      ///< of the role, tracks by Stream
    double host_s = 0;                      ///< synchronisation, issue, once a step
    Picoseconds step = 0;
};

/// Requires a step that was simulated with its timeline, and a rank of its layout.
[[nodiscard]] PredictedRank predicted_rank(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank);

/// Products that a layer's fused one may be done in: queries, keys and values; gate and up. Where none of the measured
/// products has the size of the fused one, but some have that of its parts, the slots are parted. Returns the names of
/// the operations that were, each once.
std::set<std::string> part_products(PredictedRank& rank, const schedule::Program& program,
                                    const models::Workload& workload, const models::Plan& plan,
                                    const std::vector<MeasuredKernel>& kernels);

}  // namespace auspex::kineto
