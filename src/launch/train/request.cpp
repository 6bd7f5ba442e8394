/// @file A run's flags.
#include "launch/train/request.hpp"

#include "base/json.hpp"

namespace auspex::launch {

std::vector<std::string> to_arguments(const TrainRequest& request) {
    std::vector<std::string> arguments;
    const auto add = [&arguments](const char* flag, const std::string& value) {
        if (!value.empty()) {
            arguments.insert(arguments.end(), {flag, value});
        }
    };
    const auto add_count = [&add](const char* flag, int count) { add(flag, count > 0 ? std::to_string(count) : ""); };
    const auto add_switch = [&arguments](const char* flag, bool is_on) {
        if (is_on) {
            arguments.emplace_back(flag);
        }
    };
    add("--workload", request.workload);
    add("--plan", request.plan);
    add("--stack", request.stack);
    for (const std::string& text : request.overrides) {
        add("--set", text);
    }
    add("--data", request.data);
    add_count("--ranks", request.ranks);
    add("--steps", std::to_string(request.steps));
    add("--seed", std::to_string(request.seed));
    add("--checkpoint", request.checkpoint);
    add_count("--checkpoint-every", request.checkpoint_every);
    add_count("--model-every", request.model_every);
    add_switch("--resume", request.resumes);
    add("--weights", request.weights);
    add("--export-weights", request.export_weights);
    add("--export-gradients", request.export_gradients);
    add("--record-routing", request.record_routing);
    add("--trace", request.trace);
    add("--plot", request.plot);
    add_switch("--probe-cores", request.probes_cores);
    add("--inject", request.fault);
    add_switch("--supervise", request.is_supervised);
    add_count("--buffer-ranks", request.buffer_ranks);
    add("--hang-timeout", request.hang_timeout_s > 0 ? json_number(request.hang_timeout_s) : "");
    add("--max-restarts", request.max_restarts ? std::to_string(*request.max_restarts) : "");
    add("--hostfile", request.hostfile);
    if (!request.mpirun_flags.empty()) {
        arguments.push_back("--mpirun=" + request.mpirun_flags);
    }
    return arguments;
}

}  // namespace auspex::launch
