/// @file auspex memory: what fills a tile's memory, and how it comes and goes over the step.
#include <algorithm>
#include <array>
#include <iostream>

#include "base/number_text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/output_locks.hpp"
#include "report/memory/memory_page.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using Labels = std::vector<std::pair<std::string, double>>;

std::string gigabytes(double bytes) { return fixed(bytes / 1e9, 2); }

void write_bytes(JsonWriter& json, const char* key, const std::vector<double>& bytes) {
    json.key(key).begin_array();
    for (const double amount : bytes) {
        json.value(whole(amount));
    }
    json.end_array();
}

void write_pass(JsonWriter& json, const predict::TimedPass& pass) {
    json.begin_object().member("pass", to_string(pass.kind));
    if (pass.micro_batch >= 0) {
        json.member("chunk", pass.chunk).member("micro_batch", pass.micro_batch);
    }
    json.member("begin_s", pass.begin_s).member("end_s", pass.end_s);
    write_bytes(json, "peak_bytes", pass.at_peak);
    write_bytes(json, "end_bytes", pass.behind);
    json.end_object();
}

void print_json(std::ostream& out, const report::MemoryPage& page, const models::Inputs& inputs,
                const Options& options) {
    const predict::MemoryCourse& course = page.course;
    JsonWriter json(out);
    json.begin_object();
    write_names(json, inputs, options);
    json.member("tiles", course.tiles).member("global_batch", course.global_batch);
    json.member("step_time_s", course.step_time_s);
    write_memory(json, course.memory);
    json.key("labels").begin_array();
    for (const auto& [label, bytes] : course.memory.by_label) {
        json.value(label);
    }
    json.end_array().key("stages").begin_array();
    for (std::size_t stage = 0; stage < course.stages.size(); ++stage) {
        json.begin_object().member("stage", static_cast<int>(stage)).key("activations_at_peak").begin_object();
        for (const auto& [kind, bytes] : course.stages[stage].kept) {
            json.member(kind, whole(bytes));
        }
        json.end_object().key("passes").begin_array();
        for (const predict::TimedPass& pass : course.stages[stage].passes) {
            write_pass(json, pass);
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
}

/// A row a stage, a column for each name of which any stage has something.
std::string table_of(const std::vector<Labels>& stages, const std::vector<double>& sums) {
    std::vector<report::TextRow> rows(stages.size() + 1);
    rows.front().emplace_back("stage");
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        rows[stage + 1].push_back(std::to_string(stage));
    }
    for (std::size_t label = 0; label < stages.front().size(); ++label) {
        const auto has_it = [label](const Labels& labels) { return labels[label].second > 0; };
        if (std::ranges::any_of(stages, has_it)) {
            rows.front().push_back(stages.front()[label].first);
            for (std::size_t stage = 0; stage < stages.size(); ++stage) {
                rows[stage + 1].push_back(gigabytes(stages[stage][label].second));
            }
        }
    }
    rows.front().emplace_back("all");
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        rows[stage + 1].push_back(gigabytes(sums[stage]));
    }
    return report::text_table(rows, {});
}

void print_tables(const predict::MemoryCourse& course) {
    std::vector<Labels> at_peak, kept;
    std::vector<double> sums, activations;
    for (std::size_t stage = 0; stage < course.stages.size(); ++stage) {
        at_peak.push_back(course.memory.by_stage[stage].by_label);
        sums.push_back(course.memory.by_stage[stage].peak_bytes);
        kept.push_back(course.stages[stage].kept);
        activations.push_back(0);
        for (const auto& [kind, bytes] : kept.back()) {
            activations.back() += bytes;
        }
    }
    std::cout << "GB of a tile at the peak of its stage\n" << table_of(at_peak, sums);
    if (std::ranges::any_of(activations, [](double bytes) { return bytes > 0; })) {
        std::cout << "\nGB of activations then: norm, attention and expert are what recomputing them would make again\n"
                  << table_of(kept, activations);
    }
}

/// Bars of characters over the time of the step: '#' what is there all the time, '+' activations, '.' the rest.
void print_chart(const predict::MemoryCourse& course) {
    constexpr std::size_t kColumns = 72;
    constexpr int kRows = 12;
    const int stage = course.memory.heaviest_stage;
    const predict::StageMemoryCourse& one = course.stages[static_cast<std::size_t>(stage)];
    const auto& labels = course.memory.by_label;
    const double top = course.memory.peak_bytes;
    const std::vector<double>& always = one.passes.back().behind;
    std::vector<std::array<double, 3>> bars;
    for (const std::vector<double>& bytes : most_bytes(one, course.step_time_s, kColumns)) {
        std::array<double, 3> parts{};
        for (std::size_t label = 0; label < bytes.size(); ++label) {
            const double more = bytes[label] - always[label];
            const bool is_kept = labels[label].first == to_string(schedule::MemoryLabel::kActivations);
            parts[0] += always[label];
            parts[is_kept ? 1 : 2] += more;
        }
        bars.push_back(parts);
    }
    std::cout << "\nGB of stage " << stage << " over a step of " << duration(course.step_time_s) << ", of "
              << fixed(course.memory.capacity_bytes / 1e9, 1) << " that a tile has\n";
    for (int row = kRows; row > 0; --row) {
        const double middle = top * (row - 0.5) / kRows;
        std::cout << right(fixed(top * row / kRows / 1e9, 1), 7) << " |";
        for (const auto& [fixed_part, kept, rest] : bars) {
            const double sum = fixed_part + kept + rest;
            std::cout << (middle <= fixed_part ? '#' : middle <= fixed_part + kept ? '+' : middle <= sum ? '.' : ' ');
        }
        std::cout << "\n";
    }
    std::cout << right("0.0", 7) << " +" << std::string(kColumns, '-')
              << "\n         # all the time: weights, gradients, optimizer states, runtime   + activations   . the "
                 "rest\n";
}

void print_text(const report::MemoryPage& page, const Options& options) {
    std::cout << page.title << overrides_line(options) << "\n" << page.course.memory.verdict << "\n\n";
    print_tables(page.course);
    print_chart(page.course);
}

}  // namespace

void run_memory(const Options& options) {
    const models::Inputs inputs = load_all(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const CsvFile csv(options);
    report::MemoryPage page;
    page.course = predict::memory_course(inputs, options.tiles.empty() ? 0 : options.tiles.front());
    page.title = inputs.workload.name + " on " + counted(page.course.tiles, "tile") + " of " + inputs.machine.name +
                 " with " + inputs.stack.name + ": memory over a step";
    page.workload = inputs.workload.name;
    page.machine = inputs.machine.name;
    page.command = options.command_line;
    page.inputs = files_of(inputs);
    page.overrides = overrides_in_words(options);
    if (!options.out.empty()) {
        write_memory_page(page, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, page, inputs, options); };
    csv.write(answer, grid_of(inputs, page.course.tiles));
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    print_text(page, options);
    if (!options.out.empty()) {
        std::cout << "\nThe page is in " << options.out << ": index.html, memory.svg\n";
    }
}

}  // namespace auspex::cli
