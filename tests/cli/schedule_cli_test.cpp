/// @file auspex schedule as people call it.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kTimes = " --times F=18.522ms,B=18.086ms,W=9.337ms,send=0.601ms";

class ScheduleCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] JsonDocument json(const std::string& arguments) const {
        const Outcome outcome = run("schedule --json " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.exit_code == 0 ? outcome.out : "{}", "out");
    }
};

// arXiv:2401.10241, Table 5: 0.1585.
TEST_F(ScheduleCli, an_order_written_as_a_file_plays_as_by_its_name) {
    const std::string file = folder_ + "order.csv", picture = folder_ + "order.svg";
    const JsonDocument named =
        json("--order zb-h1 --pp 8 --micro-batches 24 --csv '" + file + "' --svg '" + picture + "'" + kTimes);
    const JsonDocument read = json("--order '" + file + "'" + kTimes);
    for (const char* key : {"makespan_s", "span_s", "bubble_rate"}) {
        EXPECT_EQ(named.root().at(key).as_number(0, 10), read.root().at(key).as_number(0, 10)) << key;
    }
    EXPECT_NEAR(named.root().at("bubble_rate").as_number(0, 1), 0.1585, 5e-5);
    EXPECT_EQ(named.root().at("in_flight").dump(), "[8,7,6,5,4,3,2,1]");
    EXPECT_EQ(read.root().at("in_flight").dump(), "[8,7,6,5,4,3,2,1]");
    EXPECT_TRUE(testing_cli::text_of(file).starts_with("0F0,0F1,0F2,0F3,0F4,0F5,0F6,0F7,0I0,0W0,"));
    const std::string svg = testing_cli::text_of(picture);
    EXPECT_NE(svg.find("weight gradient"), std::string::npos);
    EXPECT_NE(svg.find("bubble 15.85 %"), std::string::npos);
}

TEST_F(ScheduleCli, pairs_take_what_overlap_says) {
    const std::string order = "--order dualpipev --pp 4 --micro-batches 12 --times F=10ms,B=10ms,W=10ms";
    const double alone_s = json(order).root().at("makespan_s").as_number(0, 10);
    EXPECT_LT(json(order + " --overlap 'F&B=24ms'").root().at("makespan_s").as_number(0, 10), alone_s);
    EXPECT_EQ(json(order + " --overlap 'F&B=30ms'").root().at("makespan_s").as_number(0, 10), alone_s);
}

TEST_F(ScheduleCli, what_is_wrong_is_refused_by_its_flag) {
    const std::string order = "schedule --order 1f1b --pp 4 --micro-batches 8";
    for (const auto& [arguments, word] :
         {std::pair<std::string, const char*>{order + " --times F=1ms,B=1ms", "found no W"},
          {order + " --times F=1ms,B=1ms,W=1", "--times W"},
          {order + " --times F=1ms,B=1ms,W=1ms,X=1ms", "\"X=1ms\""},
          {order + " --times F=1ms,F=1ms", "F twice"},
          {order + " --times F=1ms,B=0s,W=1ms", "0 s for B"},
          {order + kTimes + " --overlap 'F&B=1ms'", "nothing runs side by side"},
          {"schedule --order 1f1b --pp 4" + kTimes, "--micro-batches"},
          {"schedule --order zbv --pp 4 --micro-batches 6" + kTimes, "at least 7"},
          {"schedule --order ./none.csv" + kTimes, "no such file"},
          {"schedule --order 1f1b --pp 4096 --micro-batches 100000" + kTimes, "passes"}}) {
        EXPECT_EQ(fault_of_refusal(arguments, {word}), "") << arguments;
    }
}

}  // namespace
}  // namespace auspex::cli
