/// @file auspex data: prepare, show and export-megatron.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "cli/blends/blend_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/prediction_output.hpp"
#include "exec/blend/blend.hpp"
#include "exec/data/prepare.hpp"
#include "exec/data/tokenizer.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

void require_no(bool given, const char* flag, const char* with) {
    if (given) {
        throw InputError(std::string("--") + flag, std::string("found beside ") + with + "; expected one or the other");
    }
}

bool learns_merges(const Options& options) {
    if (options.dataset.tokenizer.empty() || options.dataset.tokenizer == "bytes") {
        require_no(options.dataset.megatron.empty() && options.dataset.vocab_size > 0, "vocab-size",
                   "the tokenizer bytes, which has 257 tokens");
        return false;
    }
    return options.dataset.tokenizer == "bpe";
}

/// The file of merges that --tokenizer names, or "".
std::string tokenizer_file(const Options& options) {
    const std::string& tokenizer = options.dataset.tokenizer;
    if (tokenizer.empty() || tokenizer == "bytes" || tokenizer == "bpe") {
        return "";
    }
    if (std::error_code status; !std::filesystem::exists(tokenizer, status)) {
        throw InputError("--tokenizer",
                         "found \"" + tokenizer + "\"; expected bytes, bpe, or the tokenizer.json of another dataset");
    }
    require_no(options.dataset.vocab_size > 0, "vocab-size", "the file of --tokenizer, which has its tokens");
    return tokenizer;
}

exec::PrepareRequest request_of(const Options& options) {
    if (options.dataset.inputs.empty() == options.dataset.megatron.empty()) {
        throw InputError("auspex data prepare",
                         std::string("found ") +
                             (options.dataset.inputs.empty() ? "neither --input nor" : "both --input and") +
                             " --megatron; expected one of the two");
    }
    if (!options.dataset.megatron.empty()) {
        require_no(!options.dataset.tokenizer.empty(), "tokenizer", "--megatron, whose tokens are taken as they are");
        require_no(!options.dataset.document_separator.empty(), "document-separator", "--megatron");
    }
    exec::PrepareRequest request;
    request.inputs = options.dataset.inputs;
    request.megatron = options.dataset.megatron;
    request.document_separator = options.dataset.document_separator;
    request.learns_merges = learns_merges(options);
    request.tokenizer_file = tokenizer_file(options);
    if ((request.learns_merges || !options.dataset.megatron.empty()) && options.dataset.vocab_size == 0) {
        throw InputError("auspex data prepare", std::string("found no --vocab-size; expected it with ") +
                                                    (request.learns_merges ? "--tokenizer bpe" : "--megatron"));
    }
    if (request.learns_merges && options.dataset.vocab_size <= exec::Tokenizer::kFirstMerged) {
        throw InputError("--vocab-size", "found " + std::to_string(options.dataset.vocab_size) +
                                             "; expected more than 257 tokens, which the bytes and the end of a "
                                             "document take");
    }
    request.vocabulary = options.dataset.vocab_size;
    request.sequence_length =
        options.dataset.sequence_length > 0 ? options.dataset.sequence_length : request.sequence_length;
    request.shard_rows = options.dataset.shard_rows > 0 ? options.dataset.shard_rows : request.shard_rows;
    request.seed = options.seed.value_or(request.seed);
    if (request.seed > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        throw InputError("--seed", "found " + std::to_string(request.seed) + "; expected at most 2^63 - 1");
    }
    request.folder = options.out;
    return request;
}

std::int64_t source_bytes(const exec::DatasetInfo& info) {
    std::int64_t bytes = 0;
    for (const exec::DatasetSource& source : info.sources) {
        bytes += source.bytes;
    }
    return bytes;
}

double bytes_per_token(const exec::DatasetInfo& info) {
    return static_cast<double>(source_bytes(info)) / static_cast<double>(info.tokens);
}

void print_json(const exec::DatasetInfo& info, const std::string& folder) {
    JsonWriter json(std::cout);
    json.begin_object().member("folder", folder).member("tokenizer", info.tokenizer);
    json.member("vocabulary", info.vocabulary).member("sequence_length", info.sequence_length);
    json.member("token_bytes", info.token_bytes).member("seed", info.seed);
    json.member("files", static_cast<std::int64_t>(info.sources.size())).member("bytes", source_bytes(info));
    json.member("documents", info.documents).member("tokens", info.tokens);
    json.member("bytes_per_token", bytes_per_token(info)).member("rows", info.rows);
    json.member("dropped_tokens", info.dropped_tokens);
    json.member("shards", static_cast<std::int64_t>(info.shards.size())).end_object();
}

void print_text(const exec::DatasetInfo& info, const std::string& folder) {
    const auto line = [](const char* name, const std::string& text) { std::cout << left(name, 12) << text << "\n"; };
    const auto count = [](std::int64_t number) { return thousands(static_cast<double>(number)); };
    const auto several = [](std::int64_t number, const char* what) {
        return counted(static_cast<double>(number), what);
    };
    std::cout << "dataset " << folder << "\n\n";
    line("source", several(static_cast<std::int64_t>(info.sources.size()), "file") + ", " +
                       several(source_bytes(info), "byte") + ", " + several(info.documents, "document"));
    line("tokenizer", info.tokenizer + ", vocabulary of " + count(info.vocabulary));
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f", bytes_per_token(info));
    line("tokens", count(info.tokens) + ", " + ratio + " bytes of the source each");
    line("rows", count(info.rows) + " of " + count(info.sequence_length) + " + 1 tokens, shuffled with seed " +
                     std::to_string(info.seed) + "; the last " + several(info.dropped_tokens, "token") +
                     " did not fill a row and " + (info.dropped_tokens == 1 ? "is" : "are") + " left out");
    line("shards",
         count(static_cast<std::int64_t>(info.shards.size())) + ", " + several(info.rows * info.row_bytes(), "byte"));
}

void print(const exec::DatasetInfo& info, const std::string& folder, const Options& options) {
    if (options.json) {
        print_json(info, folder);
    } else {
        print_text(info, folder);
    }
}

void show_blend(const Options& options) {
    const exec::Blend blend = exec::Blend::open(options.data);
    blend.check_digests();
    print_blend(blend.info(), options.data, options);
    if (!options.json) {
        std::cout << "\n" << left("checksums", 12) << "of the index and of every shard of its sources as they were\n";
    }
}

}  // namespace

void run_data_prepare(const Options& options) {
    std::map<std::string, launch::ProgressLine> lines;
    const exec::PrepareRequest request = request_of(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const exec::DatasetInfo info = prepare_dataset(request, [&](const char* what, std::size_t done, std::size_t all) {
        lines.try_emplace(what, what).first->second.show(done, all);
    });
    print(info, options.out, options);
}

void run_data_show(const Options& options) {
    std::error_code status;
    if (std::filesystem::is_regular_file(options.data, status)) {
        return show_blend(options);
    }
    const exec::Dataset dataset = exec::Dataset::open(options.data);
    dataset.check_digests();
    print(dataset.info(), options.data, options);
    if (!options.json) {
        std::cout << left("checksums", 12) << "of every shard as dataset.json says\n";
    }
}

void run_data_export_megatron(const Options& options) {
    const exec::Dataset dataset = exec::Dataset::open(options.data);
    launch::OutputLocks locks(options.command_line);
    locks.take_file("--out " + options.out, options.out);
    export_megatron(dataset, options.out);
    if (options.json) {
        JsonWriter json(std::cout);
        json.begin_object().member("tokens_file", options.out + ".bin").member("index_file", options.out + ".idx");
        json.member("documents", dataset.sequences()).end_object();
    } else {
        std::cout << "wrote " << options.out << ".bin and " << options.out
                  << ".idx: " << counted(static_cast<double>(dataset.sequences()), "document") << " of "
                  << thousands(dataset.sequence_length() + 1.0) << " tokens\n";
    }
}

}  // namespace auspex::cli
