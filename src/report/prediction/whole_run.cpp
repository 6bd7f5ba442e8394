/// @file The whole run in words.
#include "report/prediction/whole_run.hpp"

#include <cmath>

#include "base/number_text.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

double steps_of(const WholeRun& run) { return static_cast<double>(run.setting.steps); }
bool ends(const WholeRun& run) { return std::isfinite(run.finish.elapsed_s); }

std::vector<Card> cards_of(const WholeRun& run) {
    const campaign::Setting& s = run.setting;
    const double every = static_cast<double>(s.checkpoints.every_steps);
    return {{span_words(run.finish.elapsed_s), "until it is over, in the mean", !ends(run)},
            {count_words(run.finish.node_hours), "node-hours of " + counted(s.nodes.count, "node") + ", in the mean"},
            {percent(run.finish.goodput), "goodput: time of steps that are not done again"},
            {span_words(every * s.step_s), "between checkpoints, every " + counted(every, "step") +
                                               ", which is best; each stalls for " + span_words(s.checkpoints.stall_s)},
            {ends(run) ? significant(run.finish.interruptions) : "no end",
             std::string("failures expected") +
                 (std::isfinite(run.finish.mtbf_s) ? ", one every " + span_words(run.finish.mtbf_s) : "")}};
}

}  // namespace

std::string whole_run_sentence(const WholeRun& run) {
    return short_count(run.tokens) + " tokens are " + counted(steps_of(run), "step") + ", " +
           span_words(steps_of(run) * run.setting.step_s) + " without failures, checkpoints and starts. " +
           (ends(run) ? "With them the run is over after " + span_words(run.finish.elapsed_s) + " in the mean."
                      : "With them it gets nowhere: failures come sooner than a checkpoint.");
}

std::string whole_run_section(const WholeRun& run) {
    std::vector<std::string> notes = run.notes;
    for (const std::string& what : run.finish.left_out) {
        notes.push_back("not in the closed form: " + what);
    }
    return html_paragraph(whole_run_sentence(run)) + html_cards(cards_of(run)) +
           html_paragraph(
               "This is a closed form of a run with the failures, checkpoints and starts of the machine's "
               "file and steps as long as predicted, without blocks of a batch system and with another node always "
               "at hand. auspex campaign plays it failure by failure, with steps drawn from their interval, whose "
               "mean is a little longer, and takes queue (--walltime, --queue-wait) and spare nodes (--spares), "
               "too:") +
           "<pre>" + html_escape(run.command) + "</pre>\n" + (notes.empty() ? "" : html_list(notes));
}

}  // namespace auspex::report
