/// @file auspex campaign: a whole training run, from its first step to its last checkpoint.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "base/units.hpp"
#include "campaign/player.hpp"
#include "cli/commands/campaign/campaign_curves.hpp"
#include "cli/commands/campaign/campaign_kinds.hpp"
#include "cli/commands/campaign/optimised_campaign.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/campaign/campaign_output.hpp"
#include "cli/output/campaign/campaign_words.hpp"
#include "cli/output/csv_file.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/report_files.hpp"

namespace auspex::cli {
namespace {

/// A time, or a date behind that of --start.
std::optional<double> deadline_of(const CampaignFlags& flags) {
    if (flags.deadline.empty()) {
        return std::nullopt;
    }
    const bool is_date = flags.deadline.size() == 10 && flags.deadline[4] == '-';
    if (!is_date) {
        const double deadline_s = parse_quantity(flags.deadline, Dimension::kSeconds, "--deadline", "60 d");
        if (!(deadline_s > 0)) {
            throw InputError("--deadline", "found \"" + flags.deadline + "\"; expected more than zero, such as 60d");
        }
        return deadline_s;
    }
    if (flags.start.empty()) {
        throw InputError("--deadline",
                         "found the date " + flags.deadline + " without --start; expected both, or a time such as 60d");
    }
    const double days = day_of("--deadline", flags.deadline) - day_of("--start", flags.start);
    if (days <= 0) {
        throw InputError("--deadline", "found " + flags.deadline + "; expected a day after --start " + flags.start);
    }
    constexpr double kDay = 86'400;
    return days * kDay;
}

CampaignAnswer play(const Options& options, CampaignCase& one) {
    CampaignAnswer answer;
    answer.seed = options.seed.value_or(1);
    answer.best = settle(one, {options.campaign.samples, answer.seed});
    answer.setting = one.setting;
    answer.result = campaign::play_campaign(one.setting, {options.campaign.samples, answer.seed});
    answer.closed_forms = compare_with_closed_forms(one.setting, answer.result);
    for (CampaignWithout& other : one.without) {
        other.setting.checkpoints.every_steps = one.setting.checkpoints.every_steps;
        if (one.is_auto_spares && other.feature != "buffer") {
            other.setting.nodes.spares = one.setting.nodes.spares;
        }
        const campaign::Result result = campaign::play_campaign(other.setting, {options.campaign.samples, answer.seed});
        answer.worth.push_back({other.feature, result.node_hours.mean - answer.result.node_hours.mean,
                                result.elapsed_s.mean - answer.result.elapsed_s.mean});
    }
    answer.run = one.run;
    answer.notes = one.notes;
    if (answer.result.given_up > 0) {
        answer.notes.push_back(std::to_string(answer.result.given_up) + " of " + std::to_string(answer.result.samples) +
                               " campaigns were given up: they lose as much as they do; null and never stand for them");
    }
    return answer;
}

/// The first sample whose length is the median, which is one of them.
std::uint64_t median_sample(const campaign::Result& result) {
    const auto found = std::ranges::find(result.samples_elapsed_s, result.elapsed_s.p50);
    return static_cast<std::uint64_t>(found - result.samples_elapsed_s.begin());
}

void write_page(const Options& options, const CampaignCase& one, const CampaignAnswer& answer,
                const std::string& json) {
    report::CampaignPage page;
    page.subject = one.title.substr(0, one.title.find('\n'));
    page.command = options.command_line;
    page.inputs = one.inputs;
    page.overrides = options.overrides;
    page.setting = answer.setting;
    page.result = answer.result;
    page.best = answer.best;
    page.closed_forms = answer.closed_forms;
    page.course_sample = median_sample(answer.result);
    page.course = campaign::play_sample(answer.setting, {answer.seed, page.course_sample, true});
    page.worth = answer.worth;
    page.optimum = answer.optimum;
    page.notes = answer.notes;
    if (answer.curve) {
        page.curves.push_back(*answer.curve);
    }
    if (answer.setting.nodes.spares && !(answer.curve && answer.curve->what == "spares")) {
        page.curves.push_back(spares_curve(options, answer.setting, answer.result.spares_needed_p99));
    }
    const std::filesystem::path folder =
        report::make_report_folder(options.out, "index.html, campaign.json and samples.csv");
    report::write_report_file(folder / "index.html", render_campaign_html(page));
    report::write_report_file(folder / "campaign.json", json);
    report::write_report_file(folder / "samples.csv", report::render_samples_csv(answer.result, answer.curve));
}

std::string json_of(const CampaignAnswer& answer) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object().member("version", AUSPEX_VERSION);
        write_campaign(json, answer);
        json.end_object();
    }
    return std::move(text).str();
}

}  // namespace

void run_campaign(const Options& options) {
    const auto begin = std::chrono::steady_clock::now();
    if (!options.campaign.objective.empty() && options.campaign.optimise.empty()) {
        throw InputError("--objective", "found without --optimise; expected both");
    }
    const std::vector<OptimisedWord> optimised = read_optimised(options);
    const std::optional<double> deadline_s = deadline_of(options.campaign);
    if (!options.campaign.start.empty()) {
        static_cast<void>(day_of("--start", options.campaign.start));
    }
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const CsvFile csv(options);
    CampaignCase one = options.campaign.bare ? bare_campaign(options) : predicted_campaign(options);
    CampaignAnswer answer = play(options, one);
    answer.deadline_s = deadline_s;
    answer.start = options.campaign.start;
    if (!options.campaign.vary.empty()) {
        answer.curve = varied_campaigns(options, one);
    }
    if (!optimised.empty()) {
        answer.optimum = optimised_campaign(options, optimised, one, answer.result);
        const bool has_nodes = std::ranges::find(answer.optimum->varied, "nodes") != answer.optimum->varied.end();
        if (has_nodes && options.global_batch == 0) {
            answer.notes.emplace_back(
                "on other nodes the plan keeps its micro-batches, so that the global batch grows with them and there "
                "are "
                "fewer steps (--global-batch N keeps it)");
        }
    }
    answer.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!options.out.empty()) {
        write_page(options, one, answer, json_of(answer));
    }
    csv.write_table(report::render_samples_csv(answer.result, answer.curve));
    if (options.json) {
        answer_stream(options) << json_of(answer);
        return;
    }
    print_campaign(std::cout, answer, one.title);
    if (!options.out.empty()) {
        std::cout << "The page is in " << options.out << ": index.html\n";
    }
}

}  // namespace auspex::cli
