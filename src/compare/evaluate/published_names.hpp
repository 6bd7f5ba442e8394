#pragma once
/// @file What published rows mean here: the machine file, stack, algorithm and size of what they name.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_forward.hpp"
#include "compare/evaluate/published_collectives.hpp"

namespace auspex::evaluate {

/// machines/published/collectives.json. docs/collectives.md has the keys.
struct PublishedNames {
    struct Machine {
        std::string text;              ///< what the row's name begins with
        std::string machine;           ///< name of a file
        std::vector<std::string> set;  ///< ROLE.PATH=VALUE, of machine or stack
        bool is_whole = false;         ///< the row's name is the text
    };
    /// What a library does differently for some rows: those with everything that is named here.
    struct Case {
        std::string machine;             ///< what the row's name begins with; empty: any
        std::vector<std::string> kinds;  ///< empty: any
        std::optional<int> up_to_nodes;
        std::optional<double> up_to_bytes_a_rank;  ///< buffer over ranks
        std::vector<std::string> set;
        std::string algorithm;  ///< in place of "rules"; empty: the stack's
    };
    struct Library {
        std::string text;   ///< what the row's name begins with
        std::string stack;  ///< name of a file
        /// From the row's word to that of --algorithm, or "rules": those of the stack. "*": every other.
        std::map<std::string, std::string, std::less<>> algorithms;
        std::vector<Case> cases;  ///< the first that fits counts
        bool is_whole = false;    ///< the row's name is the text
    };
    /// What `bytes` counts in rows whose note has this text.
    struct Size {
        std::string note;
        std::vector<std::string> times_ranks;  ///< kinds whose buffer is `bytes` times the ranks
    };
    /// Rows that gave a constant: those with everything that is named here.
    struct Fitted {
        std::string machine, library, kind, algorithm;
        std::optional<int> ranks;
        std::optional<double> bytes;
    };
    /// Which nodes acted together in a bandwidth of a node: rows with everything that is named here.
    struct NodeSet {
        std::string machine, algorithm;  ///< what the row's words begin with
        int nodes = 0;
        std::string placement;  ///< as --placement has it; empty: the first nodes
    };
    std::vector<Machine> machines;
    std::vector<Library> libraries;
    std::vector<Size> sizes;
    std::vector<Fitted> fitted;
    std::vector<NodeSet> node_sets;
};

/// Rows may name a machine and a stack by their files, too; what the table has by the same text goes first.
void add_file_names(const std::set<std::string>& machines, const std::set<std::string>& stacks, PublishedNames& names);

/// Throws InputError.
[[nodiscard]] PublishedNames read_published_names(const JsonDocument& document);

/// A row in the words of `auspex collective`.
struct PublishedQuery {
    std::string refused;  ///< not empty: why the row cannot be predicted, and the rest is nothing
    std::string machine, stack;
    std::vector<std::string> set;
    std::string kind, algorithm;  ///< empty: by the stack's rules
    std::string placement;        ///< empty: of the command line
    int nodes = 0, ranks = 0;
    int group_size = 0;     ///< of the groups that act at once, whose members lie evenly over all ranks
    double bytes = 0;       ///< of the buffer, as --bytes has it
    double measured_s = 0;  ///< of all of it
    bool fitted = false;
};

/// A bandwidth of a node is played as a pairwise all-to-all, or, of a bisection, as all-to-alls of pairs of ranks that
/// are half of all apart.
/// bytes of an all-gather and a reduce-scatter are the whole buffer, unless the note has a text of `sizes`; those of an
/// all-to-all may be either, so that it has to have one.
[[nodiscard]] PublishedQuery query_of(const PublishedCollective& row, const PublishedNames& names);

}  // namespace auspex::evaluate
