/// @file auspex startup: from a job's submission to its first step.
#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "campaign/start/startup.hpp"
#include "campaign/start/startup_notes.hpp"
#include "cli/campaigns/campaign_case.hpp"
#include "cli/commands/campaign/ranges.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/prediction_output.hpp"
#include "cli/output/startup/startup_output.hpp"
#include "launch/input_files.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::cli {
namespace {

/// Of the curve, where --vary does not say.
constexpr int kMostNodes = 10'000;

/// What is asked of a start.
struct StartCase {
    models::Machine machine;
    models::Stack stack;
    models::Workload workload;  ///< where the job has one
    campaign::StartJob job;
    int least_nodes = 1;         ///< that hold a replica
    bool may_broadcast = false;  ///< the model, as far as stack and plan go
};

void check_flags(const Options& options) {
    if (!options.plan.empty() && options.workload.empty()) {
        throw InputError("--plan", "found without --workload; expected both: how much is loaded follows from them");
    }
    if (options.tokens > 0 && options.workload.empty()) {
        throw InputError("--tokens",
                         "found without --workload, whose sequence_length says how many sequences the index of so many "
                         "tokens has; expected both");
    }
    if (options.plan.empty() && options.tiles.empty()) {
        throw InputError("auspex startup",
                         "found neither --nodes nor --tiles; expected one of them, or --workload and --plan, whose dp "
                         "gives the size");
    }
    if (options.campaign.queue_wait_sigma > 0) {
        throw InputError("--queue-wait", "found a median and a 90 % quantile; expected one time");
    }
    check_without(options.campaign, {"broadcast", "staging", "parallel-index"});
}

void check_machine(const Options& options, const StartCase& one) {
    if (one.machine.cpu.cores > 0) {
        throw InputError("--machine", "found " + one.machine.name +
                                          ", a computer whose ranks share its cores; expected a machine of nodes");
    }
    if (one.job.nodes > one.machine.fabric.max_nodes) {
        throw InputError(options.search.tiles_flag, "found " + counted(one.job.nodes, "node") + "; expected at most " +
                                                        thousands(one.machine.fabric.max_nodes) + ", which machine " +
                                                        one.machine.name + " has");
    }
}

/// The load and the first step of a plan.
void predict_job(const Options& options, StartCase& to) {
    const models::Inputs inputs = load_all(options);
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    wanted.sensitivity = false;
    const predict::Prediction p = predict::predict(inputs, wanted).prediction;
    to.workload = inputs.workload;
    to.job.nodes = p.nodes;
    to.job.ranks = p.tiles;
    to.job.load = campaign::load_of(inputs, {p.nodes, p.tiles, p.dp}, true);
    to.may_broadcast = to.job.load->is_broadcast;
    to.job.load->is_broadcast = to.may_broadcast && !is_without(options.campaign, "broadcast");
    to.job.first_step_s = p.step_time_s;
    to.least_nodes = inputs.plan.optimizer == models::OptimizerSharding::kFsdp ? 1 : to.job.load->replica_nodes;
}

StartCase case_of(const Options& options) {
    check_flags(options);
    std::vector<std::string> roles = {"machine", "stack"};
    for (const auto& [role, name] : {std::pair("workload", &options.workload), {"plan", &options.plan}}) {
        if (!name->empty()) {
            roles.emplace_back(role);
        }
    }
    launch::require_roles(options.overrides, roles);
    StartCase one;
    one.machine = models::load_machine(launch::load_document("machine", options.machine, options.overrides));
    one.stack = launch::load_stack(options.stack, options.overrides, one.machine);
    if (!options.plan.empty()) {
        predict_job(options, one);
    } else {
        one.job.ranks = options.tiles.front();
        one.job.nodes = (one.job.ranks + one.machine.node.tiles - 1) / one.machine.node.tiles;
        if (!options.workload.empty()) {
            one.workload =
                models::load_workload(launch::load_document("workload", options.workload, options.overrides));
        }
    }
    check_machine(options, one);
    campaign::StartJob& job = one.job;
    job.queue_wait_s = options.campaign.queue_wait_s.value_or(0);
    job.index_sequences = options.tokens > 0 ? campaign::index_sequences(one.workload, options.tokens) : 0;
    job.stages_environment = !is_without(options.campaign, "staging");
    job.indexes_in_parallel = !is_without(options.campaign, "parallel-index");
    return one;
}

/// Starts of this job that lack one feature more.
std::vector<StartWithout> starts_without(const StartCase& one, const campaign::StartJob& job) {
    std::vector<StartWithout> without;
    const auto add = [&](bool is_there, const char* feature, auto leave_out) {
        if (is_there) {
            campaign::StartJob other = job;
            leave_out(other);
            without.push_back({feature, start_of(one.machine, one.stack, other), std::nullopt});
        }
    };
    const campaign::StartJob& asked = one.job;
    const models::StartupFacts& facts = one.machine.startup;
    add(campaign::knows_environment(one.machine) && asked.load && asked.load->is_broadcast && asked.load->replicas > 1,
        "broadcast", [](campaign::StartJob& other) { other.load->is_broadcast = false; });
    if (!without.empty() && facts.storage) {
        campaign::StartJob other = job;
        other.load->is_broadcast = false;
        without.back().least_s =
            start_of(campaign::with_parts_on_every_server(one.machine), one.stack, other).total_s();
    }
    add(facts.environment && asked.stages_environment, "staging",
        [](campaign::StartJob& other) { other.stages_environment = false; });
    add(facts.index && asked.index_sequences > 0 && asked.indexes_in_parallel, "parallel-index",
        [](campaign::StartJob& other) { other.indexes_in_parallel = false; });
    return without;
}

/// What public runs of this size met.
std::string public_runs(const StartCase& one, const campaign::StartJob& job) {
    const campaign::PublicLimits limits = public_limits(one.machine, one.stack, job);
    return limits.is_unfinished ? "never compiled"
           : limits.is_wall     ? "bare launches failed"
           : limits.is_shaky    ? "some bare launches failed"
                                : "";
}

/// From the nodes of a replica on, by doubling, up to 10,000 or the machine's; or those of --vary.
std::vector<double> sizes_of(const Options& options, const StartCase& one) {
    const int most = one.machine.fabric.max_nodes;
    if (options.campaign.vary.empty()) {
        std::vector<double> sizes;
        for (int nodes = one.least_nodes; nodes < std::min(most, kMostNodes); nodes *= 2) {
            sizes.push_back(nodes);
        }
        sizes.push_back(std::min(most, kMostNodes));
        return sizes;
    }
    const Range range =
        read_range("--vary", options.campaign.vary, {"nodes"}, "nodes=FROM:TO:N, as in nodes=1:10000:12");
    if (range.from < one.least_nodes || range.to > most) {
        throw InputError("--vary", "found \"" + options.campaign.vary + "\"; expected nodes from " +
                                       thousands(one.least_nodes) +
                                       (one.least_nodes > 1 ? ", those of a replica," : "") + " to " + thousands(most) +
                                       ", those of machine " + one.machine.name);
    }
    return values_of(range);
}

std::vector<StartPoint> curve_of(const Options& options, const StartCase& one) {
    std::vector<StartPoint> curve;
    for (const double nodes : sizes_of(options, one)) {
        campaign::StartJob job = on_other_nodes(one.job, static_cast<int>(nodes), one.machine.node.tiles);
        job.queue_wait_s = 0;
        curve.push_back({job.nodes, job.ranks, start_of(one.machine, one.stack, job), starts_without(one, job),
                         public_runs(one, job)});
    }
    return curve;
}

/// Why a start takes as long with a feature as without it.
std::string why_idle(const StartCase& one, const std::string& feature) {
    const std::string says_not = "machine " + one.machine.name + " does not say ";
    if (feature == "staging") {
        return says_not + "how the environment comes to the nodes";
    }
    if (feature == "parallel-index") {
        return one.job.index_sequences > 0 ? says_not + "what an index of data takes to build" : "no index is built";
    }
    return !one.job.load ? "nothing is loaded"
           : one.job.load->replicas <= 1
               ? "one replica reads the model"
               : "stack " + one.stack.name + " does not broadcast it, or " + says_not + "what a load is made of";
}

/// Features that --without names, and that make no difference here.
std::vector<std::string> idle_features(const Options& options, const StartCase& one) {
    std::vector<std::string> notes;
    const double total_s = start_of(one.machine, one.stack, one.job).total_s();
    for (const std::string& feature : options.campaign.without) {
        campaign::StartJob with = one.job;
        with.stages_environment = with.stages_environment || feature == "staging";
        with.indexes_in_parallel = with.indexes_in_parallel || feature == "parallel-index";
        if (with.load && feature == "broadcast") {
            with.load->is_broadcast = one.may_broadcast;
        }
        if (start_of(one.machine, one.stack, with).total_s() == total_s) {
            notes.push_back("--without " + feature + " changes nothing: " + why_idle(one, feature));
        }
    }
    return notes;
}

std::vector<std::string> notes_of(const StartCase& one, const campaign::Start& start,
                                  const std::vector<StartWithout>& without) {
    std::vector<std::string> notes = start.notes;
    const auto note = [&](bool holds, const std::string& text) {
        if (holds) {
            notes.push_back(text);
        }
    };
    note(!one.job.load, "no plan: nothing is loaded, and no step is predicted");
    note(one.job.index_sequences == 0, "the data index is there already (--tokens builds one)");
    note(one.job.first_step_s > 0,
         "the first step is taken as long as the others, and the same at every size: nothing is published of how it "
         "warms up beyond compilation");
    for (const StartWithout& other : without) {
        for (const std::string& text : other.start.notes) {
            const bool is_of_both = std::ranges::find(start.notes, text) != start.notes.end();
            note(!is_of_both, "without " + other.feature + ": " + text);
        }
    }
    return notes;
}

StartupAnswer answer_to(const Options& options, const StartCase& one) {
    StartupAnswer answer;
    answer.machine = one.machine.name;
    answer.stack = one.stack.name;
    answer.workload = one.workload.name;
    answer.plan = options.plan;
    answer.overrides = options.overrides;
    answer.nodes = one.job.nodes;
    answer.ranks = one.job.ranks;
    answer.start = start_of(one.machine, one.stack, one.job);
    answer.left_out = options.campaign.without;
    answer.without = starts_without(one, one.job);
    answer.curve = curve_of(options, one);
    answer.notes = notes_of(one, answer.start, answer.without);
    std::ranges::move(idle_features(options, one), std::back_inserter(answer.notes));
    return answer;
}

}  // namespace

void run_startup(const Options& options) {
    const CsvFile csv(options);
    const StartupAnswer answer = answer_to(options, case_of(options));
    csv.write_table(startup_csv(answer));
    if (!options.json) {
        print_startup(std::cout, answer);
        return;
    }
    JsonWriter json(answer_stream(options));
    json.begin_object().member("version", AUSPEX_VERSION);
    write_startup(json, answer);
    json.end_object();
}

}  // namespace auspex::cli
