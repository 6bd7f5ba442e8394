#pragma once
/// @file Datasets whose rows say what they are, and blends of them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "../file_fixture.hpp"
#include "base/error.hpp"
#include "exec/blend/blend.hpp"
#include "exec/blend/build_blend.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/prepare.hpp"
#include "exec/transport/in_process.hpp"
#include "exec/transport/one_group.hpp"

namespace auspex::testing_blend {

namespace fs = std::filesystem;
using file_fixture::bytes_of;
using file_fixture::message_of;

inline void no_progress(std::size_t, std::size_t) {}

/// A row has three tokens: its source, and its number in two digits of base 1000.
class BlendFolder {
 protected:
    static constexpr int kVocabulary = 1000, kLength = 2;

    [[nodiscard]] std::string path(const std::string& name) const {
        return (fs::path(scratch_.path()) / name).string();
    }

    /// Returns its folder.
    std::string make_source(int number, int rows, int length = kLength, int vocabulary = kVocabulary) const {
        const std::string folder = path("source-" + std::to_string(number)), tokens = folder + "-tokens";
        exec::MegatronWriter writer(tokens, 2);
        for (int row = 0; row < rows; ++row) {
            std::vector<std::int32_t> sequence(static_cast<std::size_t>(length) + 1, number);
            sequence[1] = row / kVocabulary, sequence[static_cast<std::size_t>(length)] = row % kVocabulary;
            writer.add_sequence(sequence);
        }
        writer.commit();
        exec::PrepareRequest request;
        request.megatron = tokens, request.vocabulary = vocabulary, request.sequence_length = length;
        request.folder = folder;
        static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
        return folder;
    }

    /// Sources 0, 1, … of so many rows, in the blend of that name.
    exec::BlendRequest request_of(const std::vector<int>& rows, const std::vector<double>& weights,
                                  std::int64_t sequences, const std::string& name = "a.blend") const {
        exec::BlendRequest request;
        for (std::size_t d = 0; d < rows.size(); ++d) {
            request.sources.push_back({make_source(static_cast<int>(d), rows[d]), weights[d]});
        }
        request.sequences = sequences;
        request.file = path(name);
        return request;
    }

    /// On threads. Returns what rank 0 does.
    static exec::BlendInfo built_by(int ranks, const exec::BlendRequest& request) {
        exec::BlendInfo info;
        exec::run_in_process(exec::one_group(ranks, "a test"), [&](exec::Communicator& communicator) {
            exec::BlendInfo own = build_blend(request, communicator, no_progress);
            if (communicator.world_rank() == 0) {
                info = std::move(own);
            }
        });
        return info;
    }

    struct Row {
        int source = 0, number = 0;
    };
    static std::vector<Row> rows_of(const exec::TrainingData& data) {
        std::vector<Row> rows;
        for (std::int64_t i = 0; i < data.sequences(); ++i) {
            std::vector<std::int32_t> tokens;
            data.append_sequence(i, tokens);
            rows.push_back({tokens.at(0), tokens.at(1) * kVocabulary + tokens.at(2)});
        }
        return rows;
    }

    file_fixture::TestFolder scratch_;
};

}  // namespace auspex::testing_blend
