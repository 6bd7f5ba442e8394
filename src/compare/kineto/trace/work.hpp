#pragma once
/// @file What a name in a trace says of the work behind it: operations of PyTorch and of libraries, kernels of CUDA,
/// HIP and SYCL, collectives. Names are matched by parts of them; what no part is known of is kOther, and is listed.
#include <optional>
#include <string>

#include "schedule/program/communication.hpp"

namespace auspex::kineto {

enum class Work : std::uint8_t {
    kGemm,
    kAttention,
    kNorm,
    kSoftmax,
    kEmbedding,
    kCrossEntropy,
    kRotary,
    kActivation,
    kAccumulate,  ///< a gradient added to the stored one
    kOptimizer,
    kAdd,
    kElementwise,
    kReduction,
    kSort,     ///< top-k, sorting, counting, scans
    kGather,   ///< rows picked by index
    kScatter,  ///< rows added or put by index
    kCopy,
    kFill,
    kCommunication,
    kOther
};
inline constexpr std::size_t kWorkCount = 20;
[[nodiscard]] const char* to_string(Work work);

enum class Pass : std::uint8_t { kUnknown, kForward, kRecompute, kBackward, kOptimizer };

/// `groups` products [m, k] x [k, n]; all 0: not told.
struct Product {
    double m = 0, n = 0, k = 0, groups = 1;
    [[nodiscard]] bool is_known() const { return m > 0; }
};

/// What the name of a host operation says.
struct OpFacts {
    std::optional<Work> work;  ///< none: a wrapper, or unknown
    bool is_whole = false;     ///< names all that runs inside it (a norm, an attention), not one kernel of something
    bool is_view = false;      ///< makes a tensor of another shape or an empty one: no work
    bool is_backward_node = false;  ///< autograd::engine::evaluate_function
    bool is_optimizer = false;      ///< Optimizer.step
    bool runs_elsewhere = false;    ///< says only that a device does it: "nccl:all_reduce"
};
[[nodiscard]] OpFacts facts_of_op(const std::string& name);

/// Of a device's kernel, by its name alone.
[[nodiscard]] Work work_of_kernel(const std::string& name);

/// kSend or kReceive where a name says so; kNone for a message of either direction ("SendRecv") and what is unknown.
struct NamedCollective {
    schedule::CommKind kind = schedule::CommKind::kNone;
    bool is_message = false;
};
/// Of "ncclDevKernel_AllGather_RING_LL", "_allgather_base", "gloo:all_reduce".
[[nodiscard]] NamedCollective named_collective(const std::string& name);

}  // namespace auspex::kineto
