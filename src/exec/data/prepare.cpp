/// @file Tokens to a temporary file, rows of it in shuffled order to shards.
#include "exec/data/prepare.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/rng.hpp"
#include "base/sha256.hpp"
#include "exec/data/learn_merges.hpp"
#include "exec/data/mapped_file.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/token_bytes.hpp"
#include "exec/data/tokenizer.hpp"
#include "exec/data/words.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLearnedBytes = std::size_t{256} << 20;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string in_folder(const PrepareRequest& request, const std::string& name) {
    return (fs::path(request.folder) / name).string();
}

void make_folder(const std::string& folder) {
    std::error_code status;
    fs::create_directories(folder, status);
    if (!fs::is_directory(folder, status)) {
        throw InputError(folder, "found no folder and none can be made; expected a folder for the dataset");
    }
    if (fs::exists(fs::path(folder) / "dataset.json", status)) {
        throw InputError(folder, "found a dataset there already; expected a new folder, or one without dataset.json");
    }
}

MappedFile open_text(const std::string& file) {
    MappedFile text(file, "a text file");
    if (text.bytes().empty()) {
        throw InputError(file, "found an empty file; expected text");
    }
    return text;
}

/// Takes the front of a text, about `longest` bytes, cut where words are cut.
std::string_view take_piece(std::string_view& text, std::size_t longest) {
    std::size_t length = 0;
    while (length < text.size() && length < longest) {
        length += first_word_length(text.substr(length));
    }
    const std::string_view piece = text.substr(0, length);
    text.remove_prefix(length);
    return piece;
}

std::vector<std::string_view> documents_of(std::string_view text, const std::string& separator) {
    std::vector<std::string_view> documents;
    while (!text.empty()) {
        const std::size_t end = separator.empty() ? std::string_view::npos : text.find(separator);
        if (end != 0) {
            documents.push_back(text.substr(0, end));
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
    }
    return documents;
}

std::size_t size_of(const std::vector<std::string>& files) {
    std::size_t bytes = 0;
    for (const std::string& file : files) {
        bytes += open_text(file).bytes().size();
    }
    return bytes;
}

/// Where tokens wait to be shuffled; gone with the object.
class TokenStore {
 public:
    TokenStore(std::string file, int token_bytes) : file_(std::move(file)), token_bytes_(token_bytes), output_(file_) {}
    ~TokenStore() {
        std::error_code ignored;
        fs::remove(file_, ignored);
    }
    TokenStore(const TokenStore&) = delete;
    TokenStore& operator=(const TokenStore&) = delete;

    void append(const std::vector<std::int32_t>& tokens) {
        std::string bytes;
        for (const std::int32_t token : tokens) {
            append_token(token, token_bytes_, bytes);
        }
        output_.write(bytes);
        count_ += static_cast<std::int64_t>(tokens.size());
    }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] MappedFile finish() {
        output_.commit();
        return {file_, "the tokens that were just written"};
    }

 private:
    std::string file_;
    int token_bytes_;
    std::int64_t count_ = 0;
    OutputFile output_;
};

Tokenizer make_tokenizer(const PrepareRequest& request, const PrepareProgress& progress) {
    if (!request.tokenizer_file.empty()) {
        return Tokenizer::load(request.tokenizer_file);
    }
    if (!request.learns_merges) {
        return Tokenizer();
    }
    AUSPEX_CHECK(request.vocabulary >= Tokenizer::kFirstMerged, "bytes and the end of a document are always there");
    const std::size_t all = std::min(size_of(request.inputs), kLearnedBytes);
    std::size_t done = 0;
    WordCounts counts;
    for (const std::string& file : request.inputs) {
        const MappedFile mapped = open_text(file);
        for (std::string_view document : documents_of(mapped.bytes(), request.document_separator)) {
            while (!document.empty() && done < all) {
                const std::string_view piece = take_piece(document, std::min(kPieceBytes, all - done));
                count_words(piece, counts);
                done += piece.size();
                progress("bytes learned from", std::min(done, all), all);
            }
        }
    }
    return Tokenizer(learn_merges(counts, request.vocabulary - Tokenizer::kFirstMerged));
}

void tokenise_documents(const PrepareRequest& request, Tokenizer& tokenizer, TokenStore& store, DatasetInfo& info,
                        const PrepareProgress& progress) {
    const std::size_t all = size_of(request.inputs);
    std::size_t done = 0;
    for (const std::string& file : request.inputs) {
        const MappedFile mapped = open_text(file);
        info.sources.push_back({file, static_cast<std::int64_t>(mapped.bytes().size()), sha256_hex(mapped.bytes())});
        for (std::string_view document : documents_of(mapped.bytes(), request.document_separator)) {
            while (!document.empty()) {
                const std::string_view piece = take_piece(document, kPieceBytes);
                std::vector<std::int32_t> tokens;
                tokenizer.encode(piece, tokens);
                store.append(tokens);
                done += piece.size();
                progress("bytes tokenised", done, all);
            }
            store.append({Tokenizer::kEndOfDocument});
            ++info.documents;
        }
    }
}

void copy_megatron(const PrepareRequest& request, const MegatronDataset& input, TokenStore& store, DatasetInfo& info,
                   const PrepareProgress& progress) {
    info.sources.push_back(
        {input.token_file(), static_cast<std::int64_t>(input.bytes().size()), sha256_hex(input.bytes())});
    info.documents = input.documents();
    for (std::int64_t sequence = 0; sequence < input.sequences(); ++sequence) {
        std::vector<std::int32_t> tokens;
        input.append_sequence(sequence, request.vocabulary, tokens);
        store.append(tokens);
        progress("sequences read", static_cast<std::size_t>(sequence + 1), static_cast<std::size_t>(input.sequences()));
    }
}

void count_rows(const PrepareRequest& request, std::int64_t tokens, DatasetInfo& info) {
    const std::int64_t length = std::int64_t{info.sequence_length} + 1;
    info.tokens = tokens;
    info.rows = tokens / length;
    info.dropped_tokens = tokens % length;
    if (info.rows == 0) {
        throw InputError(request.megatron.empty() ? request.inputs.front() : request.megatron,
                         "found " + std::to_string(tokens) + " tokens in all; expected at least " +
                             std::to_string(length) + ", one row of sequence_length + 1");
    }
}

/// Rows order[begin, end) of the tokens.
DatasetShard write_shard(const PrepareRequest& request, std::size_t number, std::string_view tokens,
                         std::int64_t row_bytes, const std::int64_t* begin, const std::int64_t* end) {
    char name[32];
    std::snprintf(name, sizeof name, "shard-%05zu.bin", number);
    OutputFile output(in_folder(request, name));
    for (const std::int64_t* row = begin; row != end; ++row) {
        output.write(tokens.substr(static_cast<std::size_t>(*row * row_bytes), static_cast<std::size_t>(row_bytes)));
    }
    output.commit();
    return {name, end - begin, sha256_hex(MappedFile(in_folder(request, name), "a shard").bytes())};
}

void write_shards(const PrepareRequest& request, TokenStore& store, DatasetInfo& info,
                  const PrepareProgress& progress) {
    const MappedFile tokens = store.finish();
    const std::vector<std::int64_t> order = shuffled(info.rows, request.seed);
    for (std::int64_t first = 0; first < info.rows; first += request.shard_rows) {
        const std::int64_t rows = std::min(request.shard_rows, info.rows - first);
        info.shards.push_back(write_shard(request, info.shards.size(), tokens.bytes(), info.row_bytes(),
                                          order.data() + first, order.data() + first + rows));
        progress("rows written", static_cast<std::size_t>(first + rows), static_cast<std::size_t>(info.rows));
    }
}

void write_dataset(const PrepareRequest& request, DatasetInfo& info, const PrepareProgress& progress) {
    info.sequence_length = request.sequence_length;
    info.seed = request.seed;
    const std::string store_file = in_folder(request, "tokens");
    if (!request.megatron.empty()) {
        const MegatronDataset input(request.megatron);
        info.tokenizer = "megatron";
        info.vocabulary = request.vocabulary;
        info.token_bytes = token_bytes_of(info.vocabulary);
        TokenStore store(store_file, info.token_bytes);
        copy_megatron(request, input, store, info, progress);
        count_rows(request, store.count(), info);
        write_shards(request, store, info, progress);
    } else {
        Tokenizer tokenizer = make_tokenizer(request, progress);
        info.tokenizer = request.learns_merges || !request.tokenizer_file.empty() ? "bpe" : "bytes";
        info.vocabulary = tokenizer.vocabulary();
        info.token_bytes = token_bytes_of(info.vocabulary);
        info.end_of_document = Tokenizer::kEndOfDocument;
        TokenStore store(store_file, info.token_bytes);
        tokenise_documents(request, tokenizer, store, info, progress);
        count_rows(request, store.count(), info);
        write_shards(request, store, info, progress);
        tokenizer.save(in_folder(request, "tokenizer.json"));
    }
    save_dataset_info(info, request.folder);
}

/// Of a dataset that did not get as far as its dataset.json.
void remove_parts(const PrepareRequest& request, const DatasetInfo& info) {
    std::error_code ignored;
    for (const DatasetShard& shard : info.shards) {
        fs::remove(in_folder(request, shard.file), ignored);
    }
    fs::remove(in_folder(request, "tokenizer.json"), ignored);
}

}  // namespace

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    Rng rng(seed);
    for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[rng.below(i)]);
    }
    return order;
}

DatasetInfo prepare_dataset(const PrepareRequest& request, const PrepareProgress& progress) {
    AUSPEX_CHECK(request.inputs.empty() != request.megatron.empty(), "text or a Megatron dataset");
    AUSPEX_CHECK(request.sequence_length > 0 && request.shard_rows > 0, "rows have tokens, shards have rows");
    make_folder(request.folder);
    DatasetInfo info;
    try {
        write_dataset(request, info, progress);
    } catch (...) {
        remove_parts(request, info);
        throw;
    }
    return info;
}

void export_megatron(const Dataset& dataset, const std::string& prefix) {
    MegatronWriter writer(prefix, dataset.info().token_bytes);
    for (std::int64_t row = 0; row < dataset.sequences(); ++row) {
        std::vector<std::int32_t> tokens;
        dataset.append_sequence(row, tokens);
        writer.add_sequence(tokens);
    }
    writer.commit();
}

}  // namespace auspex::exec
