#pragma once
/// @file Layouts against one rank.
#include <map>

#include "launch/train/child_run.hpp"
#include "report/training/executor_report.hpp"
#include "workflows/verify/layout_judgement.hpp"
#include "workflows/verify/session.hpp"

namespace auspex::workflows {

class LayoutChecks {
 public:
    explicit LayoutChecks(const VerifySession& session) : session_(session) {}

    /// Runs the model on one rank, with forced and with learned routing. Throws InputError where the model and the data
    /// do not fit, std::runtime_error where a run fails.
    void run_single(VerifyModel model);
    [[nodiscard]] bool has_single(VerifyModel model) const { return singles_.contains(model); }

    /// Requires the model's single run. Throws InputError where the layout does not fit the model.
    [[nodiscard]] report::LayoutCheck check(const VerifyLayout& layout);

    /// Curves with learned routing of the first model's single rank and of its first few layouts.
    [[nodiscard]] std::vector<report::LossCurve> take_curves() { return std::move(curves_); }
    /// Of the two layouts that differ in nothing but plain and EP-aware sharding, once both were checked.
    [[nodiscard]] std::vector<report::OptimizerCheck> optimizers() const { return plain_and_ep_aware(sharded_); }

 private:
    struct Single {
        launch::TrainResult forced, learned;
        models::RoutingRecord record;
        std::string record_file;
        bool has_experts = false;
    };
    void check_forced(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check);
    void check_learned(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check);
    void check_replayed(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check);
    [[nodiscard]] launch::TrainResult run(const VerifyLayout& layout, const std::string& routing,
                                          const std::string& record, report::LayoutCheck& check,
                                          exec::RunInputs& inputs) const;
    void add_curve(VerifyModel model, const std::string& name, const launch::TrainResult& run);

    const VerifySession& session_;
    std::map<VerifyModel, Single> singles_;
    std::vector<report::LossCurve> curves_;
    std::vector<ShardedLayout> sharded_;
};

}  // namespace auspex::workflows
