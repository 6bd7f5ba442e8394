#pragma once
/// @file One rank's file of a checkpoint, and tensors assembled from the files of all: docs/formats-training.md.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "exec/state/tensor_slices.hpp"

namespace auspex::exec {

/// "part-00003.bin"
[[nodiscard]] std::string part_name(int rank);

/// Writes what the rank owns (owned_parts, balance_parts): weights, first and second moments, fp32. On the disk when it
/// returns. Throws FileError.
template <class P>
[[nodiscard]] PartFile write_part(const Rank<P>& rank, const std::string& folder);

/// Elements of one tensor: weights, first moments, second moments.
struct StateValues {
    explicit StateValues(std::size_t count) : numbers(3 * count) {}
    std::vector<float> numbers;  ///< the three kinds one behind the other
    [[nodiscard]] std::size_t size() const { return numbers.size() / 3; }
    [[nodiscard]] std::span<float> of_kind(std::size_t kind) {
        return std::span(numbers).subspan(kind * size(), size());
    }
};

/// All parts of a checkpoint, by tensor. Opens only the files that have something of what is read.
class CheckpointReader {
 public:
    /// Throws InputError where the tensors of a part do not fill the bytes that it should have.
    CheckpointReader(const std::string& folder, const Manifest& manifest);
    /// Elements of a tensor's part, whoever wrote them. Throws FileError, and InputError where the manifest's entries
    /// are no slices of the tensor, or do not have each of the elements exactly once.
    [[nodiscard]] StateValues read(const TensorPart& part) const;

 private:
    /// A range of a tensor that one file has.
    struct Record {
        std::string file;
        std::uint64_t data = 0;  ///< where its numbers begin in the file
        StoredPart part;
    };
    [[nodiscard]] Slice checked_slice(const Record& record, const Parameter& tensor) const;

    std::string folder_;
    std::map<std::string, std::vector<Record>> records_;  ///< by tensor
};

}  // namespace auspex::exec
