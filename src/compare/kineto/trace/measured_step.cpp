/// @file Kernels of a step, with what host and profiler say of them.
#include "compare/kineto/trace/measured_step.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compare/kineto/trace/host_calls.hpp"

namespace auspex::kineto {
namespace {

constexpr Picoseconds kPerNanosecond = 1000;
constexpr std::int64_t kDay = 86'400'000'000'000;  // nanoseconds

/// What a product launches beside itself by the same host operation: the reductions and fills of a split one.
bool may_continue(Work by_name) {
    return by_name == Work::kGemm || by_name == Work::kFill || by_name == Work::kReduction || by_name == Work::kOther;
}

class StepCutter {
 public:
    StepCutter(const Trace& trace, const StepWindow& window) : trace_(trace), window_(window), calls_(trace) {
        step_.rank = trace.rank.value_or(0);
        step_.number = window.number;
        step_.length = (window.end - window.start) * kPerNanosecond;
        step_.has_device = !trace.device_events.empty();
    }

    MeasuredStep cut() && {
        step_.has_device ? cut_device() : cut_host();
        std::stable_sort(step_.kernels.begin(), step_.kernels.end(),
                         [](const MeasuredKernel& a, const MeasuredKernel& b) { return a.start < b.start; });
        for (const auto& [type, count] : types_) {
            if (step_.type.empty() || count > types_.at(step_.type)) {
                step_.type = type;
            }
        }
        return std::move(step_);
    }

 private:
    void cut_device() {
        const std::vector<std::uint32_t> launches = launches_of(trace_);
        std::unordered_map<std::int64_t, std::uint32_t> by_id;
        const bool needs_ids = std::find(launches.begin(), launches.end(), kNone) != launches.end();
        for (std::size_t i = 0; needs_ids && i < trace_.host_ops.size(); ++i) {
            if (trace_.host_ops[i].external_id > 0) {
                by_id[trace_.host_ops[i].external_id] = static_cast<std::uint32_t>(i);  // the innermost is the last
            }
        }
        std::unordered_map<std::uint32_t, std::uint32_t> last_op;  ///< by stream
        for (std::size_t i = 0; i < trace_.device_events.size(); ++i) {
            const DeviceEvent& event = trace_.device_events[i];
            const Launch* const launch = launches[i] == kNone ? nullptr : &trace_.launches[launches[i]];
            if (event.end <= window_.start || event.start >= window_.end) {
                continue;
            }
            std::uint32_t op = launch != nullptr ? calls_.innermost(launch->thread, launch->start) : kNone;
            if (op == kNone && event.external_id > 0) {
                const auto found = by_id.find(event.external_id);
                op = found == by_id.end() ? kNone : found->second;
            }
            MeasuredKernel kernel = between(event.start, event.end);
            kernel.stream = event.stream;
            if (launch != nullptr) {
                kernel.is_launch_known = true;
                kernel.launched = std::clamp(launch->end - window_.start, -kDay, kDay) * kPerNanosecond;
                step_.has_launches = true;
            }
            classify(kernel, event, op);
            const auto last = last_op.find(event.stream);
            kernel.continues = kernel.work == Work::kGemm && op != kNone && last != last_op.end() &&
                               last->second == op && may_continue(work_of_kernel(trace_.name_of(event.name)));
            last_op[event.stream] = op;
            step_.kernels.push_back(kernel);
        }
    }

    MeasuredKernel between(std::int64_t start, std::int64_t end) const {
        MeasuredKernel kernel;
        kernel.start = (std::max(start, window_.start) - window_.start) * kPerNanosecond;
        kernel.end = (std::min(end, window_.end) - window_.start) * kPerNanosecond;
        return kernel;
    }

    void classify(MeasuredKernel& kernel, const DeviceEvent& event, std::uint32_t op) {
        kernel.name = event.name;
        const Work by_name = work_of_kernel(trace_.name_of(event.name));
        const HostCalls::Context context = calls_.context(op);
        kernel.pass = context.pass;
        if (event.activity != Activity::kKernel) {
            kernel.work = event.activity == Activity::kCopy ? Work::kCopy : Work::kFill;
            kernel.op_name = op == kNone ? kNone : trace_.host_ops[op].name;
        } else if (by_name == Work::kCommunication) {
            kernel.work = by_name;
            set_collective(kernel, event.collective != kNone ? event.collective : context.collective, op);
        } else if (by_name == Work::kAttention) {
            kernel.work = by_name;
            kernel.op_name = context.op == kNone ? kNone : trace_.host_ops[context.op].name;
        } else {
            kernel.work = context.work.value_or(by_name);
            set_operands(kernel, context.op != kNone ? context.op : op);
        }
    }

    void set_operands(MeasuredKernel& kernel, std::uint32_t op) {
        if (op == kNone) {
            return;
        }
        const HostOp& host = trace_.host_ops[op];
        kernel.op_name = host.name;
        if (host.operands == kNone) {
            return;
        }
        const Operands& operands = trace_.operands[host.operands];
        kernel.elements = largest_operand(operands);
        if (kernel.work == Work::kGemm) {
            kernel.product = product_of(trace_.name_of(host.name), operands);
            step_.has_shapes = step_.has_shapes || kernel.product.is_known();
            if (!operands.type.empty()) {
                ++types_[operands.type];
            }
        }
    }

    void set_collective(MeasuredKernel& kernel, std::uint32_t collective, std::uint32_t op) {
        kernel.op_name = op == kNone ? kNone : trace_.host_ops[op].name;
        const CollectiveFacts facts = collective == kNone ? CollectiveFacts() : trace_.collectives[collective];
        NamedCollective named = named_collective(facts.name);
        if (named.kind == schedule::CommKind::kNone && !named.is_message) {
            named = named_collective(trace_.name_of(kernel.name));
        }
        kernel.comm = named.kind;
        kernel.is_message = named.is_message;
        kernel.group_size =
            facts.group_size > 0 ? static_cast<int>(std::min<std::int64_t>(facts.group_size, 1 << 30)) : 0;
        double elements = static_cast<double>(named.kind == schedule::CommKind::kAllGather ? facts.out_elements
                                              : facts.in_elements > 0                      ? facts.in_elements
                                                                                           : facts.out_elements);
        double size = kineto::element_bytes(facts.type);
        if (elements <= 0 && op != kNone && trace_.host_ops[op].operands != kNone) {
            const Operands& operands = trace_.operands[trace_.host_ops[op].operands];
            const bool gathers = named.kind == schedule::CommKind::kAllGather;
            elements = largest_operand(operands) * (gathers ? kernel.group_size : 1);
            size = kineto::element_bytes(operands.type);
        }
        kernel.bytes = std::max(0.0, elements) * size;
    }

    /// Operations of the host that do work; what they call is theirs.
    void cut_host() {
        std::vector<std::uint8_t> is_taken(trace_.host_ops.size(), 0);
        std::vector<std::uint8_t> has_child(trace_.host_ops.size(), 0);
        for (std::size_t i = 0; i < trace_.host_ops.size(); ++i) {
            const std::uint32_t parent = calls_.parent(static_cast<std::uint32_t>(i));
            if (parent != kNone) {
                has_child[parent] = 1;
                is_taken[i] = is_taken[parent];
            }
            const OpFacts& facts = calls_.facts(static_cast<std::uint32_t>(i));
            const bool is_wrapper = facts.is_backward_node || facts.is_optimizer || facts.runs_elsewhere;
            if (facts.work && !is_wrapper && is_taken[i] == 0) {
                is_taken[i] = 1;
                take_host_op(static_cast<std::uint32_t>(i));
            }
        }
        for (std::size_t i = 0; i < trace_.host_ops.size(); ++i) {  // leaves that nobody knows
            const OpFacts& facts = calls_.facts(static_cast<std::uint32_t>(i));
            const bool is_known = facts.work || facts.is_view || facts.is_backward_node || facts.is_optimizer ||
                                  facts.runs_elsewhere || trace_.host_ops[i].is_annotation;
            if (!is_known && has_child[i] == 0 && is_taken[i] == 0) {
                take_host_op(static_cast<std::uint32_t>(i));
            }
        }
    }

    void take_host_op(std::uint32_t index) {
        const HostOp& op = trace_.host_ops[index];
        if (op.end <= window_.start || op.start >= window_.end || op.end == op.start) {
            return;
        }
        const HostCalls::Context context = calls_.context(index);
        MeasuredKernel kernel = between(op.start, op.end);
        kernel.stream = op.thread;
        kernel.name = op.name;
        kernel.work = context.work.value_or(Work::kOther);
        kernel.pass = context.pass;
        if (kernel.work == Work::kCommunication) {
            set_collective(kernel, context.collective, index);
        } else {
            set_operands(kernel, index);
        }
        step_.kernels.push_back(kernel);
    }

    const Trace& trace_;
    const StepWindow& window_;
    HostCalls calls_;
    MeasuredStep step_;
    std::map<std::string, int> types_;
};

}  // namespace

MeasuredStep measured_step(const Trace& trace, const StepWindow& window) { return StepCutter(trace, window).cut(); }

}  // namespace auspex::kineto
