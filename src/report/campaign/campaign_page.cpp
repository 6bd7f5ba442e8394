/// @file The page of a campaign.
#include "report/campaign/campaign_page.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "campaign/player.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

/// A cell that sorts by a value, which may be infinite.
Cell sorted_by(std::string text, double value) {
    constexpr double kLast = 1e300;
    return number_of(std::move(text), std::isfinite(value) ? value : kLast);
}

std::size_t largest_badput(const campaign::Result& result) {
    return static_cast<std::size_t>(std::max_element(result.shares.begin() + 1, result.shares.end()) -
                                    result.shares.begin());
}

std::string sources_table(const CampaignPage& page) {
    TableRows rows{
        {{"cause"}, {"mean time between two, while the job runs"}, {"of a campaign", "n"}, {"cost, of all time", "n"}}};
    for (std::size_t i = 0; i < page.setting.failures.size(); ++i) {
        const campaign::FailureSource& source = page.setting.failures[i];
        const campaign::SourceResult& result = page.result.sources[i];
        rows.push_back({{source.cause},
                        sorted_by(source.mean_s > 0 ? span_words(source.mean_s) : "as given", source.mean_s),
                        sorted_by(significant(result.interruptions), result.interruptions),
                        sorted_by(percent(result.lost_share, 2), result.lost_share)});
    }
    return rows.size() > 1 ? html_table(rows, "What interrupts, in the mean over all samples.") : "";
}

std::string curve_table(const CampaignCurve& curve) {
    TableRows rows{
        {{curve.what}, {"over after (median)", "n"}, {"90 %", "n"}, {"node hours (median)", "n"}, {"goodput", "n"}}};
    for (const CampaignPoint& point : curve.points) {
        rows.push_back({sorted_by(point.text, point.value),
                        sorted_by(span_words(point.result.elapsed_s.p50), point.result.elapsed_s.p50),
                        sorted_by(span_words(point.result.elapsed_s.p90), point.result.elapsed_s.p90),
                        sorted_by(count_words(point.result.node_hours.p50), point.result.node_hours.p50),
                        sorted_by(percent(point.result.goodput, 2), point.result.goodput)});
    }
    return html_table(rows, "The same campaign with another value of " + curve.what + ".");
}

std::string worth_table(const CampaignPage& page) {
    TableRows rows{{{"left out"}, {"more node hours", "n"}, {"later", "n"}}};
    for (const FeatureWorth& one : page.worth) {
        const std::string sign = one.elapsed_s < 0 ? "-" : "";
        rows.push_back({{one.feature},
                        sorted_by(count_words(one.node_hours), one.node_hours),
                        sorted_by(sign + span_words(std::abs(one.elapsed_s)), one.elapsed_s)});
    }
    return rows.size() > 1
               ? html_table(rows,
                            "The same campaign without a feature, less the campaign, in the mean over all samples.")
               : "";
}

std::string forms_section(const CampaignPage& page) {
    if (!page.closed_forms) {
        return "";
    }
    const campaign::Agreement& forms = *page.closed_forms;
    std::string out = html_paragraph(
        "Interval: Young " + span_words(forms.young_s) + ", Daly " + span_words(forms.daly_s) + ", exact " +
        span_words(forms.exact_s) + ". Finish: " + span_words(forms.expected_elapsed_s) + " expected, " +
        (std::isfinite(forms.played_elapsed_s) ? span_words(forms.played_elapsed_s) + " ± " + span_words(forms.error_s)
                                               : std::string("no end")) +
        " played: " + (forms.agrees ? "they agree." : "they differ, for the closed form does not have:"));
    out += forms.broken.empty() ? "" : html_list(forms.broken);
    const campaign::ExpectedFinish whole_run = campaign::expected_finish(page.setting);
    const bool has_both = std::isfinite(whole_run.elapsed_s) && std::isfinite(forms.played_elapsed_s);
    return out + (forms.agrees || !has_both
                      ? ""
                      : html_paragraph("A " + whole_run_words(whole_run, forms.played_elapsed_s) + "."));
}

std::string course_caption(const CampaignPage& page) {
    return "Sample " + thousands(static_cast<double>(page.course_sample + 1)) + " of " +
           thousands(page.result.samples) + ", whose length is the median: " + span_words(page.result.elapsed_s.p50) +
           ". Time runs to the right; a mark above is a failure. What is shorter than a pixel is a pixel wide, "
           "parts of a recovery as one, in the colour of the longest; checkpoints shorter than that are in the "
           "steps.";
}

FirstScreen first_screen(const CampaignPage& page, const std::string& source) {
    const campaign::Result& r = page.result;
    FirstScreen first;
    first.title = "Campaign: " + page.subject;
    first.kind = "Campaign · " + page.subject + " · " + counted(r.samples, "sample");
    first.headline = campaign_headline(page);
    first.cards = {{span_words(r.elapsed_s.p50), "half of the runs are over by then"},
                   {span_words(r.elapsed_s.p90), "nine of ten are"},
                   {count_words(r.node_hours.p50), "node hours, median"},
                   {percent(r.goodput, 1), "goodput: steps that were not done before"},
                   {significant(r.interruptions.mean), "interruptions of a run, in the mean"},
                   {page.best ? span_words(page.best->interval_s) : "none", "best interval between checkpoints"},
                   {thousands(static_cast<double>(r.spares_needed_p99)), "spare nodes needed, to 99 %"}};
    const Picture picture = picture_of([&](double width) { return finish_chart(page, width); }, kColumnPicture);
    first.figure =
        picture.wide.empty()
            ? ""
            : html_figure(picture, {"When runs are over", "A bar is how many samples took so long.", source});
    return first;
}

}  // namespace

std::string campaign_headline(const CampaignPage& page) {
    const campaign::Result& r = page.result;
    if (!std::isfinite(r.elapsed_s.p50)) {
        return page.subject + " gets nowhere: it loses as much as it does";
    }
    const std::size_t worst = largest_badput(r);
    return "Half of the runs of " + page.subject + " are over after " + span_words(r.elapsed_s.p50) +
           ", nine of ten after " + span_words(r.elapsed_s.p90) + "; " + percent(r.goodput, 1) +
           " of the time is goodput" +
           (r.shares[worst] > 0
                ? ", and most of what is lost goes to " + std::string(words_of(static_cast<campaign::Spent>(worst))) +
                      " (" + percent(r.shares[worst], 1) + ")"
                : "");
}

std::string render_campaign_html(const CampaignPage& page) {
    const std::string source = source_line("auspex campaign", page.inputs);
    const auto figure = [&](auto&& chart, const char* title, const std::string& how) {
        const Picture picture = picture_of(chart);
        return picture.wide.empty() ? std::string() : html_figure(picture, {title, how, source});
    };
    std::vector<Section> sections = {
        {"time", "Where the time went",
         figure([&](double width) { return badput_chart(page, width); }, "What the time went to, but for new steps",
                "Shares of all time of all samples; with goodput they add up to 100 %.")},
        {"causes", "What interrupts", sources_table(page)},
        {"worth", "What features are worth", worth_table(page)},
        {"course", "One campaign",
         figure([&](double width) { return course_chart(page, width); }, "One of the campaigns, of median length",
                course_caption(page))}};
    if (page.best && !page.best->curve.empty()) {
        sections.push_back({"interval", "Intervals between checkpoints",
                            figure([&](double width) { return interval_chart(page, width); },
                                   "What a long run takes beyond its steps, by interval",
                                   "Each mark is the same failures with another interval.")});
    }
    if (page.optimum) {
        sections.push_back({"best-setting", "The best setting", optimum_section(*page.optimum, source)});
    }
    for (const CampaignCurve& curve : page.curves) {
        sections.push_back({"by-" + curve.what, "Node hours by " + curve.what,
                            figure([&](double width) { return campaign_curve_chart(curve, width); }, "Node hours",
                                   "The middle curve is the median, the others 10 and 90 % of samples.") +
                                curve_table(curve)});
    }
    sections.push_back({"closed-forms", "Closed forms", forms_section(page)});
    sections.push_back({"notes", "What to know", page.notes.empty() ? "" : html_list(page.notes)});
    sections.push_back({"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)});
    return html_page(first_screen(page, source), sections);
}

}  // namespace auspex::report
