/// @file Which framework a case names, in which version, and what it is here.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text/closest_word.hpp"
#include "base/text/text_list.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/sharding_words.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/mentions.hpp"
#include "compare/evaluate/words/spelling.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

using NamedFramework = RunNames::NamedFramework;
using Release = RunNames::Release;
using Spellings = std::vector<std::vector<std::string>>;

/// Of frameworks, and behind them of those that no stack is.
Spellings spellings_of(const RunNames& names) {
    Spellings spellings;
    for (const NamedFramework& one : names.frameworks) {
        spellings.push_back(one.texts);
    }
    for (const RunNames::Unmapped& one : names.unmapped) {
        spellings.push_back(one.text);
    }
    return spellings;
}

const RunNames::Unmapped* unmapped_of(const RunNames& names, const PublishedRun& run) {
    for (const Mention& one : mentions_in(run.framework, spellings_of(names)).names) {
        if (one.name >= names.frameworks.size()) {
            return &names.unmapped[one.name - names.frameworks.size()];
        }
    }
    return nullptr;
}

bool runs_on(const NamedFramework& one, const NamedFramework& other) {
    return std::ranges::find(one.over, other.name) != one.over.end();
}

/// Whether or not the case shards weights.
const NamedFramework* named_framework(const RunNames& names, const PublishedRun& run) {
    if (unmapped_of(names, run) != nullptr) {
        return nullptr;
    }
    const NamedFramework* found = nullptr;
    for (const Mention& mention : mentions_in(run.framework, spellings_of(names)).names) {
        const NamedFramework& one = names.frameworks[mention.name];
        if (found == nullptr || runs_on(one, *found)) {
            found = &one;
        }
    }
    return found;
}

/// A version that the case says.
struct StatedVersion {
    const NamedFramework* of = nullptr;
    SoftwareVersion version;
    std::string text;  ///< "NeMo 25.04 (source)"
};

/// A place of the case where versions may stand.
struct Place {
    const std::string& text;
    const char* name;
};

std::string words_of(const Place& place, std::size_t begin, std::size_t end) {
    return place.text.substr(begin, end - begin);
}

/// What names a release comes first: 24.12 of "NeMo 2.0 (24.12)", and 0.14 of "core_v0.14 (Oct 2025)", which may be
/// when it ran.
int rank_of(const SoftwareVersion& version) { return version.is_container ? 0 : version.is_date ? 2 : 1; }

void add_versions(const NamedFramework& of, const Mention& mention, const Place& place,
                  std::vector<StatedVersion>& stated) {
    std::vector<VersionInText> versions = mention.versions;
    std::ranges::stable_sort(versions, {}, [](const VersionInText& one) { return rank_of(one.version); });
    for (const VersionInText& one : versions) {
        stated.push_back({&of, one.version,
                          words_of(place, mention.begin, mention.end) + " " + words_of(place, one.begin, one.end) +
                              " (" + place.name + ")"});
    }
}

/// Beside names of the framework, then of those on which it runs.
void add_versions_beside_names(const RunNames& names, const NamedFramework& framework, const Place& place,
                               std::vector<StatedVersion>& stated) {
    Spellings spellings = spellings_of(names);
    spellings.push_back(framework.versions_of);
    std::vector<StatedVersion> others;
    for (const Mention& mention : mentions_in(place.text, spellings).names) {
        const bool is_other_name = mention.name + 1 == spellings.size();
        const NamedFramework* const of = is_other_name                            ? &framework
                                         : mention.name < names.frameworks.size() ? &names.frameworks[mention.name]
                                                                                  : nullptr;
        if (of == &framework) {
            add_versions(*of, mention, place, stated);
        } else if (of != nullptr && runs_on(framework, *of)) {
            add_versions(*of, mention, place, others);
        }
    }
    std::ranges::move(others, std::back_inserter(stated));
}

/// "24.07 release", "core release 0.8", "release core_r0.13".
bool is_called_release(const std::string& text, const VersionInText& one) {
    const auto calls = [](std::string_view word) {
        return is_one_of(word, {"release", "container", "image", "version", "ver"});
    };
    std::string begin = text.substr(0, one.begin);
    std::ranges::replace(begin, '_', ' ');
    std::vector<std::string> before = words_in(begin);
    if (!before.empty() && before.back() == "core") {
        before.pop_back();
    }
    const std::vector<std::string> behind = words_in(text.substr(one.end));
    return (!before.empty() && calls(before.back())) || (!behind.empty() && calls(behind.front()));
}

/// A year alone in which, or a year after, one of the papers came: its conference's, of which the paper's month tells
/// more ("NSDI 2024, arXiv:2402.15627").
bool is_year_of(const std::vector<VersionInText>& papers, const VersionInText& one) {
    constexpr std::size_t kYear = 4;
    return one.version.is_date && one.end - one.begin == kYear &&
           std::ranges::any_of(papers, [&](const VersionInText& paper) {
               const int later = one.version.parts[0] - paper.version.parts[0];
               return later == 0 || later == 1;
           });
}

/// That stand alone: what is called a release, and any dates as well where these are the framework's, months of papers
/// last: "Performance, 24.07 release"; "Megatron-LM (commit 3fb4a2c, Aug 2024)"; "Table 5 of arXiv:2205.05198".
void add_those_alone(const RunNames& names, const NamedFramework& framework, const Place& place, bool takes_dates,
                     std::vector<StatedVersion>& stated) {
    const auto add = [&](const VersionInText& one) {
        stated.push_back({&framework, one.version, words_of(place, one.begin, one.end) + " (" + place.name + ")"});
    };
    const std::vector<VersionInText> papers = takes_dates ? papers_in(place.text) : std::vector<VersionInText>{};
    for (const VersionInText& one : mentions_in(place.text, spellings_of(names)).rest) {
        if ((one.version.is_date && takes_dates && !is_year_of(papers, one)) || is_called_release(place.text, one)) {
            add(one);
        }
    }
    std::ranges::for_each(papers, add);
}

std::vector<StatedVersion> stated_versions(const RunNames& names, const NamedFramework& framework,
                                           const PublishedRun& run) {
    std::vector<StatedVersion> stated;
    const Place own{run.framework, "framework"}, source{run.source, "source"}, notes{run.notes, "notes"};
    add_versions_beside_names(names, framework, own, stated);
    add_those_alone(names, framework, own, true, stated);
    add_versions_beside_names(names, framework, source, stated);
    add_those_alone(names, framework, source, framework.is_dated_by_source, stated);
    add_versions_beside_names(names, framework, notes, stated);
    return stated;
}

bool says_any(const PublishedRun& run, const std::vector<std::string>& words) {
    const auto is_said = [&](const std::string& word) {
        return says(run.source, word) || says(run.framework, word) || says(run.notes, word) ||
               says(run.plan.overlap, word);
    };
    return words.empty() || std::ranges::any_of(words, is_said);
}

/// But for its versions.
bool fits(const Release& release, const PublishedRun& run) {
    return (release.gpu.empty() || begins_with_any(without_count(run.gpu), release.gpu)) &&
           contains_any(run.source, release.source) && says_any(run, release.words) &&
           (!release.is_of_sharded_weights || shards_over_all(run));
}

bool holds(const Release& release, const SoftwareVersion& version) {
    const std::optional<RunNames::VersionRange>& range = version.is_date ? release.dates : release.numbers;
    return range && (!range->from || order(*range->from, version) <= 0) &&
           (!range->before || order(version, *range->before) < 0);
}

const Release* release_of_version(const StatedVersion& stated, const PublishedRun& run) {
    const std::vector<Release>& releases = stated.of->releases;
    const auto found = std::ranges::find_if(
        releases, [&](const Release& one) { return fits(one, run) && holds(one, stated.version); });
    return found == releases.end() ? nullptr : &*found;
}

const Release& release_of_any(const NamedFramework& framework, const PublishedRun& run) {
    const auto found = std::ranges::find_if(framework.releases, [&](const Release& one) {
        return fits(one, run) && (!one.has_versions() || one.is_unstated);
    });
    AUSPEX_CHECK(found != framework.releases.end(), "the last release of a framework fits every case");
    return *found;
}

/// What is taken, and why.
struct Choice {
    const Release* of_framework = nullptr;  ///< stack and plan
    std::string release, release_compiled, why;
};

/// Why a release is taken that is of any version.
std::string why_any(const NamedFramework& framework, const Release& any, const std::vector<StatedVersion>& stated) {
    if (!any.words.empty() || !any.source.empty()) {
        return "by what the case's " + std::string(any.words.empty() ? "source is" : "words say");
    }
    if (std::ranges::none_of(framework.releases, &Release::has_versions)) {
        return "versions of " + framework.name + " are not told apart";
    }
    return stated.empty() ? "no version of " + framework.name + " found, the default"
                          : stated.front().text + " is none that is told apart, the default";
}

Choice choice_of(const RunNames& names, const NamedFramework& framework, const PublishedRun& run) {
    const std::vector<StatedVersion> stated = stated_versions(names, framework, run);
    for (const StatedVersion& one : stated) {
        const Release* const found = release_of_version(one, run);
        if (found != nullptr && (one.of == &framework || !found->release.empty())) {
            const Release& own = one.of == &framework ? *found : release_of_any(framework, run);
            return {&own, found->release, found->release_compiled, one.text};
        }
    }
    const Release& any = release_of_any(framework, run);
    return {&any, any.release, any.release_compiled, why_any(framework, any, stated)};
}

/// By its words: the case says one of them, or denies one that it says nowhere.
bool is_meant(const PublishedRun& run, const RunNames::OnGpus& one) {
    const auto is_denied = [&](const std::string& word) {
        const std::array said{said_of(run.source, word), said_of(run.framework, word), said_of(run.notes, word)};
        return std::ranges::count(said, Said::kDenied) > 0 && std::ranges::count(said, Said::kYes) == 0;
    };
    return (one.words.empty() && one.denied.empty()) || (!one.words.empty() && says_any(run, one.words)) ||
           std::ranges::any_of(one.denied, is_denied);
}

/// Changes of the stack on the case's GPU.
void change_by_gpu(const RunNames& names, const PublishedRun& run, RunNames::Framework& framework) {
    std::vector<std::string> changes;
    for (const RunNames::OnGpus& one : names.on_gpus) {
        const bool is_same = std::ranges::find(one.stacks, framework.stack) != one.stacks.end();
        if (!is_same || !begins_with_any(without_count(run.gpu), one.gpu) || !is_meant(run, one)) {
            continue;
        }
        changes.insert(changes.end(), one.set.begin(), one.set.end());
        framework.notes.push_back(one.why);
    }
    framework.set.insert(framework.set.begin(), changes.begin(), changes.end());
}

}  // namespace

std::optional<RunNames::Framework> framework_of(const RunNames& names, const PublishedRun& run) {
    const NamedFramework* const named = named_framework(names, run);
    if (named == nullptr || (!named->sharded_only.empty() && !may_shard_weights(run))) {
        return std::nullopt;
    }
    const Choice choice = choice_of(names, *named, run);
    RunNames::Framework framework = choice.of_framework->framework;
    change_by_gpu(names, run, framework);
    const auto use = [](std::vector<std::string>& settings, const std::string& release) {
        if (!release.empty()) {
            settings.insert(settings.begin(), "stack.releases.use=" + release);
        }
    };
    use(framework.set, choice.release);
    use(framework.set_compiled, choice.release_compiled);
    const std::string& taken =
        run.plan.is_compiled && !choice.release_compiled.empty() ? choice.release_compiled : choice.release;
    if (run.plan.is_compiled && framework.set_compiled.empty()) {
        framework.notes.push_back("compile is left out: " + run.framework + " is predicted as it runs without");
    }
    framework.notes.push_back("stack " + framework.stack + (taken.empty() ? "" : ", release " + taken) + ": " +
                              choice.why);
    return framework;
}

void refuse_framework(const RunNames& names, const PublishedRun& run) {
    const RunNames::Unmapped* const known = unmapped_of(names, run);
    const NamedFramework* const named = named_framework(names, run);
    std::vector<std::string> frameworks, spellings;
    for (const NamedFramework& one : names.frameworks) {
        spellings.insert(spellings.end(), one.texts.begin(), one.texts.end());
        if (!one.texts.empty()) {
            frameworks.push_back(one.name);
        }
    }
    throw InputError(run.id, "found framework " + json_quote(run.framework) + ", which no stack here is" +
                                 (known != nullptr   ? ": " + known->why
                                  : named != nullptr ? ": " + named->sharded_only
                                                     : "; expected one of " + joined(frameworks, ", ") +
                                                           ", alone or beside what runs on it (\"own loop on FSDP\")" +
                                                           did_you_mean(run.framework, spellings)));
}

}  // namespace auspex::evaluate
