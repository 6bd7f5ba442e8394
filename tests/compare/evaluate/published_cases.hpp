#pragma once
/// @file Made-up cases of published runs, and the shipped table of names.
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

inline constexpr const char* kGpt = R"({"id": "gpt3", "source": "made up", "hardware": {"gpu": "G", "gpus_per_node": 8},
  "gpus": 1024, "precision": "fp16", "framework": "F",
  "model": {"layers": 96, "hidden": 12288, "heads": 96, "ffn": 49152, "vocab": 51200, "seq": 2048},
  "plan": {"tp": 8, "pp": 16, "vpp": 3, "micro_batch": 1, "global_batch": 1536, "seq_parallel": true,
           "zero": "none", "recompute": "full"},
  "measured": {}})";

inline constexpr const char* kMixture =
    R"j({"id": "x", "source": "made up", "hardware": {"gpu": "G", "gpus_per_node": 8},
  "gpus": 256, "precision": "fp16", "framework": "F",
  "model": {"layers": 28, "hidden": 2048, "heads": 16, "ffn": 1408, "experts": 64, "topk": 6, "moe_ffn": 1408,
            "vocab": 50304, "seq": 2048},
  "plan": {"tp": 2, "ep": 8, "micro_batch": 1, "global_batch": 8192, "zero": "1", "recompute": "none"},
  "measured": {"tflops_per_gpu": 40}, "how_flops_counted": "DeepSpeed-MoE style TFLOPs (active-parameter FLOPs)"})j";

inline JsonDocument cases(const std::string& one) { return JsonDocument::parse("[" + one + "]", "cases.json"); }

/// The case with other values: pairs of a dotted path and JSON.
inline PublishedRun run_with(const std::string& text, const std::vector<std::pair<std::string, std::string>>& values) {
    JsonDocument document = JsonDocument::parse(text, "case.json");
    for (const auto& [path, value] : values) {
        document.set(path, value);
    }
    return load_published_runs(cases(document.dump())).front();
}

inline RunNames::Framework framework() {
    RunNames::Framework f;
    f.gradient_dtype = "fp32", f.expert_kernels = "grouped", f.dispatch = "alltoall";
    f.overlap = {"dp", "tp", "pp"}, f.recompute_unstated = "none";
    return f;
}

inline const RunNames& shipped() {
    static const RunNames names =
        load_run_names(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/published/runs.json"));
    return names;
}

}  // namespace auspex::evaluate
