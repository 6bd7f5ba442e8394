#pragma once
/// @file Rows of queries and keys where tokens of a sequence lie in an order of their own.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace auspex::exec {

/// Queries and keys of one sequence where a rank has some of its tokens, in an order of their own: rows of the first
/// sequence by rising position.
struct AttendedRows {
    std::vector<std::uint32_t> queries, keys;
    std::vector<std::uint32_t> visible;           ///< of each query: how many keys, from the first, it sees
    std::vector<std::uint32_t> passed;            ///< of these, how many are behind the window of a layer that has one;
                                                  ///< empty: no layer has
    std::size_t next_queries = 0, next_keys = 0;  ///< rows from one sequence to the next
};

}  // namespace auspex::exec
