/// @file Strict reading and writing of a blend's description.
#include "exec/blend/blend_info.hpp"

#include <limits>
#include <sstream>

#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/sha256.hpp"

namespace auspex::exec {
namespace {

constexpr std::int64_t kMostOfBlend = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostTokensOfBlend = 100'000'000;

/// `left`: sequences of the blend that no source before has.
BlendSource read_source(const JsonValue& value, std::int64_t left, std::int64_t sequences) {
    value.allow_only({"folder", "weight", "rows", "digest", "sequences", "repeats_from"});
    BlendSource source;
    source.folder = value.at("folder").as_string();
    source.weight =
        value.at("weight").as_number(std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
    source.rows = value.at("rows").as_integer(1, kMostOfBlend / 8);
    source.digest = value.at("digest").as_string();
    source.sequences = value.at("sequences").as_integer(0, left);
    source.repeats_from = value.at("repeats_from").as_integer(-1, sequences - 1);
    return source;
}

}  // namespace

std::string text_of(const BlendInfo& info) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object().member("auspex_blend", 1).member("sequence_length", info.sequence_length);
        json.member("vocabulary", info.vocabulary).member("tokenizer", info.tokenizer).member("seed", info.seed);
        json.member("sequences", info.sequences).member("index_digest", info.index_digest);
        json.key("sources").begin_array();
        for (const BlendSource& source : info.sources) {
            json.begin_object().member("folder", source.folder).member("weight", source.weight);
            json.member("rows", source.rows).member("digest", source.digest);
            json.member("sequences", source.sequences).member("repeats_from", source.repeats_from).end_object();
        }
        json.end_array().end_object();
    }
    return text.str();
}

BlendInfo parse_blend_info(const std::string& text, const std::string& file) {
    const JsonDocument document = JsonDocument::parse(text, file);
    const JsonValue root = document.root();
    root.allow_only(
        {"auspex_blend", "sequence_length", "vocabulary", "tokenizer", "seed", "sequences", "index_digest", "sources"});
    static_cast<void>(root.at("auspex_blend").as_integer(1, 1));
    BlendInfo info;
    info.sequence_length = static_cast<int>(root.at("sequence_length").as_integer(1, kMostTokensOfBlend));
    info.vocabulary = static_cast<int>(root.at("vocabulary").as_integer(1, kMostTokensOfBlend));
    static_cast<void>(root.at("tokenizer").as_one_of({"bytes", "bpe", "megatron"}));
    info.tokenizer = root.at("tokenizer").as_string();
    info.seed = static_cast<std::uint64_t>(root.at("seed").as_integer(0, kMostOfBlend));
    info.sequences = root.at("sequences").as_integer(1, kMaxBlendSequences);
    info.index_digest = root.at("index_digest").as_string();
    std::int64_t sum = 0;
    for (const JsonValue& source : root.at("sources").elements()) {
        info.sources.push_back(read_source(source, info.sequences - sum, info.sequences));
        sum += info.sources.back().sequences;
    }
    if (info.sources.empty() || (sum != info.sequences && !info.index_digest.empty())) {
        root.at("sources").fail("sources whose sequences sum to " + std::to_string(info.sequences) + ", not to " +
                                std::to_string(sum));
    }
    info.digest = sha256_hex(text);
    return info;
}

}  // namespace auspex::exec
