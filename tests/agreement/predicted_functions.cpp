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
    void add_of(const models::CpuCall& call) {
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
    [[nodiscard]] bool speaks_of_routing() const { return on_.place.etp == 0; }
    [[nodiscard]] bool is(schedule::OpKind kind) const { return on_.op.kind == kind; }
    [[nodiscard]] const models::Workload& workload() const { return on_.run.workload; }
    [[nodiscard]] const models::Plan& plan() const { return on_.run.plan; }

    void add_one(const models::CpuCall& c) {
        if (is(schedule::OpKind::kCrossEntropy) && add_global_balance(c)) {
            return;
        }
        if (!add_router(c) && !add_row_orders(c) && !add_elementwise(c)) {
            add_by_name(c);
        }
    }

    /// Of the router: several functions are one law. Losses are those of the first rank of a tp group, whose list the
    /// prediction takes for all ("of a tp group it is the first rank"). A global auxiliary loss has no balance sum in
    /// its layers, but the law of a router with one stands for it.
    bool add_router(const models::CpuCall& c) {
        const bool has_balance = !workload().global_aux_loss && speaks_of_routing();
        switch (c.kernel) {
            case models::CpuKernel::kRouterForward:
            case models::CpuKernel::kRouterUniform:
                add("router_softmax", c.rows, c.columns);
                add(c.kernel == models::CpuKernel::kRouterForward ? "choose_experts" : "dictated_choices", c.rows,
                    c.columns, c.depth);
                add("choice_weights", c.rows, c.columns, c.depth);
                return true;
            case models::CpuKernel::kRouterLosses:
                if (speaks_of_routing()) {
                    add("router_z_sum", c.rows, c.columns);
                }
                if (has_balance && !on_.splits_sequences()) {
                    add("balance_sum", c.rows, c.columns, c.depth);
                }
                return true;
            case models::CpuKernel::kRouterBackward:
                add("choice_weights_backward", c.rows, c.columns, c.depth);
                add("router_softmax_backward", c.rows, c.columns);
                if (speaks_of_routing()) {
                    add("router_z_backward", c.rows, c.columns);
                }
                if (has_balance) {
                    add("balance_backward", c.rows, c.columns, on_.splits_sequences() ? 1 : c.depth);
                }
                return true;
            default: return false;
        }
    }

    /// A global auxiliary loss goes through its rows one by one, twice: softmax, choices and their count, and softmax
    /// with sums or gradients. Predicted as a router and its losses over all of them at once.
    bool add_global_balance(const models::CpuCall& c) {
        const bool is_router =
            c.kernel == models::CpuKernel::kRouterForward || c.kernel == models::CpuKernel::kRouterUniform;
        const bool is_second =
            c.kernel == models::CpuKernel::kRouterLosses || c.kernel == models::CpuKernel::kRouterBackward;
        if (!is_router && !is_second) {
            return false;
        }
        if (on_.forward() && !speaks()) {
            return true;
        }
        for (double row = 0; row < c.rows; ++row) {
            add("router_softmax", 1, c.columns);
            if (is_router) {
                add(c.kernel == models::CpuKernel::kRouterForward ? "choose_experts" : "dictated_choices", 1, c.columns,
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
    bool add_row_orders(const models::CpuCall& c) {
        const bool in_experts = is(schedule::OpKind::kExpertComputation);
        const bool fused = c.kernel == models::CpuKernel::kSumRowsFused;
        switch (c.kernel) {
            case models::CpuKernel::kCountChoices:
                if (on_.op.comm != schedule::CommKind::kNone && !speaks_of_routing()) {
                    return true;  // the first of the ranks that route the same tokens counts them
                }
                is(schedule::OpKind::kIndexGeneration) ? add("look_up_experts", c.rows)
                                                       : add("count_choices", c.rows, c.columns);
                return true;
            case models::CpuKernel::kFindInMask:
                for (double i = 0; i < c.groups; ++i) {
                    add("find_in_mask", c.rows, c.columns, c.depth);
                }
                return true;
            case models::CpuKernel::kSumRows:
            case models::CpuKernel::kSumRowsFused:
                if (in_experts &&
                    (fused ? plan().weight_bytes == 4 : plan().expert_kernels == models::ExpertKernels::kLoop)) {
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

    /// Of as many elements as a bias of experts is added to, or summed up from.
    [[nodiscard]] bool is_bias_of_experts(const models::CpuCall& c) const {
        const double rows = on_.tokens() * plan().etp / plan().tp * workload().top_k;
        const double inner = static_cast<double>(workload().gates()) * workload().expert_size / plan().etp,
                     hidden = static_cast<double>(workload().hidden_size) / plan().etp;
        const bool is_added = c.kernel == models::CpuKernel::kAdd && on_.forward() &&
                              (c.columns == rows * inner || c.columns == rows * hidden);
        return workload().biases && (is_added || c.kernel == models::CpuKernel::kSquareSums);
    }

    /// Of biases, and of learned positions, which are one for every row of sequences: what the sum over tp is to have
    /// once is added by the first rank of a tp group.
    bool add_biases(const models::CpuCall& c) {
        using schedule::OpKind;
        const bool shared_output = is(OpKind::kSharedExpert) && c.columns == on_.tokens() * workload().hidden_size;
        const bool is_first = is(OpKind::kQkvProjection) || is(OpKind::kGateUpProjection) ||
                              (is(OpKind::kSharedExpert) && !shared_output);
        const bool is_last =
            is(OpKind::kAttentionOutput) || is(OpKind::kDownProjection) || is(OpKind::kEmbedding) || shared_output;
        if (is(OpKind::kPredictionInput)) {
            const double width = workload().hidden_size;
            if (c.kernel == models::CpuKernel::kAdd) {
                add("add_bias", c.columns / width, width);
            } else if (c.kernel == models::CpuKernel::kSquareSums && on_.op.phase == schedule::Phase::kBackwardWeight) {
                add("bias_gradient", c.rows, c.columns);
            }
            return c.kernel == models::CpuKernel::kAdd || c.kernel == models::CpuKernel::kSquareSums;
        }
        if (is(OpKind::kExpertComputation) && is_bias_of_experts(c)) {
            return true;  // within the kernels of experts
        }
        if (is(OpKind::kRouter) && workload().biases && !router_bias_seen_) {
            router_bias_seen_ = c.kernel == models::CpuKernel::kAdd || c.kernel == models::CpuKernel::kSquareSums;
            if (router_bias_seen_) {
                const double experts = workload().num_experts;
                c.kernel == models::CpuKernel::kAdd ? add("add_bias", c.columns / experts, experts)
                                                    : add("bias_gradient", c.rows, c.columns);
            }
            return router_bias_seen_;
        }
        if (!is_first && !is_last) {
            return false;
        }
        const bool is_whole = plan().cp == 1;
        const double rows = !is(OpKind::kEmbedding) ? on_.tokens() : is_whole ? plan().micro_batch_size : 1;
        if (c.kernel == models::CpuKernel::kAdd && (is_first || speaks())) {
            add("add_bias", rows, c.columns / rows);
        }
        if (c.kernel == models::CpuKernel::kSquareSums) {
            add("bias_gradient", c.rows, c.columns);
        }
        return c.kernel == models::CpuKernel::kAdd || c.kernel == models::CpuKernel::kSquareSums;
    }

    /// Laws that stand for another function of as many elements.
    bool add_elementwise(const models::CpuCall& c) {
        if (add_biases(c)) {
            return true;
        }
        if (c.kernel == models::CpuKernel::kAdd &&
            (is(schedule::OpKind::kAttentionOfOthers) || is(schedule::OpKind::kAttention))) {
            add("merge_attention", 1, c.columns);
            return true;
        }
        const bool activates =
            c.kernel == models::CpuKernel::kSwigluForward || c.kernel == models::CpuKernel::kSwigluBackward;
        if (activates && workload().feed_forward == models::FeedForward::kGelu) {
            add(on_.forward() ? "gelu_forward" : "gelu_backward", c.rows, c.columns);
            return true;
        }
        if (c.kernel == models::CpuKernel::kAdd && is(schedule::OpKind::kRouter)) {
            add("round_logits", 1, c.columns);
            return true;
        }
        if (is(schedule::OpKind::kRouterBiasUpdate) && c.kernel == models::CpuKernel::kAdd) {
            add("update_router_bias", 1, c.columns);
            return true;
        }
        if (is(schedule::OpKind::kRouterTopK) && c.kernel == models::CpuKernel::kAdd && on_.forward()) {
            add("add_router_bias", 1, c.columns);
            return true;
        }
        if (is(schedule::OpKind::kRouterTopK) && c.kernel == models::CpuKernel::kAdd) {
            if (speaks()) {
                add("add_gradients_of_head", 1, c.columns);
            }
            return true;
        }
        if (is(schedule::OpKind::kRouterTopK) && c.kernel == models::CpuKernel::kCopy) {
            add("logits_to_travel", 1, c.columns / sizeof(float));
            return true;
        }
        // Norms without weights take the mean off: predicted as one more sum over a row, part of the norm here.
        if (c.kernel == models::CpuKernel::kSquareSums && !is(schedule::OpKind::kQkNormSums) &&
            !is(schedule::OpKind::kQkNorm)) {
            return true;
        }
        // Tokens in the rank's part of the vocabulary, of which there are t / tp in the mean, are found among all.
        if (c.kernel == models::CpuKernel::kEmbeddingBackward) {
            add("embedding_backward", c.rows * plan().tp, c.columns);
            return true;
        }
        // With tp > 1 cross entropy is summed after its parts have met, on the first rank of the group.
        if (c.kernel == models::CpuKernel::kCrossEntropyParts) {
            add("cross_entropy_parts", c.rows, c.columns);
            if (plan().tp == 1) {
                add("cross_entropy_sum", c.rows);
            }
            return true;
        }
        return false;
    }

    void add_by_name(const models::CpuCall& c) {
        static const std::map<models::CpuKernel, std::string_view> kFunctions{
            {models::CpuKernel::kGemmForward, "linear_forward"},
            {models::CpuKernel::kGemmInputGradient, "linear_input_gradient"},
            {models::CpuKernel::kGemmWeightGradient, "linear_weight_gradient"},
            {models::CpuKernel::kNormForward, "norm_forward"},
            {models::CpuKernel::kNormBackward, "norm_backward"},
            {models::CpuKernel::kSquareSums, "square_sums"},
            {models::CpuKernel::kQkNormForward, "qk_norm_forward"},
            {models::CpuKernel::kQkNormProducts, "qk_norm_products"},
            {models::CpuKernel::kQkNormBackward, "qk_norm_backward"},
            {models::CpuKernel::kRotate, "rotate"},
            {models::CpuKernel::kAttentionForward, "attention_forward"},
            {models::CpuKernel::kAttentionBackward, "attention_backward"},
            {models::CpuKernel::kSwigluForward, "swiglu_forward"},
            {models::CpuKernel::kSwigluBackward, "swiglu_backward"},
            {models::CpuKernel::kAdd, "add"},
            {models::CpuKernel::kEmbeddingForward, "embedding_forward"},
            {models::CpuKernel::kCrossEntropyBackward, "cross_entropy_backward"},
            {models::CpuKernel::kSortSlots, "sort_slots"},
            {models::CpuKernel::kOneHotMask, "one_hot_mask"},
            {models::CpuKernel::kGatherRows, "gather_rows"},
            {models::CpuKernel::kSumRowsBackward, "sum_rows_backward"},
            {models::CpuKernel::kSumRowsBackwardFused, "sum_rows_backward_fused"},
            {models::CpuKernel::kExpertsForwardLoop, "expert_forward_loop"},
            {models::CpuKernel::kExpertsForwardGrouped, "expert_forward_grouped"},
            {models::CpuKernel::kExpertsForwardFused, "expert_forward_fused"},
            {models::CpuKernel::kExpertsBackwardLoop, "expert_backward_loop"},
            {models::CpuKernel::kExpertsBackwardGrouped, "expert_backward_grouped"},
            {models::CpuKernel::kExpertsBackwardFused, "expert_backward_fused"},
            {models::CpuKernel::kExpertsWeightsLoop, "expert_weight_gradients_loop"},
            {models::CpuKernel::kExpertsWeightsGrouped, "expert_weight_gradients_grouped"},
            {models::CpuKernel::kZero, "zero"},
            {models::CpuKernel::kCopy, "copy"},
            {models::CpuKernel::kFiniteCheck, "all_finite"},
            {models::CpuKernel::kFiniteCheckGradients, "all_finite"}};
        const auto function = kFunctions.find(c.kernel);
        // The law of experts is that of three matrices.
        const double layers = to_string(c.kernel).starts_with("experts_") ? 3.0 / (workload().gates() + 1) : 1;
        add(function == kFunctions.end() ? to_string(c.kernel) : function->second, c.rows,
            std::round(c.columns * layers), c.depth, c.groups);
    }

    const OnRank& on_;
    std::vector<std::string> texts_;
    bool router_bias_seen_ = false;
};

/// Kernels around each call that called it: none, or the nearest one.
std::vector<std::string_view> callers_of(const std::vector<exec::RecordedCall>& calls) {
    std::vector<std::string_view> callers, around;
    for (const exec::RecordedCall& call : calls) {
        around.resize(static_cast<std::size_t>(call.depth));
        callers.push_back(around.empty() ? std::string_view() : around.back());
        around.push_back(call.kernel);
    }
    return callers;
}

/// Products and activations within experts are the experts' law; what a sum by token is made of is that of the sum.
bool is_part_of_its_caller(const exec::RecordedCall& call, std::string_view caller) {
    if (caller.starts_with("expert_")) {
        return call.kernel.starts_with("linear_") || call.kernel.starts_with("swiglu_") ||
               call.kernel.starts_with("gelu_") || call.kernel == "add_bias" || call.kernel == "bias_gradient";
    }
    return !caller.empty();
}

}  // namespace

std::vector<std::string> functions_of(const OnRank& on, const std::vector<models::CpuCall>& calls) {
    Functions functions(on);
    for (const models::CpuCall& call : calls) {
        if (call.kernel != models::CpuKernel::kOperation) {  // walking the program calls no kernel
            functions.add_of(call);
        }
    }
    if (on.op.carries == schedule::Carries::kSoftmaxParts && on.place.tp == 0) {  // predicted with the parts
        functions.add("cross_entropy_sum", on.tokens());
    }
    const bool counts_sequences =
        on.op.kind == schedule::OpKind::kTokenCounting && on.op.comm != schedule::CommKind::kNone;
    const bool is_last = on.op.group != models::GroupKind::kTp || on.run.plan.cp == 1;
    if (counts_sequences && is_last && on.op.phase == schedule::Phase::kForward && on.place.etp == 0) {
        const double routed = on.tokens() * on.run.plan.etp / on.run.plan.tp;
        functions.add("balance_sum", routed, on.run.workload.num_experts);  // predicted with the router's losses
    }
    return functions.take();
}

std::vector<std::string> functions_called(const OnRank& on, const std::vector<exec::RecordedCall>& calls) {
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

bool is_of_transport(const exec::RecordedCall& call) {
    return call.kernel == "reduce_parts" || call.kernel == "reduce_softmax_parts" || call.kernel == "copy_own_part";
}

}  // namespace auspex::testing_agreement
