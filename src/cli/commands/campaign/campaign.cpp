/// @file auspex campaign: a whole training run, from its first step to its last checkpoint.
#include <chrono>
#include <iostream>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/commands/campaign/campaign_case.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/campaign/campaign_output.hpp"
#include "cli/output/campaign/campaign_words.hpp"

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
    answer.best = campaign::best_interval(one.setting, answer.seed);
    if (one.is_auto) {
        one.setting.checkpoints.every_steps =
            std::min(answer.best ? answer.best->steps : one.setting.steps, one.setting.steps);
    }
    answer.setting = one.setting;
    answer.result = campaign::play_campaign(one.setting, {options.campaign.samples, answer.seed});
    answer.closed_forms = compare_with_closed_forms(one.setting, answer.result);
    answer.notes = one.notes;
    if (answer.result.given_up > 0) {
        answer.notes.push_back(std::to_string(answer.result.given_up) + " of " + std::to_string(answer.result.samples) +
                               " campaigns were given up: they lose as much as they do; null and never stand for them");
    }
    return answer;
}

}  // namespace

void run_campaign(const Options& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<double> deadline_s = deadline_of(options.campaign);
    if (!options.campaign.start.empty()) {
        static_cast<void>(day_of("--start", options.campaign.start));
    }
    CampaignCase one = bare_campaign(options);
    CampaignAnswer answer = play(options, one);
    answer.deadline_s = deadline_s;
    answer.start = options.campaign.start;
    answer.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object().member("version", AUSPEX_VERSION);
        write_campaign(json, answer);
        json.end_object();
        return;
    }
    print_campaign(std::cout, answer, one.title);
}

}  // namespace auspex::cli
