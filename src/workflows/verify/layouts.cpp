/// @file A table, and plans made of its rows.
#include "workflows/verify/layouts.hpp"

#include "base/json.hpp"

namespace auspex::workflows {
namespace {

using Words = std::vector<const char*>;

constexpr auto kExperts = VerifyModel::kExperts;
constexpr auto kDense = VerifyModel::kDense;
constexpr auto kGlobalLoss = VerifyModel::kGlobalLoss;
constexpr auto kShared = VerifyModel::kShared;
constexpr auto kLatent = VerifyModel::kLatent;
constexpr auto kGpt = VerifyModel::kGpt;
constexpr auto kGptExperts = VerifyModel::kGptExperts;
constexpr auto kWindowed = VerifyModel::kWindowed;
constexpr auto kPredicting = VerifyModel::kPredicting;
constexpr auto kCapacity = VerifyModel::kCapacity;
constexpr const char *kGpipe = "gpipe", *k1f1b = "1f1b", *kInterleaved = "interleaved-1f1b";
constexpr const char *kZbH1 = "zb-h1", *kZbH2 = "zb-h2", *kZbAuto = "zb-auto", *kZbv = "zbv", *kVHalf = "v-half",
                     *kVMin = "v-min", *kDualPipeV = "dualpipev", *kDualPipe = "dualpipe";
constexpr const char *kReplicated = "replicated", *kSharded = "sharded", *kEpAware = "ep-aware", *kZero2 = "zero-2",
                     *kFsdp = "fsdp";
constexpr const char *kSent = "alltoall", *kGathered = "allgather-reducescatter";
constexpr const char *kLoop = "loop", *kGrouped = "grouped", *kFused = "fused";
const Words kNothing, kNorm{"norm"}, kAttention{"attention"}, kExpert{"expert"}, kHalves{"norm", "expert"},
    kAll{"norm", "attention", "expert"}, kSums{"dp"}, kLayer{"layer"}, kCore{"core_attention"},
    kParts{"norm", "core_attention", "activation"}, kLatentParts{"latent_up", "activation"},
    kSharedParts{"core_attention", "activation", "shared_experts"};

std::vector<VerifyLayout> make_layouts() {
    constexpr bool kWhole = false, kSliced = true, kKept = false, kGatheredTwice = true;
    // model, dp, ep, tp, pp, virtual stages, sequences, micro-batch, schedule, recompute, optimizer, dispatch, kernels,
    // overlap, groups that shard by themselves, weights from forward to backward, units gathered ahead
    return {
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped},
        {kExperts, 1, 1, 2, 2, 1, kSliced, 1, k1f1b, kNorm, kReplicated, kGathered, kFused},
        {kDense, 2, 1, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kGlobalLoss, 1, 2, 1, 2, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kGathered, kGrouped},
        {kExperts, 1, 1, 1, 2, 2, kWhole, 2, kInterleaved, kNothing, kSharded, kSent, kFused},
        {kExperts, 2, 1, 1, 1, 1, kWhole, 4, k1f1b, kNothing, kSharded, kSent, kLoop},
        {kExperts, 8, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kReplicated, kSent, kGrouped},
        {kExperts, 1, 4, 1, 1, 1, kWhole, 2, k1f1b, kNothing, kReplicated, kGathered, kLoop},
        {kExperts, 1, 8, 1, 1, 1, kWhole, 1, k1f1b, kExpert, kEpAware, kSent, kFused},
        {kExperts, 1, 1, 2, 1, 1, kWhole, 2, k1f1b, kNothing, kReplicated, kSent, kLoop},
        {kExperts, 1, 1, 4, 1, 1, kSliced, 2, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 1, 1, 1, 4, 1, kWhole, 1, kGpipe, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 1, 1, 1, 4, 1, kWhole, 1, k1f1b, kAll, kSharded, kSent, kLoop},
        {kExperts, 2, 1, 1, 2, 1, kWhole, 1, kGpipe, kAttention, kSharded, kSent, kFused},
        {kExperts, 2, 2, 1, 2, 2, kWhole, 1, kInterleaved, kNothing, kEpAware, kSent, kFused},
        {kExperts, 2, 2, 2, 1, 1, kWhole, 1, k1f1b, kAttention, kSharded, kGathered, kGrouped},
        {kExperts, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kExpert, kEpAware, kSent, kFused},
        {kExperts, 1, 2, 2, 2, 1, kWhole, 1, kGpipe, kNothing, kEpAware, kGathered, kFused},
        {kExperts, 1, 2, 2, 2, 2, kSliced, 1, kInterleaved, kHalves, kSharded, kGathered, kGrouped},
        {kExperts, 1, 1, 4, 2, 1, kSliced, 1, k1f1b, kNothing, kReplicated, kSent, kFused},
        {kExperts, 1, 4, 1, 2, 1, kWhole, 1, kGpipe, kNorm, kReplicated, kGathered, kFused},
        {kExperts, 2, 2, 2, 2, 1, kSliced, 1, k1f1b, kAll, kEpAware, kSent, kFused},
        {kExperts, 2, 4, 1, 2, 1, kWhole, 1, k1f1b, kNothing, kSharded, kGathered, kLoop},
        {kExperts, 1, 8, 1, 2, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped},
        {kExperts, 4, 2, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kReplicated, kSent, kLoop},
        {kExperts, 1, 4, 4, 1, 1, kSliced, 1, k1f1b, kHalves, kSharded, kGathered, kFused},
        {kExperts, 2, 2, 1, 4, 1, kWhole, 1, kGpipe, kAttention, kSharded, kSent, kGrouped},
        {kDense, 1, 1, 1, 4, 1, kWhole, 2, k1f1b, kAll, kReplicated, kSent, kGrouped},
        {kDense, 2, 1, 2, 2, 2, kWhole, 1, kInterleaved, kAttention, kSharded, kSent, kGrouped},
        {kDense, 2, 1, 4, 2, 1, kSliced, 1, kGpipe, kNothing, kEpAware, kSent, kGrouped},
        {kGlobalLoss, 2, 2, 2, 2, 2, kSliced, 1, kInterleaved, kAll, kEpAware, kSent, kFused},
        {kExperts, 1, 1, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 1, 1, 1, 2, 2, kWhole, 1, kZbv, kNothing, kSharded, kSent, kFused},
        {kExperts, 1, 2, 1, 2, 2, kWhole, 1, kDualPipeV, kNothing, kEpAware, kSent, kGrouped},
        {kExperts, 1, 2, 1, 2, 2, kWhole, 1, kDualPipe, kNothing, kEpAware, kSent, kGrouped},
        {kDense, 1, 1, 2, 4, 1, kSliced, 1, kZbH2, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 2, 1, 1, 2, 1, kWhole, 1, kZbH2, kAll, kSharded, kSent, kLoop},
        {kExperts, 1, 2, 1, 2, 1, kWhole, 1, kZbH1, kExpert, kEpAware, kGathered, kGrouped},
        {kExperts, 1, 2, 2, 4, 1, kSliced, 1, kZbAuto, kNothing, kSharded, kSent, kFused},
        {kDense, 2, 1, 1, 2, 1, kWhole, 1, kZbAuto, kAll, kEpAware, kSent, kGrouped},
        {kLatent, 1, 2, 1, 4, 1, kWhole, 1, kZbAuto, kAttention, kEpAware, kGathered, kGrouped},
        {kExperts, 1, 2, 2, 2, 2, kSliced, 1, kZbv, kHalves, kSharded, kGathered, kFused},
        {kExperts, 1, 1, 2, 2, 2, kWhole, 1, kVHalf, kAttention, kReplicated, kSent, kFused},
        {kExperts, 1, 2, 1, 2, 2, kWhole, 1, kVMin, kNorm, kEpAware, kSent, kLoop},
        {kExperts, 1, 1, 2, 2, 2, kSliced, 1, kDualPipeV, kAll, kSharded, kGathered, kGrouped},
        {kExperts, 1, 1, 1, 4, 2, kWhole, 1, kDualPipe, kAll, kSharded, kSent, kFused},
        {kExperts, 1, 1, 1, 4, 1, kWhole, 1, kZbH2, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 1, 4, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kEpAware, kSent, kFused},
        {kExperts, 2, 2, 2, 2, 1, kSliced, 1, kZbH1, kNothing, kEpAware, kSent, kFused},
        {kExperts, 2, 2, 1, 4, 1, kWhole, 1, kZbH2, kHalves, kSharded, kSent, kGrouped},
        {kExperts, 2, 1, 2, 2, 2, kWhole, 1, kZbv, kAll, kSharded, kSent, kLoop},
        {kExperts, 2, 1, 1, 2, 2, kWhole, 1, kVHalf, kNothing, kReplicated, kGathered, kGrouped},
        {kExperts, 1, 2, 4, 2, 2, kSliced, 1, kVMin, kExpert, kEpAware, kSent, kFused},
        {kExperts, 2, 1, 4, 2, 2, kSliced, 1, kDualPipeV, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 1, 2, 2, 2, 2, kSliced, 1, kDualPipe, kHalves, kSharded, kGathered, kFused},
        {kExperts, 1, 1, 2, 4, 2, kWhole, 1, kDualPipe, kExpert, kReplicated, kSent, kLoop},
        {kDense, 2, 1, 2, 2, 1, kWhole, 1, kZbH1, kAll, kSharded, kSent, kGrouped},
        {kDense, 1, 1, 1, 2, 2, kWhole, 1, kZbv, kAttention, kReplicated, kSent, kGrouped},
        {kDense, 2, 1, 1, 2, 2, kWhole, 1, kVHalf, kAll, kEpAware, kSent, kGrouped},
        {kDense, 1, 1, 4, 2, 2, kSliced, 1, kVMin, kNothing, kSharded, kSent, kGrouped},
        {kDense, 2, 1, 2, 2, 2, kSliced, 1, kDualPipeV, kNorm, kEpAware, kSent, kGrouped},
        {kDense, 2, 1, 2, 2, 2, kSliced, 1, kDualPipe, kNorm, kEpAware, kSent, kGrouped},
        {kDense, 2, 1, 1, 2, 2, kWhole, 1, kDualPipe, kNothing, kReplicated, kSent, kGrouped},
        {kGlobalLoss, 1, 2, 1, 2, 2, kWhole, 1, kDualPipe, kNothing, kEpAware, kGathered, kGrouped},
        {kGlobalLoss, 1, 2, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kEpAware, kGathered, kGrouped},
        {kGlobalLoss, 2, 1, 2, 2, 1, kSliced, 1, kZbH2, kAll, kSharded, kSent, kFused},
        {kShared, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kShared, 1, 1, 2, 2, 1, kSliced, 1, kZbH1, kNothing, kReplicated, kSent, kFused},
        {kShared, 1, 4, 2, 1, 1, kWhole, 1, k1f1b, kExpert, kEpAware, kGathered, kGrouped},
        {kShared, 1, 2, 1, 4, 1, kWhole, 1, kZbH2, kNorm, kEpAware, kSent, kFused},
        {kShared, 1, 2, 2, 2, 2, kSliced, 1, kZbv, kNothing, kSharded, kGathered, kLoop},
        {kShared, 1, 2, 2, 2, 2, kSliced, 1, kDualPipeV, kAll, kEpAware, kSent, kFused},
        {kShared, 1, 2, 1, 2, 2, kWhole, 1, kDualPipe, kLayer, kSharded, kSent, kGrouped},
        {kLatent, 1, 1, 4, 1, 1, kSliced, 2, k1f1b, kNothing, kReplicated, kSent, kGrouped},
        {kLatent, 1, 2, 1, 2, 1, kWhole, 1, k1f1b, kAttention, kEpAware, kSent, kFused},
        {kLatent, 1, 2, 2, 2, 1, kWhole, 1, kZbH2, kNothing, kSharded, kGathered, kGrouped},
        {kLatent, 2, 1, 2, 2, 2, kSliced, 1, kZbv, kNorm, kSharded, kSent, kLoop},
        {kLatent, 2, 2, 1, 4, 1, kWhole, 1, kZbH1, kAll, kEpAware, kSent, kFused},
        {kLatent, 1, 2, 4, 2, 2, kSliced, 1, kInterleaved, kHalves, kEpAware, kGathered, kFused},
        {kGpt, 2, 1, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kGpt, 1, 1, 1, 4, 1, kWhole, 1, kZbH2, kNothing, kReplicated, kSent, kGrouped},
        {kGpt, 2, 1, 2, 2, 1, kWhole, 1, k1f1b, kAll, kEpAware, kSent, kGrouped},
        {kGpt, 2, 1, 4, 2, 2, kSliced, 1, kInterleaved, kAttention, kSharded, kSent, kGrouped},
        {kGpt, 1, 1, 2, 4, 2, kSliced, 1, kDualPipe, kNothing, kSharded, kSent, kGrouped},
        {kExperts, 2, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kReplicated, kSent, kGrouped, kSums},
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped, kSums},
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNorm, kEpAware, kGathered, kFused, kSums},
        {kExperts, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kExpert, kSharded, kSent, kFused, kSums},
        {kExperts, 2, 1, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kSharded, kSent, kGrouped, kSums},
        {kExperts, 2, 1, 1, 2, 2, kWhole, 1, kInterleaved, kAll, kEpAware, kSent, kLoop, kSums},
        {kExperts, 2, 1, 2, 2, 2, kSliced, 1, kZbv, kNothing, kSharded, kSent, kFused, kSums},
        {kExperts, 2, 1, 2, 2, 2, kWhole, 1, kDualPipeV, kAttention, kEpAware, kSent, kGrouped, kSums},
        {kExperts, 2, 1, 2, 2, 2, kWhole, 1, kDualPipe, kAttention, kEpAware, kSent, kGrouped, kSums},
        {kExperts, 2, 2, 2, 2, 1, kSliced, 1, kZbH2, kHalves, kSharded, kSent, kGrouped, kSums},
        {kExperts, 4, 2, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kGathered, kLoop, kSums},
        {kExperts, 2, 4, 1, 2, 1, kWhole, 1, k1f1b, kNothing, kReplicated, kSent, kGrouped, kSums},
        {kDense, 4, 1, 1, 1, 1, kWhole, 2, k1f1b, kNothing, kSharded, kSent, kGrouped, kSums},
        {kDense, 2, 1, 2, 2, 2, kSliced, 1, kVMin, kNorm, kSharded, kSent, kGrouped, kSums},
        {kDense, 2, 1, 1, 4, 1, kWhole, 1, kGpipe, kAll, kReplicated, kSent, kGrouped, kSums},
        {kGlobalLoss, 2, 2, 2, 2, 1, kSliced, 1, k1f1b, kAll, kEpAware, kSent, kFused, kSums},
        {kShared, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped, kSums},
        {kLatent, 2, 1, 2, 2, 1, kSliced, 1, kZbH1, kNothing, kSharded, kSent, kFused, kSums},
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kFsdp, kSent, kGrouped},
        {kExperts, 4, 1, 1, 1, 1, kWhole, 1, k1f1b, kAll, kFsdp, kSent, kFused, kNothing, 2},
        {kDense, 4, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kFsdp, kSent, kGrouped, kNothing, 1, kKept},
        {kDense, 2, 1, 2, 2, 1, kSliced, 1, k1f1b, kAttention, kFsdp, kSent, kGrouped, kNothing, 1, kGatheredTwice, 0},
        {kExperts, 2, 1, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kFsdp, kSent, kGrouped},
        {kExperts, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kExpert, kFsdp, kGathered, kGrouped, kNothing, 2},
        {kExperts, 2, 2, 2, 2, 1, kWhole, 1, kGpipe, kNothing, kFsdp, kSent, kLoop, kNothing, 2, kGatheredTwice, 3},
        {kGpt, 2, 1, 2, 1, 1, kSliced, 1, k1f1b, kAll, kFsdp, kSent, kGrouped},
        {kLatent, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kFsdp, kSent, kFused, kNothing, 1, kKept},
        {kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kZero2, kSent, kGrouped},
        {kExperts, 2, 1, 1, 2, 2, kWhole, 1, kInterleaved, kNorm, kZero2, kSent, kFused},
        {kDense, 4, 1, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kZero2, kSent, kGrouped, kNothing, 2},
        {kDense, 2, 1, 1, 2, 2, kWhole, 1, kZbv, kAll, kZero2, kSent, kGrouped, kNothing, 2},
        {kExperts, 2, 2, 1, 2, 1, kWhole, 1, kZbH2, kNothing, kZero2, kGathered, kGrouped},
        {kGpt, 4, 1, 1, 1, 1, kWhole, 2, k1f1b, kNothing, kZero2, kSent, kGrouped, kNothing, 2},
        {kExperts, 2, 2, 1, 2, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped, kNothing, 2},
        {kExperts, 1, 2, 1, 2, 1, kWhole, 1, k1f1b, kLayer, kEpAware, kSent, kGrouped},
        {kExperts, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kParts, kSharded, kGathered, kLoop},
        {kDense, 2, 1, 2, 2, 2, kSliced, 1, kInterleaved, kLayer, kFsdp, kSent, kGrouped},
        {kShared, 1, 2, 2, 1, 1, kSliced, 1, k1f1b, kSharedParts, kEpAware, kSent, kFused},
        {kShared, 1, 2, 1, 2, 2, kWhole, 1, kZbv, kLayer, kSharded, kSent, kGrouped},
        {kLatent, 2, 2, 1, 2, 1, kWhole, 1, kZbH1, kLatentParts, kEpAware, kSent, kFused},
        {kGpt, 2, 1, 2, 1, 1, kSliced, 1, k1f1b, kCore, kSharded, kSent, kGrouped},
        {kGlobalLoss, 1, 2, 1, 2, 2, kWhole, 1, kZbv, kNothing, kSharded, kSent, kGrouped},
        {kGlobalLoss, 1, 1, 2, 2, 2, kSliced, 1, kDualPipeV, kAll, kSharded, kSent, kFused},
        {kGptExperts, 1, 2, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kSent, kGrouped},
        {kGptExperts, 2, 2, 1, 2, 1, kWhole, 1, kZbH1, kExpert, kEpAware, kGathered, kLoop},
        {kGptExperts, 2, 1, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kFsdp, kSent, kFused},
        {kPredicting, 1, 2, 2, 2, 1, kSliced, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped},
        {kPredicting, 2, 1, 1, 2, 2, kWhole, 1, kZbv, kAll, kSharded, kSent, kFused},
        {kPredicting, 2, 2, 1, 1, 1, kWhole, 2, k1f1b, kNothing, kReplicated, kGathered, kLoop},
        {kCapacity, 1, 2, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kGathered, kGrouped},
        {kCapacity, 2, 2, 1, 2, 1, kWhole, 1, kZbH1, kNothing, kEpAware, kGathered, kLoop},
        {kWindowed, 2, 1, 2, 2, 1, kSliced, 1, k1f1b, kAttention, kSharded, kSent, kGrouped},
    };
}

/// Of a layout above with as many ranks of dp and ep as share sequences or more: cp of them do.
VerifyLayout with_cp(VerifyLayout layout, int cp, const char* context, int all_to_all = 1) {
    layout.cp = cp, layout.context = context, layout.context_all_to_all = all_to_all;
    return layout;
}
VerifyLayout with_etp(VerifyLayout layout, int etp) {
    layout.etp = etp;
    return layout;
}

/// Sequences over several ranks: models, dp, ep, tp, pp and so on as above.
std::vector<VerifyLayout> context_layouts() {
    constexpr bool kWhole = false, kSliced = true;
    constexpr const char *kGather = "all-gather", *kHeads = "all-to-all", *kRing = "ring", *kTwoLevel = "two-level";
    return {
        with_cp({kDense, 2, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 2, kGather),
        with_cp({kExperts, 4, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kReplicated, kSent, kGrouped}, 4, kRing),
        with_cp({kGpt, 2, 1, 1, 1, 1, kWhole, 2, k1f1b, kNothing, kSharded, kSent, kGrouped}, 2, kHeads),
        with_cp({kLatent, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kSent, kGrouped}, 4, kTwoLevel, 2),
        with_cp({kExperts, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kAttention, kEpAware, kSent, kFused}, 2, kGather),
        with_cp({kExperts, 2, 2, 2, 1, 1, kSliced, 1, k1f1b, kAll, kSharded, kGathered, kGrouped}, 4, kGather),
        with_cp({kShared, 2, 1, 2, 2, 1, kSliced, 1, kZbH1, kNothing, kSharded, kSent, kGrouped}, 2, kGather),
        with_cp({kDense, 4, 1, 1, 1, 1, kWhole, 1, k1f1b, kAttention, kReplicated, kSent, kGrouped}, 4, kHeads),
        with_cp({kShared, 2, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kFused}, 2, kHeads),
        with_cp({kExperts, 2, 1, 2, 2, 1, kSliced, 1, kZbH1, kAttention, kEpAware, kSent, kLoop}, 2, kHeads),
        with_cp({kLatent, 2, 1, 1, 2, 1, kWhole, 1, k1f1b, kAttention, kSharded, kSent, kGrouped}, 2, kRing),
        with_cp({kExperts, 2, 2, 1, 2, 2, kWhole, 1, kInterleaved, kNothing, kEpAware, kSent, kFused, kSums}, 2, kRing),
        with_cp({kShared, 4, 1, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 4, kRing),
        with_cp({kGpt, 2, 1, 2, 2, 1, kWhole, 1, kZbH2, kNothing, kSharded, kSent, kGrouped}, 2, kRing),
        with_cp({kExperts, 4, 2, 1, 1, 1, kWhole, 1, k1f1b, kHalves, kSharded, kGathered, kLoop}, 4, kTwoLevel, 2),
        with_cp({kWindowed, 2, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 2, kGather),
        with_cp({kWindowed, 4, 1, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 4, kRing),
        with_cp({kDense, 4, 1, 2, 2, 1, kSliced, 1, kZbH1, kNothing, kEpAware, kSent, kGrouped}, 4, kTwoLevel, 2),
    };
}

/// Experts split over fewer ranks than the rest, or over more.
std::vector<VerifyLayout> expert_split_layouts() {
    constexpr bool kWhole = false, kSliced = true;
    return {
        with_etp({kExperts, 2, 2, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 1),
        with_etp({kExperts, 1, 2, 1, 1, 1, kWhole, 1, k1f1b, kNothing, kEpAware, kGathered, kFused}, 2),
        with_etp({kLatent, 2, 2, 4, 1, 1, kSliced, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 2),
        with_etp({kExperts, 1, 4, 2, 2, 1, kSliced, 1, kZbH1, kExpert, kEpAware, kSent, kFused}, 1),
        with_etp({kShared, 2, 2, 1, 2, 1, kWhole, 1, k1f1b, kAll, kSharded, kSent, kLoop}, 2),
        with_etp({kGptExperts, 1, 2, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kFused}, 4),
        with_etp({kShared, 1, 4, 2, 1, 1, kSliced, 1, k1f1b, kNothing, kReplicated, kGathered, kGrouped}, 1),
        with_cp(with_etp({kExperts, 2, 4, 2, 1, 1, kWhole, 1, k1f1b, kNothing, kSharded, kSent, kGrouped}, 1), 2,
                "ring"),
    };
}

/// Layers whose activations wait in host memory: some of a stage, all, and recomputed ones.
std::vector<VerifyLayout> offload_layouts() {
    return {{.dp = 2, .ep = 2, .offload_layers = 1},
            {.model = kDense, .tp = 2, .pp = 2, .sequence_parallel = true, .schedule = kZbH1, .offload_layers = 2},
            {.model = kLatent, .ep = 2, .pp = 2, .recompute = kLayer, .dispatch = kGathered, .offload_layers = 1}};
}

}  // namespace

std::string VerifyLayout::grid() const {
    std::string text;
    const auto add = [&text](const char* name, int size, const std::string& more) {
        if (size > 1) {
            text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(size) + more;
        }
    };
    add("dp", dp, "");
    add("ep", ep, "");
    add("tp", tp, sequence_parallel ? " sliced" : "");
    if (expert_tp() != tp) {
        text += (text.empty() ? "" : ", ") + std::string("etp ") + std::to_string(expert_tp());
    }
    add("cp", cp, "");
    add("pp", pp, virtual_stages > 1 ? " x " + std::to_string(virtual_stages) : "");
    return text.empty() ? "one rank" : text;
}

std::string VerifyLayout::choices() const {
    std::string text;
    const auto add = [&text](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
    if (pp > 1) {
        add(schedule);
    }
    if (cp > 1) {
        const std::string how = context;
        add(how == "all-gather" ? "keys gathered" : how == "all-to-all" ? "heads exchanged" : how);
    }
    if (model != VerifyModel::kDense && model != VerifyModel::kGpt && model != VerifyModel::kWindowed) {
        if (ep > 1) {
            add(dispatch == std::string(kGathered) ? "all-gather" : "all-to-all");
        }
        add(kernels);
    }
    if (dp * ep * expert_tp() > tp) {
        add(optimizer + (shard_replicas > 1 ? " x " + std::to_string(shard_replicas) : std::string()));
    }
    if (!reshard_after_forward) {
        add("weights kept");
    }
    if (prefetch != 1) {
        add("prefetch " + std::to_string(prefetch));
    }
    for (std::size_t i = 0; i < recompute.size(); ++i) {
        add((i == 0 ? "recompute " : "") + std::string(recompute[i]));
    }
    if (offload_layers > 0) {
        add("offload " + std::to_string(offload_layers));
    }
    for (std::size_t i = 0; i < overlap.size(); ++i) {
        add((i == 0 ? "overlap " : "") + std::string(overlap[i]));
    }
    return text;
}

std::string VerifyLayout::plan_text(const std::string& routing) const {
    const auto list = [](const std::vector<const char*>& words) {
        std::string text;
        for (const char* const word : words) {
            text += (text.empty() ? "" : ", ") + json_quote(word);
        }
        return "[" + text + "]";
    };
    const auto number = [](const char* key, int value) {
        return json_quote(key) + ": " + std::to_string(value) + ",\n ";
    };
    const auto text = [](const char* key, const char* value) {
        return json_quote(key) + ": " + json_quote(value) + ",\n ";
    };
    const auto of_fsdp = [&] {
        return std::string("\"reshard_after_forward\": ") + (reshard_after_forward ? "true" : "false") + ",\n " +
               number("prefetch", prefetch);
    };
    return "{" + number("dp", dp) + number("ep", ep) + number("tp", tp) + number("etp", expert_tp()) +
           number("cp", cp) + text("context_parallel", context) +
           (context_all_to_all > 1 ? number("context_all_to_all", context_all_to_all) : std::string()) +
           number("pp", pp) + number("virtual_stages", virtual_stages) + number("offload_layers", offload_layers) +
           number("micro_batch_size", micro_batch_size) + number("micro_batches", micro_batches()) +
           text("schedule", schedule) + text("precision", "fp32") + text("gradient_dtype", "fp32") +
           text("optimizer", optimizer) + number("shard_replicas", shard_replicas) +
           (optimizer == std::string(kFsdp) ? of_fsdp() : "") + text("dispatch", dispatch) +
           text("expert_kernels", kernels) + "\"sequence_parallel\": " + (sequence_parallel ? "true" : "false") +
           ",\n \"recompute\": " + list(recompute) + ",\n \"overlap\": " + list(overlap) +
           ",\n \"routing\": " + routing + "}\n";
}

const std::vector<VerifyLayout>& verify_layouts() {
    static const std::vector<VerifyLayout> kLayouts = [] {
        std::vector<VerifyLayout> all = make_layouts();
        for (const std::vector<VerifyLayout>& more : {context_layouts(), expert_split_layouts(), offload_layouts()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return kLayouts;
}

}  // namespace auspex::workflows
