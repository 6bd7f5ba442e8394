/// @file Which entries of the table a case has.
#include "compare/evaluate/runs/run_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/runs/run_words.hpp"
#include "compare/evaluate/runs/sharding_words.hpp"

namespace auspex::evaluate {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "h100", "gb200": what follows a system's name, as "c-benchmarking" of DGXC does not.
bool is_gpu(std::string_view letters) {
    const std::size_t number = letters.starts_with("gb") || letters.starts_with("gh") ? 2 : 1;
    return letters.size() > number && is_digit(letters[number]);
}

/// Small letters without blanks and hyphens, nor names of makers and of their systems in front.
std::string plain(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        if (c != ' ' && c != '-' && c != '_') {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    for (const std::string_view maker : {"nvidia", "amd", "instinct", "intel"}) {
        letters = letters.starts_with(maker) ? letters.substr(maker.size()) : letters;
    }
    const bool has_system = letters.starts_with("dgx") || letters.starts_with("hgx");
    return has_system && is_gpu(std::string_view(letters).substr(3)) ? letters.substr(3) : letters;
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// Letters of the text up to where it begins so; 0: it does not.
std::size_t end_of_beginning(std::string_view text, const std::string& beginning) {
    const std::string wanted = plain(beginning);
    if (!plain(text).starts_with(wanted)) {
        return 0;
    }
    std::size_t end = 1;
    while (end < text.size() && !plain(text.substr(0, end)).starts_with(wanted)) {
        ++end;
    }
    return end;
}

/// The text begins so, and no digit follows at once: an H1000 is no H100, an H100 80GB is one.
bool begins_with(std::string_view text, const std::string& beginning) {
    const std::size_t end = end_of_beginning(text, beginning);
    return end > 0 && (end >= text.size() || !is_digit(text[end - 1]) || !is_digit(text[end]));
}

/// A word ends in front of text[end]: "MegatronLM" and "FSDPv2" behind Megatron and FSDP; not "Nemotron" behind NeMo.
bool is_end_of_word(std::string_view text, std::size_t end) {
    if (end >= text.size()) {
        return true;
    }
    const char last = text[end - 1], next = text[end];
    const bool is_version = next == 'v' && end + 1 < text.size() && is_digit(text[end + 1]);
    return is_version || !(is_small(next) || is_capital(next)) || (is_small(last) && is_capital(next));
}

bool begins_with_words(std::string_view text, const std::vector<std::string>& beginnings) {
    return beginnings.empty() || std::ranges::any_of(beginnings, [&](const std::string& beginning) {
               return begins_with(text, beginning) && is_end_of_word(text, end_of_beginning(text, beginning));
           });
}

bool begins_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
    return beginnings.empty() ||
           std::ranges::any_of(beginnings, [&](const std::string& beginning) { return begins_with(text, beginning); });
}

bool contains_any(const std::string& text, const std::vector<std::string>& parts) {
    return parts.empty() ||
           std::ranges::any_of(parts, [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

/// Texts that an entry leaves out fit every case.
template <typename Entry>
bool fits(const Entry& one, const PublishedRun& run) {
    return (one.id.empty() || one.id == run.id) && (one.source_key.empty() || one.source_key == run.source_key) &&
           (one.framework.empty() || run.framework.starts_with(one.framework)) &&
           run.source.find(one.source) != std::string::npos;
}

}  // namespace

namespace {

const RunNames::Unmapped* unmapped_gpu_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.unmapped, [&](const RunNames::Unmapped& one) {
        return !one.gpu.empty() && begins_with_any(run.gpu, one.gpu);
    });
    return found == names.unmapped.end() ? nullptr : &*found;
}

}  // namespace

const RunNames::Hardware* hardware_of(const RunNames& names, const PublishedRun& run) {
    if (unmapped_gpu_of(names, run) != nullptr) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(names.hardware, [&](const RunNames::Hardware& one) {
        return begins_with_any(run.gpu, one.gpu) && begins_with_any(run.nics, one.nics) &&
               run.system.starts_with(one.system);
    });
    return found == names.hardware.end() ? nullptr : &*found;
}

namespace {

/// The rest of a name from its next word on; empty: it was the last. Hyphens do not part words.
std::string_view next_word(std::string_view name) {
    constexpr std::string_view kBetween = " +/(),;:&";
    const std::size_t end = name.find_first_of(kBetween);
    const std::size_t begin = end == std::string_view::npos ? end : name.find_first_not_of(kBetween, end);
    return begin == std::string_view::npos ? "" : name.substr(begin);
}

const RunNames::Unmapped* unmapped_of(const RunNames& names, const PublishedRun& run) {
    for (std::string_view name = run.framework; !name.empty(); name = next_word(name)) {
        const auto found = std::ranges::find_if(names.unmapped, [&](const RunNames::Unmapped& one) {
            return !one.text.empty() && begins_with_words(name, one.text);
        });
        if (found != names.unmapped.end()) {
            return &*found;
        }
    }
    return nullptr;
}

/// `"A", "B"`, each once.
std::string quoted_list(const std::vector<std::string>& words) {
    std::string list;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (std::find(words.begin(), word, *word) == word) {
            list += (list.empty() ? "" : ", ") + json_quote(*word);
        }
    }
    return list;
}

template <typename Entry>
std::vector<std::string> all_texts(const std::vector<Entry>& entries, std::vector<std::string> Entry::*texts) {
    std::vector<std::string> all;
    for (const Entry& entry : entries) {
        all.insert(all.end(), (entry.*texts).begin(), (entry.*texts).end());
    }
    return all;
}

}  // namespace

namespace {

bool says_any(const PublishedRun& run, const std::vector<std::string>& words) {
    return words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
               return says(run.source, word) || says(run.framework, word) || says(run.notes, word);
           });
}

/// With "NeMo 24.07" behind it where the text says so in other words: "NeMo Framework (v24.07)".
std::string with_release_of_nemo(const std::string& text) {
    constexpr std::size_t kBetween = 20;
    const std::size_t name = lower_case(text).find("nemo");
    const std::size_t begin = name == std::string::npos ? name : text.find_first_of("0123456789", name);
    const std::string release = begin == std::string::npos ? "" : text.substr(begin, 5);
    const bool is_release = release.size() == 5 && is_digit(release[1]) && release[2] == '.' && is_digit(release[3]) &&
                            is_digit(release[4]);
    return is_release && begin - name <= kBetween ? text + " NeMo " + release : text;
}

/// Whether or not the case shards weights.
const RunNames::Framework* named_framework(const RunNames& names, const PublishedRun& run) {
    if (unmapped_of(names, run) != nullptr) {
        return nullptr;
    }
    const std::string source = with_release_of_nemo(run.source), framework = with_release_of_nemo(run.framework);
    for (std::string_view name = run.framework; !name.empty(); name = next_word(name)) {
        const auto found = std::ranges::find_if(names.frameworks, [&](const RunNames::Framework& one) {
            return begins_with_words(name, one.text) && begins_with_any(run.gpu, one.gpu) &&
                   run.source_key.starts_with(one.source_key) && says_any(run, one.words) &&
                   (contains_any(source, one.source) || contains_any(framework, one.source));
        });
        if (found != names.frameworks.end()) {
            return &*found;
        }
    }
    return nullptr;
}

/// Empty: the table does not say.
std::string why_unmapped(const RunNames& names, const PublishedRun& run) {
    if (const RunNames::Unmapped* const known = unmapped_of(names, run)) {
        return known->why;
    }
    const RunNames::Framework* const named = named_framework(names, run);
    return named != nullptr ? named->sharded_only : "";
}

}  // namespace

const RunNames::Framework* framework_of(const RunNames& names, const PublishedRun& run) {
    const RunNames::Framework* const named = named_framework(names, run);
    const bool is_excluded = named != nullptr && !named->sharded_only.empty() && !may_shard_weights(run);
    return is_excluded ? nullptr : named;
}

void refuse_unmapped(const RunNames& names, const PublishedRun& run) {
    if (hardware_of(names, run) == nullptr) {
        const RunNames::Unmapped* const known = unmapped_gpu_of(names, run);
        throw InputError(run.id,
                         "found GPU " + json_quote(run.gpu) + ", which no machine here has" +
                             (known != nullptr ? ": " + known->why
                                               : "; expected one that begins with " +
                                                     quoted_list(all_texts(names.hardware, &RunNames::Hardware::gpu))));
    }
    const std::string why = why_unmapped(names, run);
    throw InputError(run.id,
                     "found framework " + json_quote(run.framework) + ", which no stack here is" +
                         (!why.empty() ? ": " + why
                                       : "; expected one with a word that begins with " +
                                             quoted_list(all_texts(names.frameworks, &RunNames::Framework::text))));
}

std::vector<const RunNames::Correction*> corrections_of(const RunNames& names, const PublishedRun& run) {
    std::vector<const RunNames::Correction*> found;
    for (const RunNames::Correction& one : names.corrections) {
        const bool has_id = one.id.empty() || std::ranges::find(one.id, run.id) != one.id.end();
        if (has_id && contains_any(run.source, one.source)) {
            found.push_back(&one);
        }
    }
    return found;
}

PublishedRun corrected(const RunNames& names, PublishedRun run) {
    for (const RunNames::Correction* const one : corrections_of(names, run)) {
        if (one->micro_batch > 0 && run.plan.micro_batch > 0) {
            run.plan.global_batch = run.plan.global_batch / run.plan.micro_batch * one->micro_batch;
            run.plan.micro_batch = one->micro_batch;
        }
    }
    return run;
}

bool is_fitted(const RunNames& names, const PublishedRun& run) {
    return std::ranges::any_of(names.fitted, [&](const RunNames::Fitted& one) { return fits(one, run); });
}

std::string reason_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.reasons, [&](const RunNames::Reason& one) { return fits(one, run); });
    return found == names.reasons.end() ? "" : found->why;
}

}  // namespace auspex::evaluate
