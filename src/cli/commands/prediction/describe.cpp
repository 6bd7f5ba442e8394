/// @file auspex describe: what a workload is, in closed form.
#include <iostream>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/model_text.hpp"
#include "launch/input_files.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

/// Mixed-precision AdamW: bf16 weight and gradient, fp32 master weight and two moments.
constexpr double kTrainingStateBytes = 2 + 2 + 4 + 4 + 4;
constexpr double kBf16Bytes = 2;

using Rows = std::vector<std::pair<const char*, double>>;

Rows rows_of(const models::ParameterCount& count) {
    return {{"embedding", count.embedding},
            {"positions", count.positions},
            {"attention", count.attention},
            {"norm", count.norm},
            {"dense_feed_forward", count.dense_feed_forward},
            {"router", count.router},
            {"experts", count.experts},
            {"shared_experts", count.shared_experts},
            {"lm_head", count.lm_head},
            {"prediction", count.prediction},
            {"total", count.total()}};
}

Rows rows_of(const models::TokenFlop& flop) {
    return {{"attention_projections", flop.attention_projections},
            {"attention_scores", flop.attention_scores},
            {"dense_feed_forward", flop.dense_feed_forward},
            {"router", flop.router},
            {"experts", flop.experts},
            {"shared_experts", flop.shared_experts},
            {"lm_head", flop.lm_head},
            {"prediction", flop.prediction},
            {"forward", flop.forward()},
            {"training", flop.training()}};
}

void write_rows(JsonWriter& json, const char* name, const Rows& rows) {
    json.key(name).begin_object();
    for (const auto& [key, value] : rows) {
        json.member(key, value);
    }
    json.end_object();
}

void print_json(const models::Workload& workload, const JsonDocument& document, const models::Plan* plan,
                const Options& options) {
    JsonWriter json(answer_stream(options));
    const double total = count_parameters(workload).total();
    json.begin_object().member("name", workload.name).member("file", workload.file).member("sha256", document.sha256());
    json.key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().member("version", AUSPEX_VERSION).key("parameters").begin_object();
    write_rows(json, "total", rows_of(count_parameters(workload)));
    write_rows(json, "active", rows_of(count_active_parameters(workload)));
    json.end_object();
    write_rows(json, "flop_per_token", rows_of(count_token_flop(workload)));
    json.key("bytes").begin_object();
    json.member("weights_bf16", whole(kBf16Bytes * total))
        .member("training_state", whole(kTrainingStateBytes * total))
        .end_object();
    if (plan != nullptr) {
        json.key("plan").begin_object().member("name", plan->name);
        json.member("dp", plan->dp).member("ep", plan->ep).member("etp", plan->etp).member("tp", plan->tp);
        json.member("pp", plan->pp).member("cp", plan->cp).member("tiles", tiles_of(*plan)).end_object();
    }
    json.end_object();
}

std::string padded(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

void print_text(const models::Workload& workload, const models::Plan* plan) {
    const Rows total = rows_of(count_parameters(workload));
    const Rows active = rows_of(count_active_parameters(workload));
    std::cout << workload.name << ": " << counted(workload.layers, "layer") << ", hidden size " << workload.hidden_size
              << ", sequence " << workload.sequence_length;
    if (workload.num_experts > 0) {
        std::cout << ", " << workload.num_experts << " experts, " << workload.top_k << " active";
    }
    std::cout << "\n\nparameters                     total          active a token\n";
    for (std::size_t row = 0; row < total.size(); ++row) {
        if (total[row].second > 0) {
            std::cout << "  " << total[row].first
                      << padded(parameters_text(total[row].second), 34 - std::string(total[row].first).size())
                      << padded(parameters_text(active[row].second), 24) << "\n";
        }
    }
    std::cout << "\nFLOP a token (2 per multiply-add, causal attention)\n";
    for (const auto& [name, value] : rows_of(count_token_flop(workload))) {
        if (value > 0) {
            std::cout << "  " << name << padded(short_count(value), 34 - std::string(name).size()) << "\n";
        }
    }
    const double parameters = total.back().second;
    std::cout << "\nbytes of the whole model\n  weights in bf16        "
              << format_quantity(kBf16Bytes * parameters, Dimension::kBytes) << "\n  training state         "
              << format_quantity(kTrainingStateBytes * parameters, Dimension::kBytes)
              << " (AdamW, 16 bytes a parameter: bf16 weight and gradient, fp32 master weight and two moments)\n";
    if (plan != nullptr) {
        std::cout << "\nplan " << plan->name << ": " << thousands(tiles_of(*plan)) << " tiles = pp " << plan->pp
                  << " x dp " << plan->dp << " x ep " << plan->ep << " x etp " << plan->etp << "; tp " << plan->tp
                  << ", cp " << plan->cp << "\n";
    }
}

}  // namespace

void run_describe(const Options& options) {
    std::vector<std::string> roles{"workload"};
    if (!options.plan.empty()) {
        roles.emplace_back("plan");
    } else if (!options.tiles.empty()) {
        throw InputError(options.search.tiles_flag, "found no --plan; expected one that says how the tiles are used");
    }
    if (!options.machine.empty() && options.nodes.empty()) {
        throw InputError("--machine", "found without --nodes; expected both: it says how many tiles they have");
    }
    if (!options.machine.empty()) {
        roles.emplace_back("machine");
    }
    launch::require_roles(options.overrides, roles);
    const JsonDocument document = launch::load_document("workload", options.workload, options.overrides);
    const models::Workload workload = models::load_workload(document);
    std::optional<models::Plan> plan;
    if (!options.plan.empty()) {
        plan = models::load_plan(launch::load_document("plan", options.plan, options.overrides));
        forget_dp(options, *plan);
        plan = resolve_plan(*plan, workload, options.tiles.empty() ? 0 : options.tiles.front());
    }
    if (options.json) {
        print_json(workload, document, plan ? &*plan : nullptr, options);
    } else {
        print_text(workload, plan ? &*plan : nullptr);
    }
}

}  // namespace auspex::cli
