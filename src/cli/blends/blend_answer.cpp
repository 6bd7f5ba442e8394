/// @file Sources with what was asked for and what came out.
#include "cli/blends/blend_answer.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/output/prediction_output.hpp"
#include "exec/blend/blend_layout.hpp"
#include "exec/blend/blend_order.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

using exec::BlendInfo;
using exec::BlendSource;

std::vector<double> asked_shares(const BlendInfo& info) {
    std::vector<double> weights;
    for (const BlendSource& source : info.sources) {
        weights.push_back(source.weight);
    }
    return exec::megatron_weights(weights);
}

double share_of(const BlendSource& source, const BlendInfo& info) {
    return static_cast<double>(source.sequences) / static_cast<double>(info.sequences);
}

double epochs_of(const BlendSource& source) {
    return static_cast<double>(source.sequences) / static_cast<double>(source.rows);
}

std::int64_t tokens_of(const BlendInfo& info, std::int64_t sequences) { return sequences * info.sequence_length; }

std::string folder_of(const BlendSource& source, const std::string& file) {
    return (std::filesystem::path(file).parent_path() / source.folder).lexically_normal().string();
}

/// Of the index alone: blocks and their checksums.
std::int64_t index_bytes(const BlendInfo& info) { return exec::BlendLayout{info.sequences}.info_begin(); }

void print_json(const BlendInfo& info, const std::string& file, std::ostream& out) {
    const std::vector<double> shares = asked_shares(info);
    const std::vector<std::int64_t> sizes = exec::megatron_sizes(shares, info.sequences);
    JsonWriter json(out);
    json.begin_object().member("file", file).member("digest", info.digest).member("seed", info.seed);
    json.member("tokenizer", info.tokenizer).member("vocabulary", info.vocabulary);
    json.member("sequence_length", info.sequence_length).member("sequences", info.sequences);
    json.member("tokens", tokens_of(info, info.sequences)).member("index_bytes", index_bytes(info));
    json.key("sources").begin_array();
    for (std::size_t d = 0; d < info.sources.size(); ++d) {
        const BlendSource& source = info.sources[d];
        json.begin_object().member("folder", folder_of(source, file)).member("weight", source.weight);
        json.member("share_asked", shares[d]).member("share", share_of(source, info));
        json.member("sequences", source.sequences).member("tokens", tokens_of(info, source.sequences));
        json.member("rows", source.rows).member("epochs", epochs_of(source));
        json.member_or_null("repeats_from",
                            source.repeats_from < 0 ? std::nullopt : std::optional(source.repeats_from));
        json.member("megatron_size", sizes[d]).member("digest", source.digest).end_object();
    }
    json.end_array().end_object();
}

void print_text(const BlendInfo& info, const std::string& file, std::ostream& out) {
    const auto count = [](std::int64_t number) { return thousands(static_cast<double>(number)); };
    const auto line = [&](const char* name, const std::string& text) { out << left(name, 12) << text << "\n"; };
    out << "blend " << file << "\n\n";
    line("sequences", count(info.sequences) + " of " + count(info.sequence_length) +
                          " + 1 tokens: " + count(tokens_of(info, info.sequences)) + " tokens to train on");
    line("tokenizer", info.tokenizer + ", vocabulary of " + count(info.vocabulary));
    line("order",
         "Megatron-LM's; rows of each source shuffled anew each epoch, with seed " + std::to_string(info.seed));
    line("index", counted(static_cast<double>(index_bytes(info)), "byte"));
    line("digest", info.digest);
    std::size_t width = 6;
    for (const BlendSource& source : info.sources) {
        width = std::max(width, folder_of(source, file).size());
    }
    const auto row = [&](const std::string& folder, const std::vector<std::string>& cells) {
        out << left(folder, width + 2);
        for (const std::string& cell : cells) {
            out << right(cell, 14);
        }
        out << "\n";
    };
    out << "\n";
    row("source", {"weight", "asked", "got", "sequences", "rows", "epochs", "repeats from"});
    const std::vector<double> shares = asked_shares(info);
    for (std::size_t d = 0; d < info.sources.size(); ++d) {
        const BlendSource& source = info.sources[d];
        row(folder_of(source, file),
            {six_digits(source.weight), percent(shares[d], 3), percent(share_of(source, info), 3),
             count(source.sequences), count(source.rows), fixed(epochs_of(source), 3),
             source.repeats_from < 0 ? "-" : count(source.repeats_from)});
    }
}

}  // namespace

void print_blend(const BlendInfo& info, const std::string& file, const Options& options) {
    if (options.json) {
        print_json(info, file, answer_stream(options));
    } else {
        print_text(info, file, std::cout);
    }
}

}  // namespace auspex::cli
