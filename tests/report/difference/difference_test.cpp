/// @file Two steps side by side, by hand.
#include "report/difference/difference.hpp"

#include <gtest/gtest.h>

#include "../parts/markup_fixture.hpp"
#include "../scaling/report_fixture.hpp"
#include "base/json.hpp"
#include "report/difference/difference_page.hpp"
#include "report/difference/difference_text.hpp"

namespace auspex::report {
namespace {

ComparedSide side(const std::string& label, double bubble_s) {
    ComparedSide one{
        label, {{"machine", "\"aurora\""}, {"plan", "\"" + label + "\""}}, {{"plan", label + ".json", "ab"}}, {}, {}};
    predict::Prediction& p = one.prediction = fixture_point(0).prediction;
    const auto bubble = static_cast<std::size_t>(schedule::Loss::kBubble);
    p.step += to_picoseconds(bubble_s) - p.losses[bubble];
    p.losses[bubble] = to_picoseconds(bubble_s);
    p.step_time_s = to_seconds(p.step);
    p.operations_by_time = {{"rings", 1.0, 1}, {label + "_only", 0.5, 1}};
    return one;
}

TEST(Difference, has_every_number_of_both_and_what_changes_most_first) {
    const Difference d = difference_of("plan", side("a", 1.0), side("b", 2.0), {{"plan.pp", "4", "8"}});
    ASSERT_EQ(d.inputs.size(), 2U);
    EXPECT_EQ(d.inputs[0].path, "plan");
    EXPECT_EQ(d.inputs[0].after, "\"b\"");
    EXPECT_EQ(d.inputs[1].path, "plan.pp");
    ASSERT_EQ(d.losses.size(), 1U) << "all others are the same";
    EXPECT_EQ(d.losses[0].name, "bubble");
    EXPECT_NEAR(d.losses[0].change(), 1.0, 1e-9);
    ASSERT_EQ(d.operations.size(), 2U) << "rings take as long in both";
    EXPECT_EQ(d.operations[0].name, "a_only");
    EXPECT_EQ(relative_change(d.operations[0]), "gone");
    EXPECT_EQ(relative_change(d.operations[1]), "new");
    EXPECT_EQ(d.totals[0].name, "step_time_s");
    EXPECT_TRUE(d.memory.empty());
}

// 4.687 s with 1 s of bubble (5.627 - 1.94 + 1), 5.687 s with 2 s: 21.3 % more.
TEST(Difference, the_headline_says_by_how_much_and_what_of_it) {
    const Difference slower = difference_of("plan", side("a", 1.0), side("b", 2.0), {});
    EXPECT_TRUE(difference_headline(slower).starts_with("b against a: 5.69 s a step instead of 4.69 s (+21.3 %), MFU "))
        << difference_headline(slower);
    EXPECT_TRUE(difference_headline(slower).ends_with("; most of the change is idle pipeline stages (+1.00 s)"));
    EXPECT_EQ(difference_headline(difference_of("plan", side("a", 1.0), side("c", 1.0), {})),
              "c against a: the same 4.69 s a step");
    ComparedSide big = side("b", 2.0);
    big.prediction.memory.fits = false;
    EXPECT_TRUE(
        difference_headline(difference_of("plan", side("a", 1.0), big, {})).ends_with("; it does not fit into memory"));
}

TEST(Difference, in_text_its_columns_stand_in_line_from_totals_to_operations) {
    const std::string text =
        difference_text(difference_of("plan", side("a", 1.0), side("b", 2.0), {{"plan.pp", "4", ""}}));
    EXPECT_TRUE(contains(text, "\n  plan.pp           4       -\n")) << text;
    std::istringstream lines(text.substr(text.find("\nTotals") + 1));
    std::string line;
    std::getline(lines, line);
    const std::size_t after = line.find("after") + 5;
    int rows = 0;
    while (std::getline(lines, line)) {
        if (line.starts_with("  ")) {
            EXPECT_TRUE(line.size() >= after && line[after - 1] != ' ' && (line.size() == after || line[after] == ' '))
                << line;
            ++rows;
        }
    }
    EXPECT_EQ(rows, 10 + 1 + 2) << "totals, the bubble, two operations";
}

TEST(Difference, its_page_draws_both_timelines_or_says_why_not) {
    DifferencePage page{
        "auspex diff a b", {}, difference_of("plan", side("a", 1.0), side("b", 2.0), {{"plan.pp", "4", "8"}})};
    const std::string without = render_difference_html(page);
    EXPECT_TRUE(contains(without, "A saved result has no timeline."));
    EXPECT_EQ(first_unbalanced_tag(without), "");
    const schedule::Timeline timeline{{{"stage 0", "compute"}}, {"attention"}, {{0, 0, 0, 1'000'000'000, 0, 1}}};
    page.difference.before.timeline = page.difference.after.timeline = timeline;
    const std::string with = render_difference_html(page);
    EXPECT_EQ(first_unbalanced_tag(with), "");
    EXPECT_TRUE(contains(with, "<div class=\"timeline\">"));
    EXPECT_TRUE(contains(with, "4.69 s → 5.69 s</b><span>a step"));
    EXPECT_TRUE(contains(with, ">a.<wbr>json<") && contains(with, ">b.<wbr>json<")) << "files of both";
}

std::vector<InputChange> fields(const std::string& before, const std::string& after) {
    const JsonDocument a = JsonDocument::parse(before, "a"), b = JsonDocument::parse(after, "b");
    return changed_fields("machine", a.root(), b.root());
}

TEST(ChangedFields, are_named_by_path_constants_by_their_value_and_words_left_out) {
    const std::vector<InputChange> changes = fields(
        R"({"a": {"rate": {"value": "1 GB/s", "source": "x", "kind": "measured"}}, "b": [1, 2], "comment": "p", "d": 1})",
        R"({"a": {"rate": {"value": "2 GB/s", "source": "y", "kind": "measured"}}, "b": [1, 3], "comment": "q", "c": {"e": 1}})");
    ASSERT_EQ(changes.size(), 4U);
    EXPECT_EQ(changes[0].path, "machine.a.rate");
    EXPECT_EQ(changes[0].before + " " + changes[0].after, "\"1 GB/s\" \"2 GB/s\"");
    EXPECT_EQ(changes[1].path, "machine.b[1]");
    EXPECT_EQ(changes[2].path, "machine.d");
    EXPECT_EQ(changes[2].after, "");
    EXPECT_EQ(changes[3].path, "machine.c");
    EXPECT_EQ(changes[3].before, "");
}

TEST(ChangedFields, a_bare_constant_is_compared_with_a_sourced_one_and_long_texts_to_their_end) {
    const std::string text(80, 'x');
    EXPECT_TRUE(fields(R"({"a": "1 GB/s"})", R"({"a": {"value": "1 GB/s"}})").empty());
    EXPECT_EQ(fields(R"({"a": "1 GB/s"})", R"({"a": {"value": "1 GB/s", "kind": "fitted"}})").at(0).path,
              "machine.a.kind");
    EXPECT_EQ(fields("{\"a\": \"" + text + "1\"}", "{\"a\": \"" + text + "2\"}").size(), 1U)
        << "differs behind the 60th character";
    EXPECT_EQ(fields(R"({"b": [1, 2]})", R"({"b": [1]})").at(0).path, "machine.b");
    EXPECT_EQ(fields(R"({})", R"({"a": {"value": "1 GB/s", "source": "x"}})").at(0).after, "\"1 GB/s\"")
        << "of a constant its value";
}

}  // namespace
}  // namespace auspex::report
