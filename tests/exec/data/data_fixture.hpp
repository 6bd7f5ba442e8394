#pragma once
/// @file Made-up texts, and a folder in which they become a dataset.
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "../file_fixture.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/rng.hpp"
#include "exec/data/prepare.hpp"

namespace auspex::testing_data {

namespace fs = std::filesystem;
using file_fixture::message_of;
using Tokens = std::vector<std::int32_t>;

inline std::string random_bytes(std::uint64_t seed, std::size_t count, int kinds) {
    Rng rng(seed);
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
        bytes += static_cast<char>(rng.below(static_cast<std::uint64_t>(kinds)));
    }
    return bytes;
}

/// Sentences of a few words, by chance.
inline std::string sentences(std::uint64_t seed, int words) {
    constexpr const char* kWords[] = {"the ",      "token ",   "router ",     "chose 17 ",
                                      "experts, ", "twice.\n", "the  other ", "(a)\n\n"};
    Rng rng(seed);
    std::string text;
    for (int i = 0; i < words; ++i) {
        text += kWords[rng.below(std::size(kWords))];
    }
    return text;
}

/// Empty if the message is one line with this part in it.
inline std::string fault_of_message(const std::string& message, const std::string& part) {
    const bool is_right = message.find(part) != std::string::npos && message.find('\n') == std::string::npos;
    return is_right ? "" : "found: " + message + "\nexpected one line with: " + part;
}

inline void no_progress(const char*, std::size_t, std::size_t) {}

/// A scratch folder of the test, with two text files.
class DataFolder {
 protected:
    DataFolder() {
        write_file(path("a.txt"), sentences(1, 700));
        write_file(path("b.txt"), sentences(2, 400) + random_bytes(3, 500, 256));
    }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] exec::PrepareRequest request(const std::string& out) const {
        exec::PrepareRequest request;
        request.inputs = {path("a.txt"), path("b.txt")};
        request.sequence_length = 16;
        request.shard_rows = 100;
        request.folder = path(out);
        return request;
    }
    exec::DatasetInfo prepare(const exec::PrepareRequest& request) const {
        return exec::prepare_dataset(request, no_progress);
    }
    /// Prepared with bytes, in folder "data".
    [[nodiscard]] exec::DatasetInfo prepare_bytes() const { return prepare(request("data")); }
    [[nodiscard]] std::string open_error() const {
        return message_of<InputError>([&] { static_cast<void>(exec::Dataset::open(path("data"))); });
    }

    file_fixture::TestFolder scratch_;
    fs::path folder_ = scratch_.path();
};

inline std::vector<Tokens> rows_of(const exec::Dataset& dataset) {
    std::vector<Tokens> rows(static_cast<std::size_t>(dataset.sequences()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        dataset.append_sequence(static_cast<std::int64_t>(i), rows[i]);
    }
    return rows;
}

}  // namespace auspex::testing_data
