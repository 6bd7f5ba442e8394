#pragma once
/// @file What is kept of a trace of PyTorch's profiler (Kineto's Chrome JSON): host operations, device activities, the
/// calls that launched them, and the marks of steps.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "schedule/program/communication.hpp"

namespace auspex::kineto {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Of one tensor that a host operation got; of a list of tensors all their elements as one dimension. Empty: a number.
using Dims = std::vector<std::int64_t>;
/// Of all that it got, the first few.
struct Operands {
    std::vector<Dims> dims;
    std::string type;  ///< of the first tensor, as the trace names it: "float", "c10::BFloat16"; empty: not told
};

/// What the trace tells of a collective beside its kernel.
struct CollectiveFacts {
    std::string name;           ///< "allreduce", "_allgather_base", "reduce_scatter_tensor_coalesced", "send"
    std::string process_group;  ///< its name
    std::string type;           ///< of an element: "BFloat16"
    std::int64_t in_elements = -1, out_elements = -1, group_size = -1;
    bool operator==(const CollectiveFacts&) const = default;
};

/// Times are nanoseconds of the trace's own clock.
struct HostOp {
    std::int64_t start = 0, end = 0;
    std::uint32_t name = 0;  ///< into Trace::names
    std::uint32_t thread = 0;
    std::int64_t external_id = -1, sequence = -1;
    std::uint32_t operands = kNone, collective = kNone;  ///< into Trace::operands, Trace::collectives
    bool is_annotation = false;
};

enum class Activity : std::uint8_t { kKernel, kCopy, kFill };

struct DeviceEvent {
    std::int64_t start = 0, end = 0;
    std::uint32_t name = 0;
    std::uint32_t stream = 0;
    Activity activity = Activity::kKernel;
    std::int64_t correlation = -1, external_id = -1;
    std::uint32_t collective = kNone;
};

/// A call of the runtime on the host (cudaLaunchKernel, urEnqueueKernelLaunch, …).
struct Launch {
    std::int64_t start = 0, end = 0;
    std::uint32_t thread = 0;
    std::int64_t correlation = -1;
};

/// "ProfilerStep#7".
struct StepMark {
    std::int64_t number = 0, start = 0, end = 0;
    bool is_on_device = false;
};

/// One rank's file. Events are in the order of their starts, of two the longer first.
struct Trace {
    std::string file;
    std::optional<int> rank, world_size;
    std::string backend, device;  ///< "nccl"; "NVIDIA H100 80GB HBM3"; empty: not told
    std::vector<std::string> names;
    std::vector<Operands> operands;
    std::vector<CollectiveFacts> collectives;
    std::vector<HostOp> host_ops;
    std::vector<DeviceEvent> device_events;
    std::vector<Launch> launches;
    std::vector<StepMark> steps;
    std::uint64_t events = 0, damaged_events = 0;  ///< read; left out, because their times are missing or senseless
    std::vector<std::string> notes;

    [[nodiscard]] const std::string& name_of(std::uint32_t index) const { return names[index]; }
};

/// Bytes of an element by the trace's name of its type ("BFloat16", "c10::Half", "long int"); 0: unknown.
[[nodiscard]] double element_bytes(const std::string& type);

}  // namespace auspex::kineto
