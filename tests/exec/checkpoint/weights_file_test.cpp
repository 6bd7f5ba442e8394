/// @file Whole models in a file: written from every layout, read onto every other, and bad files refused.
#include "exec/checkpoint/weights_file.hpp"

#include <gtest/gtest.h>

#include "../state_fixture.hpp"
#include "base/error.hpp"
#include "base/sha256.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "read_tensor.hpp"

namespace auspex::state_fixture {
namespace {

/// 8 bytes of length, the header, the data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
    std::string text(8, '\0');
    text[0] = static_cast<char>(header.size());
    return text + header + std::string(data_bytes, '\1');
}

TEST(WeightsFile, a_header_lists_tensors_one_behind_the_other) {
    const TestFolder folder;
    const std::string file = folder.path() + "/two.safetensors";
    const std::string header = exec::weights_file_header({{"a", {2, 2}}, {"b", {1}}}, {{"format", "pt"}});
    EXPECT_EQ(header.size() % 8, 0U);
    const float data[5] = {1, 2, 3, 4, 5};
    write_bytes(file, header + std::string(reinterpret_cast<const char*>(data), sizeof data));
    const exec::WeightsFile weights = exec::open_weights_file(file);
    EXPECT_EQ(weights.metadata.at("format"), "pt");
    EXPECT_EQ(weights.entries.at("a").shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(read_tensor(weights, "a"), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(read_tensor(weights, "b"), (std::vector<float>{5}));
}

TEST(WeightsFile, what_is_no_such_file_is_refused) {
    const TestFolder folder;
    const std::string file = folder.path() + "/bad.safetensors";
    const auto refusal = [&](const std::string& bytes) {
        write_bytes(file, bytes);
        const std::string message = message_of<InputError>([&] { static_cast<void>(exec::open_weights_file(file)); });
        EXPECT_TRUE(message.starts_with(file)) << message;
        return message;
    };
    EXPECT_NE(refusal("").find("found 0 bytes"), std::string::npos);
    EXPECT_NE(refusal(std::string(8, '\xff')).find("found a header of"), std::string::npos);
    EXPECT_NE(refusal(file_of("{]", 0)).find("not JSON"), std::string::npos);
    EXPECT_NE(refusal(file_of(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", 4)).find("found 8"),
              std::string::npos);
    EXPECT_NE(refusal(file_of(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", 8)).find("8 bytes"),
              std::string::npos);
    EXPECT_NE(
        refusal(file_of(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 0]}})", 0))
            .find("fits"),
        std::string::npos);
    // One byte belongs to one tensor, and every byte to some.
    const std::string a = R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})";
    EXPECT_NE(refusal(file_of(a + R"(, "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})", 8))
                  .find("up to byte 8 of the data, then from byte 4 on"),
              std::string::npos);
    EXPECT_NE(refusal(file_of(a + "}", 12)).find("over all 12 bytes"), std::string::npos);
    write_bytes(file, file_of(R"({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}})", 4));
    const exec::WeightsFile half = exec::open_weights_file(file);
    EXPECT_NE(message_of<InputError>([&] { static_cast<void>(read_tensor(half, "a")); }).find("found a as BF16"),
              std::string::npos);
    EXPECT_NE(message_of<InputError>([&] { static_cast<void>(read_tensor(half, "b")); }).find("found no tensor b"),
              std::string::npos);
    EXPECT_NE(message_of<InputError>([&] {
                  static_cast<void>(exec::open_weights_file(folder.path() + "/none"));
              }).find("No such file"),
              std::string::npos);
}

template <class P>
std::string written_model(const models::Plan& plan, const std::string& file) {
    on_ranks<P>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<P>& rank) { exec::write_model(rank, file); });
    return bytes_of(file);
}

TEST(ModelFile, every_layout_writes_the_same_bytes) {
    const TestFolder folder;
    const std::string single = written_model<exec::Fp32>(single_plan(), folder.path() + "/single");
    EXPECT_GT(single.size(), 4U * 1000);
    for (const models::Plan& plan : layouts_and_sharded()) {
        EXPECT_EQ(written_model<exec::Fp32>(plan, folder.path() + "/a"), single) << words_of(plan);
        EXPECT_EQ(written_model<exec::Bf16Precision>(plan, folder.path() + "/b"), single) << words_of(plan);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);  // nothing partial is left
}

TEST(ModelFile, every_layout_reads_what_another_wrote_and_begins_its_moments_anew) {
    const TestFolder folder;
    const std::string file = folder.path() + "/model";
    const std::string bytes = written_model<exec::Fp32>(plan_of(2, 2, 1, 1, models::OptimizerSharding::kSharded), file);
    for (const models::Plan& plan : layouts_and_sharded()) {
        exec::RunInputs run = run_inputs(every_tensor_model(), plan);
        run.seed = 77;
        on_ranks<exec::Bf16Precision>(run, [&](exec::Rank<exec::Bf16Precision>& rank) {
            fill_moments(rank);
            read_model(rank, file);
            int different = 0;
            const exec::WeightsFile weights = exec::open_weights_file(file);
            std::map<std::string, std::vector<float>> whole;
            for (const auto& [name, entry] : weights.entries) {
                whole[name] = read_tensor(weights, name);
            }
            for_each_element(
                rank.table, [&](bool is_expert, std::size_t flat, std::size_t at, const exec::Parameter& p) {
                    if (is_expert ? rank.weights.sharded.experts : rank.weights.sharded.dense) {
                        return;
                    }
                    const exec::Bf16 weight = (is_expert ? rank.weights.experts : rank.weights.dense)[flat];
                    different += weight.bits != exec::stored<exec::Bf16>(whole.at(p.name)[at]).bits;
                });
            EXPECT_EQ(different, 0) << words_of(plan);
            EXPECT_TRUE(std::ranges::all_of(rank.optimizer->dense_m.span(), [](float m) { return m == 0; }));
            write_model(rank, file + "-again");
        });
        EXPECT_EQ(bytes_of(file + "-again"), bytes) << words_of(plan);
    }
}

TEST(ModelFile, a_changed_byte_of_the_data_is_found_on_every_rank) {
    const TestFolder folder;
    const std::string file = folder.path() + "/model";
    const models::Plan plan = plan_of(1, 2, 2, 1, models::OptimizerSharding::kSharded);
    std::string bytes = written_model<exec::Fp32>(plan, file);
    const exec::WeightsFile weights = exec::open_weights_file(file);
    EXPECT_EQ(weights.metadata.at(exec::kDataDigestKey),
              sha256_hex(std::string_view(bytes).substr(weights.data_begin)));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_bytes(file, bytes);
    const auto message_of_reading = [&] {
        std::string message;
        on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
            const std::string own = message_of<InputError>([&] { read_model(rank, file); });
            if (rank.communicator->world_rank() == 3) {
                message = own;
            }
        });
        return message;
    };
    EXPECT_TRUE(message_of_reading().starts_with(file + ": found data with SHA-256 ")) << message_of_reading();
    bytes.replace(bytes.find(exec::kDataDigestKey), 4, "some");  // without a digest, nothing is compared
    write_bytes(file, bytes);
    EXPECT_EQ(message_of_reading(), "no such exception");
}

TEST(ModelFile, gradients_are_written_from_the_shards) {
    const TestFolder folder;
    const std::string file = folder.path() + "/gradients";
    on_ranks<exec::Fp32>(
        run_inputs(every_tensor_model(), plan_of(1, 2, 2, 2, models::OptimizerSharding::kEpAware)),
        [&](exec::Rank<exec::Fp32>& rank) {
            for (const exec::TensorPart& part : shard_parts(rank)) {
                const exec::Parameter& p = *part.parameter;
                auto& all = part.is_expert ? rank.weights.experts_gradient : rank.weights.dense_gradient;
                for_each_run(slice_of(p), part.begin, part.end,
                             [&](std::size_t whole, std::size_t at, std::size_t count) {
                                 for (std::size_t i = 0; i < count; ++i) {
                                     all[p.offset + at + i] = static_cast<float>(number_of(p.name, whole + i, 0));
                                 }
                             });
            }
            write_gradients(rank, file);
        });
    const exec::WeightsFile gradients = exec::open_weights_file(file);
    for (const auto& [name, entry] : gradients.entries) {
        const std::vector<float> values = read_tensor(gradients, name);
        for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_EQ(values[i], static_cast<float>(number_of(name, i, 0))) << name << " " << i;
        }
    }
}

TEST(ModelFile, another_models_file_and_a_folder_that_is_not_there_are_refused_on_every_rank) {
    const TestFolder folder;
    const std::string file = folder.path() + "/dense";
    const models::Plan plan = plan_of(1, 2, 2, 1, models::OptimizerSharding::kSharded);
    on_ranks<exec::Fp32>(run_inputs(dense_model(), single_plan()),
                         [&](exec::Rank<exec::Fp32>& rank) { write_model(rank, file); });
    on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
        EXPECT_NE(message_of<InputError>([&] { read_model(rank, file); }).find("found no tensor"), std::string::npos);
        const std::string nowhere = folder.path() + "/nowhere/model";
        EXPECT_NE(message_of<exec::CheckpointError>([&] { write_model(rank, nowhere); }).find("No such file"),
                  std::string::npos);
        EXPECT_NE(message_of<InputError>([&] { read_model(rank, nowhere); }).find("No such file"), std::string::npos);
    });
    models::Workload wider = dense_model();
    wider.intermediate_size = 16;
    on_ranks<exec::Fp32>(
        run_inputs(wider, plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded)), [&](exec::Rank<exec::Fp32>& rank) {
            EXPECT_NE(
                message_of<InputError>([&] { read_model(rank, file); }).find("with shape [12, 8]; expected [16, 8]"),
                std::string::npos);
        });
}

}  // namespace
}  // namespace auspex::state_fixture
