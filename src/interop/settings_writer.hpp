#pragma once
/// @file Settings of a framework in the making.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "interop/settings.hpp"
#include "models/plan.hpp"

namespace auspex::interop {

/// All that a framework cannot do of a plan, at least one; its own message is that of the first.
class PlanRefusal : public InputError {
 public:
    explicit PlanRefusal(std::vector<InputError> faults) : InputError(faults.front()), faults_(std::move(faults)) {}
    [[nodiscard]] const std::vector<InputError>& faults() const { return faults_; }

 private:
    std::vector<InputError> faults_;
};

/// Collects settings with the fields of the plan that they come from, and what the framework cannot do, by the plan's
/// field: what is refused is known to take() alone, so that who writes goes on behind it.
class SettingsWriter {
 public:
    /// `framework` as sentences name it: "Megatron-LM".
    SettingsWriter(const models::Plan& plan, const char* framework) : plan_(plan), framework_(framework) {}

    void add(const std::string& name, const std::string& value, const std::string& field) {
        settings_.push_back({name, value, "plan." + field});
    }
    void add(const std::string& name, std::int64_t value, const std::string& field) {
        add(name, std::to_string(value), field);
    }
    void add_switch(const std::string& name, const std::string& field) { add(name, "", field); }
    /// One that comes from elsewhere: "workload.sequence_length".
    void add_from(const std::string& name, const std::string& value, const std::string& from) {
        settings_.push_back({name, value, from});
    }

    /// "FILE: $.FIELD: found FOUND; expected EXPECTED with FRAMEWORK".
    void refuse(const char* field, const std::string& found, const std::string& expected);
    /// Refuses unless it holds.
    void require(bool holds, const char* field, const std::string& found, const std::string& expected) {
        if (!holds) {
            refuse(field, found, expected);
        }
    }
    /// Refuses what no framework here has words for: post_validation.
    void require_validation() { require(!plan_.post_validation, "post_validation", "true", "false"); }
    /// Refuses optimizer states that are not in fp32.
    void require_plain_states() { require(!plan_.bf16_states, "optimizer_states", "\"bf16\"", "\"fp32\""); }
    /// Refuses activations in host memory.
    void require_kept_on_device() {
        require(plan_.offload_layers == 0, "offload_layers", std::to_string(plan_.offload_layers), "0");
    }
    /// True where whole layers are recomputed, false where nothing is; refuses what lies between, parts and some
    /// layers.
    [[nodiscard]] bool recomputes_layers() {
        const models::Recompute all = recompute_of(plan_, 0);
        const bool is_whole = all.norm && all.attention && all.expert;
        require((is_whole || all == models::Recompute{}) && plan_.recompute_layers == 0, "recompute",
                is_whole ? "some layers of a stage" : "parts of a layer",
                "\"layer\", all of norm, attention and expert, or nothing,");
        return is_whole;
    }
    /// Refuses 8-bit products and any way but an all-gather to share a sequence.
    void require_plain_products_and_context() {
        require(plan_.fp8 == models::Fp8::kNone, "fp8", std::string("\"") + to_string(plan_.fp8) + "\"", "\"none\"");
        require(plan_.cp == 1 || plan_.context == models::ContextParallel::kAllGather, "context_parallel",
                std::string("\"") + to_string(plan_.context) + "\"", "\"all-gather\"");
    }
    /// Refuses groups that shard by themselves.
    void require_one_shard_group() {
        require(plan_.shard_replicas == 1, "shard_replicas", std::to_string(plan_.shard_replicas), "1");
    }
    /// Refuses weights of fsdp that stay from forward to backward, whole or in shards of neighbours, and others than
    /// one unit gathered ahead.
    void require_plain_gathers() {
        require(plan_.reshard_after_forward, "reshard_after_forward", "false", "true");
        require_one_way_to_shard();
        require_one_gathered_ahead();
    }
    void require_one_way_to_shard() {
        require(plan_.reshard_ranks == 0, "reshard_after_forward", std::to_string(plan_.reshard_ranks),
                "true or false");
    }
    void require_one_gathered_ahead() { require(plan_.prefetch == 1, "prefetch", std::to_string(plan_.prefetch), "1"); }
    /// Refuses every word of plan.overlap, but "dp" where `may_dp`.
    void require_no_overlap(const std::string& why, bool may_dp = false);
    /// Refuses rank_order unless it comes to `slowest_first`, axes of one rank aside.
    void require_order(const std::array<models::Axis, 4>& slowest_first);

    /// Throws PlanRefusal where something was refused.
    [[nodiscard]] Settings take();

 private:
    const models::Plan& plan_;
    const char* framework_;
    Settings settings_;
    std::vector<InputError> faults_;
};

/// Whether the plan's ranks lie as this order has them: axes of one rank may stand anywhere.
[[nodiscard]] bool is_order(const models::Plan& plan, const std::array<models::Axis, 4>& slowest_first);
/// ["pp", "dp", "ep", "tp"]
[[nodiscard]] std::string order_text(const std::array<models::Axis, 4>& slowest_first);
/// Ranks of the dense part that have a batch each: dp ep etp / (tp cp). Requires a resolved plan.
[[nodiscard]] int data_parallel_of(const models::Plan& plan);

}  // namespace auspex::interop
