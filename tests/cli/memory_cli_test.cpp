/// @file auspex memory as people call it.
#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class MemoryCli : public testing::Test, protected testing_cli::Runner {};

constexpr double kAny = 1e15;
const std::string kCase = "--machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b ";

double peak_of(const JsonValue& pass) {
    double sum = 0;
    for (const JsonValue& bytes : pass.at("peak_bytes").elements()) {
        sum += bytes.as_number(0, kAny);
    }
    return sum;
}

TEST_F(MemoryCli, says_what_predict_says_and_passes_lie_in_the_step) {
    // One with the stages' passes in Megatron's order over two chunks each.
    for (const std::string more :
         {"", "--set plan.schedule=interleaved-1f1b --set plan.virtual_stages=2 --set plan.micro_batches=16 "}) {
        const Outcome found = run("memory " + kCase + more + "--json");
        ASSERT_EQ(found.exit_code, 0) << found.error;
        const Outcome predicted = run("predict " + kCase + more + "--json");
        ASSERT_EQ(predicted.exit_code, 0) << predicted.error;
        const auto document = JsonDocument::parse(found.out, "memory");
        const auto prediction = JsonDocument::parse(predicted.out, "predict");
        const auto memory_in = [](const std::string& text) {  // the object as it was printed
            const std::size_t begin = text.find("\"memory\"");
            return text.substr(begin, text.find("\"verdict\"", begin) - begin);
        };
        EXPECT_EQ(memory_in(found.out), memory_in(predicted.out));
        const double step_s = document.root().at("step_time_s").as_number(0, kAny);
        EXPECT_EQ(step_s, prediction.root().at("step_time_s").as_number(0, kAny));
        const auto by_stage = prediction.root().at("memory").at("by_stage").elements();
        const auto stages = document.root().at("stages").elements();
        ASSERT_EQ(stages.size(), by_stage.size());
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            double most = 0, end_s = 0;
            for (const JsonValue& pass : stages[stage].at("passes").elements()) {
                most = std::max(most, peak_of(pass));
                EXPECT_GE(pass.at("begin_s").as_number(0, kAny), end_s);
                end_s = pass.at("end_s").as_number(0, step_s);
            }
            // Whole bytes label by label: at most half of one off for each of ten labels.
            EXPECT_NEAR(most, by_stage[stage].at("peak_bytes").as_number(0, kAny), 5);
        }
    }
}

TEST_F(MemoryCli, text_has_every_stage_and_the_page_loads_nothing) {
    const Outcome found = run("memory " + kCase + "--out " + folder_ + "page");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    for (const char* part : {"stage", "weights", "moments", "activations", "all", "GB of stage 0", "index.html"}) {
        EXPECT_NE(found.out.find(part), std::string::npos) << part << "\n" << found.out;
    }
    const std::string page = text_of(folder_ + "page/index.html");
    EXPECT_NE(page.find("stage 7"), std::string::npos);
    for (const char* loader : {"<script src", "<link", "<img", " src=", "url("}) {
        EXPECT_EQ(page.find(loader), std::string::npos) << loader;
    }
    EXPECT_NE(text_of(folder_ + "page/memory.svg").find("<polygon"), std::string::npos);
}

TEST_F(MemoryCli, machines_of_cpu_cores_are_refused) {
    EXPECT_EQ(fault_of_refusal("memory --machine reports/node-calibration/machine.json --stack auspex --workload "
                               "toy-moe --plan toy-pp2-ep2",
                               {"--machine"}),
              "");
}

}  // namespace
}  // namespace auspex::cli
