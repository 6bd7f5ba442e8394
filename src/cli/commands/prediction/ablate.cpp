/// @file auspex ablate: what the expert kernels and the optimizer's sharding are worth.
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "cli/output/published/published_training.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/text.hpp"
#include "report/prediction/ablation_page.hpp"

namespace auspex::cli {
namespace {

void print_json(std::ostream& out, const std::vector<predict::AblationRow>& rows, const models::Inputs& inputs,
                const Options& options) {
    JsonWriter json(out);
    json.begin_object();
    write_names(json, inputs, options);
    json.member("tiles", rows.front().prediction.tiles).key("rows").begin_array();
    for (const predict::AblationRow& row : rows) {
        json.begin_object().member("name", row.name).member("step_time_s", row.prediction.step_time_s);
        json.member("forward_backward_s", row.prediction.forward_backward_s)
            .member("optimizer_s", row.prediction.optimizer_s);
        json.member("optimizer_share", row.optimizer_share);
        json.member("speedup_forward_backward", row.speedup_forward_backward)
            .member("speedup_optimizer", row.speedup_optimizer);
        json.member("speedup_training", row.speedup_training).member("fits", row.prediction.memory.fits).end_object();
    }
    json.end_array().end_object();
}

/// What to know before reading the rows.
std::vector<std::string> notes_of(const std::vector<predict::AblationRow>& rows, const models::Inputs& inputs) {
    std::vector<std::string> notes{"The rows override expert_kernels and optimizer of plan " + inputs.plan.name + "."};
    if (inputs.workload.num_experts == 0) {
        notes.emplace_back(
            "The model is dense: it has no experts, so expert kernels and ep-aware sharding change nothing.");
    } else if (rows.front().prediction.ep == 1) {
        notes.emplace_back("With ep = 1 the ep-aware optimizer is the sharded one.");
    }
    return notes;
}

report::AblationPage page_of(const std::vector<predict::AblationRow>& rows, const models::Inputs& inputs,
                             const Options& options) {
    report::AblationPage page{inputs.workload.name,
                              inputs.machine.name,
                              inputs.stack.name,
                              inputs.plan.name,
                              options.command_line,
                              files_of(inputs),
                              overrides_in_words(options),
                              rows,
                              {},
                              notes_of(rows, inputs)};
    for (evaluate::PublishedSpeedup& one : load_published_training().speedups) {
        if (options.overrides.empty() && one.machine == page.machine && one.stack == page.stack &&
            one.workload == page.workload && one.tiles == rows.front().prediction.tiles) {
            page.published.push_back(std::move(one));
        }
    }
    return page;
}

void print_text(const std::vector<predict::AblationRow>& rows, const models::Inputs& inputs, const Options& options) {
    std::cout << inputs.workload.name << " on " << inputs.machine.name << ", "
              << counted(rows.front().prediction.tiles, "tile")
              << "; speed-ups over the baseline (loop experts, sharded optimizer)" << overrides_line(options) << "\n";
    for (const std::string& note : notes_of(rows, inputs)) {
        std::cout << note << "\n";
    }
    std::cout << "\n"
              << left("", 16) << right("step", 10) << right("fwd-bwd", 10) << right("opt. phase", 11)
              << right("share", 9) << right("fwd-bwd x", 12) << right("optimizer x", 13) << right("training x", 12)
              << right("memory", 10) << "\n";
    for (const predict::AblationRow& row : rows) {
        std::cout << left(row.name, 16) << right(duration(row.prediction.step_time_s), 10)
                  << right(duration(row.prediction.forward_backward_s), 10)
                  << right(duration(row.prediction.optimizer_s), 11) << right(percent(row.optimizer_share), 9)
                  << right(fixed(row.speedup_forward_backward, 2), 12) << right(fixed(row.speedup_optimizer, 2), 13)
                  << right(fixed(row.speedup_training, 2), 12)
                  << right(row.prediction.memory.fits ? "fits" : "too much", 10) << "\n";
    }
}

}  // namespace

void run_ablate(const Options& options) {
    const models::Inputs inputs = load_all(options);
    const CsvFile csv(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const std::vector<predict::AblationRow> rows =
        predict::ablate(inputs, options.tiles.empty() ? 0 : options.tiles.front());
    if (!options.out.empty()) {
        write_ablation_page(page_of(rows, inputs, options), options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, rows, inputs, options); };
    csv.write(answer, grid_of(inputs, rows.front().prediction.tiles));
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    print_text(rows, inputs, options);
    if (!options.out.empty()) {
        std::cout << "\nThe page is in " << options.out << ": index.html, ablation.csv\n";
    }
}

}  // namespace auspex::cli
