/// @file Program, data and routing against what the executor can do.
#include "exec/run/run_checks.hpp"

#include "base/error.hpp"
#include "exec/run/collection.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::exec {
namespace {

void check_operations(const RunInputs& run) {
    std::vector<std::string> found = unbound_operations(run.workload, run.plan, run.stack, run.program);
    const std::vector<std::string> refused = schedule::refused_settings(run.workload, run.plan, run.stack);
    found.insert(found.end(), refused.begin(), refused.end());
    if (!found.empty()) {
        const std::size_t more = found.size() - 1;
        throw InputError(run.plan.file, "the trainer does not run this: " + found.front() +
                                            (more > 0 ? ", and " + std::to_string(more) + " more" : std::string()) +
                                            " (auspex program --check-executor lists all)");
    }
}

void check_precision(const models::Plan& plan) {
    constexpr double kBytesOfFp32 = 4;
    if (plan.precision == "fp32" && plan.gradient_bytes != kBytesOfFp32) {
        throw InputError(plan.file + ": $.gradient_dtype", "found bf16 with precision fp32; expected fp32 for both");
    }
}

void check_data(const models::Workload& workload, const TrainingData& data) {
    if (data.sequence_length() != workload.sequence_length) {
        throw InputError("--data " + data.path(), "found sequences of " + std::to_string(data.sequence_length()) +
                                                      " tokens; expected " + std::to_string(workload.sequence_length) +
                                                      ", the sequence_length of " + workload.name);
    }
    if (data.vocabulary() > workload.vocab_size) {
        throw InputError("--data " + data.path(), "found a vocabulary of " + std::to_string(data.vocabulary()) +
                                                      "; expected at most " + std::to_string(workload.vocab_size) +
                                                      ", the vocab_size of " + workload.name);
    }
}

void check_record(const RunInputs& run) {
    const models::RoutingRecord& record = *run.plan.routing.record;
    const models::RoutingRecord wanted = empty_routing_record(run, 0, 0);
    const auto check = [&](const char* what, int found, int expected) {
        if (found != expected) {
            throw InputError(run.plan.routing.trace_file, "found " + std::to_string(found) + " " + what +
                                                              "; expected " + std::to_string(expected) + " as in " +
                                                              run.workload.name + " with " + run.plan.name);
        }
    };
    check("MoE layers", record.layers, wanted.layers);
    check("experts a token", record.top_k, wanted.top_k);
    check("experts", record.num_experts, wanted.num_experts);
    check("tokens a step", record.tokens, wanted.tokens);
}

void check_routing(const RunInputs& run, const RunOptions& options) {
    if (run.plan.routing.kind == models::RoutingDistribution::kTrace) {
        check_record(run);
    }
    if (!options.record_routing.empty() && run.workload.num_experts == 0) {
        throw InputError("--record-routing", run.workload.name + " has no experts; expected a model that has");
    }
}

}  // namespace

void check_run(const RunInputs& run, const RunOptions& options, const TrainingData& data) {
    check_precision(run.plan);
    check_operations(run);
    check_data(run.workload, data);
    check_routing(run, options);
}

RoutingSource routing_of(const RunInputs& run, int first_step, int end_step) {
    const models::Routing& routing = run.plan.routing;
    RoutingSource source;
    source.mode = routing.kind == models::RoutingDistribution::kUniform ? RoutingMode::kUniform
                  : routing.kind == models::RoutingDistribution::kTrace ? RoutingMode::kReplayed
                                                                        : RoutingMode::kLearned;
    if (source.mode == RoutingMode::kReplayed) {
        source.replay = routing.record.get();
        const int end = source.replay->first_step + source.replay->steps;
        if (first_step < end_step && (first_step < source.replay->first_step || end_step > end)) {
            throw InputError(routing.trace_file, "found steps " + std::to_string(source.replay->first_step) + " to " +
                                                     std::to_string(end - 1) + "; expected " +
                                                     std::to_string(first_step) + " to " +
                                                     std::to_string(end_step - 1));
        }
    }
    return source;
}

}  // namespace auspex::exec
