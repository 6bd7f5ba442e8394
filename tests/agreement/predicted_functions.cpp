/// @file Laws as functions. Where a law stands for something else than its own function, the reason has a name here.
#include "predicted_functions.hpp"

#include <algorithm>
#include <map>

#include "recorded_step.hpp"

namespace auspex::testing_agreement {
namespace {

class Functions {
 public:
    explicit Functions(const OnRank& on) : on_(on) {}

    void add(std::string_view kernel, double rows, double columns = 1, double depth = 1, double groups = 1) {
        texts_.push_back(call_text(kernel, rows, columns, depth, groups));
    }
    void add_of(const CpuCall& call) {
        for (double i = 0; i < call.repeat; ++i) {
            add_one(call);
        }
    }
    [[nodiscard]] std::vector<std::string> take() {
        std::ranges::sort(texts_);
        return std::move(texts_);
    }

 private:
    [[nodiscard]] bool speaks() const { return on_.place.tp == 0; }
    [[nodiscard]] bool is(OpKind kind) const { return on_.op.kind == kind; }
    [[nodiscard]] const Workload& workload() const { return on_.run.workload; }
    [[nodiscard]] const Plan& plan() const { return on_.run.plan; }

    void add_one(const CpuCall& c) {
        if (is(OpKind::kCrossEntropy) && add_global_balance(c)) {
            return;
        }
        if (!add_router(c) && !add_row_orders(c) && !add_elementwise(c)) {
            add_by_name(c);
        }
    }

    /// Of the router: several functions are one law. Losses are those of the first rank of a tp group, whose list the
    /// prediction takes for all ("of a tp group it is the first rank"). A global auxiliary loss has no balance sum in
    /// its layers, but the law of a router with one stands for it.
    bool add_router(const CpuCall& c) {
        const bool has_balance = !workload().global_aux_loss && speaks();
        switch (c.kernel) {
            case CpuKernel::kRouterForward:
            case CpuKernel::kRouterUniform:
                add("router_softmax", c.rows, c.columns);
                add(c.kernel == CpuKernel::kRouterForward ? "choose_experts" : "dictated_choices", c.rows, c.columns,
                    c.depth);
                add("choice_weights", c.rows, c.columns, c.depth);
                return true;
            case CpuKernel::kRouterLosses:
                if (speaks()) {
                    add("router_z_sum", c.rows, c.columns);
                }
                if (has_balance) {
                    add("balance_sum", c.rows, c.columns, c.depth);
                }
                return true;
            case CpuKernel::kRouterBackward:
                add("choice_weights_backward", c.rows, c.columns, c.depth);
                add("router_softmax_backward", c.rows, c.columns);
                if (speaks()) {
                    add("router_z_backward", c.rows, c.columns);
                }
                if (has_balance) {
                    add("balance_backward", c.rows, c.columns, c.depth);
                }
                return true;
            default: return false;
        }
    }

    /// A global auxiliary loss goes through its rows one by one, twice: softmax, choices and their count, and softmax
    /// with sums or gradients. Predicted as a router and its losses over all of them at once.
    bool add_global_balance(const CpuCall& c) {
        const bool is_router = c.kernel == CpuKernel::kRouterForward || c.kernel == CpuKernel::kRouterUniform;
        const bool is_second = c.kernel == CpuKernel::kRouterLosses || c.kernel == CpuKernel::kRouterBackward;
        if (!is_router && !is_second) {
            return false;
        }
        if (on_.forward() && !speaks()) {
            return true;
        }
        for (double row = 0; row < c.rows; ++row) {
            add("router_softmax", 1, c.columns);
            if (is_router) {
                add(c.kernel == CpuKernel::kRouterForward ? "choose_experts" : "dictated_choices", 1, c.columns,
                    c.depth);
                add("add_choice_counts", workload().top_k);
            } else if (on_.forward()) {
                add("counted_probability", 1, c.columns);
            } else {
                add("counted_probability_backward", 1, c.columns);
                add("router_softmax_backward", 1, c.columns);
            }
        }
        return true;
    }

    /// Rows put where an index says take what rows taken from there take. The number of an expert is looked up as it is
    /// counted. Within experts, sums by token are made of their parts: cleared and added to.
    bool add_row_orders(const CpuCall& c) {
        const bool in_experts = is(OpKind::kExpertComputation);
        const bool fused = c.kernel == CpuKernel::kSumRowsFused;
        switch (c.kernel) {
            case CpuKernel::kCountChoices:
                is(OpKind::kIndexGeneration) ? add("look_up_experts", c.rows) : add("count_choices", c.rows, c.columns);
                return true;
            case CpuKernel::kFindInMask:
                for (double i = 0; i < c.groups; ++i) {
                    add("find_in_mask", c.rows, c.columns, c.depth);
                }
                return true;
            case CpuKernel::kSumRows:
            case CpuKernel::kSumRowsFused:
                if (in_experts && (fused ? plan().weight_bytes == 4 : plan().expert_kernels == ExpertKernels::kLoop)) {
                    add("zero", 1, c.rows * c.columns * plan().weight_bytes);
                    const double pieces = fused ? workload().num_experts / plan().ep : 1;
                    for (double i = 0; i < pieces; ++i) {
                        add("scatter_add_rows", c.rows * c.depth / pieces, c.columns);
                    }
                } else {
                    add(fused ? "sum_rows_fused" : "sum_rows", c.rows, c.columns, c.rows * c.depth);
                }
                return true;
            default: return false;
        }
    }

    /// Laws that stand for another function of as many elements.
    bool add_elementwise(const CpuCall& c) {
        if (c.kernel == CpuKernel::kAdd && is(OpKind::kRouter)) {
            add("round_logits", 1, c.columns);
            return true;
        }
        if (is(OpKind::kRouterTopK) && c.kernel == CpuKernel::kAdd) {
            if (speaks()) {
                add("add_gradients_of_head", 1, c.columns);
            }
            return true;
        }
        if (is(OpKind::kRouterTopK) && c.kernel == CpuKernel::kCopy) {
            add("logits_to_travel", 1, c.columns / sizeof(float));
            return true;
        }
        // Norms without weights take the mean off: predicted as one more sum over a row, part of the norm here.
        if (c.kernel == CpuKernel::kSquareSums && !is(OpKind::kQkNormSums) && !is(OpKind::kQkNorm)) {
            return true;
        }
        // Tokens in the rank's part of the vocabulary, of which there are t / tp in the mean, are found among all.
        if (c.kernel == CpuKernel::kEmbeddingBackward) {
            add("embedding_backward", c.rows * plan().tp, c.columns);
            return true;
        }
        // With tp > 1 cross entropy is summed after its parts have met, on the first rank of the group.
        if (c.kernel == CpuKernel::kCrossEntropyParts) {
            add("cross_entropy_parts", c.rows, c.columns);
            if (plan().tp == 1) {
                add("cross_entropy_sum", c.rows);
            }
            return true;
        }
        return false;
    }

    void add_by_name(const CpuCall& c) {
        static const std::map<CpuKernel, std::string_view> kFunctions{
            {CpuKernel::kGemmForward, "linear_forward"},
            {CpuKernel::kGemmInputGradient, "linear_input_gradient"},
            {CpuKernel::kGemmWeightGradient, "linear_weight_gradient"},
            {CpuKernel::kNormForward, "norm_forward"},
            {CpuKernel::kNormBackward, "norm_backward"},
            {CpuKernel::kSquareSums, "square_sums"},
            {CpuKernel::kQkNormForward, "qk_norm_forward"},
            {CpuKernel::kQkNormProducts, "qk_norm_products"},
            {CpuKernel::kQkNormBackward, "qk_norm_backward"},
            {CpuKernel::kRotate, "rotate"},
            {CpuKernel::kAttentionForward, "attention_forward"},
            {CpuKernel::kAttentionBackward, "attention_backward"},
            {CpuKernel::kSwigluForward, "swiglu_forward"},
            {CpuKernel::kSwigluBackward, "swiglu_backward"},
            {CpuKernel::kAdd, "add"},
            {CpuKernel::kEmbeddingForward, "embedding_forward"},
            {CpuKernel::kCrossEntropyBackward, "cross_entropy_backward"},
            {CpuKernel::kSortSlots, "sort_slots"},
            {CpuKernel::kOneHotMask, "one_hot_mask"},
            {CpuKernel::kGatherRows, "gather_rows"},
            {CpuKernel::kSumRowsBackward, "sum_rows_backward"},
            {CpuKernel::kSumRowsBackwardFused, "sum_rows_backward_fused"},
            {CpuKernel::kExpertsForwardLoop, "expert_forward_loop"},
            {CpuKernel::kExpertsForwardGrouped, "expert_forward_grouped"},
            {CpuKernel::kExpertsForwardFused, "expert_forward_fused"},
            {CpuKernel::kExpertsBackwardLoop, "expert_backward_loop"},
            {CpuKernel::kExpertsBackwardGrouped, "expert_backward_grouped"},
            {CpuKernel::kExpertsBackwardFused, "expert_backward_fused"},
            {CpuKernel::kExpertsWeightsLoop, "expert_weight_gradients_loop"},
            {CpuKernel::kExpertsWeightsGrouped, "expert_weight_gradients_grouped"},
            {CpuKernel::kZero, "zero"},
            {CpuKernel::kCopy, "copy"},
            {CpuKernel::kFiniteCheck, "all_finite"},
            {CpuKernel::kFiniteCheckGradients, "all_finite"}};
        const auto function = kFunctions.find(c.kernel);
        add(function == kFunctions.end() ? to_string(c.kernel) : function->second, c.rows, c.columns, c.depth,
            c.groups);
    }

    const OnRank& on_;
    std::vector<std::string> texts_;
};

/// Kernels around each call that called it: none, or the nearest one.
std::vector<std::string_view> callers_of(const std::vector<RecordedCall>& calls) {
    std::vector<std::string_view> callers, around;
    for (const RecordedCall& call : calls) {
        around.resize(static_cast<std::size_t>(call.depth));
        callers.push_back(around.empty() ? std::string_view() : around.back());
        around.push_back(call.kernel);
    }
    return callers;
}

/// Products and activations within experts are the experts' law; what a sum by token is made of is that of the sum.
bool is_part_of_its_caller(const RecordedCall& call, std::string_view caller) {
    if (caller.starts_with("expert_")) {
        return call.kernel.starts_with("linear_") || call.kernel.starts_with("swiglu_");
    }
    return !caller.empty();
}

}  // namespace

std::vector<std::string> functions_of(const OnRank& on, const std::vector<CpuCall>& calls) {
    Functions functions(on);
    for (const CpuCall& call : calls) {
        if (call.kernel != CpuKernel::kOperation) {  // walking the program calls no kernel
            functions.add_of(call);
        }
    }
    if (on.op.carries == Carries::kSoftmaxParts && on.place.tp == 0) {  // predicted with the parts
        functions.add("cross_entropy_sum", on.tokens());
    }
    return functions.take();
}

std::vector<std::string> functions_called(const OnRank& on, const std::vector<RecordedCall>& calls) {
    Functions functions(on);
    const std::vector<std::string_view> callers = callers_of(calls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& [kernel, sizes, depth] = calls[i];
        const bool is_empty = std::ranges::any_of(sizes, [](std::size_t size) { return size == 0; });
        if (!is_empty && !is_of_transport(calls[i]) && !is_part_of_its_caller(calls[i], callers[i])) {
            functions.add(kernel == "scatter_rows" ? "gather_rows" : kernel, static_cast<double>(sizes[0]),
                          static_cast<double>(sizes[1]), static_cast<double>(sizes[2]), static_cast<double>(sizes[3]));
        }
    }
    return functions.take();
}

bool is_of_transport(const RecordedCall& call) {
    return call.kernel == "reduce_parts" || call.kernel == "reduce_softmax_parts" || call.kernel == "copy_own_part";
}

}  // namespace auspex::testing_agreement
