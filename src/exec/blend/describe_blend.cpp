/// @file What can be known of a blend before its index.
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/sha256.hpp"
#include "exec/blend/build_blend.hpp"
#include "exec/data/dataset_info.hpp"
#include "exec/data/mapped_file.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

void check_request(const BlendRequest& request) {
    AUSPEX_CHECK((request.sequences > 0) != (request.tokens > 0), "sequences or tokens");
    if (static_cast<std::int64_t>(request.sources.size()) > kMaxBlendSources) {
        throw InputError("--source", "found " + std::to_string(request.sources.size()) + " sources; expected at most " +
                                         std::to_string(kMaxBlendSources));
    }
    std::set<fs::path> places;
    for (const BlendRequest::Source& source : request.sources) {
        if (!std::isnormal(source.weight) || source.weight < 0) {
            throw InputError("--source " + source.folder, "found the weight " + six_digits(source.weight) +
                                                              "; expected a finite number above 0, such as 0.3");
        }
        std::error_code status;
        if (!places.insert(fs::weakly_canonical(source.folder, status)).second) {
            throw InputError("--source " + source.folder,
                             "found the same dataset twice; expected each source once, with one weight");
        }
    }
    double sum = 0;
    for (const BlendRequest::Source& source : request.sources) {
        sum += source.weight;
    }
    if (!std::isfinite(sum)) {
        throw InputError("--source", "found weights whose sum is too large for a double; expected smaller ones");
    }
}

/// Of the merges: tokens of two datasets mean the same only where they are the same.
std::string tokenizer_digest(const std::string& folder, const DatasetInfo& info) {
    if (info.tokenizer != "bpe") {
        return "";
    }
    return sha256_hex(MappedFile((fs::path(folder) / "tokenizer.json").string(), "the tokenizer of a dataset").bytes());
}

void check_alike(const BlendRequest& request, const std::vector<DatasetInfo>& infos) {
    const DatasetInfo& first = infos.front();
    const std::string of_first = ", as " + request.sources.front().folder + " has";
    const std::string merges = tokenizer_digest(request.sources.front().folder, first);
    for (std::size_t i = 1; i < infos.size(); ++i) {
        const std::string place = "--source " + request.sources[i].folder;
        if (infos[i].sequence_length != first.sequence_length) {
            throw InputError(place, "found sequences of " + std::to_string(infos[i].sequence_length) +
                                        " tokens; expected " + std::to_string(first.sequence_length) + of_first);
        }
        if (infos[i].tokenizer != first.tokenizer || infos[i].vocabulary != first.vocabulary) {
            throw InputError(place, "found the tokenizer " + infos[i].tokenizer + " with " +
                                        std::to_string(infos[i].vocabulary) + " tokens; expected " + first.tokenizer +
                                        " with " + std::to_string(first.vocabulary) + of_first);
        }
        if (tokenizer_digest(request.sources[i].folder, infos[i]) != merges) {
            throw InputError(place, "found other merges in its tokenizer.json; expected the tokenizer of " +
                                        request.sources.front().folder + " (data prepare --tokenizer FILE)");
        }
    }
}

std::int64_t sequences_of(const BlendRequest& request, int sequence_length) {
    if (request.sequences > 0) {
        if (request.sequences > kMaxBlendSequences) {
            throw InputError("--sequences", "found " + std::to_string(request.sequences) + "; expected at most " +
                                                std::to_string(kMaxBlendSequences));
        }
        return request.sequences;
    }
    const std::int64_t sequences = (request.tokens - 1) / sequence_length + 1;
    if (sequences > kMaxBlendSequences) {
        throw InputError("--tokens", "found " + std::to_string(request.tokens) + " tokens, " +
                                         std::to_string(sequences) + " sequences of " +
                                         std::to_string(sequence_length) + "; expected at most " +
                                         std::to_string(kMaxBlendSequences) + " sequences");
    }
    return sequences;
}

}  // namespace

BlendInfo describe_blend(const BlendRequest& request) {
    check_request(request);
    std::vector<DatasetInfo> infos;
    for (const BlendRequest::Source& source : request.sources) {
        infos.push_back(load_dataset_info(source.folder));
    }
    check_alike(request, infos);
    BlendInfo info;
    info.sequence_length = infos.front().sequence_length;
    info.vocabulary = infos.front().vocabulary;
    info.tokenizer = infos.front().tokenizer;
    info.seed = request.seed;
    info.sequences = sequences_of(request, info.sequence_length);
    const fs::path home = fs::weakly_canonical(fs::absolute(request.file)).parent_path();
    for (std::size_t i = 0; i < infos.size(); ++i) {
        BlendSource source;
        source.folder = fs::weakly_canonical(request.sources[i].folder).lexically_relative(home).generic_string();
        source.weight = request.sources[i].weight;
        source.rows = infos[i].rows;
        source.digest = content_digest(infos[i]);
        info.sources.push_back(source);
    }
    return info;
}

}  // namespace auspex::exec
