/// @file The HTML page: self-contained, well-formed, complete, safe against strings that look like markup.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../parts/markup_fixture.hpp"
#include "base/error.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report_fixture.hpp"

namespace auspex::report {
namespace {

TEST(HtmlReport, loads_nothing_from_outside) {
    const std::string html = render_html(fixture_report());
    for (const char* loader : {"<script src", "<link", "<img", "<iframe", "<object", " src=", "@import", "url("}) {
        EXPECT_FALSE(contains(html, loader)) << loader;
    }
    EXPECT_EQ(count(html, "href=\""), count(html, "href=\"#"));  // links stay on the page
    EXPECT_FALSE(contains(without_code(html), "\"http"));        // a source may be an address, but only as text
}

TEST(HtmlReport, closes_every_tag_in_order) {
    EXPECT_EQ(first_unbalanced_tag(render_html(fixture_report())), "");
    EXPECT_EQ(first_unbalanced_tag("<p><b>x</p></b>"), "/p");  // the checker itself can fail
    EXPECT_EQ(first_unbalanced_tag("<p>x"), "p");
}

TEST(HtmlReport, shows_every_point_in_table_and_pictures) {
    const ScalingReport report = fixture_report();
    const std::string html = render_html(report);
    for (const ScalePoint& point : report.points) {
        const std::string tiles = thousands(point.prediction.tiles);
        EXPECT_TRUE(contains(html, "<tr><th scope=\"row\" class=\"n\">" + tiles + "</th><td class=\"n\">" +
                                       thousands(point.prediction.nodes) + "</td>"));
        EXPECT_TRUE(contains(html, "as predicted, " + tiles + " tiles: " + percent(point.efficiency)))
            << "efficiency picture";
        EXPECT_TRUE(contains(html, tiles + " tiles: " + thousands(point.prediction.tokens_per_s) + " tokens/s"))
            << "throughput picture";
        EXPECT_TRUE(contains(html, "bubble, " + tiles + " tiles: ")) << "loss picture";
    }
    EXPECT_EQ(count(html, "<svg"), 2 * 4U) << "efficiency, throughput, losses and memory, each wide and for phones";
    EXPECT_TRUE(contains(html, "a tile has 64.0 GB"));
    for (int stage = 0; stage < 8; ++stage) {
        EXPECT_TRUE(contains(html, "activations, stage " + std::to_string(stage) + ": "));
    }
}

TEST(HtmlReport, names_constants_inputs_layout_notes_and_command) {
    const ScalingReport report = fixture_report();
    const std::string html = render_html(report);
    for (const Constant& constant : report.constants) {
        std::string path;  // may break behind dots and underscores
        for (const char c : constant.path) {
            path += c;
            path += c == '.' || c == '_' ? "<wbr>" : "";
        }
        EXPECT_TRUE(contains(html, ">" + path + "<")) << path;
    }
    for (const InputFile& input : report.inputs) {
        EXPECT_TRUE(contains(html, input.sha256));
    }
    EXPECT_TRUE(contains(html, html_escape(report.command)));
    EXPECT_TRUE(contains(html, html_escape(report.layout_lines[1])));
    EXPECT_TRUE(contains(html, "more than two dragonfly groups. (at 6,144; 12,288 tiles)"));
    EXPECT_EQ(count(html, "Routing is uniform: real routers"), 1U);  // every point says it, the page once
}

TEST(HtmlReport, lists_what_the_command_line_changed) {
    ScalingReport report = fixture_report();
    EXPECT_FALSE(contains(render_html(report), "Changed on the command line"));
    report.overrides = {"plan.pp = 4", "machine.fabric.detour_delay = <0>"};
    EXPECT_TRUE(
        contains(render_html(report), "<li>plan.pp = 4</li>\n<li>machine.fabric.detour_delay = &lt;0&gt;</li>"));
    EXPECT_TRUE(contains(render_markdown(report), "- plan.pp = 4\n"));
}

TEST(HtmlReport, shows_markup_in_strings_as_text) {
    ScalingReport report = fixture_report();
    const std::string evil = "<script>alert(1)</script>&\"'";
    report.title = report.mode = report.command = report.machine = report.workload = report.stack = report.plan = evil;
    report.layout_lines = {evil};
    report.inputs = {{evil, evil, evil}};
    report.constants[0].path = report.constants[0].source = evil;
    for (ScalePoint& point : report.points) {
        point.prediction.notes = {evil};
        point.prediction.memory.verdict = evil;
        point.prediction.memory.by_label[0].first = evil;
        point.prediction.memory.by_stage[0].by_label[0].first = evil;
        point.prediction.top_constants[0].constant.source = evil;
    }
    const std::string html = render_html(report);
    EXPECT_FALSE(contains(html, "<script>alert"));
    EXPECT_TRUE(contains(html, "<title>&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;</title>"));
    EXPECT_TRUE(contains(html, "of &lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39; "));
    EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(HtmlReport, does_not_depend_on_how_long_the_tool_ran) {
    ScalingReport report = fixture_report();
    const std::string html = render_html(report), markdown = render_markdown(report), csv = render_csv(report);
    for (ScalePoint& point : report.points) {
        point.prediction.elapsed_s *= 17;
        point.prediction.sensitivity_elapsed_s = 3;
    }
    EXPECT_EQ(render_html(report), html);
    EXPECT_EQ(render_markdown(report), markdown);
    EXPECT_EQ(render_csv(report), csv);
}

TEST(HtmlReport, can_show_one_point_without_stages_or_constants) {
    ScalingReport report = fixture_report();
    report.points.resize(1);
    report.points[0].prediction.memory.by_stage.clear();
    report.points[0].prediction.top_constants.clear();
    report.constants.clear();
    const std::string html = render_html(report);
    EXPECT_EQ(first_unbalanced_tag(html), "");
    EXPECT_EQ(count(html, "<svg"), 2 * 2U);  // losses twice: curves need two points, the memory picture needs stages
    EXPECT_FALSE(contains(html, "\"–\"")) << "a coordinate that is not a number";
    EXPECT_FALSE(contains(html, ">–"));
}

TEST(HtmlReport, says_which_points_do_not_fit) {
    ScalingReport report = fixture_report();
    EXPECT_FALSE(contains(render_html(report), "NOT fit"));
    report.points[0].prediction.memory.fits = false;
    EXPECT_TRUE(contains(render_html(report), "It does NOT fit into a tile&#39;s memory on 384 tiles:"));
}

TEST(HtmlReport, draws_strong_scaling_as_shares_when_bars_would_be_too_short) {
    ScalingReport report = fixture_report();
    EXPECT_TRUE(contains(render_html(report), "seconds of one step"));
    predict::Prediction& last = report.points.back().prediction;
    last.step = 0;
    for (Picoseconds& loss : last.losses) {
        loss /= 10;
        last.step += loss;
    }
    last.step_time_s = to_seconds(last.step);
    EXPECT_TRUE(contains(render_html(report), "percent of the step"));
}

TEST(HtmlReport, shows_what_was_published_in_the_picture_a_table_and_with_its_source) {
    ScalingReport report = fixture_report();
    EXPECT_FALSE(contains(render_html(report), "Published: "));
    report.published = {{768, {0.97, 0.97}}, {1536, {0.88, 0.92}}};
    report.published_source = "arXiv:2604.00785 <text>";
    const std::string html = render_html(report);
    EXPECT_TRUE(contains(html, "published, 768 tiles: 97.0 %")) << "the picture";
    EXPECT_TRUE(contains(html, ">88 % to 92 %</td>")) << "the table";
    EXPECT_TRUE(contains(html, "Published: arXiv:2604.00785 &lt;text&gt;."));
    EXPECT_EQ(first_unbalanced_tag(html), "");
}

TEST(HtmlReport, refuses_a_report_without_points) {
    ScalingReport report = fixture_report();
    report.points.clear();
    EXPECT_THROW(static_cast<void>(render_html(report)), InputError);
    EXPECT_THROW(static_cast<void>(render_markdown(report)), InputError);
    EXPECT_THROW(static_cast<void>(render_csv(report)), InputError);
}

}  // namespace
}  // namespace auspex::report
