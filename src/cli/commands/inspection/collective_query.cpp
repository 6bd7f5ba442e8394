/// @file Kinds, sizes, groups and algorithms, read from flags.
#include "cli/commands/inspection/collective_query.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "cli/flags/flag_numbers.hpp"
#include "cli/flags/input_flags.hpp"
#include "launch/input_files.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::cli {
namespace {

constexpr std::array<std::pair<const char*, schedule::CommKind>, 6> kKinds{
    {{"all-reduce", schedule::CommKind::kAllReduce},
     {"reduce-scatter", schedule::CommKind::kReduceScatter},
     {"all-gather", schedule::CommKind::kAllGather},
     {"all-to-all", schedule::CommKind::kAllToAll},
     {"broadcast", schedule::CommKind::kBroadcast},
     {"barrier", schedule::CommKind::kBarrier}}};
constexpr double kMaxBytes = 1e15;

std::string without_separators(std::string word) {
    std::erase_if(word, [](char c) { return c == '-' || c == '_'; });
    return word;
}

/// Joins words as sentences list them: "a, b or c".
std::string any_of_words(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return text;
}

std::pair<const char*, schedule::CommKind> parse_kind(const std::string& word) {
    std::vector<std::string> names;
    for (const auto& kind : kKinds) {
        if (without_separators(word) == without_separators(kind.first)) {
            return kind;
        }
        names.emplace_back(kind.first);
    }
    throw InputError("--kind", "found \"" + word + "\"; expected " + any_of_words(names));
}

double parse_size(const std::string& text) {
    double bytes = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (status != std::errc() || end != text.data() + text.size()) {
        const bool is_plain = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
        if (is_plain) {
            throw InputError("--bytes", "found \"" + text + "\"; expected a number of bytes, or one with its unit");
        }
        bytes = parse_quantity(text, Dimension::kBytes, "--bytes");
    }
    if (!(bytes >= 1 && bytes <= kMaxBytes && bytes == std::floor(bytes))) {
        throw InputError("--bytes", "found \"" + text + "\"; expected a whole number of bytes from 1 B to " +
                                        format_quantity(kMaxBytes, Dimension::kBytes));
    }
    return bytes;
}

/// "64KiB", "8,1KiB,1MiB", or "8:1GiB" for 8, 16, 32, ... up to 1 GiB.
std::vector<double> parse_sizes(const std::string& text) {
    std::vector<double> sizes;
    if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
        const double last = parse_size(text.substr(colon + 1));
        double bytes = parse_size(text.substr(0, colon));
        while (bytes <= last) {
            sizes.push_back(bytes);
            bytes *= 2;
        }
        if (sizes.empty()) {
            throw InputError("--bytes", "found \"" + text + "\"; expected FIRST:LAST with the smaller first");
        }
        return sizes;
    }
    std::istringstream stream(text + ",");
    std::string before;
    for (std::string part; std::getline(stream, part, ','); before = part) {
        sizes.push_back(parse_size(part));
        if (sizes.size() > 1 && sizes.back() <= sizes[sizes.size() - 2]) {
            throw InputError("--bytes", "found " + part + " after " + before + "; expected rising sizes");
        }
    }
    return sizes;
}

/// "0-31,64": nodes by number and in ranges, in the order of the ranks; empty where the text is none.
std::vector<int> parse_nodes(const std::string& text) {
    constexpr std::size_t kMostNodes = 1'000'000;
    std::vector<int> nodes;
    std::istringstream stream(text + ",");
    for (std::string part; std::getline(stream, part, ',');) {
        const std::size_t dash = part.find('-');
        int first = 0, last = 0;
        if (!reads_as(part.substr(0, dash), first) ||
            !reads_as(dash == std::string::npos ? part : part.substr(dash + 1), last) || first < 0 || last < first ||
            nodes.size() + static_cast<std::size_t>(last - first) >= kMostNodes) {
            return {};
        }
        for (int node = first; node <= last; ++node) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

void read_placement(const Options& options, network::CollectiveJob& job) {
    const std::string word = options.collective.placement.empty() ? "contiguous" : options.collective.placement;
    const std::optional<models::PlacementKind> known = models::placement_named(word);
    job.placement_nodes = known ? std::vector<int>{} : parse_nodes(word);
    if (!known && job.placement_nodes.empty()) {
        throw InputError("--placement",
                         "found \"" + word +
                             "\"; expected contiguous, scattered, random, scheduled, or numbers of nodes "
                             "such as 0-31,64-95");
    }
    job.placement = known.value_or(models::PlacementKind::kList);
    if (options.seed && !draws_nodes(job.placement)) {
        throw InputError("--seed", "found one for " + word + " placement; expected --placement random or scheduled");
    }
    job.placement_seed = options.seed.value_or(1);
}

/// The groups of the flags. Throws InputError where they do not divide the ranks, or the machine has fewer.
network::CollectiveJob parse_job(const Options& options, schedule::CommKind comm, const models::Machine& machine) {
    network::CollectiveJob job;
    job.comm = comm;
    job.ranks = options.ranks;
    job.stride = options.collective.stride == 0 ? 1 : options.collective.stride;
    job.group_size = options.collective.groups_of == 0 ? options.ranks / job.stride : options.collective.groups_of;
    job.alone = options.collective.alone;
    read_placement(options, job);
    const std::int64_t most = std::int64_t{machine.fabric.max_nodes} * machine.node.tiles;
    if (job.ranks > most) {
        throw InputError("--ranks", "found " + std::to_string(job.ranks) + "; expected at most the " +
                                        std::to_string(most) + " of " + machine.name + " (" +
                                        std::to_string(machine.fabric.max_nodes) + " nodes of " +
                                        std::to_string(machine.node.tiles) + " tiles)");
    }
    const std::int64_t block = std::int64_t{job.group_size} * job.stride;
    if (block == 0 || job.ranks % block != 0) {
        const char* const flag = options.collective.groups_of == 0 ? "--stride" : "--groups-of";
        throw InputError(flag, "found groups of " + std::to_string(job.group_size) + " ranks that are " +
                                   std::to_string(job.stride) + " apart; expected their product to divide --ranks " +
                                   std::to_string(job.ranks));
    }
    if (options.collective.zipf > 0 && comm != schedule::CommKind::kAllToAll) {
        throw InputError(
            "--zipf", "found one for " + options.collective.kind + "; expected --kind all-to-all: the others are even");
    }
    if (options.collective.zipf > 0) {
        job.shares = network::zipf_shares(job.group_size, options.collective.zipf);
    }
    if (job.group_size == 1) {
        throw InputError(options.collective.groups_of == 0 ? "--ranks" : "--groups-of",
                         "found groups of one rank; expected 2 or more");
    }
    return job;
}

/// A barrier moves nothing and is always dissemination: flags that would change that are refused.
void check_barrier(const Options& options) {
    const char* const flag = !options.collective.bytes.empty()       ? "--bytes"
                             : !options.collective.algorithm.empty() ? "--algorithm"
                             : options.collective.levels > 0         ? "--levels"
                             : !options.out.empty()                  ? "--out"
                                                                     : nullptr;
    if (flag != nullptr) {
        throw InputError(flag, "found one for a barrier; expected none: a barrier is dissemination without bytes" +
                                   std::string(!options.out.empty() ? ", and one time needs no files" : ""));
    }
}

std::vector<double> read_sizes(const Options& options, schedule::CommKind comm) {
    if (comm == schedule::CommKind::kBarrier) {
        check_barrier(options);
        return {0};
    }
    if (options.collective.bytes.empty()) {
        throw InputError("auspex collective", "found no --bytes; for example: --bytes 1GiB");
    }
    return parse_sizes(options.collective.bytes);
}

models::CollectiveAlgorithm parse_algorithm(const std::string& word, const CollectiveQuery& query) {
    std::vector<std::string> words;
    for (const models::CollectiveAlgorithm algorithm : network::algorithms_of(query.job.comm)) {
        if (without_separators(word) == without_separators(to_string(algorithm))) {
            return algorithm;
        }
        words.emplace_back(to_string(algorithm));
    }
    words.emplace_back("auto");
    if (word != "auto") {
        throw InputError("--algorithm",
                         "found \"" + word + "\" for " + query.kind + "; expected " + any_of_words(words));
    }
    return models::CollectiveAlgorithm::kAuto;
}

/// What can be played: a choice that gives way to another would not be what was asked for.
bool runs(schedule::CommKind comm, network::AlgorithmChoice choice, const network::GroupForm& form) {
    if (choice.algorithm == models::CollectiveAlgorithm::kAuto) {
        const std::vector<network::AlgorithmChoice> found = candidates(comm, form, choice.levels);
        return choice.levels == 0 ||
               std::any_of(found.begin(), found.end(), [&](const network::AlgorithmChoice& candidate) {
                   return candidate.levels == choice.levels;
               });
    }
    return phases_of(comm, choice, form, 1, {}).choice == choice;
}

std::string form_text(const network::GroupForm& form) {
    return counted(form.ranks, "rank") + " on " + counted(form.nodes, "node") + " in " + counted(form.blocks, "group") +
           " of nodes";
}

[[noreturn]] void fail_choice(const CollectiveQuery& query, network::AlgorithmChoice choice,
                              const network::GroupForm& form, const char* flag) {
    std::vector<std::string> would_do;
    for (const network::AlgorithmChoice candidate : candidates(query.job.comm, form, 0)) {
        would_do.push_back(std::string(to_string(candidate.algorithm)) + " with " + std::to_string(candidate.levels));
    }
    throw InputError(flag, "found " + report::choice_text(choice) + " for " + form_text(form) + "; expected " +
                               any_of_words(would_do));
}

}  // namespace

CollectiveQuery read_collective(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack"});
    const auto [kind, comm] = parse_kind(options.collective.kind);
    std::vector<double> sizes = read_sizes(options, comm);
    JsonDocument machine_document = launch::load_document("machine", options.machine, options.overrides);
    models::Machine machine = models::load_machine(machine_document);
    const std::string stack_name = !options.stack.empty()          ? options.stack
                                   : machine.default_stack.empty() ? "bare"
                                                                   : machine.default_stack;
    std::vector<std::string> notes;
    if (options.stack.empty() && machine.default_stack.empty()) {
        notes.push_back("no stack named: wires alone, no software cost (stacks/bare.json); --stack takes " +
                        stack_wish(machine));
    }
    JsonDocument stack_document = launch::load_stack_document(stack_name, options.overrides, machine);
    models::Stack stack = models::load_stack(stack_document, machine);
    const network::CollectiveJob job = parse_job(options, comm, machine);
    return {kind,
            std::move(machine_document),
            std::move(stack_document),
            std::move(machine),
            std::move(stack),
            job,
            std::move(sizes),
            std::move(notes)};
}

network::AlgorithmChoice choice_for(const Options& options, const CollectiveQuery& query,
                                    const network::GroupForm& form, double bytes) {
    const schedule::CommKind comm = query.job.comm;
    network::AlgorithmChoice choice =
        network::choice_by_rule(network::collective_rules(query.stack, comm), bytes, form);
    if (!options.collective.algorithm.empty()) {
        choice.algorithm = parse_algorithm(options.collective.algorithm, query);
        if (choice.algorithm == models::CollectiveAlgorithm::kAuto) {
            choice.levels = 0;
        } else if (choice.levels == 0) {
            choice.levels = 1;
        }
    }
    if (options.collective.levels > 0) {
        choice.levels = options.collective.levels;
        if (!runs(comm, choice, form)) {
            fail_choice(query, choice, form, "--levels");
        }
    } else if (!options.collective.algorithm.empty() && choice.levels > 0) {
        const network::AlgorithmChoice wanted = choice;
        while (!runs(comm, choice, form)) {
            if (--choice.levels == 0) {
                fail_choice(query, wanted, form, "--algorithm");
            }
        }
    }
    return choice;
}

}  // namespace auspex::cli
