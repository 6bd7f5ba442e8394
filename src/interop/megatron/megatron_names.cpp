/// @file Names of arguments.
#include "interop/megatron/megatron_names.hpp"

#include <algorithm>

namespace auspex::interop {
namespace {

/// What an argument does to a step beside what is read here: nothing, or the workload says it.
constexpr std::string_view kPassedOver[]{"--num-layers",
                                         "--hidden-size",
                                         "--ffn-hidden-size",
                                         "--seq-length",
                                         "--max-position-embeddings",
                                         "--vocab-size",
                                         "--position-embedding-type",
                                         "--normalization",
                                         "--swiglu",
                                         "--disable-bias-linear",
                                         "--add-qkv-bias",
                                         "--untie-embeddings-and-output-weights",
                                         "--num-attention-heads",
                                         "--group-query-attention",
                                         "--num-query-groups",
                                         "--kv-channels",
                                         "--qk-layernorm",
                                         "--multi-latent-attention",
                                         "--q-lora-rank",
                                         "--kv-lora-rank",
                                         "--qk-head-dim",
                                         "--qk-pos-emb-head-dim",
                                         "--v-head-dim",
                                         "--num-experts",
                                         "--moe-router-topk",
                                         "--moe-ffn-hidden-size",
                                         "--moe-shared-expert-intermediate-size",
                                         "--moe-layer-freq",
                                         "--moe-expert-capacity-factor",
                                         "--moe-pad-expert-input-to-capacity",
                                         "--mtp-num-layers",
                                         "--mtp-loss-scaling-factor",
                                         "--moe-router-num-groups",
                                         "--moe-router-group-topk",
                                         "--moe-router-score-function",
                                         "--moe-router-pre-softmax",
                                         "--moe-router-topk-scaling-factor",
                                         "--moe-router-enable-expert-bias",
                                         "--moe-router-bias-update-rate",
                                         "--moe-router-load-balancing-type",
                                         "--moe-router-dtype",
                                         "--moe-aux-loss-coeff",
                                         "--moe-z-loss-coeff",
                                         "--use-mcore-models",

                                         "--use-flash-attn",
                                         "--attention-backend",
                                         "--rotary-base",
                                         "--rotary-percent",
                                         "--norm-epsilon",
                                         "--no-masked-softmax-fusion",
                                         "--make-vocab-size-divisible-by",
                                         "--distributed-backend",
                                         "--distributed-timeout-minutes",
                                         "--seed",
                                         "--clip-grad",
                                         "--weight-decay",
                                         "--optimizer",
                                         "--adam-beta1",
                                         "--adam-beta2",
                                         "--adam-eps",
                                         "--bf16",
                                         "--mock-data",
                                         "--split",
                                         "--num-workers",
                                         "--no-create-attention-mask-in-dataloader",
                                         "--override-opt-param-scheduler",
                                         "--no-position-embedding",
                                         "--use-rotary-position-embeddings",
                                         "--lr",
                                         "--min-lr",
                                         "--lr-decay-style",
                                         "--lr-decay-iters",
                                         "--lr-decay-samples",
                                         "--lr-warmup-iters",
                                         "--lr-warmup-samples",
                                         "--lr-warmup-fraction",
                                         "--train-iters",
                                         "--train-samples",
                                         "--train-data-path",
                                         "--save",
                                         "--save-interval",
                                         "--load",
                                         "--vocab-file",
                                         "--merge-file",
                                         "--moe-router-topk-limited-devices"};
constexpr std::string_view kPrefixesPassedOver[]{"--eval-",        "--log-",       "--data-",    "--wandb-",
                                                 "--tensorboard-", "--tokenizer-", "--ckpt-",    "--exit-",
                                                 "--timing-",      "--no-load-",   "--no-save-", "--init-method"};
/// Names of releases before.
constexpr std::string_view kOldNames[]{"--moe-enable-deepep", "--cuda-graph-scope",    "--hybrid-override-pattern",
                                       "--use-dist-ckpt",     "--moe-layer-recompute", "--moe-router-padding-for-fp8"};

}  // namespace

bool changes_no_cost(std::string_view argument) {
    return std::ranges::find(kPassedOver, argument) != std::end(kPassedOver) ||
           std::ranges::any_of(kPrefixesPassedOver,
                               [argument](std::string_view prefix) { return argument.starts_with(prefix); });
}

bool is_of_earlier_release(std::string_view argument) {
    return std::ranges::find(kOldNames, argument) != std::end(kOldNames);
}

}  // namespace auspex::interop
