/// @file Checkpoints: round trips over layouts, which of two is written over, whose are refused.
#include "exec/checkpoint/checkpoint.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "checkpoint_fixture.hpp"

namespace auspex::state_fixture {
namespace {

TEST(Checkpoint, every_layout_reads_exactly_what_every_other_wrote) {
    models::Plan in_groups = plan_of(1, 4, 1, 1, models::OptimizerSharding::kFsdp);
    in_groups.shard_replicas = 2;
    for (const models::Plan& writer : layouts_and_sharded()) {
        const TestFolder folder;
        const State written = write_state<exec::Fp32>(writer, folder.path() + "/run", 40, "", 7);
        const exec::CheckpointInfo info = newest(folder.path() + "/run");
        EXPECT_EQ(info.step, 40);
        EXPECT_EQ(info.manifest.sequences, 160);
        EXPECT_EQ(info.manifest.settings.at("seed"), "7");
        EXPECT_EQ(read_state<exec::Fp32>(writer, info), written) << words_of(writer);
        EXPECT_EQ(read_state<exec::Bf16WithFp32Gradients>(single_plan(), info), written) << words_of(writer);
        for (const models::Plan& reader : {plan_of(1, 2, 2, 2, models::OptimizerSharding::kEpAware),
                                           plan_of(2, 2, 2, 1, models::OptimizerSharding::kSharded),
                                           plan_of(1, 3, 1, 1, models::OptimizerSharding::kReplicated),
                                           plan_of(1, 2, 2, 2, models::OptimizerSharding::kFsdp),
                                           plan_of(2, 2, 1, 1, models::OptimizerSharding::kZero2), in_groups}) {
            EXPECT_EQ(read_state<exec::Fp32>(reader, info), written) << words_of(writer) << " to " << words_of(reader);
        }
    }
}

TEST(Checkpoint, bf16_masters_come_back_unrounded) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 2, 2, 1, models::OptimizerSharding::kSharded);
    const State written = write_state<exec::Bf16Precision>(plan, folder.path(), 1);
    EXPECT_EQ(read_state<exec::Bf16Precision>(plan, newest(folder.path())), written);
    EXPECT_EQ(read_state<exec::Fp32>(single_plan(), newest(folder.path())), written);
}

TEST(Checkpoint, replicas_share_the_writing) {
    const TestFolder folder;
    static_cast<void>(
        write_state<exec::Fp32>(plan_of(1, 2, 2, 2, models::OptimizerSharding::kReplicated), folder.path(), 1));
    const exec::Manifest manifest = exec::load_manifest(folder.path() + "/checkpoint-0/manifest.json");
    ASSERT_EQ(manifest.parts.size(), 8U);
    const exec::ParameterTable model = exec::whole_model(every_tensor_model());
    std::uint64_t sum = 0;
    for (const exec::PartFile& part : manifest.parts) {
        sum += part.bytes;
    }
    EXPECT_EQ(sum, 12 * (model.dense_size + model.experts_size));  // every element once
}

TEST(Checkpoint, what_a_run_began_from_is_not_overwritten) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded);
    EXPECT_EQ(newest(folder.path() + "/none").folder, "");
    for (const int step : {10, 20, 30}) {
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), step, newest(folder.path()).folder));
        EXPECT_EQ(newest(folder.path()).step, step);
    }
    EXPECT_EQ(newest(folder.path()).folder, folder.path() + "/checkpoint-0");
    EXPECT_EQ(exec::load_manifest(folder.path() + "/checkpoint-1/manifest.json").step, 20);
    // A run that went back to step 20 writes over step 30.
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 25, folder.path() + "/checkpoint-1"));
    EXPECT_EQ(newest(folder.path()).step, 25);
    EXPECT_EQ(exec::load_manifest(folder.path() + "/checkpoint-1/manifest.json").step, 20);
    // Two that it did not begin from: nothing may go.
    on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
        for (const char* source : {"", "elsewhere"}) {
            EXPECT_NE(message_of<exec::CheckpointError>([&] {
                          static_cast<void>(write_checkpoint(rank, {folder.path(), source, 50, 0, {}}));
                      }).find("did not begin from"),
                      std::string::npos);
        }
    });
}

TEST(Checkpoint, a_smaller_world_leaves_no_parts_of_a_larger_one) {
    const TestFolder folder;
    static_cast<void>(
        write_state<exec::Fp32>(plan_of(1, 3, 1, 1, models::OptimizerSharding::kSharded), folder.path(), 1));
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 2, newest(folder.path()).folder));
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 3, newest(folder.path()).folder));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() + "/checkpoint-0"), {}), 2);
}

/// No gradient trains them, no optimizer shards them: the first rank of a stage writes those of its layers.
TEST(Checkpoint, biases_of_routers_come_back_on_every_layout) {
    models::Workload w = every_tensor_model();
    w.router_bias = true, w.mtp_layers = 1;
    const auto bias_of = [](int layer, int expert) {
        return static_cast<float>(layer) + 0.125F * static_cast<float>(expert);
    };
    const auto for_each_bias = [&](exec::Rank<exec::Fp32>& rank, const auto& visit) {
        for (const exec::Parameter& p : rank.table.balance) {
            for (int e = 0; e < w.num_experts; ++e) {
                visit(rank.weights.balance.bias[p.offset + static_cast<std::size_t>(e)], bias_of(p.layer, e));
            }
        }
    };
    const std::vector<models::Plan> plans{single_plan(), plan_of(1, 2, 2, 2, models::OptimizerSharding::kEpAware),
                                          plan_of(2, 2, 2, 1, models::OptimizerSharding::kEpAware),
                                          plan_of(3, 1, 1, 2, models::OptimizerSharding::kSharded)};
    for (const models::Plan& writer : plans) {
        const TestFolder folder;
        on_ranks<exec::Fp32>(run_inputs(w, writer), [&](exec::Rank<exec::Fp32>& rank) {
            for_each_bias(rank, [](float& found, float value) { found = value; });
            static_cast<void>(exec::write_checkpoint(rank, {folder.path(), "", 1, 4, {}}));
            exec::write_model(rank, folder.path() + "/model.safetensors");
        });
        const exec::CheckpointInfo info = newest(folder.path(), nullptr, w);
        for (const models::Plan& reader : plans) {
            on_ranks<exec::Fp32>(run_inputs(w, reader), [&](exec::Rank<exec::Fp32>& rank) {
                exec::read_checkpoint(rank, info);
                for_each_bias(rank, [](float& found, float value) { EXPECT_EQ(std::exchange(found, 0.0F), value); });
                exec::read_model(rank, folder.path() + "/model.safetensors");
                for_each_bias(rank, [](float& found, float value) { EXPECT_EQ(found, value); });
            });
        }
    }
    EXPECT_NE(message_of<InputError>([&] {
                  const TestFolder folder;
                  static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 1));
                  static_cast<void>(newest(folder.path(), nullptr, w));
              }).find("router_bias unknown, now true"),
              std::string::npos);
}

TEST(Checkpoint, another_workloads_are_neither_read_nor_overwritten) {
    const TestFolder folder;
    const State state = write_state<exec::Fp32>(single_plan(), folder.path(), 40);
    EXPECT_NE(
        message_of<InputError>([&] {
            static_cast<void>(newest(folder.path(), nullptr, dense_model()));
        }).find("found a checkpoint of another model (tiny-moe: expert_size 6, now 0; first_dense_layers 1, now 0; "),
        std::string::npos);
    on_ranks<exec::Fp32>(run_inputs(dense_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded)),
                         [&](exec::Rank<exec::Fp32>& rank) {
                             EXPECT_NE(message_of<exec::CheckpointError>([&] {
                                           static_cast<void>(write_checkpoint(rank, {folder.path(), "", 50, 0, {}}));
                                       }).find("found a checkpoint of another model"),
                                       std::string::npos);
                         });
    EXPECT_EQ(read_state<exec::Fp32>(single_plan(), newest(folder.path())), state);
}

TEST(Checkpoint, another_function_of_the_same_tensors_is_refused_by_name) {
    const TestFolder folder;
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 1));
    const auto refusal = [&](const std::function<void(exec::RunInputs&)>& change) {
        exec::RunInputs run = run_inputs(every_tensor_model(), single_plan());
        change(run);
        std::vector<std::string> notes;
        return message_of<InputError>([&] { static_cast<void>(newest_checkpoint(folder.path(), run, notes)); });
    };
    EXPECT_NE(refusal([](exec::RunInputs& run) { run.workload.top_k = 1; }).find("top_k 2, now 1)"), std::string::npos);
    EXPECT_NE(refusal([](exec::RunInputs& run) { run.training.rope_theta = 5e5; }).find(": rope_theta 10000"),
              std::string::npos);
    EXPECT_NE(refusal([](exec::RunInputs& run) {
                  run.training.normalize_top_k = true, run.training.norm_epsilon = 1e-6;
              }).find(": norm_epsilon 1e-05, now 1e-06; normalize_top_k false, now true)"),
              std::string::npos);
}

}  // namespace
}  // namespace auspex::state_fixture
