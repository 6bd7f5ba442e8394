#pragma once
/// @file Whole models in one plain file (docs/formats-training.md): the safetensors format, fp32, names and shapes of
/// Parameter.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace auspex::exec {

/// 8 bytes little-endian: length of the header; the header, JSON: {"NAME": {"dtype": "F32", "shape": […],
/// "data_offsets": [begin, end]}, …, "__metadata__": {…}}; the data.
struct WeightsFile {
    struct Entry {
        std::string dtype = "F32";
        std::vector<std::int64_t> shape;
        std::size_t begin = 0, end = 0;  ///< bytes, from the first byte of data
    };
    std::map<std::string, Entry> entries;
    std::map<std::string, std::string> metadata;  ///< kDataDigestKey: SHA-256 of the data, if the writer knew it
    std::size_t data_begin = 0;                   ///< offset of the data in the file
    std::string file;
};
/// Reads and checks the header: data within the file, and as many bytes as an F32 tensor's shape asks for. Throws
/// InputError.
[[nodiscard]] WeightsFile open_weights_file(const std::string& file);
/// Throws InputError for an unknown name, another dtype than F32.
[[nodiscard]] const WeightsFile::Entry& find_tensor(const WeightsFile& weights, const std::string& name);
inline constexpr const char* kDataDigestKey = "data_sha256";
/// Reads all data of a file that has their SHA-256; throws InputError if they have another.
void check_data_digest(const WeightsFile& weights);

/// What comes before the data of a file whose tensors follow one another in this order.
struct NamedShape {
    std::string name;
    std::vector<std::int64_t> shape;
};
[[nodiscard]] std::string weights_file_header(const std::vector<NamedShape>& tensors,
                                              const std::map<std::string, std::string>& metadata);

}  // namespace auspex::exec
