/// @file GPUs and nodes by their names and sizes.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/words/spelling.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

bool is_part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; }

/// GB of a GPU's memory, as "80GB", "80 GiB", "40G" or, at the text's end, "A100 (40)" say it; nothing: the text does
/// not say. "8x400 Gb/s" and "2.4TB/s" are none.
std::optional<double> memory_in(std::string_view text) {
    const std::string letters = lower_case(text);
    for (std::size_t at = 0; at < letters.size(); ++at) {
        const bool begins = std::isdigit(static_cast<unsigned char>(letters[at])) != 0 &&
                            (at == 0 || !is_part_of_word(letters[at - 1]));
        if (!begins) {
            continue;
        }
        double size = 0;
        const auto [end, error] = std::from_chars(letters.data() + at, letters.data() + letters.size(), size);
        std::string_view rest(end, static_cast<std::size_t>(letters.data() + letters.size() - end));
        rest.remove_prefix(std::min(rest.find_first_not_of(" -"), rest.size()));
        const std::vector<std::string> words = words_in(rest);
        const bool is_rate = !words.empty() && rest.substr(words.front().size()).starts_with("/");
        const bool has_unit = !words.empty() && is_one_of(words.front(), {"g", "gb", "gib"}) && !is_rate &&
                              rest.starts_with(words.front());
        constexpr double kLeast = 16;  // of a number without unit: "A100 SXM 4" is none
        if (error == std::errc{} && (has_unit || (size >= kLeast && at > 0 && words.empty()))) {
            return size;
        }
    }
    return std::nullopt;
}

bool holds(const std::optional<RunNames::SizeRange>& range, const std::optional<double>& size) {
    return !range || !size || (range->least <= *size && *size <= range->most);
}

/// "H100 80GB HBM3 PCIe", "H100 NVL"; not "A100 SXM4, PCIe Gen4", nor "GB200 NVL72".
bool is_card(const PublishedRun& run, const std::vector<std::string>& cards) {
    const std::vector<std::string> words = words_in(run.gpu);
    const auto says_one = [&](const std::string& card) {
        return std::ranges::any_of(words, [&](const std::string& word) { return word.ends_with(lower_case(card)); });
    };
    return std::ranges::none_of(words, [](const std::string& word) { return word.starts_with("sxm"); }) &&
           std::ranges::any_of(cards, says_one);
}

const RunNames::Unmapped* unmapped_gpu_of(const RunNames& names, const PublishedRun& run) {
    const std::optional<double> memory = memory_in(run.gpu);
    const auto found = std::ranges::find_if(names.unmapped, [&](const RunNames::Unmapped& one) {
        const bool is_named = begins_with_any(without_count(run.gpu), one.gpu) || is_card(run, one.cards);
        return is_named && (!one.memory || memory) && holds(one.memory, memory);
    });
    return found == names.unmapped.end() ? nullptr : &*found;
}

/// The system that the case names, where it has other GPUs than those of `hardware`; nullptr: it has these, or none
/// here is called so.
const RunNames::Hardware* system_with_other_gpus(const RunNames& names, const PublishedRun& run,
                                                 const RunNames::Hardware& hardware) {
    const auto is_named = [&](const std::string& name) {
        return !name.empty() && lower_case(name) == lower_case(run.system);
    };
    const auto found = std::ranges::find_if(names.hardware, [&](const RunNames::Hardware& one) {
        return one.machine != hardware.machine && (is_named(one.system) || is_named(one.machine));
    });
    return found == names.hardware.end() ? nullptr : &*found;
}

/// The first entry whose texts all fit; nullptr: none.
const RunNames::Hardware* entry_of(const RunNames& names, const PublishedRun& run) {
    const std::optional<double> memory = memory_in(run.gpu);
    const auto found = std::ranges::find_if(names.hardware, [&](const RunNames::Hardware& one) {
        return begins_with_any(without_count(run.gpu), one.gpu) && holds(one.memory, memory) &&
               has(lower_case(run.system), lower_case(one.system));
    });
    return found == names.hardware.end() || unmapped_gpu_of(names, run) != nullptr ? nullptr : &*found;
}

std::string in_gb(double size) { return json_number(size); }

/// `79 to 81 GB, or "H100 96GB HBM2e"`: what there is of the case's GPU; empty: nothing, or no sizes are told apart.
std::string known_parts(const RunNames& names, const PublishedRun& run) {
    std::string parts;
    std::vector<std::string> gpus, others;
    for (const RunNames::Hardware& one : names.hardware) {
        if (one.memory && one.system.empty() && begins_with_any(without_count(run.gpu), one.gpu)) {
            parts += (parts.empty() ? "" : ", ") + in_gb(one.memory->least) + " to " + in_gb(one.memory->most);
            gpus = one.gpu;
        }
    }
    for (const RunNames::Hardware& one : names.hardware) {
        if (!one.memory && begins_with_any(one.gpu.front(), gpus)) {
            others.insert(others.end(), one.gpu.begin(), one.gpu.end());
        }
    }
    return parts.empty() ? "" : parts + " GB" + (others.empty() ? "" : ", or " + quoted_list(others));
}

}  // namespace

std::optional<RunNames::Hardware> hardware_of(const RunNames& names, const PublishedRun& run) {
    const RunNames::Hardware* const entry = entry_of(names, run);
    if (entry == nullptr || system_with_other_gpus(names, run, *entry) != nullptr) {
        return std::nullopt;
    }
    RunNames::Hardware hardware = *entry;
    if (memory_in(run.gpu)) {
        hardware.note_unstated.clear();
    }
    return hardware;
}

void refuse_hardware(const RunNames& names, const PublishedRun& run) {
    if (const RunNames::Hardware* const entry = entry_of(names, run)) {
        throw InputError(
            run.id, "found GPU " + json_quote(run.gpu) + " on machine " + json_quote(run.system) + "; expected " +
                        json_quote(system_with_other_gpus(names, run, *entry)->gpu.front()) + ", or another machine");
    }
    const std::string found = "found GPU " + json_quote(run.gpu) + ", which no machine here has";
    if (const RunNames::Unmapped* const known = unmapped_gpu_of(names, run)) {
        throw InputError(run.id, found + ": " + known->why);
    }
    const std::optional<double> memory = memory_in(run.gpu);
    if (const std::string parts = known_parts(names, run); memory && !parts.empty()) {
        throw InputError(run.id, found + " with " + in_gb(*memory) +
                                     " GB: the rates of such a part are not known here; expected one of " + parts);
    }
    std::vector<std::string> known;
    for (const RunNames::Hardware& one : names.hardware) {
        known.insert(known.end(), one.gpu.begin(), one.gpu.end());
    }
    throw InputError(run.id, found + "; expected one that begins with " + quoted_list(known));
}

}  // namespace auspex::evaluate
