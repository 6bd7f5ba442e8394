/// @file Reads the names, and finds those of a row.
#include "compare/evaluate/published_names.hpp"

#include <algorithm>
#include <string_view>

#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

PublishedNames::Machine read_machine(const JsonValue& value) {
    value.allow_only({"text", "machine", "set"});
    return {name_in(value, "text"), name_in(value, "machine"), texts_in(value, "set"), false};
}

PublishedNames::Case read_case(const JsonValue& value) {
    value.allow_only({"machine", "kinds", "up_to_nodes", "up_to_bytes_a_rank", "set", "algorithm"});
    PublishedNames::Case one{text_in(value, "machine"), texts_in(value, "kinds"),   {}, {},
                             texts_in(value, "set"),    text_in(value, "algorithm")};
    if (const std::optional<JsonValue> nodes = value.find("up_to_nodes")) {
        one.up_to_nodes = static_cast<int>(nodes->as_integer(1, 1'000'000));
    }
    if (const std::optional<JsonValue> bytes = value.find("up_to_bytes_a_rank")) {
        one.up_to_bytes_a_rank = bytes->as_number(0, 1e15);
    }
    return one;
}

PublishedNames::Library read_library(const JsonValue& value) {
    value.allow_only({"text", "stack", "algorithms", "cases"});
    PublishedNames::Library library{name_in(value, "text"), name_in(value, "stack"), {}, {}, false};
    if (const std::optional<JsonValue> cases = value.find("cases")) {
        for (const JsonValue& one : cases->elements()) {
            library.cases.push_back(read_case(one));
        }
    }
    const JsonValue algorithms = value.at("algorithms");
    for (const std::string& word : algorithms.keys()) {
        library.algorithms.emplace(word, name_in(algorithms, word));
    }
    return library;
}

PublishedNames::Size read_size(const JsonValue& value) {
    value.allow_only({"note", "times_ranks"});
    return {name_in(value, "note"), texts_in(value, "times_ranks")};
}

PublishedNames::Fitted read_fitted(const JsonValue& value) {
    value.allow_only({"machine", "library", "kind", "algorithm", "ranks", "bytes"});
    PublishedNames::Fitted fitted{text_in(value, "machine"),
                                  text_in(value, "library"),
                                  text_in(value, "kind"),
                                  text_in(value, "algorithm"),
                                  {},
                                  {}};
    if (const std::optional<JsonValue> ranks = value.find("ranks")) {
        fitted.ranks = static_cast<int>(ranks->as_integer(1, 1'000'000'000));
    }
    if (const std::optional<JsonValue> bytes = value.find("bytes")) {
        fitted.bytes = bytes->as_number(0, 1e15);
    }
    return fitted;
}

PublishedNames::NodeSet read_node_set(const JsonValue& value) {
    value.allow_only({"machine", "algorithm", "nodes", "placement"});
    return {name_in(value, "machine"), name_in(value, "algorithm"),
            static_cast<int>(value.at("nodes").as_integer(1, 1'000'000)), text_in(value, "placement")};
}

/// The entry with the longest text that the name begins with, or nullptr.
template <typename Entry>
const Entry* longest_of(const std::vector<Entry>& entries, const std::string& name) {
    const Entry* longest = nullptr;
    for (const Entry& entry : entries) {
        const bool is_named = entry.is_whole ? name == entry.text : name.starts_with(entry.text);
        if (is_named && (longest == nullptr || entry.text.size() > longest->text.size())) {
            longest = &entry;
        }
    }
    return longest;
}

/// Of --algorithm, or "rules"; nullptr: the library has no such word.
const std::string* algorithm_of(const PublishedNames::Library& library, const std::string& word) {
    auto found = library.algorithms.find(word);
    if (found == library.algorithms.end()) {
        found = library.algorithms.find("*");
    }
    return found == library.algorithms.end() ? nullptr : &found->second;
}

/// Of the whole buffer; none where the row may mean either.
std::optional<double> buffer_bytes(const PublishedCollective& row, const PublishedNames& names) {
    const auto size = std::ranges::find_if(
        names.sizes, [&](const PublishedNames::Size& one) { return row.note.find(one.note) != std::string::npos; });
    if (size == names.sizes.end()) {
        return row.kind == "all_to_all" ? std::nullopt : row.bytes;
    }
    const bool is_part = std::ranges::find(size->times_ranks, row.kind) != size->times_ranks.end();
    return is_part ? *row.bytes * *row.ranks : *row.bytes;
}

/// The first that fits, or nullptr.
const PublishedNames::Case* case_of(const PublishedNames::Library& library, const PublishedCollective& row,
                                    double bytes) {
    const auto found = std::ranges::find_if(library.cases, [&](const PublishedNames::Case& one) {
        return row.machine.starts_with(one.machine) &&
               (one.kinds.empty() || std::ranges::find(one.kinds, row.kind) != one.kinds.end()) &&
               (!one.up_to_nodes || *row.nodes <= *one.up_to_nodes) &&
               (!one.up_to_bytes_a_rank || bytes / *row.ranks <= *one.up_to_bytes_a_rank);
    });
    return found == library.cases.end() ? nullptr : &*found;
}

bool is_fitted(const PublishedCollective& row, const PublishedNames& names) {
    const auto is = [](const std::string& wanted, const std::string& found) {
        return wanted.empty() || wanted == found;
    };
    return row.fitted || std::ranges::any_of(names.fitted, [&](const PublishedNames::Fitted& one) {
               return is(one.machine, row.machine) && is(one.library, row.library) && is(one.kind, row.kind) &&
                      is(one.algorithm, row.algorithm) && (!one.ranks || one.ranks == row.ranks) &&
                      (!one.bytes || one.bytes == row.bytes);
           });
}

/// Why the row by itself is nothing to predict, or nothing.
std::string refusal_of(const PublishedCollective& row) {
    if (!row.is_collective && !row.node_bytes_per_s) {
        return "kind " + json_quote(row.kind) + " is no collective that is simulated";
    }
    if (!row.measured_s && !row.node_bytes_per_s) {
        return row.kind + " in " + row.unit + ": times are compared";
    }
    const std::pair<const char*, bool> needed[] = {{"a library", !row.library.empty()},
                                                   {"nodes", row.nodes.has_value()},
                                                   {"ranks", row.ranks.has_value()},
                                                   {"bytes", row.bytes.has_value()}};
    for (const auto& [what, is_there] : needed) {
        if (!is_there) {
            return std::string("the row is without ") + what;
        }
    }
    return "";
}

PublishedQuery refused(std::string why) {
    PublishedQuery query;
    query.refused = std::move(why);
    return query;
}

/// What is played, and how long it took.
void play_collective(const PublishedCollective& row, double bytes, PublishedQuery& query) {
    query.kind = row.kind;
    query.nodes = *row.nodes;
    query.ranks = query.group_size = *row.ranks;
    query.bytes = bytes;
    query.measured_s = *row.measured_s;
}

/// Every rank of a node sends `bytes` a message: to one other, or to all others.
void play_node_bandwidth(const PublishedCollective& row, const PublishedNames::NodeSet& set, PublishedQuery& query) {
    const int per_node = *row.ranks / *row.nodes;
    query.kind = "all_to_all";
    query.nodes = set.nodes;
    query.ranks = set.nodes * per_node;
    query.placement = set.placement;
    query.group_size = row.kind.starts_with("bisection") ? 2 : query.ranks;
    query.algorithm = query.group_size == 2 ? "direct" : "pairwise";
    query.bytes = *row.bytes * query.group_size;
    query.measured_s = *row.bytes * (query.group_size - 1) * per_node / *row.node_bytes_per_s;
}

/// The first that fits, or nullptr.
const PublishedNames::NodeSet* node_set_of(const PublishedCollective& row, const PublishedNames& names) {
    const auto found = std::ranges::find_if(names.node_sets, [&](const PublishedNames::NodeSet& one) {
        return row.machine.starts_with(one.machine) && row.algorithm.starts_with(one.algorithm);
    });
    return found == names.node_sets.end() ? nullptr : &*found;
}

}  // namespace

PublishedNames read_published_names(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"machines", "libraries", "sizes", "fitted", "node_sets"});
    PublishedNames names;
    for (const JsonValue& value : root.at("machines").elements()) {
        names.machines.push_back(read_machine(value));
    }
    for (const JsonValue& value : root.at("libraries").elements()) {
        names.libraries.push_back(read_library(value));
    }
    for (const JsonValue& value : root.at("sizes").elements()) {
        names.sizes.push_back(read_size(value));
    }
    for (const JsonValue& value : root.at("fitted").elements()) {
        names.fitted.push_back(read_fitted(value));
    }
    if (const std::optional<JsonValue> sets = root.find("node_sets")) {
        for (const JsonValue& value : sets->elements()) {
            names.node_sets.push_back(read_node_set(value));
        }
    }
    return names;
}

void add_file_names(const std::set<std::string>& machines, const std::set<std::string>& stacks, PublishedNames& names) {
    for (const std::string& machine : machines) {
        names.machines.push_back({machine, machine, {}, true});
    }
    for (const std::string& stack : stacks) {
        names.libraries.push_back({stack, stack, {{"*", "rules"}}, {}, true});
    }
}

PublishedQuery query_of(const PublishedCollective& row, const PublishedNames& names) {
    if (std::string why = refusal_of(row); !why.empty()) {
        return refused(std::move(why));
    }
    const PublishedNames::Machine* const machine = longest_of(names.machines, row.machine);
    if (machine == nullptr) {
        return refused("machine " + json_quote(row.machine) + " is unknown");
    }
    const PublishedNames::Library* const library = longest_of(names.libraries, row.library);
    if (library == nullptr) {
        return refused("library " + json_quote(row.library) + " is unknown");
    }
    PublishedQuery query;
    query.machine = machine->machine;
    query.stack = library->stack;
    query.set = machine->set;
    query.fitted = is_fitted(row, names);
    if (row.node_bytes_per_s) {
        const PublishedNames::NodeSet* const nodes = node_set_of(row, names);
        if (nodes == nullptr) {
            return refused(row.kind + ", " + json_quote(row.algorithm) + ": which nodes acted together is unknown");
        }
        play_node_bandwidth(row, *nodes, query);
    } else {
        const std::string* const algorithm = algorithm_of(*library, row.algorithm);
        if (algorithm == nullptr) {
            return refused("algorithm " + json_quote(row.algorithm) + " of " + row.library + " is unknown");
        }
        const std::optional<double> bytes = buffer_bytes(row, names);
        if (!bytes) {
            return refused(row.kind + ": the note does not say whether bytes are those of a pair or of a rank");
        }
        query.algorithm = *algorithm == "rules" ? "" : *algorithm;
        play_collective(row, *bytes, query);
    }
    if (const PublishedNames::Case* const one = case_of(*library, row, query.bytes)) {
        query.set.insert(query.set.end(), one->set.begin(), one->set.end());
        query.algorithm = query.algorithm.empty() ? one->algorithm : query.algorithm;
    }
    return query;
}

}  // namespace auspex::evaluate
