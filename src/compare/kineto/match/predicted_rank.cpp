/// @file The order of a role's kernels, with their times.
#include "compare/kineto/match/predicted_rank.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "models/kernel_cost.hpp"
#include "sim/engine/operation_costs.hpp"

namespace auspex::kineto {
namespace {

using schedule::Operation;
using schedule::Phase;

Pass pass_of(Phase phase) {
    switch (phase) {
        case Phase::kReference:
        case Phase::kForward: return Pass::kForward;
        case Phase::kRecompute: return Pass::kRecompute;
        case Phase::kBackwardInput:
        case Phase::kBackwardWeight: return Pass::kBackward;
        case Phase::kOptimizer: break;
    }
    return Pass::kOptimizer;
}

/// Walks the role of a rank.
class RankBuilder {
 public:
    RankBuilder(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank)
        : inputs_(inputs), step_(step), program_(step.program) {
        out_.rank = rank;
        out_.stage = models::grid_coordinates(step.layout, rank).stage;
        out_.step = step.step;
    }

    PredictedRank build() && {
        const schedule::Role& role = program_.roles[static_cast<std::size_t>(out_.stage)];
        take_spans();
        for (std::size_t use = 0; use < role.order.size(); ++use) {
            use_ = static_cast<std::uint32_t>(use);
            micro_batch_ = role.order[use].micro_batch;
            for (const Operation& op : program_.operations_of(program_.blocks[role.order[use].block])) {
                if (op.comm == schedule::CommKind::kNone) {
                    add_kernels(op);
                } else if (!is_host_copy(op.comm)) {  // a trace's copies do not tell whose they are
                    add_message(op);
                }
            }
        }
        std::stable_sort(out_.messages.begin(), out_.messages.end(),
                         [](const ExpectedMessage& a, const ExpectedMessage& b) { return a.start_s < b.start_s; });
        return std::move(out_);
    }

 private:
    /// Spans of the role's tracks: a stage's, or on CPU cores the rank's own.
    void take_spans() {
        const bool by_rank = inputs_.machine.cpu.cores > 0;
        const auto row = static_cast<std::size_t>(by_rank ? out_.rank : out_.stage) * schedule::kStreamCount;
        for (const schedule::Span& span : step_.timeline.value().spans) {
            if (span.track >= row && span.track < row + schedule::kStreamCount) {
                out_.spans.push_back(span);
                out_.spans.back().track = static_cast<std::uint32_t>(span.track - row);
            }
        }
        std::stable_sort(out_.spans.begin(), out_.spans.end(),
                         [](const schedule::Span& a, const schedule::Span& b) { return a.start < b.start; });
        for (std::uint32_t i = 0; i < out_.spans.size(); ++i) {
            by_track_[out_.spans[i].track].push_back(i);
        }
    }

    /// Operations of a stream run in its order; those that take no time have no span.
    const schedule::Span* next_span(const Operation& op) {
        const auto track = static_cast<std::size_t>(op.stream);
        std::size_t& next = next_[track];
        if (next >= by_track_[track].size()) {
            return nullptr;
        }
        const schedule::Span& span = out_.spans[by_track_[track][next]];
        const bool is_it = span.name == schedule::operation_name_index(op.kind, op.phase) && span.layer == op.layer &&
                           span.micro_batch == micro_batch_;
        next += is_it ? 1 : 0;
        return is_it ? &span : nullptr;
    }

    void add_message(const Operation& op) {
        const schedule::Span* const span = next_span(op);
        ExpectedMessage message;
        message.use = use_;
        message.operation = static_cast<std::uint32_t>(program_.index_of(op));
        message.comm = op.comm;
        message.group = op.group;
        message.group_size = models::group_size(step_.layout, op.group);
        message.bytes = op.bytes;
        message.start_s = span != nullptr ? to_seconds(span->start) : last_start_s_;
        last_start_s_ = message.start_s;
        message.seconds = span != nullptr ? to_seconds(span->end - span->start) / op.repeat : 0;
        for (int i = 0; i < op.repeat; ++i) {
            out_.messages.push_back(message);
            message.start_s += message.seconds;
        }
    }

    void add_kernels(const Operation& op) {
        const schedule::Span* const span = next_span(op);
        const std::size_t first = out_.slots.size();
        const auto kernels = program_.kernels_of(op);
        out_.host_s += op.host_s;
        double calls = 1;  // a loop over experts: all of its kernels for one expert, then for the next
        for (const models::Kernel& kernel : kernels) {
            calls = std::max(calls, kernel.repeat);
        }
        for (int call = 0; call < static_cast<int>(calls); ++call) {
            for (const models::Kernel& kernel : kernels) {
                add_slot(op, kernel, calls);
            }
        }
        if (inputs_.machine.cpu.cores > 0) {
            take_cpu_time(first, span == nullptr ? 0 : to_seconds(span->end - span->start));
        }
    }

    /// On CPU cores an operation's time is that of the trainer's calls: shared out as the kernels' bytes and FLOP go.
    void take_cpu_time(std::size_t first, double seconds) {
        double sum = 0;
        for (std::size_t i = first; i < out_.slots.size(); ++i) {
            sum += out_.slots[i].kernel_s;
        }
        for (std::size_t i = first; i < out_.slots.size(); ++i) {
            Slot& slot = out_.slots[i];
            slot.kernel_s =
                sum > 0 ? seconds * slot.kernel_s / sum : seconds / static_cast<double>(out_.slots.size() - first);
            slot.launch_s = 0;
        }
    }

    void add_slot(const Operation& op, const models::Kernel& kernel, double calls) {
        if (kernel.launches <= 0 && kernel.bytes <= 0 && kernel.work_flop <= 0) {
            return;
        }
        const models::KernelTime time =
            models::kernel_time(kernel, inputs_.machine, inputs_.stack,
                                kernel.routed ? step_.cost_options.load.heaviest_rank_of(op.layer) : 1);
        const std::vector<double>& slowdown = step_.cost_options.slowdown;
        const double slower = slowdown.empty() ? 1 : slowdown[static_cast<std::size_t>(out_.stage)];
        Slot slot;
        slot.use = use_;
        slot.operation = static_cast<std::uint32_t>(program_.index_of(op));
        slot.kernel = static_cast<std::uint32_t>(&kernel - program_.kernels.data());
        slot.kind = op.kind;
        slot.type = kernel.type;
        slot.pass = pass_of(op.phase);
        slot.layer = op.layer;
        slot.product = {kernel.m, kernel.n, kernel.k, kernel.groups};
        slot.is_routed = kernel.routed;
        slot.is_routed_depth = kernel.routed_depth;
        slot.share = 1 / calls;
        slot.launches = kernel.launches * kernel.repeat / calls;
        slot.kernel_s = time.rate_bound_s * slower / calls;
        slot.launch_s = time.overhead_s / calls;
        out_.slots.push_back(slot);
    }

    const models::Inputs& inputs_;
    const predict::SimulatedStep& step_;
    const schedule::Program& program_;
    PredictedRank out_;
    std::array<std::vector<std::uint32_t>, schedule::kStreamCount> by_track_;
    std::array<std::size_t, schedule::kStreamCount> next_{};
    std::uint32_t use_ = 0;
    int micro_batch_ = -1;
    double last_start_s_ = 0;
};

/// Widths of the parts of a fused layer; empty: it has none.
std::vector<double> parts_of(const Slot& slot, const models::Workload& w, const models::Plan& plan) {
    const double gates = w.gates();
    const auto gate_and_up = [&](double width) {
        return gates == 2 ? std::vector<double>{width, width} : std::vector<double>{};
    };
    switch (slot.kind) {
        case schedule::OpKind::kQkvProjection: {
            const double query = static_cast<double>(w.heads) / plan.tp * w.head_size;
            const double key = static_cast<double>(w.kv_heads) / plan.tp * w.head_size;
            return {query, key, key};
        }
        case schedule::OpKind::kGateUpProjection:
            return gate_and_up(static_cast<double>(w.intermediate_size) / plan.tp);
        case schedule::OpKind::kSharedExpert:
            return gate_and_up(static_cast<double>(w.shared_experts) * w.expert_size / plan.tp);
        case schedule::OpKind::kExpertComputation: return gate_and_up(static_cast<double>(w.expert_size) / plan.etp);
        default: return {};
    }
}

/// The width of a product's layer: its columns, or its depth where it makes the gradient of the layer's input.
double& width_of(Slot& slot, const schedule::Operation& op) {
    return op.phase == Phase::kBackwardInput ? slot.product.k : slot.product.n;
}

bool has_width(const std::vector<MeasuredKernel>& kernels, double width) {
    return std::any_of(kernels.begin(), kernels.end(), [width](const MeasuredKernel& kernel) {
        return kernel.product.n == width || kernel.product.k == width || kernel.product.m == width;
    });
}

}  // namespace

PredictedRank predicted_rank(const models::Inputs& inputs, const predict::SimulatedStep& step, int rank) {
    return RankBuilder(inputs, step, rank).build();
}

std::set<std::string> part_products(PredictedRank& rank, const schedule::Program& program,
                                    const models::Workload& workload, const models::Plan& plan,
                                    const std::vector<MeasuredKernel>& kernels) {
    std::map<double, bool> is_parted;  ///< by fused width
    std::set<std::string> names;
    std::vector<Slot> slots;
    for (Slot& slot : rank.slots) {
        std::vector<double> parts = slot.is_product() ? parts_of(slot, workload, plan) : std::vector<double>{};
        double fused = 0;
        for (const double part : parts) {
            fused += part;
        }
        const schedule::Operation& op = program.operations[slot.operation];
        if (parts.empty() || width_of(slot, op) != fused) {
            slots.push_back(slot);
            continue;
        }
        const auto [known, is_new] = is_parted.try_emplace(fused, false);
        if (is_new) {
            known->second = !has_width(kernels, fused) && std::all_of(parts.begin(), parts.end(), [&](double part) {
                return has_width(kernels, part);
            });
            if (known->second) {
                names.insert(to_string(slot.kind));
            }
        }
        if (!known->second) {
            slots.push_back(slot);
            continue;
        }
        if (slot.pass == Pass::kBackward) {
            std::reverse(parts.begin(), parts.end());
        }
        for (const double part : parts) {
            Slot one = slot;
            width_of(one, op) = part;
            const double share = part / fused;
            one.share *= share;
            one.kernel_s *= share;
            one.launch_s *= share;
            one.launches *= share;
            slots.push_back(one);
        }
    }
    rank.slots = std::move(slots);
    return names;
}

}  // namespace auspex::kineto
