/// @file Scratch folder, made-up data, plans as files.
#include "cli/verify_session.hpp"

#include <filesystem>

#include "base/json.hpp"
#include "base/output_file.hpp"
#include "cli/input_files.hpp"
#include "cli/verify_text.hpp"
#include "exec/data/prepare.hpp"
#include "report/training/executor_report.hpp"

namespace auspex {

VerifySession::VerifySession(const Options& options)
    : folder_(temporary_folder(), "auspex-verify-"),
      data_(options.data),
      workload_(options.workload.empty() ? "toy-moe" : options.workload) {
    constexpr int kSteps = 50;
    steps_ = options.train.steps.value_or(kSteps);
    if (data_.empty()) {
        make_data();
    }
}

void VerifySession::make_data() {
    constexpr std::size_t kBytes = 200'000;
    constexpr int kVocabulary = 512;
    const Workload workload = load_workload(load_document("workload", workload_, {}));
    const std::string text = scratch() + "/text.txt";
    write_file(text, made_up_text(kBytes, 1));
    PrepareRequest request;
    request.inputs = {text};
    request.learns_merges = workload.vocab_size > kVocabulary / 2 + 1;
    request.vocabulary = std::min(workload.vocab_size, kVocabulary);
    request.sequence_length = workload.sequence_length;
    request.folder = data_ = scratch() + "/data";
    static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
}

std::string VerifySession::workload_of(VerifyModel model) const {
    switch (model) {
        case VerifyModel::kExperts: return workload_;
        case VerifyModel::kDense: return "toy-dense";
        case VerifyModel::kGlobalLoss: return "toy-moe-global";
    }
    return "";
}

std::vector<std::string> VerifySession::flags_of(const VerifyLayout& layout, const std::string& routing, int steps,
                                                 bool steady_rate) const {
    const std::string plan = scratch() + "/plan.json", workload = workload_of(layout.model);
    write_file(plan, layout.plan_text(routing));
    std::vector<std::string> flags{"--workload", workload, "--plan",  plan,
                                   "--data",     data_,    "--steps", std::to_string(steps)};
    const auto set = [&flags](const std::string& text) {
        flags.insert(flags.end(), {"--set", "workload.training." + text});
    };
    const JsonDocument document = load_document("workload", workload, {});
    if (load_workload(document).training.learning_rate > kVerifyRate) {
        set("learning_rate=" + json_number(kVerifyRate));
    }
    // With a small epsilon AdamW takes the same step whatever constant all gradients of a tensor are multiplied by, and
    // losses would not show it.
    if (routing == kForcedRouting) {
        set("epsilon=" + json_number(kForcedEpsilon));
    }
    if (steady_rate && document.root().find("training")) {
        set("decay_steps=1000000");
    }
    return flags;
}

std::string VerifySession::without_scratch(std::string text) const {
    const std::string folder = scratch() + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
        text.erase(at, folder.size());
    }
    return text;
}

std::string replayed_routing(const std::string& file) { return "{\"trace\": " + json_quote(file) + "}"; }

}  // namespace auspex
