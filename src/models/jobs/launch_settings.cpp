/// @file Reads how jobs are started.
#include "models/jobs/launch_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr int kMostCores = 4096;

bool is_plain(const std::string& text) {
    return !text.empty() && std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

/// A line of text: it comes to stand in a script.
std::string read_line(const JsonValue& value) {
    std::string text = value.as_string();
    if (!is_plain(text)) {
        value.fail("a text of one line that is not empty");
    }
    return text;
}

void read_provenance(const JsonValue& value, SourcedText& text) {
    value.allow_only({"value", "source", "kind"});
    text.source = read_line(value.at("source"));
    constexpr std::array kKinds{ConstantKind::kMeasured, ConstantKind::kSpecified, ConstantKind::kDerived,
                                ConstantKind::kAssumed, ConstantKind::kFitted};
    text.kind = kKinds.at(value.at("kind").as_one_of({"measured", "specified", "derived", "assumed", "fitted"}));
}

SourcedText read_text(const JsonValue& value) {
    SourcedText text;
    read_provenance(value, text);
    text.value = read_line(value.at("value"));
    return text;
}

SourcedText read_text_or_none(const JsonValue& section, std::string_view key) {
    const auto value = section.find(key);
    return value ? read_text(*value) : SourcedText{};
}

bool is_variable(const std::string& name) {
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

SourcedText read_variable_name(const JsonValue& section, std::string_view key) {
    SourcedText text = read_text_or_none(section, key);
    if (!text.value.empty() && !is_variable(text.value)) {
        section.at(key).at("value").fail("the name of a variable of the environment");
    }
    return text;
}

void check_placeholders(const JsonValue& launcher, const std::string& text, bool has_cores) {
    constexpr std::array<std::string_view, 5> kKnown{"{ranks}", "{nodes}", "{ranks_per_node}", "{cores}",
                                                     "{core_masks}"};
    for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        const bool is_known =
            std::ranges::any_of(kKnown, [&](std::string_view one) { return text.substr(at).starts_with(one); });
        if (!is_known) {
            launcher.at("value").fail("no {…} but {ranks}, {nodes}, {ranks_per_node}, {cores} and {core_masks}");
        }
        if (text.substr(at).starts_with("{core") && !has_cores) {
            launcher.at("value").fail("\"cores\" beside it, for {cores} and {core_masks}");
        }
    }
}

void read_cores(const JsonValue& section, LaunchSettings& settings) {
    const auto cores = section.find("cores");
    if (!cores) {
        return;
    }
    read_provenance(*cores, settings.cores_source);
    for (const JsonValue& one : cores->at("value").elements()) {
        settings.cores.push_back(read_line(one));
        static_cast<void>(core_numbers(settings.cores.back(), one.where()));
    }
}

void read_walltime_limits(const JsonValue& section, LaunchSettings& settings) {
    constexpr int kMostNodes = 1'000'000;
    constexpr double kMinute_s = 60, kYear_s = 365 * 86400.0;
    const auto limits = section.find("walltime_limits");
    if (!limits) {
        return;
    }
    read_provenance(*limits, settings.walltime_limits_source);
    for (const JsonValue& one : limits->at("value").elements()) {
        one.allow_only({"up_to_nodes", "walltime"});
        const int fewer = settings.walltime_limits.empty() ? 0 : settings.walltime_limits.back().up_to_nodes;
        const JsonValue walltime = one.at("walltime");
        const WalltimeLimit limit{static_cast<int>(one.at("up_to_nodes").as_integer(1, kMostNodes)),
                                  walltime.as_quantity(Dimension::kSeconds, kMinute_s, kYear_s)};
        if (limit.up_to_nodes <= fewer) {
            one.at("up_to_nodes").fail("more than the " + std::to_string(fewer) + " of the limit before it");
        }
        if (std::abs(std::remainder(limit.walltime_s, kMinute_s)) > 1e-6) {
            walltime.fail("whole minutes");
        }
        settings.walltime_limits.push_back(limit);
    }
}

}  // namespace

const char* to_string(BatchSystem batch) { return batch == BatchSystem::kPbs ? "PBS" : "Slurm"; }

Environment read_environment(const JsonValue& section) {
    Environment variables;
    for (const std::string& name : section.keys()) {
        if (name == "comment" || name.starts_with("$")) {
            continue;
        }
        if (!is_variable(name)) {
            throw InputError(section.where(),
                             "found the name " + json_quote(name) + "; expected names of variables of the environment");
        }
        variables.push_back({name, read_text(section.at(name))});
    }
    return variables;
}

LaunchSettings read_launch_settings(const JsonValue& section) {
    section.allow_only({"batch", "platform", "submit", "directives", "launcher", "rank", "local_rank", "cores",
                        "walltime_limits", "visible_tiles", "environment"});
    LaunchSettings settings;
    settings.is_known = true;
    settings.batch = section.at("batch").as_one_of({"pbs", "slurm"}) == 0 ? BatchSystem::kPbs : BatchSystem::kSlurm;
    constexpr std::array kPlatforms{Platform::kCuda, Platform::kRocm, Platform::kLevelZero};
    settings.platform = kPlatforms.at(section.at("platform").as_one_of({"cuda", "rocm", "level-zero"}));
    settings.submit = read_text_or_none(section, "submit");
    if (const auto directives = section.find("directives")) {
        for (const JsonValue& one : directives->elements()) {
            settings.directives.push_back(read_text(one));
        }
    }
    read_cores(section, settings);
    read_walltime_limits(section, settings);
    settings.launcher = read_text_or_none(section, "launcher");
    if (!settings.launcher.value.empty()) {
        check_placeholders(section.at("launcher"), settings.launcher.value, !settings.cores.empty());
    }
    settings.rank = read_variable_name(section, "rank");
    settings.local_rank = read_variable_name(section, "local_rank");
    if (const auto visible = section.find("visible_tiles")) {
        settings.sees_own_tile_only = visible->as_one_of({"all", "own"}) == 1;
    }
    if (const auto environment = section.find("environment")) {
        settings.environment = read_environment(*environment);
    }
    return settings;
}

LaunchSettings launch_settings_of(const JsonDocument& machine) {
    const JsonValue root = machine.root();
    const auto section = root.find("launch");
    if (!section) {
        return {};
    }
    LaunchSettings settings = read_launch_settings(*section);
    constexpr std::int64_t kMostTiles = 1024;
    const std::int64_t tiles = root.at("node").at("tiles").as_integer(1, kMostTiles);
    if (!settings.cores.empty() && settings.cores.size() != static_cast<std::size_t>(tiles)) {
        section->at("cores").at("value").fail("the cores of each of the " + std::to_string(tiles) + " tiles of a node");
    }
    return settings;
}

Environment environment_of(const JsonDocument& stack) {
    const auto section = stack.root().find("environment");
    return section ? read_environment(*section) : Environment{};
}

std::optional<WalltimeLimit> walltime_limit(const LaunchSettings& settings, int nodes) {
    const auto found = std::ranges::find_if(settings.walltime_limits,
                                            [nodes](const WalltimeLimit& limit) { return nodes <= limit.up_to_nodes; });
    return found == settings.walltime_limits.end() ? std::nullopt : std::optional(*found);
}

std::vector<int> core_numbers(const std::string& text, const std::string& where) {
    const auto fail = [&] {
        throw InputError(where, "found " + json_quote(printable(text)) +
                                    "; expected cores, such as \"0-7\" or \"0-7,52-59\", of " +
                                    std::to_string(kMostCores) + " at most");
    };
    const auto number = [&](std::string_view digits) {
        int value = -1;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value >= kMostCores) {
            fail();
        }
        return value;
    };
    std::vector<int> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = std::string_view(text).substr(begin, end - begin);
        const std::size_t dash = part.find('-');
        const int first = number(part.substr(0, dash));
        const int last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
        if (last < first || numbers.size() + static_cast<std::size_t>(last - first) >= kMostCores) {
            fail();
        }
        for (int core = first; core <= last; ++core) {
            numbers.push_back(core);
        }
        begin = end + 1;
    }
    return numbers;
}

}  // namespace auspex::models
