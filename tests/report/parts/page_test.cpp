/// @file Pages and pictures: first screen, sections, scripts, sources.
#include "report/parts/page.hpp"

#include <gtest/gtest.h>

#include "markup_fixture.hpp"
#include "report/parts/plot_frame.hpp"
#include "report/parts/row_bars.hpp"

namespace auspex::report {
namespace {

TEST(Page, begins_with_the_finding_and_has_a_way_to_each_section_that_says_something) {
    const std::string page = html_page({"title", "kind", "6 % <faster>: 1 s, 2 steps", "", {{"1 s", "a step"}}, ""},
                                       {{"one", "One", "<p>1</p>"}, {"none", "None", ""}});
    EXPECT_EQ(first_unbalanced_tag(page), "");
    EXPECT_TRUE(contains(page, "<h1>6\u00a0% &lt;faster&gt;: 1\u00a0s, 2 steps</h1>"));
    EXPECT_TRUE(contains(page, "<li><a href=\"#one\">One</a></li>"));
    EXPECT_TRUE(contains(page, "<section aria-labelledby=\"one\">\n<h2 id=\"one\">One</h2>\n<p>1</p></section>"));
    EXPECT_FALSE(contains(without_code(page), "None"));
    EXPECT_FALSE(contains(page, "<script>")) << "nothing in it needs one";
}

TEST(Page, has_the_scripts_that_its_parts_need_and_no_others) {
    const auto scripts = [](const std::string& markup) {
        return count(html_page({"t", "k", "1", "", {}, ""}, {{"a", "A", markup}}), "<script>");
    };
    EXPECT_EQ(scripts("<p>1</p>"), 0U);
    EXPECT_EQ(scripts(html_table({{{"a"}}, {{"b"}}}, "")), 1U);
    EXPECT_EQ(scripts("<svg><metadata>{}</metadata></svg>"), 1U);
    EXPECT_EQ(scripts("<div class=\"timeline\"></div>"), 1U);
}

TEST(Page, a_picture_names_its_command_version_and_machine_file) {
    const std::vector<InputFile> inputs{{"machine", "machines/aurora.json", "1"}, {"plan", "plans/a.json", "2"}};
    const std::string version = AUSPEX_TEST_VERSION;
    EXPECT_EQ(source_line("auspex scale --machine aurora", inputs),
              "auspex scale " + version + ", machines/aurora.json");
    EXPECT_EQ(source_line("auspex diff a.json b.json --out x", {}), "auspex diff " + version);
    EXPECT_EQ(source_line("auspex", {}), "auspex " + version);
    const std::string figure = html_figure({"<svg>w</svg>", "<svg>p</svg>"}, {"Times", "Read it.", "auspex <x>"});
    EXPECT_TRUE(contains(figure, "<div class=\"wide\">\n<svg>w</svg></div><div class=\"phone\">\n<svg>p</svg></div>"));
    EXPECT_TRUE(contains(figure, "<b>Times</b>Read it.<span class=\"from\">Source: auspex &lt;x&gt;</span>"));
}

// 300 units hold (300 - 28) / 9.3 = 29 characters of a title: it takes two lines of 19, with 10 below them, the source
// one, with 6.
TEST(Picture, as_a_file_has_its_title_above_and_its_source_below) {
    Svg svg(300, 100, "a", "b");
    svg.line({0, 0}, {1, 1}, "grid");
    const std::string file =
        standalone_svg(std::move(svg).finish(), "a title of more than thirty-five characters", "auspex scale");
    EXPECT_TRUE(contains(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 300 173\""))
        << file;
    EXPECT_TRUE(contains(file, "class=\"headline\">a title of more than</text>"));
    EXPECT_TRUE(contains(file, "<g transform=\"translate(0 48)\">\n\n<line"));
    EXPECT_TRUE(contains(file, "y=\"162.0\" class=\"tick\">Source: auspex scale</text>")) << file;
    EXPECT_EQ(first_unbalanced_tag(file), "");
}

TEST(Picture, a_readout_is_json_that_survives_markup) {
    Svg svg(100, 100, "a", "b");
    svg.readout({10, 90, {20, 60}, {"<1>", "2"}, {{"a \"name\"", {5.0, std::nullopt}, {"x", ""}}}});
    const std::string picture = std::move(svg).finish();
    EXPECT_TRUE(contains(picture,
                         R"(<metadata>{"top":10.0,"bottom":90.0,"x":[20.0,60.0],"heads":["&lt;1>","2"],"series":)"
                         R"([{"name":"a \"name\"","y":[5.0,null],"texts":["x",""]}]}</metadata>)"))
        << picture;
    EXPECT_FALSE(contains(standalone_svg(picture, "t"), "metadata")) << "a file has no script that reads it";
}

TEST(PlotFrame, names_stand_beside_the_plot_of_a_page_and_below_that_of_a_phone) {
    const PlotWishes wishes{.left = 70, .names = 200, .top = 20, .height = 350};
    const PlotFrame page = plot_frame(kPagePicture, wishes), phone = plot_frame(kPhonePicture, wishes);
    EXPECT_FALSE(page.names_below);
    EXPECT_EQ(page.right, kPagePicture - 200);
    EXPECT_EQ(page.bottom, 370);
    EXPECT_TRUE(phone.names_below && phone.is_phone);
    EXPECT_EQ(phone.right, kPhonePicture - 16);
    EXPECT_EQ(phone.bottom, 280) << "phones have lower plots";
    // Two names of 40 characters, 326 units each, do not stand side by side in 380: a line of 21 more.
    Svg svg(kPhonePicture, 0, "a", "b");
    std::vector<SvgLabel> names{{0, std::string(40, 'a'), "label"}, {0, std::string(40, 'b'), "label"}};
    const double one = draw_names(svg, phone, {names[0]}, phone.right),
                 two = draw_names(svg, phone, names, phone.right);
    EXPECT_EQ(one, phone.bottom + kBelowAxis + 10);
    EXPECT_EQ(two, one + 21);
    EXPECT_EQ(draw_names(svg, page, names, page.right), page.bottom + kBelowAxis) << "beside it they take no height";
}

TEST(PlotFrame, of_texts_along_the_axis_those_have_room_that_do_not_touch_and_the_last_one) {
    const PlotFrame frame = plot_frame(kPhonePicture, {.left = 60, .names = 0, .top = 0, .height = 100});
    const SvgScale x{0, 30, frame.left, frame.right};  // ten units a step
    Svg svg(kPhonePicture, 0, "a", "b");
    std::vector<double> ticks;
    std::vector<std::string> texts;
    for (int i = 0; i <= 30; ++i) {
        ticks.push_back(i);
        texts.push_back("10,00" + std::to_string(i));
    }
    draw_bottom_axis(svg, frame, x, ticks, texts, "name");
    const std::string picture = std::move(svg).finish();
    EXPECT_TRUE(contains(picture, ">10,0030</text>")) << "the last";
    EXPECT_FALSE(contains(picture, ">10,0029</text>"));
    // Texts of six and seven characters take 44.4 + 8 and 51.8 + 8 units: of 304 at most five beside the last, at least
    // three.
    EXPECT_LE(count(picture, ">10,00"), 6U);
    EXPECT_GE(count(picture, ">10,00"), 4U);
}

TEST(RowBars, are_as_long_as_their_values_and_names_stand_above_on_phones) {
    const RowBarChart chart{
        "a", "b", "seconds", {{"one", {{0, 2, 0, "2 s", ""}}}, {"two", {{2, 6, 1, "4 s", ""}}}}, {}};
    const std::string wide = row_bar_chart(chart, kPagePicture), phone = row_bar_chart(chart, kPhonePicture);
    // Names of 3 characters take 3 x 7.4 + 18 = 40.2 units, texts of 10 behind the bars 88: 771.8 units for 6 seconds.
    EXPECT_TRUE(contains(wide, "x=\"40.2\" y=\"8.0\" width=\"257.3\"")) << wide;
    EXPECT_TRUE(contains(wide, "x=\"297.5\" y=\"34.0\" width=\"514.5\"")) << "begins where the first one ends";
    EXPECT_TRUE(contains(phone, "<text x=\"16.0\" y=\"20.0\" class=\"label\" text-anchor=\"start\">one</text>"))
        << phone;
}

TEST(RowBars, that_go_down_have_their_text_in_front) {
    const RowBarChart chart{
        "a", "b", "seconds", {{"less", {{0, -1, 0, "-1 s", ""}}}, {"more", {{0, 1, 0, "1 s", ""}}}}, {}};
    const std::string picture = row_bar_chart(chart, kPagePicture);
    EXPECT_TRUE(contains(picture, "text-anchor=\"end\">-1 s</text>"));
    EXPECT_TRUE(contains(picture, "text-anchor=\"start\">1 s</text>"));
}

}  // namespace
}  // namespace auspex::report
