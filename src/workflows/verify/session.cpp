/// @file Scratch folder, made-up data, plans as files.
#include "workflows/verify/session.hpp"

#include <filesystem>

#include "base/json.hpp"
#include "base/output_file.hpp"
#include "exec/data/synthetic_text.hpp"
#include "launch/input_files.hpp"
#include "models/workload.hpp"
#include "report/training/executor_report.hpp"

namespace auspex::workflows {

VerifySession::VerifySession(const VerifyRequest& request)
    : folder_(launch::temporary_folder(), "auspex-verify-"),
      data_(request.data),
      workload_(request.workload),
      steps_(request.steps) {
    if (data_.empty()) {
        make_data();
    }
}

void VerifySession::make_data() {
    const models::Workload workload = models::load_workload(launch::load_document("workload", workload_, {}));
    data_ = exec::make_synthetic_dataset(workload.vocab_size, workload.sequence_length, scratch());
}

std::string VerifySession::workload_of(VerifyModel model) const {
    switch (model) {
        case VerifyModel::kExperts: return workload_;
        case VerifyModel::kDense: return "toy-dense";
        case VerifyModel::kGlobalLoss: return "toy-moe-global";
        case VerifyModel::kShared: return "toy-shared";
        case VerifyModel::kLatent: return "toy-latent";
        case VerifyModel::kGpt: return "toy-gpt";
        case VerifyModel::kGptExperts: return "toy-gpt-moe";
        case VerifyModel::kWindowed: return "toy-windowed";
        case VerifyModel::kPredicting: return "toy-deepseek";
        case VerifyModel::kCapacity: return "toy-capacity";
    }
    return "";
}

launch::TrainRequest VerifySession::run_of(const VerifyLayout& layout, const std::string& routing, int steps,
                                           bool steady_rate) const {
    launch::TrainRequest run;
    run.workload = workload_of(layout.model);
    run.plan = scratch() + "/plan.json";
    run.data = data_;
    run.steps = steps;
    write_file(run.plan, layout.plan_text(routing));
    const auto set = [&run](const std::string& text) { run.overrides.push_back("workload.training." + text); };
    const JsonDocument document = launch::load_document("workload", run.workload, {});
    if (models::load_workload(document).training.learning_rate > report::kVerifyRate) {
        set("learning_rate=" + json_number(report::kVerifyRate));
    }
    // With a small epsilon AdamW takes the same step whatever constant all gradients of a tensor are multiplied by, and
    // losses would not show it.
    if (routing == kForcedRouting) {
        set("epsilon=" + json_number(report::kForcedEpsilon));
    }
    if (steady_rate && document.root().find("training")) {
        set("decay_steps=1000000");
    }
    return run;
}

std::string replayed_routing(const std::string& file) { return "{\"trace\": " + json_quote(file) + "}"; }

}  // namespace auspex::workflows
