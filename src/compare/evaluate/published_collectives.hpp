#pragma once
/// @file Collectives that others measured: rows of a JSON file, one a measurement.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_forward.hpp"

namespace auspex::evaluate {

/// One measurement. docs/collectives.md has the keys.
struct PublishedCollective {
    std::string place;                       ///< in the file: "$[12]"
    std::string machine, library, kind;      ///< as published; an empty library: the row names none
    std::string algorithm, note;             ///< empty: none
    std::string unit;                        ///< of `value`
    double value = 0;                        ///< in `unit`
    std::optional<int> nodes, ranks;         ///< of the job; none: the row does not say
    std::optional<double> bytes;             ///< as published: what it counts, the note says
    std::optional<double> measured_s;        ///< a collective of which a time was measured
    std::optional<double> node_bytes_per_s;  ///< of kinds that are bandwidths of a node while all send
    bool is_collective = false;              ///< of a kind that is simulated
    bool fitted = false;                     ///< the row says that it gave a constant
};

/// Reads a file that is an array of rows. Keys that it does not know are not read: they differ from source to source.
/// Throws InputError naming file, row, key, value found and what is allowed.
[[nodiscard]] std::vector<PublishedCollective> load_published_collectives(const std::string& file);
[[nodiscard]] std::vector<PublishedCollective> parse_published_collectives(const std::string& text,
                                                                           const std::string& name);

/// The member `key`, a text that is not empty. Throws InputError.
[[nodiscard]] std::string name_in(const JsonValue& object, std::string_view key);
/// The same, or empty where there is no such key.
[[nodiscard]] std::string text_in(const JsonValue& object, std::string_view key);
/// All texts of an array; none where there is no such key.
[[nodiscard]] std::vector<std::string> texts_in(const JsonValue& object, std::string_view key);

}  // namespace auspex::evaluate
