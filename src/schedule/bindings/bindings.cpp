/// @file What has no kernel or call: found by looking at settings, and at every operation of the program.
#include "schedule/bindings/bindings.hpp"

#include <algorithm>
#include <set>

#include "models/context/dealt_tokens.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

class Findings {
 public:
    /// "operation KIND: REASON", once, where `unbound` holds.
    void add(bool unbound, OpKind kind, const std::string& reason) {
        std::string line = std::string("operation ") + to_string(kind) + ": " + reason;
        if (unbound && seen_.insert(line).second) {
            lines_.push_back(std::move(line));
        }
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
    std::set<std::string> seen_;
    std::vector<std::string> lines_;
};

void check_model(Findings& found, const models::Workload& w) {
    const bool latent = w.attention == models::AttentionKind::kLatent;
    found.add(w.top_k_groups < w.expert_groups, OpKind::kRouterTopK,
              "a limit on the groups of experts that a token goes to is not bound");
    found.add(w.mtp_layers > 0 && w.global_aux_loss, OpKind::kPredictionInput,
              "multi-token prediction (mtp_layers) beside a global auxiliary loss is not bound");
    found.add(w.router_bias && w.global_aux_loss, OpKind::kRouterBiasUpdate,
              "balancing by a bias of the router beside a global auxiliary loss is not bound");
    found.add(w.pad_to_capacity, OpKind::kIndexGeneration,
              "rows that fill experts up to their capacity (pad_to_capacity) are not bound");
    found.add(
        (w.qk_norm || latent) && w.norm != models::NormKind::kRms, OpKind::kQkNorm,
        latent ? "latents are normalised by RMS norms only" : "queries and keys are normalised by RMS norms only");
    found.add(w.image.is_given(), OpKind::kEmbedding, "a model of images (workload.image) is not bound");
    found.add(w.objective == models::Objective::kDpo, OpKind::kCrossEntropy,
              "direct preference optimisation (workload.objective) is not bound");
    const int rotated = latent ? w.rope_head_size : w.head_size;
    found.add(rotated % 2 != 0 && (latent || !w.learned_positions), OpKind::kRotaryEmbedding,
              (latent ? "rope_head_size " : "head_size ") + std::to_string(rotated) +
                  " is odd: dimensions are turned in pairs");
}

/// Experts split over other ranks than the rest.
void check_expert_grid(Findings& found, const models::Workload& w, const models::Plan& p) {
    if (w.num_experts == 0) {
        return;
    }
    const std::string grid = "etp " + std::to_string(p.etp) + " with tp " + std::to_string(p.tp);
    const auto refuse = [&](bool is_so, OpKind kind, const std::string& what) {
        found.add(is_so && p.etp != p.tp, kind, grid + what + " is not bound");
    };
    found.add(w.expert_size % p.etp != 0, OpKind::kExpertComputation,
              "expert_size " + std::to_string(w.expert_size) + " is not divisible by etp " + std::to_string(p.etp));
    found.add(w.biases && w.hidden_size % p.etp != 0, OpKind::kExpertComputation,
              "hidden_size " + std::to_string(w.hidden_size) + " is not divisible by etp " + std::to_string(p.etp) +
                  ", which splits the biases of experts");
    refuse(p.etp % p.tp != 0 && p.tp % p.etp != 0, OpKind::kExpertComputation, ", neither of which divides the other,");
    refuse(p.micro_batch_size * w.sequence_length / p.cp % p.tp != 0, OpKind::kTpAllGather,
           " and tokens that tp does not divide");
    refuse(w.global_aux_loss, OpKind::kCrossEntropy, " and a global auxiliary loss");
    refuse(p.etp > p.tp && p.cp > 1, OpKind::kTokenCounting, " and context parallelism");
    // Both of them would need the input gathered once more, the one over tp, the other over etp.
    refuse(p.etp > p.tp && p.tp > 1 && p.sequence_parallel && w.shared_experts > 0 && p.ep > 1 &&
               p.dispatch == models::Dispatch::kAllToAll && !p.recompute.expert,
           OpKind::kSharedExpert, " and shared experts beside rows that are sent");
}

void check_grid(Findings& found, const models::Workload& w, const models::Plan& p) {
    found.add(p.cp > 1 && w.num_experts > 0 && w.global_aux_loss, OpKind::kCrossEntropy,
              "a global auxiliary loss of sequences that cp ranks share is not bound");
    check_expert_grid(found, w, p);
    found.add(p.recompute.shared_experts && p.etp != p.tp, OpKind::kSharedExpert,
              "shared experts recomputed by themselves are not bound with etp other than tp");
    found.add(p.recompute.alternate_products, OpKind::kQkvProjection,
              "recomputing every second product (alternate_products) is not bound");
    found.add(std::ranges::find(p.stage_layers, 0) != p.stage_layers.end(), OpKind::kAttention,
              "a stage without layers is not bound");
    const auto divides = [&](int number, OpKind kind, const std::string& name) {
        found.add(number % p.tp != 0, kind,
                  name + " " + std::to_string(number) + " is not divisible by tp " + std::to_string(p.tp));
    };
    divides(w.kv_heads, OpKind::kQkvProjection, "kv_heads");
    divides(w.vocab_size, OpKind::kEmbedding, "vocab_size");
    divides(w.intermediate_size, OpKind::kGateUpProjection, "intermediate_size");
    divides(w.shared_experts * w.expert_size, OpKind::kSharedExpert, "the width of shared experts");
    found.add(p.sequence_parallel && p.micro_batch_size * w.sequence_length / p.cp % p.tp != 0,
              OpKind::kTpReduceScatter, "the tokens of a micro-batch are not divisible by tp " + std::to_string(p.tp));
}

void check_choices(Findings& found, const models::Workload& w, const models::Plan& p, const models::Stack& stack) {
    const bool knows_precision = p.precision == "bf16" || (p.precision == "fp32" && p.gradient_bytes == 4);
    found.add(!knows_precision, OpKind::kOptimizerUpdate,
              "precision " + p.precision + " with gradients of " + std::to_string(static_cast<int>(p.gradient_bytes)) +
                  " bytes is not bound");
    found.add(p.fp8 != models::Fp8::kNone, OpKind::kGateUpProjection, "products of 8-bit operands are not bound");
    found.add(p.reshard_ranks > 0, OpKind::kParameterGatherDense,
              "weights that stay sharded over neighbours for the backward pass are not bound (reshard_after_forward " +
                  std::to_string(p.reshard_ranks) + ")");
    found.add(gathers_updated(p, stack), OpKind::kParameterGatherDense,
              "updated weights that forward passes gather are not bound (the stack's optimizer, gathers_in_forward)");
    found.add(p.bf16_states, OpKind::kOptimizerUpdate, "optimizer states in bf16 are not bound");
    found.add(keeps_last_unit(w, p, stack), OpKind::kLmHead,
              "weights of the LM head that stay gathered are not bound (the stack's optimizer.fsdp, keeps_last_unit)");
    found.add(p.optimizer == models::OptimizerSharding::kFsdp && (stack.casts_shards || stack.frees_gradients),
              OpKind::kOptimizerUpdate, "shards in fp32 alone, and gradients that the update releases, are not bound");
    found.add(stack.weights_in_activation && w.num_experts > 0, OpKind::kExpertComputation,
              "routing weights in the activation of experts are not bound");
    found.add(stack.products_by_expert && w.num_experts > 0 && p.expert_kernels != models::ExpertKernels::kLoop,
              OpKind::kExpertComputation, "products of experts that are run one after another are not bound");
    found.add(stack.biases_by_expert && w.num_experts > 0 && w.biases, OpKind::kExpertComputation,
              "biases added expert by expert in fp32 are not bound");
    found.add(stack.dispatches_by_masks && w.num_experts > 0 && p.dispatch == models::Dispatch::kAllToAll,
              OpKind::kIndexGeneration, "dispatch by products with one-hot masks is not bound");
    found.add(p.post_validation, OpKind::kGradientNormAllReduce,
              "an update before the norm of all gradients is not bound");
    found.add(p.dispatch == models::Dispatch::kHierarchical && p.ep > 1, OpKind::kTokenCommunication,
              "hierarchical dispatch is not bound");
    const std::string beside = " beside compute is not bound";
    found.add(tied_copy_parameters(w, p) > 0 && sums_in_passes(p, stack), OpKind::kTiedEmbeddingAllReduce,
              "tied embeddings on two stages are not bound where gradients are summed in buckets");
    found.add(w.mtp_layers > 0 && sums_in_passes(p, stack), OpKind::kPredictionInput,
              "multi-token prediction (mtp_layers) is not bound where gradients are summed in backward passes");
    found.add(has_one_table(w, p) && p.pp > 1 && shards_gradients(p.optimizer), OpKind::kLmHead,
              "a table for both ends is not bound on two chunks of a stage where gradients are sharded");
    found.add(w.router_bias && has_stages_twice(p.schedule), OpKind::kRouterBiasUpdate,
              "biases of routers on both ranks of a stage are not bound");
    found.add(p.overlap_dp && shards_gradients(p.optimizer), OpKind::kGradientReduceDense,
              "the sum of sharded gradients" + beside);
    found.add(p.overlap_tp, p.sequence_parallel ? OpKind::kTpReduceScatter : OpKind::kTpAllReduce,
              "overlap of tp" + beside);
    found.add(p.overlap_ep, OpKind::kTokenCommunication, "overlap of ep" + beside);
    found.add(stack.per_parameter_ep_all_reduce && p.optimizer == models::OptimizerSharding::kSharded && p.ep > 1,
              OpKind::kGradientEpAllReduce, "all-reduces tensor by tensor are not bound");
    found.add(w.global_aux_loss && p.pp > 1 && !stack.router_logits_travel, OpKind::kCrossEntropy,
              "a global auxiliary loss over several stages needs a stack whose router logits travel");
}

bool is_bound(const Operation& op, const Block& block) {
    switch (op.kind) {
        case OpKind::kModulation:
        case OpKind::kWindowShift:
        case OpKind::kMessageGather:
        case OpKind::kCount: return false;
        case OpKind::kTiedEmbeddingAllReduce:
        case OpKind::kMirrorGradientExchange:
        case OpKind::kMirrorParameterExchange: return block.kind == BlockKind::kOptimizer;
        case OpKind::kEmbedding:
        case OpKind::kPredictionInput:
        case OpKind::kAttentionNorm:
        case OpKind::kQkvProjection:
        case OpKind::kQueryDown:
        case OpKind::kKeyValueDown:
        case OpKind::kQueryUp:
        case OpKind::kKeyValueUp:
        case OpKind::kQkNormSums:
        case OpKind::kQkNorm:
        case OpKind::kRotaryEmbedding:
        case OpKind::kKeyValueGather:
        case OpKind::kKeyValueRing:
        case OpKind::kTokensToHeads:
        case OpKind::kAttentionOfOthers:
        case OpKind::kAttention:
        case OpKind::kHeadsToTokens:
        case OpKind::kAttentionOutput:
        case OpKind::kResidualAdd:
        case OpKind::kFeedForwardNorm:
        case OpKind::kGateUpProjection:
        case OpKind::kActivation:
        case OpKind::kDownProjection:
        case OpKind::kRouter:
        case OpKind::kRouterTopK:
        case OpKind::kTokenCommunication:
        case OpKind::kTokenCounting:
        case OpKind::kIndexGeneration:
        case OpKind::kExpertComputation:
        case OpKind::kOutputReduction:
        case OpKind::kTokenReturn:
        case OpKind::kSharedExpert:
        case OpKind::kSharedExpertSum:
        case OpKind::kFinalNorm:
        case OpKind::kLmHead:
        case OpKind::kCrossEntropy:
        case OpKind::kTpAllReduce:
        case OpKind::kTpReduceScatter:
        case OpKind::kTpAllGather:
        case OpKind::kReceiveForward:
        case OpKind::kSendForward:
        case OpKind::kReceiveBackward:
        case OpKind::kSendBackward:
        case OpKind::kHostSync:
        case OpKind::kHostIssue:
        case OpKind::kBarrier:
        case OpKind::kGradientCheck:
        case OpKind::kGradientTpAllReduce:
        case OpKind::kGradientEpAllReduce:
        case OpKind::kGradientReduceExperts:
        case OpKind::kGradientReduceDense:
        case OpKind::kGradientNorm:
        case OpKind::kGradientNormAllReduce:
        case OpKind::kOptimizerUpdate:
        case OpKind::kRouterBiasUpdate:
        case OpKind::kParameterGatherExperts:
        case OpKind::kParameterGatherDense:
        case OpKind::kWorldAllReduce:
        case OpKind::kStepHost:
        case OpKind::kActivationsToHost:
        case OpKind::kActivationsFromHost:
        case OpKind::kHostCopyWait: return true;
    }
    return false;
}

}  // namespace

std::vector<std::string> unbound_operations(const models::Workload& workload, const models::Plan& plan,
                                            const models::Stack& stack, const Program& program) {
    Findings found;
    check_model(found, workload);
    check_grid(found, workload, plan);
    check_choices(found, workload, plan, stack);
    for (const Block& block : program.blocks) {
        for (const Operation& op : program.operations_of(block)) {
            found.add(!is_bound(op, block), op.kind,
                      std::string("no kernel or call in a ") + to_string(block.kind) + " block");
        }
    }
    return found.take();
}

bool executor_runs(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                   const Program& program) {
    return unbound_operations(workload, plan, stack, program).empty();
}

std::vector<std::string> refused_settings(const models::Workload& w, const models::Plan& p,
                                          const models::Stack& stack) {
    Findings found;
    found.add(!stack.check_gradients, OpKind::kGradientCheck,
              "a stack without check_gradients would change weights by gradients that are not finite");
    found.add(stack.world_all_reduces_per_step < 1 && tiles_of(p) > 1, OpKind::kWorldAllReduce,
              "a stack without world_all_reduces_per_step does not add up the loss of several ranks");
    if (w.num_experts == 0) {
        return found.take();
    }
    found.add(p.routing.kind == models::RoutingDistribution::kZipf ||
                  p.routing.kind == models::RoutingDistribution::kDirichlet,
              OpKind::kRouterTopK, "shares drawn from a distribution cannot be forced on tokens");
    found.add(p.routing.kind == models::RoutingDistribution::kTrace && !p.routing.record, OpKind::kRouterTopK,
              "a trace that has shares of experts and no choices of tokens cannot be replayed");
    const std::int64_t choices = models::common_run(p, w.sequence_length) * w.top_k;
    const bool whole = p.cp == 1 && p.etp == p.tp;
    found.add(p.routing.kind == models::RoutingDistribution::kUniform && choices % w.num_experts != 0,
              OpKind::kRouterTopK,
              "uniform routing deals " + std::to_string(choices) +
                  (whole ? " choices of a micro-batch to " : " choices of tokens in a row to ") +
                  std::to_string(w.num_experts) + " experts, which does not come out even");
    return found.take();
}

}  // namespace auspex::schedule
