/// @file Parts of a checkpoint: a header that says which elements of which tensors follow, then their numbers.
#include "exec/checkpoint_parts.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "exec/durable_file.hpp"

namespace auspex {
namespace {

constexpr const char* kFormat = "auspex-checkpoint-part-1";
constexpr StateKind kKinds[] = {StateKind::kWeight, StateKind::kFirstMoment, StateKind::kSecondMoment};
constexpr std::uint64_t kBytesOfElement = std::size(kKinds) * sizeof(float);
constexpr std::uint64_t kLengthBytes = 8;

std::string header_text(const std::vector<TensorPart>& parts) {
    std::string json = std::string("{\"format\": ") + json_quote(kFormat) + ", \"tensors\": [";
    const char* separator = "\n";
    for (const TensorPart& part : parts) {
        const Parameter& p = *part.parameter;
        json += separator + ("[" + json_quote(p.name));
        for (const std::size_t number :
             {static_cast<std::size_t>(p.split_dimension + 1), static_cast<std::size_t>(p.parts),
              static_cast<std::size_t>(p.part), part.begin, part.end}) {
            json += ", " + std::to_string(number);
        }
        json += "]";
        separator = ",\n";
    }
    json += "\n]}\n";
    std::string length;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        length += static_cast<char>(json.size() >> (8 * i) & 0xff);
    }
    return length + json;
}

std::string read_header_text(const ReadFile& input, const std::string& file) {
    std::uint8_t bytes[kLengthBytes]{};
    input.read(0, std::as_writable_bytes(std::span(bytes)));
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) {
        length = length << 8 | bytes[i];
    }
    if (length > input.size() - kLengthBytes) {
        throw InputError(file, "found a header of " + std::to_string(length) + " bytes; expected one within the file");
    }
    std::string text(length, ' ');
    input.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
    return text;
}

/// `count` elements that lie together in the whole tensor (from `whole` on), and at `at` among a slice's.
struct Run {
    std::size_t whole = 0, at = 0, count = 0;
};

std::vector<Run> runs_of(const Slice& slice, std::size_t begin, std::size_t end) {
    std::vector<Run> runs;
    for_each_run(slice, begin, end, [&](std::size_t whole, std::size_t at, std::size_t count) {
        runs.push_back({whole, at, count});
    });
    return runs;
}

/// What two lists of runs, each in the tensor's order, have in common.
struct Copy {
    std::size_t from = 0, to = 0, count = 0;
};

std::vector<Copy> common_runs(const std::vector<Run>& from, const std::vector<Run>& to) {
    std::vector<Copy> copies;
    for (std::size_t i = 0, j = 0; i < from.size() && j < to.size();) {
        const std::size_t begin = std::max(from[i].whole, to[j].whole);
        const std::size_t from_end = from[i].whole + from[i].count, to_end = to[j].whole + to[j].count;
        if (begin < std::min(from_end, to_end)) {
            copies.push_back({from[i].at + (begin - from[i].whole), to[j].at + (begin - to[j].whole),
                              std::min(from_end, to_end) - begin});
        }
        from_end < to_end ? ++i : ++j;
    }
    return copies;
}

}  // namespace

std::string part_name(int rank) {
    const std::string digits = std::to_string(rank);
    return "part-" + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits + ".bin";
}

template <class P>
PartFile write_part(const Rank<P>& rank, const std::string& folder) {
    const std::string name = part_name(rank.communicator->world_rank());
    const std::vector<TensorPart> parts = owned_parts(rank);
    DurableFile output(folder + "/" + name);
    output.write(header_text(parts));
    std::vector<float> values;
    for (const TensorPart& part : parts) {
        values.resize(part.size());
        for (const StateKind kind : kKinds) {
            copy_state(rank, kind, part, values);
            output.write(std::as_bytes(std::span(values)));
        }
    }
    output.finish();
    return {name, output.bytes(), output.sha256()};
}

CheckpointReader::CheckpointReader(const std::string& folder, const Manifest& manifest) : folder_(folder) {
    for (const PartFile& part : manifest.parts) {
        read_header(folder + "/" + part.name);
    }
}

void CheckpointReader::read_header(const std::string& file) {
    const ReadFile input(file);
    const std::string text = read_header_text(input, file);
    const JsonDocument header = JsonDocument::parse(text, file);
    static_cast<void>(header.root().at("format").as_one_of({kFormat}));
    std::uint64_t data = kLengthBytes + text.size();
    for (const JsonValue& tensor : header.root().at("tensors").elements()) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;
        const std::vector<JsonValue> fields = tensor.elements();
        if (fields.size() != 6) {
            tensor.fail("[name, dimension, parts, part, begin, end]");
        }
        Record record;
        record.file = file;
        record.data = data;
        record.split_dimension = static_cast<int>(fields[1].as_integer(0, 2)) - 1;
        record.parts = static_cast<int>(fields[2].as_integer(1, std::numeric_limits<int>::max()));
        record.part = static_cast<int>(fields[3].as_integer(0, record.parts - 1));
        record.begin = static_cast<std::size_t>(fields[4].as_integer(0, kMost));
        record.end = static_cast<std::size_t>(fields[5].as_integer(static_cast<std::int64_t>(record.begin), kMost));
        data += (record.end - record.begin) * kBytesOfElement;
        records_[fields[0].as_string()].push_back(record);
    }
    if (data != input.size()) {
        throw InputError(file, "found " + std::to_string(input.size()) + " bytes; expected " + std::to_string(data));
    }
}

std::size_t CheckpointReader::copy_record(const Record& record, const TensorPart& wanted, StateValues& values) {
    const Slice theirs = slice_of(wanted.parameter->shape, record.split_dimension, record.parts, record.part);
    const std::vector<Copy> copies = common_runs(runs_of(theirs, record.begin, record.end),
                                                 runs_of(slice_of(*wanted.parameter), wanted.begin, wanted.end));
    if (copies.empty()) {
        return 0;
    }
    const std::size_t first = copies.front().from, last = copies.back().from + copies.back().count;
    const ReadFile input(record.file);
    std::vector<float> stretch(last - first);
    std::size_t copied = 0;
    for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
        const std::size_t place = kind * (record.end - record.begin) + (first - record.begin);
        input.read(record.data + place * sizeof(float), std::as_writable_bytes(std::span(stretch)));
        copied = 0;
        for (const Copy& copy : copies) {
            std::copy_n(stretch.begin() + static_cast<std::ptrdiff_t>(copy.from - first), copy.count,
                        values.of_kind(kind).begin() + static_cast<std::ptrdiff_t>(copy.to - wanted.begin));
            copied += copy.count;
        }
    }
    return copied;
}

StateValues CheckpointReader::read(const TensorPart& part) const {
    StateValues values(part.size());
    std::size_t copied = 0;
    const auto found = records_.find(part.parameter->name);
    if (found != records_.end()) {
        for (const Record& record : found->second) {
            copied += copy_record(record, part, values);
        }
    }
    if (copied != part.size()) {
        throw InputError(folder_, "found " + std::to_string(copied) + " numbers of " + part.parameter->name +
                                      "; expected " + std::to_string(part.size()));
    }
    return values;
}

template PartFile write_part<Fp32>(const Rank<Fp32>&, const std::string&);
template PartFile write_part<Fp64>(const Rank<Fp64>&, const std::string&);
template PartFile write_part<Bf16Precision>(const Rank<Bf16Precision>&, const std::string&);
template PartFile write_part<Bf16WithFp32Gradients>(const Rank<Bf16WithFp32Gradients>&, const std::string&);

}  // namespace auspex
