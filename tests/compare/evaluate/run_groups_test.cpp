/// @file Errors of published runs, in sum, by mechanism and by property; reasons.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/runs/run_groups.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"

namespace auspex::evaluate {
namespace {

using schedule::Loss;

/// Measured 1 s; predicted exp(`ln_ratio`) s, of which a share of `bubble` is bubble and all else useful compute.
ValidatedRun run_of(const std::string& source, double ln_ratio, double bubble) {
    ValidatedRun one;
    one.run.source_key = source;
    one.measured = {1, "step"};
    one.predicted_s = std::exp(ln_ratio);
    one.low_s = one.high_s = one.predicted_s;
    const Picoseconds all = to_picoseconds(one.predicted_s);
    const auto part = static_cast<Picoseconds>(std::llround(bubble * static_cast<double>(all)));
    one.losses[static_cast<std::size_t>(Loss::kBubble)] = part;
    one.losses[static_cast<std::size_t>(Loss::kUsefulCompute)] = all - part;
    return one;
}

/// ln(p / m) = a_source + 0.5 x: the slope is 0.5, whatever sources are off by, with no scatter around it.
TEST(RunGroups, slope_over_a_share_does_not_see_what_sources_differ_by) {
    std::vector<ValidatedRun> runs;
    for (const double share : {0.05, 0.1, 0.2, 0.3, 0.4}) {
        runs.push_back(run_of("short", -0.3 + 0.5 * share, share));
        runs.push_back(run_of("long", 0.4 + 0.5 * share, share));
    }
    runs.push_back(run_of("alone", 2, 0.3));  // one case has no other to be compared with
    const auto slope = share_slope(verified(runs), Loss::kBubble);
    ASSERT_TRUE(slope);
    EXPECT_NEAR(slope->value, 0.5, 1e-6);
    EXPECT_NEAR(slope->error, 0, 1e-4);
    EXPECT_EQ(slope->n, 10);
    EXPECT_EQ(slope->sources, 2);
    EXPECT_FALSE(share_slope(verified(runs), Loss::kExposedDp));  // a part that no case has
    runs.resize(6);
    EXPECT_FALSE(share_slope(verified(runs), Loss::kBubble));  // 6 - 2 - 1 < 5
}

/// One source: x = 0, 0.2 (four each), y = 0 or 0.1 + residuals ± d: b = 0.1 / 0.2, error^2 = 8 d^2 / 6 / (8 0.1^2).
TEST(RunGroups, error_of_the_slope_is_that_of_least_squares) {
    constexpr double kD = 0.03;
    std::vector<ValidatedRun> runs;
    for (const double share : {0.0, 0.2}) {
        for (const double residual : {kD, -kD, kD, -kD}) {
            runs.push_back(run_of("s", 0.5 * share + residual, share));
        }
    }
    const auto slope = share_slope(verified(runs), Loss::kBubble);
    ASSERT_TRUE(slope);
    EXPECT_NEAR(slope->value, 0.5, 1e-6);
    EXPECT_NEAR(slope->error, std::sqrt(8 * kD * kD / 6 / (8 * 0.01)), 1e-6);
}

TEST(RunGroups, mechanisms_set_cases_with_much_of_a_part_against_the_others) {
    std::vector<ValidatedRun> runs{run_of("a", std::log(1.2), 0.5), run_of("b", std::log(1.4), 0.11),
                                   run_of("b", std::log(0.9), 0.1)};
    runs.push_back(run_of("c", 3, 0.9));
    runs.back().is_fitted = true;  // counts in none
    const std::vector<MechanismErrors> found = errors_by_mechanism(verified(runs));
    ASSERT_EQ(found.size(), 2U);  // parts that some run has
    EXPECT_EQ(found[1].loss, Loss::kBubble);
    EXPECT_EQ(found[1].more.errors.n, 2);
    EXPECT_EQ(found[1].more_sources, 2);
    EXPECT_NEAR(found[1].more.mape, 0.3, 1e-9);
    EXPECT_EQ(found[1].less.errors.n, 1);
    EXPECT_NEAR(found[1].less.errors.mean_error, -0.1, 1e-9);
}

TEST(RunGroups, properties_count_their_runs_and_sources) {
    std::vector<ValidatedRun> runs{run_of("a", std::log(1.2), 0), run_of("a", std::log(0.9), 0)};
    runs[0].traits = {
        .is_fp8 = true, .tp = 16, .tiles = 64, .sequence = 8192, .tiles_per_card = 2, .tiles_per_node = 8};
    runs[1].traits = {.tp = 2, .tiles = 65, .sequence = 4096, .tiles_per_card = 2, .tiles_per_node = 8};
    int lines = 0;
    for (const TraitErrors& one : errors_by_trait(verified(runs))) {
        const bool is_of_both = one.trait == "dense" || one.trait == "tp > 1" || one.trait == "pp = 1" ||
                                one.trait == "whole on every rank" || one.trait == "none";
        EXPECT_EQ(one.errors.errors.n, is_of_both ? 2 : 1) << one.trait;
        EXPECT_EQ(one.sources, 1);
        const bool is_of_first = one.trait == "fp8" || one.trait == "9 to 64 tiles" ||
                                 one.trait == "tp beyond a node" || one.trait == "tp beyond a card of several tiles" ||
                                 one.trait == "8192 tokens or more";
        EXPECT_NEAR(one.errors.errors.mean_error, is_of_both ? 0.05 : is_of_first ? 0.2 : -0.1, 1e-9) << one.trait;
        ++lines;
    }
    EXPECT_EQ(lines, 13);
}

RunNames names_with(const std::string& reasons) {
    return load_run_names(JsonDocument::parse(
        R"({"hardware": [], "frameworks": [], "fitted": [], "reasons": )" + reasons + "}", "runs.json"));
}

TEST(RunReasons, the_first_that_fits_is_a_cases_reason) {
    const RunNames names =
        names_with(R"([{"id": "a", "why": "of a"}, {"source_key": "S", "framework": "Mega", "why": "of S"}])");
    PublishedRun run;
    run.id = "a", run.source_key = "S", run.framework = "Megatron";
    EXPECT_EQ(reason_of(names, run), "of a");
    run.id = "b";
    EXPECT_EQ(reason_of(names, run), "of S");
    run.framework = "TorchTitan";
    EXPECT_EQ(reason_of(names, run), "");
}

TEST(RunFitted, how_constants_would_be_without_is_said_with_their_file_or_not_at_all) {
    const auto names = [](const std::string& more) {
        return load_run_names(JsonDocument::parse(
            R"({"hardware": [], "frameworks": [], "fitted": [{"id": ["a"], "what": "w")" + more + "}]}", "runs.json"));
    };
    EXPECT_TRUE(names("").fitted.front().without.empty());
    EXPECT_EQ(names(R"(, "stack": "s", "without": ["stack.a.b=1", "stack.c=2"])").fitted.front().without,
              (std::vector<std::string>{"stack.a.b=1", "stack.c=2"}));
    for (const char* const more :
         {R"(, "stack": "s")", R"(, "without": ["stack.a=1"])",
          R"(, "stack": "s", "machine": "m", "without": ["stack.a=1"])",
          R"(, "machine": "m", "without": ["stack.a=1"])", R"(, "stack": "s", "without": ["stack.a"])",
          R"(, "stack": "s", "without": ["stack.a="])",
          R"(, "stack": "s", "constant": "stack.a", "without": ["stack.a=1"])"}) {
        EXPECT_THROW(static_cast<void>(names(more)), InputError) << more;
    }
}

TEST(RunReasons, bad_ones_are_refused_by_place) {
    for (const auto& [reasons, fault] : std::vector<std::pair<std::string, std::string>>{
             {R"([{"why": "of all"}])", "id, source_key, framework or source"},
             {R"([{"id": "a"}])", "why"},
             {R"([{"id": "a", "why": ""}])", "why"},
             {R"([{"id": "a", "why": "w", "because": "b"}])", "because"},
             {R"({"id": "a"})", "reasons"}}) {
        try {
            static_cast<void>(names_with(reasons));
            ADD_FAILURE() << reasons;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("runs.json"), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find(fault), std::string::npos) << error.what();
        }
    }
}

TEST(RunGroups, summaries_are_of_sizes_and_of_signs) {
    std::vector<ValidatedRun> runs(4);
    const std::array predicted{1.1, 0.8, 1.3, 5.0};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].machine = "m", runs[i].stack = "s";
        runs[i].measured.seconds = 1, runs[i].predicted_s = predicted[i];
        runs[i].low_s = 0.9, runs[i].high_s = i == 0 ? 1.2 : 0.95;
    }
    runs[2].is_fitted = true;
    runs[1].run.measured.peak_memory_bytes = 50, runs[1].predicted_memory_bytes = 40;
    runs[3].why_unmapped = "no machine";
    const auto found = summaries(runs);
    const RunSummary& all = found.at("all");
    EXPECT_EQ(all.errors.n, 3);
    EXPECT_NEAR(all.mape, 0.2, 1e-12);
    EXPECT_NEAR(all.errors.median_abs_error, 0.2, 1e-12);
    EXPECT_NEAR(all.errors.mean_error, 0.2 / 3, 1e-12);
    EXPECT_NEAR(all.coverage, 1.0 / 3, 1e-12);
    EXPECT_EQ(all.memory_n, 1);
    EXPECT_NEAR(all.memory_mape, 0.2, 1e-12);
    EXPECT_EQ(found.at("verified, machine m").errors.n, 2);
    EXPECT_EQ(found.at("fitted").errors.n, 1);
    EXPECT_EQ(worst_first(runs).front(), &runs[2]);
}

}  // namespace
}  // namespace auspex::evaluate
