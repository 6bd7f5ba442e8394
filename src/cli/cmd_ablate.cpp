/// @file auspex ablate: what the expert kernels and the optimizer's sharding are worth.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/prediction_output.hpp"
#include "report/text.hpp"

namespace auspex {
namespace {

void print_json(const std::vector<AblationRow>& rows) {
    JsonWriter json(std::cout);
    json.begin_object().key("rows").begin_array();
    for (const AblationRow& row : rows) {
        json.begin_object().member("name", row.name).member("step_time_s", row.prediction.step_time_s);
        json.member("forward_backward_s", row.prediction.forward_backward_s)
            .member("optimizer_s", row.prediction.optimizer_s);
        json.member("optimizer_share", row.optimizer_share);
        json.member("speedup_forward_backward", row.speedup_forward_backward)
            .member("speedup_optimizer", row.speedup_optimizer);
        json.member("speedup_training", row.speedup_training).end_object();
    }
    json.end_array().end_object();
}

void print_text(const std::vector<AblationRow>& rows, const Inputs& inputs) {
    std::cout << inputs.workload.name << " on " << inputs.machine.name << ", "
              << thousands(rows.front().prediction.tiles)
              << " tiles; speed-ups over the baseline (loop experts, sharded optimizer)\n\n"
              << left("", 16) << right("step", 10) << right("fwd-bwd", 10) << right("optimizer", 11)
              << right("share", 9) << right("fwd-bwd x", 12) << right("optimizer x", 13) << right("training x", 12)
              << "\n";
    for (const AblationRow& row : rows) {
        std::cout << left(row.name, 16) << right(duration(row.prediction.step_time_s), 10)
                  << right(duration(row.prediction.forward_backward_s), 10)
                  << right(duration(row.prediction.optimizer_s), 11) << right(percent(row.optimizer_share), 9)
                  << right(fixed(row.speedup_forward_backward, 2), 12) << right(fixed(row.speedup_optimizer, 2), 13)
                  << right(fixed(row.speedup_training, 2), 12) << "\n";
    }
}

}  // namespace

void run_ablate(const Options& options) {
    const Inputs inputs = load_all(options);
    const std::vector<AblationRow> rows = ablate(inputs, options.tiles.empty() ? 0 : options.tiles.front());
    if (options.json) {
        print_json(rows);
    } else {
        print_text(rows, inputs);
    }
}

}  // namespace auspex
