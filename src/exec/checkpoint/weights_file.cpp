/// @file The safetensors format.
#include "exec/checkpoint/weights_file.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/state/tensor_slices.hpp"

namespace auspex::exec {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  ///< the format's own limit

/// A FileError's message begins with the file.
std::string reason_of(const FileError& error, const std::string& file) {
    const std::string text = error.what();
    return text.starts_with(file + ": ") ? text.substr(file.size() + 2) : text;
}

std::uint64_t header_length(const ReadFile& input, const std::string& file) {
    if (input.size() < kLengthBytes) {
        throw InputError(file, "found " + std::to_string(input.size()) + " bytes; expected a safetensors file");
    }
    std::uint8_t bytes[kLengthBytes];
    input.read(0, std::as_writable_bytes(std::span(bytes)));
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) {
        length = length << 8 | bytes[i];
    }
    const std::uint64_t most = std::min(input.size() - kLengthBytes, kLongestHeader);
    if (length > most) {
        throw InputError(file, "found a header of " + std::to_string(length) + " bytes; expected at most " +
                                   std::to_string(most) + " in this file");
    }
    return length;
}

WeightsFile::Entry read_entry(const JsonValue& object, std::uint64_t data_bytes) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    object.allow_only({"dtype", "shape", "data_offsets"});
    WeightsFile::Entry entry;
    entry.dtype = object.at("dtype").as_string();
    std::uint64_t bytes = sizeof(float);
    for (const JsonValue& extent : object.at("shape").elements()) {
        entry.shape.push_back(extent.as_integer(0, kMax));
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(entry.shape.back()), &bytes)) {
            object.at("shape").fail("a tensor that fits in a file");
        }
    }
    const std::vector<JsonValue> offsets = object.at("data_offsets").elements();
    if (offsets.size() != 2) {
        object.at("data_offsets").fail("two numbers, begin and end");
    }
    const auto end = static_cast<std::int64_t>(data_bytes);
    entry.begin = static_cast<std::size_t>(offsets[0].as_integer(0, end));
    entry.end = static_cast<std::size_t>(offsets[1].as_integer(static_cast<std::int64_t>(entry.begin), end));
    if (entry.dtype == "F32" && entry.end - entry.begin != bytes) {
        object.at("data_offsets").fail(std::to_string(bytes) + " bytes, as the shape says");
    }
    return entry;
}

/// As the format wants it: tensors one behind the other, from the first byte of the data to the last.
void check_places(const WeightsFile& weights, std::uint64_t data_bytes) {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const auto& [name, entry] : weights.entries) {
        places.emplace_back(entry.begin, entry.end);
    }
    std::sort(places.begin(), places.end());
    places.emplace_back(data_bytes, data_bytes);
    std::size_t before = 0;
    for (const auto& [begin, end] : places) {
        if (begin != before) {
            throw InputError(weights.file, "found tensors up to byte " + std::to_string(before) +
                                               " of the data, then from byte " + std::to_string(begin) +
                                               " on; expected one behind the other, over all " +
                                               std::to_string(data_bytes) + " bytes");
        }
        before = end;
    }
}

}  // namespace

WeightsFile open_weights_file(const std::string& file) try {
    const ReadFile input(file);
    std::string text(header_length(input, file), ' ');
    input.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
    WeightsFile weights;
    weights.file = file;
    weights.data_begin = kLengthBytes + text.size();
    const JsonDocument header = JsonDocument::parse(text, file);
    for (const std::string& name : header.root().keys()) {
        const JsonValue value = header.root().at(name);
        if (name != "__metadata__") {
            weights.entries[name] = read_entry(value, input.size() - weights.data_begin);
            continue;
        }
        for (const std::string& key : value.keys()) {
            weights.metadata[key] = value.at(key).as_string();
        }
    }
    check_places(weights, input.size() - weights.data_begin);
    return weights;
} catch (const FileError& error) {
    throw InputError(file,
                     "found a file that cannot be read (" + reason_of(error, file) + "); expected a safetensors file");
}

const WeightsFile::Entry& find_tensor(const WeightsFile& weights, const std::string& name) {
    const auto found = weights.entries.find(name);
    if (found == weights.entries.end()) {
        throw InputError(weights.file, "found no tensor " + printable(name, 200) + " among " +
                                           std::to_string(weights.entries.size()) + "; expected one");
    }
    if (found->second.dtype != "F32") {
        throw InputError(weights.file,
                         "found " + printable(name, 200) + " as " + printable(found->second.dtype) + "; expected F32");
    }
    return found->second;
}

void check_data_digest(const WeightsFile& weights) try {
    const auto expected = weights.metadata.find(kDataDigestKey);
    if (expected == weights.metadata.end()) {
        return;
    }
    const std::string found = sha256_of_file(weights.file, weights.data_begin);
    if (found != expected->second) {
        throw InputError(weights.file, "found data with SHA-256 " + found + "; expected " +
                                           printable(expected->second, found.size()) + ", as its header says");
    }
} catch (const FileError& error) {
    throw InputError(weights.file, "found a file that cannot be read (" + reason_of(error, weights.file) +
                                       "); expected the data that its header lists");
}

std::string weights_file_header(const std::vector<NamedShape>& tensors,
                                const std::map<std::string, std::string>& metadata) {
    std::string json = "{\"__metadata__\": {";
    for (const auto& [key, value] : metadata) {
        json += (json.back() == '{' ? "" : ", ") + json_quote(key) + ": " + json_quote(value);
    }
    json += "}";
    std::size_t begin = 0;
    for (const NamedShape& tensor : tensors) {
        std::string shape;
        for (const std::int64_t extent : tensor.shape) {
            shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
        }
        const std::size_t end = begin + elements_of(tensor.shape) * sizeof(float);
        json += ",\n" + json_quote(tensor.name) + ": {\"dtype\": \"F32\", \"shape\": [" + shape +
                "], \"data_offsets\": [" + std::to_string(begin) + ", " + std::to_string(end) + "]}";
        begin = end;
    }
    json += "}";
    json.resize((json.size() + 7) / 8 * 8, ' ');  // data begins at a multiple of eight bytes
    std::string head;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        head += static_cast<char>(json.size() >> (8 * i) & 0xff);
    }
    return head + json;
}

}  // namespace auspex::exec
