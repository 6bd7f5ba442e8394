#pragma once
/// @file A step of one rank as it ran: kernels with the work they do, the pass they belong to, shapes, and when the
/// host launched them.
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "compare/kineto/trace/step_windows.hpp"
#include "compare/kineto/trace/trace.hpp"
#include "compare/kineto/trace/work.hpp"

namespace auspex::kineto {

/// A kernel of the device, or, in a trace without one, an operation of the host. Times count from the step's start.
struct MeasuredKernel {
    Picoseconds start = 0, end = 0;
    Picoseconds launched = -1;  ///< when the host had launched it; below 0: not told
    bool is_launch_known = false;
    std::uint32_t name = 0;         ///< into Trace::names
    std::uint32_t op_name = kNone;  ///< of the host operation that its work was told by
    std::uint32_t stream = 0;
    Work work = Work::kOther;
    Pass pass = Pass::kUnknown;
    bool continues = false;  ///< belongs to the product that the kernel before it on its stream began (split-k)
    Product product;
    double elements = 0;  ///< of its largest operand; 0: not told
    // communication
    schedule::CommKind comm = schedule::CommKind::kNone;
    bool is_message = false;
    double bytes = 0;    ///< as schedule/program/communication.hpp counts them; 0: not told
    int group_size = 0;  ///< 0: not told
    [[nodiscard]] Picoseconds length() const { return end - start; }
};

struct MeasuredStep {
    int rank = 0;
    std::int64_t number = -1;
    Picoseconds length = 0;
    bool has_device = false, has_launches = false, has_shapes = false;
    std::string type;                     ///< of the products' operands, the one with most products; empty: not told
    std::vector<MeasuredKernel> kernels;  ///< in the order of their starts
};

/// Cuts the window out of the trace. Kernels that begin before it (of the step before, still running) are cut at its
/// start; those that end after it at its end. Requires a window of at most a day.
[[nodiscard]] MeasuredStep measured_step(const Trace& trace, const StepWindow& window);

}  // namespace auspex::kineto
