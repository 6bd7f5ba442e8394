/// @file Parts of a checkpoint: the numbers of tensors, as the manifest lists them.
#include "exec/checkpoint/checkpoint_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/state/router_balance.hpp"

namespace auspex::exec {
namespace {

constexpr StateKind kKinds[] = {StateKind::kWeight, StateKind::kFirstMoment, StateKind::kSecondMoment};
constexpr std::uint64_t kBytesOfElement = std::size(kKinds) * sizeof(float);

/// `count` elements that are contiguous in the whole tensor (from `whole` on), and at `at` among a slice's.
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

/// Throws unless the copies bring each element of the part once.
void check_cover(std::vector<Copy> copies, const TensorPart& wanted, const std::string& folder) {
    std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.to < b.to; });
    copies.push_back({0, wanted.end, 0});
    std::size_t covered = wanted.begin;
    for (const Copy& copy : copies) {
        if (copy.to != covered) {
            throw InputError(folder, std::string("found ") + (copy.to < covered ? "two numbers" : "no numbers") +
                                         " for element " + std::to_string(std::min(covered, copy.to)) +
                                         " of a slice of " + wanted.parameter->name + "; expected one");
        }
        covered += copy.count;
    }
}

/// Reads the range of a file that has all the copies, for each kind of state.
void read_copies(const ReadFile& input, std::uint64_t data, const StoredPart& stored, const std::vector<Copy>& copies,
                 std::size_t begin_of_values, StateValues& values) {
    const std::size_t first = copies.front().from, last = copies.back().from + copies.back().count;
    std::vector<float> range(last - first);
    for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
        const std::size_t offset = kind * (stored.end - stored.begin) + (first - stored.begin);
        input.read(data + offset * sizeof(float), std::as_writable_bytes(std::span(range)));
        for (const Copy& copy : copies) {
            std::copy_n(range.begin() + static_cast<std::ptrdiff_t>(copy.from - first), copy.count,
                        values.of_kind(kind).begin() + static_cast<std::ptrdiff_t>(copy.to - begin_of_values));
        }
    }
}

}  // namespace

std::string part_name(int rank) {
    const std::string digits = std::to_string(rank);
    return "part-" + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits + ".bin";
}

template <class P>
PartFile write_part(const Rank<P>& rank, const std::string& folder) {
    const std::string name = part_name(rank.communicator->world_rank());
    DurableFile output(folder + "/" + name);
    std::vector<StoredPart> stored;
    std::vector<float> values;
    std::vector<TensorPart> owned = owned_parts(rank);
    const std::vector<TensorPart> balance = balance_parts(rank, true);
    owned.insert(owned.end(), balance.begin(), balance.end());
    for (const TensorPart& part : owned) {
        const Parameter& p = *part.parameter;
        stored.push_back({p.name, p.split_dimension, p.parts, p.part, part.begin, part.end});
        values.resize(part.size());
        for (const StateKind kind : kKinds) {
            copy_state(rank, kind, part, values);
            output.write(std::as_bytes(std::span(values)));
        }
    }
    output.finish();
    return {name, output.bytes(), output.sha256(), std::move(stored)};
}

CheckpointReader::CheckpointReader(const std::string& folder, const Manifest& manifest) : folder_(folder) {
    for (const PartFile& part : manifest.parts) {
        std::uint64_t data = 0;
        for (const StoredPart& stored : part.tensors) {
            records_[stored.tensor].push_back({folder + "/" + part.name, data, stored});
            const std::uint64_t elements = stored.end - stored.begin;
            if (elements > (part.bytes - data) / kBytesOfElement) {
                throw InputError(folder, "found tensors of more than the " + std::to_string(part.bytes) + " bytes of " +
                                             part.name + "; expected as many");
            }
            data += elements * kBytesOfElement;
        }
        if (data != part.bytes) {
            throw InputError(folder, "found tensors of " + std::to_string(data) + " bytes in " + part.name +
                                         "; expected " + std::to_string(part.bytes));
        }
    }
}

Slice CheckpointReader::checked_slice(const Record& record, const Parameter& tensor) const {
    const StoredPart& stored = record.part;
    const std::size_t dimension = static_cast<std::size_t>(std::max(0, stored.split_dimension));
    const bool is_split = stored.split_dimension >= 0;
    const bool is_slice =
        is_split ? dimension < tensor.shape.size() && tensor.shape[dimension] % stored.parts == 0 : stored.parts == 1;
    if (!is_slice || stored.end > elements_of(tensor.shape) / static_cast<std::size_t>(stored.parts)) {
        throw InputError(folder_, "found elements " + std::to_string(stored.begin) + " to " +
                                      std::to_string(stored.end) + " of part " + std::to_string(stored.part) + " of " +
                                      std::to_string(stored.parts) + " along dimension " +
                                      std::to_string(stored.split_dimension + 1) + " of " + tensor.name +
                                      "; expected a slice of that tensor");
    }
    return slice_of(tensor.shape, stored.split_dimension, stored.parts, stored.part);
}

StateValues CheckpointReader::read(const TensorPart& wanted) const {
    const Parameter& tensor = *wanted.parameter;
    const auto found = records_.find(tensor.name);
    if (found == records_.end()) {
        throw InputError(folder_, "found no numbers of " + tensor.name + "; expected all");
    }
    const std::vector<Run> wanted_runs = runs_of(slice_of(tensor), wanted.begin, wanted.end);
    std::vector<std::vector<Copy>> copies;
    std::vector<Copy> all;
    for (const Record& record : found->second) {
        const Slice theirs = checked_slice(record, tensor);
        copies.push_back(common_runs(runs_of(theirs, record.part.begin, record.part.end), wanted_runs));
        all.insert(all.end(), copies.back().begin(), copies.back().end());
    }
    check_cover(std::move(all), wanted, folder_);
    StateValues values(wanted.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (!copies[i].empty()) {
            const Record& record = found->second[i];
            read_copies(ReadFile(record.file), record.data, record.part, copies[i], wanted.begin, values);
        }
    }
    return values;
}

template PartFile write_part<Fp32>(const Rank<Fp32>&, const std::string&);
template PartFile write_part<Fp64>(const Rank<Fp64>&, const std::string&);
template PartFile write_part<Bf16Precision>(const Rank<Bf16Precision>&, const std::string&);
template PartFile write_part<Bf16WithFp32Gradients>(const Rank<Bf16WithFp32Gradients>&, const std::string&);

}  // namespace auspex::exec
