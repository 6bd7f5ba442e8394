/// @file Nesting of host operations, and what their operands say.
#include "compare/kineto/trace/host_calls.hpp"

#include <algorithm>

namespace auspex::kineto {
namespace {

constexpr int kMostParents = 256;

double elements_of(const Dims& dims) {
    double product = dims.empty() ? 0 : 1;
    for (const std::int64_t size : dims) {
        product *= static_cast<double>(std::max<std::int64_t>(size, 0));
    }
    return product;
}

/// [.., rows, columns]: all but the last one multiplied.
double rows_of(const Dims& dims) {
    return dims.empty() || dims.back() == 0 ? 0 : elements_of(dims) / static_cast<double>(dims.back());
}

}  // namespace

HostCalls::HostCalls(const Trace& trace) : trace_(trace), parents_(trace.host_ops.size(), kNone) {
    facts_.reserve(trace.names.size());
    for (const std::string& name : trace.names) {
        facts_.push_back(facts_of_op(name));
    }
    std::vector<std::vector<std::uint32_t>> open;
    for (std::size_t i = 0; i < trace.host_ops.size(); ++i) {
        const HostOp& op = trace.host_ops[i];
        if (op.thread >= by_thread_.size()) {
            by_thread_.resize(op.thread + std::size_t{1});
            open.resize(by_thread_.size());
        }
        std::vector<std::uint32_t>& stack = open[op.thread];
        while (!stack.empty() && trace.host_ops[stack.back()].end <= op.start) {
            stack.pop_back();
        }
        // What overlaps without being inside (asynchronous ones) runs beside.
        while (!stack.empty() && trace.host_ops[stack.back()].end < op.end) {
            stack.pop_back();
        }
        parents_[i] = stack.empty() ? kNone : stack.back();
        stack.push_back(static_cast<std::uint32_t>(i));
        by_thread_[op.thread].push_back(static_cast<std::uint32_t>(i));
    }
}

std::uint32_t HostCalls::innermost(std::uint32_t thread, std::int64_t time) const {
    if (thread >= by_thread_.size()) {
        return kNone;
    }
    const std::vector<std::uint32_t>& ops = by_thread_[thread];
    auto after = std::upper_bound(ops.begin(), ops.end(), time,
                                  [this](std::int64_t at, std::uint32_t op) { return at < trace_.host_ops[op].start; });
    if (after == ops.begin()) {
        return kNone;
    }
    std::uint32_t op = *--after;
    while (op != kNone && trace_.host_ops[op].end < time) {
        op = parents_[op];
    }
    return op;
}

Pass HostCalls::pass_of(std::uint32_t op) const {
    const bool is_recorded = op != kNone && trace_.host_ops[op].sequence >= 0 && !facts(op).is_backward_node;
    int steps = 0;
    Pass pass = op == kNone ? Pass::kUnknown : Pass::kForward;
    for (std::uint32_t at = op; at != kNone && steps < kMostParents; at = parent(at), ++steps) {
        if (facts(at).is_optimizer) {
            return Pass::kOptimizer;
        }
        if (facts(at).is_backward_node) {
            // A node's own name stands directly inside with the same number.
            const bool is_node_itself = is_recorded && trace_.host_ops[op].sequence == trace_.host_ops[at].sequence;
            return is_recorded && !is_node_itself ? Pass::kRecompute : Pass::kBackward;
        }
    }
    return pass;
}

HostCalls::Context HostCalls::context(std::uint32_t op) const {
    Context context;
    context.pass = pass_of(op);
    int steps = 0;
    std::uint32_t single = kNone;
    for (std::uint32_t at = op; at != kNone && steps < kMostParents; at = parent(at), ++steps) {
        const OpFacts& known = facts(at);
        if (context.collective == kNone) {
            context.collective = trace_.host_ops[at].collective;
        }
        if (known.is_optimizer) {
            context.op = at;
            context.work = Work::kOptimizer;
            return context;
        }
        if (known.work && known.is_whole) {
            context.op = at;
            context.work = known.work;
        } else if (known.work && single == kNone) {
            single = at;
        }
        if (known.is_backward_node) {
            break;
        }
    }
    if (!context.work && single != kNone) {
        context.op = single;
        context.work = facts(single).work;
    }
    return context;
}

Product product_of(const std::string& op, const Operands& operands) {
    const std::vector<Dims>& dims = operands.dims;
    const bool has_bias = op == "aten::addmm" || op == "aten::baddbmm";
    const std::size_t first = has_bias ? 1 : 0;
    if (dims.size() < first + 2 || dims[first].empty() || dims[first + 1].empty()) {
        return {};
    }
    const Dims& left = dims[first];
    const Dims& right = dims[first + 1];
    Product product;
    if (op == "aten::linear" || op == "aten::mkldnn_linear") {
        product = {rows_of(left), static_cast<double>(right.front()), static_cast<double>(left.back()), 1};
    } else if (left.size() == 2 && right.size() == 2) {
        product = {static_cast<double>(left[0]), static_cast<double>(right[1]), static_cast<double>(left[1]), 1};
    } else if (left.size() == 3 && right.size() == 3) {
        product = {static_cast<double>(left[1]), static_cast<double>(right[2]), static_cast<double>(left[2]),
                   static_cast<double>(left[0])};
    } else if (left.size() == 2 && right.size() == 3) {  // grouped: rows of all groups in one matrix
        const auto groups = static_cast<double>(std::max<std::int64_t>(right[0], 1));
        product = {static_cast<double>(left[0]) / groups, static_cast<double>(right[2]), static_cast<double>(left[1]),
                   groups};
    }
    return product.m > 0 && product.n > 0 && product.k > 0 ? product : Product{};
}

double largest_operand(const Operands& operands) {
    double most = 0;
    for (const Dims& dims : operands.dims) {
        most = std::max(most, elements_of(dims));
    }
    return most;
}

}  // namespace auspex::kineto
