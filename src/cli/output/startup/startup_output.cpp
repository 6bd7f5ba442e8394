/// @file What a start's answer says, as JSON and as text.
#include "cli/output/startup/startup_output.hpp"

#include <algorithm>

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "report/campaign/campaign_page.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

using report::TextRow;

using report::span_words;

void write_phases(JsonWriter& json, const campaign::Start& start) {
    const double total_s = start.total_s();
    json.key("phases").begin_array();
    for (const campaign::PhaseTime& phase : start.phases) {
        json.begin_object().member("name", key_of(phase.phase)).member("seconds", phase.seconds);
        json.member("share", total_s > 0 ? phase.seconds / total_s : 0).member("bound_by", phase.bound_by).end_object();
    }
    json.end_array().member("total_s", total_s);
}

void write_curve(JsonWriter& json, const std::vector<StartPoint>& curve) {
    json.key("curve").begin_array();
    for (const StartPoint& point : curve) {
        json.begin_object().member("nodes", point.nodes).member("ranks", point.ranks);
        json.member("total_s", point.start.total_s()).key("phases").begin_object();
        for (const campaign::PhaseTime& phase : point.start.phases) {
            json.member(key_of(phase.phase), phase.seconds);
        }
        json.end_object().key("without").begin_object();
        for (const StartWithout& other : point.without) {
            json.member(other.feature, other.start.total_s());
        }
        json.end_object();
        json.member_or_null("public_runs", point.public_runs.empty() ? std::nullopt : std::optional(point.public_runs));
        json.end_object();
    }
    json.end_array();
}

void print_phases(std::ostream& out, const campaign::Start& start) {
    const double total_s = start.total_s();
    std::vector<TextRow> rows = {{"", "time", "share", "bound by"}};
    for (const campaign::PhaseTime& phase : start.phases) {
        rows.push_back({words_of(phase.phase), span_words(phase.seconds),
                        percent(total_s > 0 ? phase.seconds / total_s : 0), phase.bound_by});
    }
    rows.push_back({"together", span_words(total_s), "", ""});
    if (const double queue_s = start.seconds_of(campaign::StartPhase::kQueue); queue_s > 0) {
        rows.push_back({"behind the queue", span_words(total_s - queue_s), "", ""});
    }
    out << report::text_table(rows, {0, 3});
}

/// What a feature is, in words.
std::string feature_words(const std::string& feature) {
    return feature == "broadcast"        ? "the broadcast: every replica reads the model"
           : feature == "staging"        ? "staging: every rank imports from the shared file system"
           : feature == "parallel-index" ? "workers in parallel: one builds the index"
                                         : feature;
}

/// The phase that takes longer by most.
std::string changed_phase(const campaign::Start& start, const campaign::Start& other) {
    const auto longest = std::ranges::max_element(other.phases, {}, [&](const campaign::PhaseTime& phase) {
        return phase.seconds - start.seconds_of(phase.phase);
    });
    return longest == other.phases.end() ? ""
                                         : std::string(words_of(longest->phase)) + " " + span_words(longest->seconds) +
                                               ", bound by " + longest->bound_by;
}

void print_without(std::ostream& out, const StartupAnswer& answer) {
    if (answer.without.empty()) {
        return;
    }
    const double total_s = answer.start.total_s();
    std::vector<TextRow> rows = {{"the same without", "together", "more", ""}};
    for (const StartWithout& other : answer.without) {
        const std::string least = other.least_s ? span_words(*other.least_s - total_s) + " to " : "";
        rows.push_back({feature_words(other.feature), span_words(other.start.total_s()),
                        least + span_words(other.start.total_s() - total_s), changed_phase(answer.start, other.start)});
    }
    out << "\n" << report::text_table(rows, {0, 3});
}

std::string longest_phase(const campaign::Start& start) {
    const auto longest = std::ranges::max_element(start.phases, {}, &campaign::PhaseTime::seconds);
    return longest == start.phases.end() ? "" : words_of(longest->phase);
}

void print_curve(std::ostream& out, const StartupAnswer& answer) {
    if (answer.curve.empty()) {
        return;
    }
    TextRow head = {"nodes", "ranks", "behind the queue"};
    for (const StartWithout& other : answer.curve.front().without) {
        head.push_back("no " + other.feature);
    }
    head.insert(head.end(), {"longest", "public runs"});
    std::vector<TextRow> rows = {head};
    for (const StartPoint& point : answer.curve) {
        TextRow row = {thousands(point.nodes), thousands(point.ranks), span_words(point.start.total_s())};
        for (const StartWithout& other : point.without) {
            row.push_back(span_words(other.start.total_s()));
        }
        row.insert(row.end(), {longest_phase(point.start), point.public_runs});
        rows.push_back(row);
    }
    out << "\n" << report::text_table(rows, {head.size() - 2, head.size() - 1});
}

void add_rows(std::string& out, const std::string& of, int nodes, int ranks, const std::string& without,
              const campaign::Start& start) {
    for (const campaign::PhaseTime& phase : start.phases) {
        out += csv_line({of, std::to_string(nodes), std::to_string(ranks), without, key_of(phase.phase),
                         json_number(phase.seconds), phase.bound_by});
    }
}

}  // namespace

std::string startup_csv(const StartupAnswer& a) {
    std::string out = csv_line({"of", "nodes", "ranks", "without", "phase", "seconds", "bound_by"});
    add_rows(out, "job", a.nodes, a.ranks, "", a.start);
    for (const StartWithout& other : a.without) {
        add_rows(out, "job", a.nodes, a.ranks, other.feature, other.start);
    }
    for (const StartPoint& point : a.curve) {
        add_rows(out, "curve", point.nodes, point.ranks, "", point.start);
        for (const StartWithout& other : point.without) {
            add_rows(out, "curve", point.nodes, point.ranks, other.feature, other.start);
        }
    }
    return out;
}

void write_startup(JsonWriter& json, const StartupAnswer& a) {
    const auto or_null = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    json.member("machine", a.machine).member("stack", a.stack);
    json.member_or_null("workload", or_null(a.workload)).member_or_null("plan", or_null(a.plan));
    json.key("overrides").begin_array();
    for (const std::string& text : a.overrides) {
        json.value(text);
    }
    json.end_array().member("nodes", a.nodes).member("ranks", a.ranks);
    write_phases(json, a.start);
    json.key("without").begin_object();
    for (const StartWithout& other : a.without) {
        json.key(other.feature).begin_object();
        write_phases(json, other.start);
        json.member_or_null("least_s", other.least_s);
        json.end_object();
    }
    json.end_object();
    write_curve(json, a.curve);
    json.key("notes").begin_array();
    for (const std::string& note : a.notes) {
        json.value(note);
    }
    json.end_array();
}

void print_startup(std::ostream& out, const StartupAnswer& a) {
    out << (a.workload.empty() ? "a job" : a.workload) << " on " << counted(a.nodes, "node") << " ("
        << counted(a.ranks, "rank") << ") of " << a.machine << " with " << a.stack
        << ", from its submission to the first step";
    for (const std::string& word : a.left_out) {
        out << (word == a.left_out.front() ? ", without " : ", ") << word;
    }
    out << "\n\n";
    print_phases(out, a.start);
    print_without(out, a);
    print_curve(out, a);
    out << (a.notes.empty() ? "" : "\n");
    for (const std::string& note : a.notes) {
        out << "  note: " << note << "\n";
    }
}

}  // namespace auspex::cli
