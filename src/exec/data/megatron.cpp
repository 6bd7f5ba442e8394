/// @file Megatron's files, checked against themselves.
#include "exec/data/megatron.hpp"

#include <cstring>

#include "base/error.hpp"
#include "exec/data/token_bytes.hpp"

namespace auspex::exec {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr std::uint64_t kVersion = 1;
constexpr std::uint8_t kInt32 = 4, kUint16 = 8;

/// Takes numbers off the front of an index.
class IndexReader {
 public:
    IndexReader(const std::string& file, std::string_view rest) : file_(file), rest_(rest) {}

    std::string_view take(std::uint64_t count, std::size_t size) {
        if (count > rest_.size() / size) {
            fail("found a file that ends too early; expected an index that is as long as it says");
        }
        const std::string_view taken = rest_.substr(0, count * size);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    template <typename Number>
    Number take() {
        return number_at<Number>(take(1, sizeof(Number)), 0);
    }
    template <typename Number>
    static Number number_at(std::string_view bytes, std::size_t index) {
        Number number{};
        std::memcpy(&number, bytes.data() + index * sizeof(Number), sizeof(Number));
        return number;
    }
    [[nodiscard]] std::size_t left() const { return rest_.size(); }
    [[noreturn]] void fail(const std::string& what) const { throw InputError(file_, what); }

 private:
    const std::string& file_;
    std::string_view rest_;
};

int read_token_bytes(IndexReader& index) {
    if (index.left() < kMagic.size() || index.take(kMagic.size(), 1) != kMagic) {
        index.fail("found a file that does not begin with MMIDIDX; expected the index of a Megatron dataset");
    }
    if (const auto version = index.take<std::uint64_t>(); version != kVersion) {
        index.fail("found version " + std::to_string(version) + "; expected 1");
    }
    const auto type = index.take<std::uint8_t>();
    if (type != kInt32 && type != kUint16) {
        index.fail("found tokens of type " + std::to_string(type) + "; expected 8 (uint16) or 4 (int32)");
    }
    return type == kUint16 ? 2 : 4;
}

/// First token of each sequence, and the number of tokens.
std::vector<std::int64_t> read_starts(IndexReader& index, std::uint64_t sequences, int token_bytes) {
    const std::string_view sizes = index.take(sequences, sizeof(std::int32_t));
    const std::string_view pointers = index.take(sequences, sizeof(std::int64_t));
    std::vector<std::int64_t> starts{0};
    for (std::size_t i = 0; i < sequences; ++i) {
        const auto size = IndexReader::number_at<std::int32_t>(sizes, i);
        const auto pointer = IndexReader::number_at<std::int64_t>(pointers, i);
        if (size < 0 || pointer != starts.back() * token_bytes) {
            index.fail("found sequence " + std::to_string(i) + " of " + std::to_string(size) + " tokens at byte " +
                       std::to_string(pointer) + "; expected sequences one behind the other, this one at byte " +
                       std::to_string(starts.back() * token_bytes));
        }
        starts.push_back(starts.back() + size);
    }
    return starts;
}

void check_documents(IndexReader& index, std::uint64_t boundaries, std::uint64_t sequences) {
    const std::string_view firsts = index.take(boundaries, sizeof(std::int64_t));
    std::int64_t before = 0;
    for (std::size_t i = 0; i < boundaries; ++i) {
        const auto first = IndexReader::number_at<std::int64_t>(firsts, i);
        const bool is_end = i + 1 == boundaries;
        if (first < before || (i == 0 && first != 0) || (is_end && first != static_cast<std::int64_t>(sequences))) {
            index.fail("found document " + std::to_string(i) + " at sequence " + std::to_string(first) +
                       "; expected documents in order, from sequence 0 to " + std::to_string(sequences));
        }
        before = first;
    }
    if (index.left() > 0) {
        index.fail("found " + std::to_string(index.left()) + " bytes behind the index; expected none");
    }
}

template <typename Number>
void append(Number number, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

MegatronDataset::MegatronDataset(const std::string& prefix)
    : token_file_(prefix + ".bin"), tokens_(token_file_, "the tokens of a Megatron dataset") {
    const std::string file = prefix + ".idx";
    const MappedFile mapped(file, "the index of a Megatron dataset");
    IndexReader index(file, mapped.bytes());
    token_bytes_ = read_token_bytes(index);
    const auto sequences = index.take<std::uint64_t>();
    const auto boundaries = index.take<std::uint64_t>();
    if (boundaries == 0) {
        index.fail("found no document boundaries; expected one more than there are documents");
    }
    starts_ = read_starts(index, sequences, token_bytes_);
    check_documents(index, boundaries, sequences);
    documents_ = static_cast<std::int64_t>(boundaries) - 1;
    if (static_cast<std::int64_t>(bytes().size()) != this->tokens() * token_bytes_) {
        throw InputError(token_file_, "found " + std::to_string(bytes().size()) + " bytes; expected " +
                                          std::to_string(this->tokens() * token_bytes_) + ", as " + file + " says");
    }
}

std::int64_t MegatronDataset::tokens_of(std::int64_t sequence) const {
    const auto i = static_cast<std::size_t>(sequence);
    return starts_[i + 1] - starts_[i];
}

void MegatronDataset::append_sequence(std::int64_t sequence, int vocabulary, std::vector<std::int32_t>& tokens) const {
    const std::int64_t first = starts_[static_cast<std::size_t>(sequence)];
    for (std::int64_t i = 0; i < tokens_of(sequence); ++i) {
        const std::int32_t token = token_at(bytes(), first + i, token_bytes_);
        if (token < 0 || token >= vocabulary) {
            throw InputError(token_file_, "found token " + std::to_string(token) + " at place " + std::to_string(i) +
                                              " of sequence " + std::to_string(sequence) + "; expected 0 to " +
                                              std::to_string(vocabulary - 1));
        }
        tokens.push_back(token);
    }
}

MegatronWriter::MegatronWriter(const std::string& prefix, int token_bytes)
    : tokens_(prefix + ".bin"), index_(prefix + ".idx"), token_bytes_(token_bytes) {}

void MegatronWriter::add_sequence(const std::vector<std::int32_t>& tokens) {
    std::string bytes;
    for (const std::int32_t token : tokens) {
        append_token(token, token_bytes_, bytes);
    }
    tokens_.write(bytes);
    sizes_.push_back(static_cast<std::int32_t>(tokens.size()));
}

void MegatronWriter::commit() {
    std::string bytes(kMagic);
    append(kVersion, bytes);
    append(token_bytes_ == 2 ? kUint16 : kInt32, bytes);
    append(std::uint64_t{sizes_.size()}, bytes);
    append(std::uint64_t{sizes_.size()} + 1, bytes);
    for (const std::int32_t size : sizes_) {
        append(size, bytes);
    }
    std::int64_t pointer = 0;
    for (const std::int32_t size : sizes_) {
        append(pointer, bytes);
        pointer += std::int64_t{size} * token_bytes_;
    }
    for (std::size_t document = 0; document <= sizes_.size(); ++document) {
        append(static_cast<std::int64_t>(document), bytes);
    }
    index_.write(bytes);
    tokens_.commit();
    index_.commit();
}

}  // namespace auspex::exec
