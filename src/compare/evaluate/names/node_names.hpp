#pragma once
/// @file The node of a case, where it is another than the machine's.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

struct NodeOfCase {
    std::vector<std::string> set;  ///< changes of the machine, ROLE.PATH=VALUE
    std::string note;              ///< what was changed, or that the case's words for NICs do not tell; else empty
};

/// GPUs, NICs and their rate (words/nic_words.hpp) of the case in place of the machine's; as many NICs a GPU, at their
/// rate, where the case says neither. More NICs than GPUs are taken together: 32 of 100 Gb/s are 8 of 400. Of what
/// shares links beyond a server (an NVL72, of which the machine file has 64) a case's node is a part, its NVLink domain
/// the whole. Nothing for machines that are one system. Throws InputError, which names the case, for more GPUs than a
/// server has.
[[nodiscard]] NodeOfCase node_of_case(const PublishedRun& run, const RunNames::Hardware& hardware);

}  // namespace auspex::evaluate
