/// @file auspex collective --against: collectives that others measured, predicted row by row.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/inspection/collective_query.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/published/published_output.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kNamesRole = "published-names";

void refuse_other_flags(const Options& options) {
    const CollectiveFlags& flags = options.collective;
    refuse_given({{"--machine", !options.machine.empty()},
                  {"--kind", !flags.kind.empty()},
                  {"--ranks", options.ranks > 0},
                  {"--bytes", !flags.bytes.empty()},
                  {"--algorithm", !flags.algorithm.empty()},
                  {"--levels", flags.levels > 0},
                  {"--groups-of", flags.groups_of > 0},
                  {"--stride", flags.stride > 0},
                  {"--alone", flags.alone},
                  {"--zipf", flags.zipf > 0},
                  {"--out", !options.out.empty()},
                  {"--csv", !options.csv.empty()}},
                 "found beside --against, whose file has the machines, kinds, ranks and sizes; expected "
                 "--stack, --placement, --seed, --set or --json");
}

/// What the table sets comes first, so that the command line has the last word. Fields of a stack that the command line
/// replaces are not set.
std::vector<std::string> overrides_of(const Options& options, const evaluate::PublishedQuery& query) {
    std::vector<std::string> overrides;
    for (const std::string& text : query.set) {
        if (options.stack.empty() || launch::split_override(text).role != "stack") {
            overrides.push_back(text);
        }
    }
    overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
    return overrides;
}

/// The flags with which `auspex collective` plays the row. The ranks of a node are spread evenly over its tiles, and
/// are the only ones that act. Several groups fill their nodes.
Options options_of_row(const Options& options, const evaluate::PredictedCollective& one, int tiles) {
    const evaluate::PublishedQuery& query = one.query;
    const int per_node = query.ranks / query.nodes;
    if (query.ranks % query.nodes != 0 || per_node > tiles || tiles % per_node != 0) {
        throw InputError(query.machine, counted(query.ranks, "rank") + " on " + counted(query.nodes, "node") +
                                            " cannot be spread evenly over " + std::to_string(tiles) + " tiles a node");
    }
    Options row = options;
    row.machine = query.machine;
    row.stack = query.stack;
    row.overrides = overrides_of(options, query);
    row.collective.kind = query.kind;
    row.collective.bytes = std::to_string(whole(query.bytes));
    row.collective.algorithm = query.algorithm;
    row.collective.groups_of = query.group_size;
    row.collective.stride = query.ranks / query.group_size * (tiles / per_node);
    row.collective.placement = options.collective.placement.empty() ? query.placement : options.collective.placement;
    row.collective.alone = per_node < tiles;
    row.ranks = query.nodes * tiles;
    return row;
}

void predict(const Options& options, evaluate::PredictedCollective& one, int tiles) {
    const Options row = options_of_row(options, one, tiles);
    const CollectiveQuery query = read_collective(row);
    const models::Layout layout = layout_of_job(query.job, query.machine);
    network::Network network(query.machine, query.stack, layout);
    const double bytes = query.sizes.front();
    const network::AlgorithmChoice choice = choice_for(row, query, form_of_job(network, layout), bytes);
    const network::CollectiveResult result = time_collective(network, layout, query.job, choice, bytes);
    one.predicted_s = result.time_s;
    one.algorithm = report::choice_text(result.choice);
}

/// Machines and stacks that rows name, read once to see whether they are there and sound.
class Files {
 public:
    explicit Files(const Options& options)
        : options_(options), machines_(launch::input_names("machine")), stacks_(launch::input_names("stack")) {}

    /// Why the row cannot be predicted, or nothing. Throws InputError for a file that is there and is wrong.
    [[nodiscard]] std::string missing(const evaluate::PublishedQuery& query) {
        if (!machines_.contains(query.machine)) {
            return "no machine file " + query.machine;
        }
        if (options_.stack.empty() && !stacks_.contains(query.stack)) {
            return "no stack file " + query.stack;
        }
        return "";
    }
    /// Of a node of the machine. Requires: not missing.
    [[nodiscard]] int tiles(const evaluate::PublishedQuery& query) {
        const std::vector<std::string> overrides = overrides_of(options_, query);
        const auto [known, is_new] = machines_loaded_.try_emplace(std::pair(query.machine, overrides));
        if (is_new) {
            known->second = models::load_machine(launch::load_document("machine", query.machine, overrides));
        }
        const models::Machine& machine = known->second;
        if (sound_stacks_.emplace(std::pair(query.machine, query.stack), overrides).second) {
            static_cast<void>(launch::load_stack(query.stack, overrides, machine));
        }
        return machine.node.tiles;
    }

 private:
    using NameWithOverrides = std::pair<std::string, std::vector<std::string>>;
    const Options& options_;
    std::set<std::string> machines_, stacks_;
    std::map<NameWithOverrides, models::Machine> machines_loaded_;
    std::set<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> sound_stacks_;
};

template <typename Entry>
std::string texts_of(const std::vector<Entry>& entries) {
    std::string texts;
    for (const Entry& entry : entries) {
        texts += (texts.empty() ? "" : ", ") + entry.text;
    }
    return texts;
}

/// Throws InputError where no row could be predicted, with why the first could not.
void require_one(const Options& options, const evaluate::PublishedNames& names,
                 const std::vector<evaluate::PredictedCollective>& rows) {
    if (rows.empty() || std::ranges::any_of(rows, [](const auto& one) { return one.query.refused.empty(); })) {
        return;
    }
    throw InputError("--against " + options.search.against,
                     "found no row that can be predicted, the first because " + rows.front().query.refused +
                         "; expected one at least (machines begin with " + texts_of(names.machines) +
                         "; libraries with " + texts_of(names.libraries) + ")");
}

std::vector<evaluate::PredictedCollective> predict_rows(const Options& options) {
    evaluate::PublishedNames names = evaluate::read_published_names(
        JsonDocument::load(launch::find_input(kNamesRole, "collectives", "auspex collective --against")));
    add_file_names(launch::input_names("machine"), launch::input_names("stack"), names);
    const std::vector<evaluate::PublishedCollective> published =
        evaluate::load_published_collectives(options.search.against);
    Files files(options);
    launch::ProgressLine line("rows predicted");
    std::vector<evaluate::PredictedCollective> rows;
    for (const evaluate::PublishedCollective& row : published) {
        evaluate::PredictedCollective& one = rows.emplace_back();
        one.row = row;
        one.query = query_of(row, names);
        if (one.query.refused.empty()) {
            one.query.refused = files.missing(one.query);
        }
        if (one.query.refused.empty()) {
            one.query.stack = options.stack.empty() ? one.query.stack : options.stack;
            const int tiles = files.tiles(one.query);
            try {
                predict(options, one, tiles);
            } catch (const InputError& error) {
                one.query.refused = error.what();
            }
        }
        line.show(rows.size(), published.size());
    }
    require_one(options, names, rows);
    return rows;
}

}  // namespace

void run_collective_against(const Options& options) {
    refuse_other_flags(options);
    launch::require_roles(options.overrides, {"machine", "stack"});
    const std::vector<evaluate::PredictedCollective> rows = predict_rows(options);
    const evaluate::PublishedJudgement judgement = judge_published(rows);
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object().member("version", AUSPEX_VERSION).member("against", options.search.against);
        write_published(json, rows, judgement);
        json.end_object();
        return;
    }
    std::cout << judgement.all.all.n << " of " << counted(static_cast<double>(rows.size()), "row") << " of "
              << options.search.against << " predicted" << overrides_line(options) << "\n\n";
    print_published(std::cout, rows, judgement);
}

}  // namespace auspex::cli
