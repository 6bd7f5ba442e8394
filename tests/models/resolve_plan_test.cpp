/// @file Resolution of a plan against a workload and a number of tiles: refusals that say what would do, and grids that
/// come out whole.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "models/plan.hpp"

namespace auspex::models {
namespace {

const std::string kRoot = AUSPEX_SOURCE_DIR;

Workload workload_of(const std::string& name) {
    return load_workload(JsonDocument::load(kRoot + "/workloads/" + name + ".json"));
}
Plan plan_of(const std::string& name) { return load_plan(JsonDocument::load(kRoot + "/plans/" + name + ".json")); }
Plan parsed(const std::string& text) { return load_plan(JsonDocument::parse(text, "p.json")); }

std::string resolve_error(const std::string& text, const Workload& workload, int tiles) {
    try {
        static_cast<void>(resolve_plan(parsed(text), workload, tiles));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(ResolvePlan, the_papers_layout_of_220b_needs_3072_tiles_and_is_found_from_them) {
    // dp = tiles / (pp ep) = tiles / (8 x 12): 3072 / 96 = 32, 12288 / 96 = 128, 384 / 96 = 4.
    const Workload workload = workload_of("mula-220b-a10b");
    Plan plan = plan_of("mula-220b-a10b");
    EXPECT_EQ(resolve_plan(plan, workload, 0).dp, 32);
    EXPECT_EQ(resolve_plan(plan, workload, 3072).dp, 32);
    plan.dp = 0;
    EXPECT_EQ(resolve_plan(plan, workload, 12288).dp, 128);
    EXPECT_EQ(resolve_plan(plan, workload, 384).dp, 4);
}

TEST(ResolvePlan, etp_follows_tp_unless_given) {
    EXPECT_EQ(resolve_plan(parsed(R"({"dp": 2, "tp": 2})"), workload_of("toy-moe"), 4).etp, 2);
    // etp 1: four ranks hold dp 4 replicas of the experts, and tp 2 x data_parallel 2 of the dense part.
    const Plan plan = resolve_plan(parsed(R"({"tp": 2, "etp": 1})"), workload_of("toy-moe"), 4);
    EXPECT_EQ(plan.etp, 1);
    EXPECT_EQ(plan.dp, 4);
}

TEST(ResolvePlan, each_impossible_grid_is_refused_with_what_would_do) {
    const Workload mula = workload_of("mula-220b-a10b");
    const Workload moe = workload_of("toy-moe");
    const Workload dense = workload_of("toy-dense");
    expect_contains(resolve_error(R"({"ep": 7})", mula, 84),
                    "p.json: $.ep: num_experts 240 of mula-220b-a10b is not divisible by ep 7; divisors of 240 up to "
                    "12: 1 2 3 4 5 6 8 10 12");
    expect_contains(resolve_error(R"({"pp": 65})", mula, 65),
                    "$.pp: mula-220b-a10b has 64 layers, fewer than pp 65; at most 64");
    expect_contains(
        resolve_error(R"({"pp": 8, "ep": 12})", mula, 1000),
        "1000 tiles are not divisible by pp 8 * ep 12 * etp 1 = 96; nearest numbers of tiles that are: 960 and 1056");
    expect_contains(resolve_error(R"({"pp": 8, "ep": 12})", mula, 95), "nearest numbers of tiles that are: 96");
    expect_contains(resolve_error(R"({"dp": 4, "pp": 8, "ep": 12})", mula, 768),
                    "found 4, but 768 tiles over pp 8 * ep 12 * etp 1 give dp 8");
    expect_contains(resolve_error(R"({"pp": 2})", moe, 0), "$.dp: missing, and no number of tiles");
    expect_contains(resolve_error(R"({"pp": 2})", moe, -4), "tiles: found -4");
    expect_contains(resolve_error(R"({"dp": 3, "tp": 2, "etp": 1})", moe, 0),
                    "a stage's 3 ranks (dp 3 * ep 1 * etp 1) are not divisible by tp 2");
    expect_contains(resolve_error(R"({"dp": 3, "cp": 2})", moe, 0), "$.cp: a stage's 3 ranks");
    expect_contains(resolve_error(R"({"dp": 3, "tp": 3})", moe, 0),
                    "heads 4 of toy-moe is not divisible by tp 3; divisors of 4 up to 4: 1 2 4");
    expect_contains(resolve_error(R"({"dp": 1, "etp": 3})", moe, 0),
                    "expert_size 32 of toy-moe is not divisible by etp 3");
    expect_contains(resolve_error(R"({"dp": 3, "cp": 3})", moe, 0),
                    "$.cp: sequence_length 64 of toy-moe is not divisible by cp 3");
    expect_contains(resolve_error(R"({"dp": 16, "tp": 4, "cp": 32, "sequence_parallel": true})", moe, 0),
                    "sequence_length / cp 2");
    expect_contains(resolve_error(R"({"dp": 2, "ep": 2})", dense, 0),
                    "$.ep: found 2; expected 1: toy-dense has no experts");
    expect_contains(resolve_error(R"({"dp": 4, "tp": 2, "etp": 1})", dense, 0), "$.etp: found 1; expected tp (2)");
    expect_contains(resolve_error(R"({"dp": 4, "routing": {"zipf": 1}})", dense, 0), "$.routing");
    expect_contains(resolve_error(R"({"dp": 1, "tp": 8})", workload_of("mixtral-8x7b"), 0), "accepted");
    expect_contains(resolve_error(R"({"dp": 1, "tp": 16})", workload_of("mixtral-8x7b"), 0),
                    "kv_heads 8 of mixtral-8x7b is not divisible by tp 16");
}

TEST(ResolvePlan, groups_that_shard_by_themselves_are_equal_parts_of_experts_and_of_dense_replicas) {
    const Workload moe = workload_of("toy-moe");
    const std::string fsdp = R"({"optimizer": "fsdp", "ep": 2, "shard_replicas": )";
    EXPECT_EQ(resolve_plan(parsed(fsdp + "3}"), moe, 12).shard_replicas, 3);
    expect_contains(resolve_error(fsdp + "4}", moe, 12),
                    "p.json: $.shard_replicas: found 4; expected a divisor of dp 6");
    // tp 2 over etp 1: four replicas of an expert, two of the dense part.
    expect_contains(resolve_error(R"({"optimizer": "zero-2", "tp": 2, "etp": 1, "shard_replicas": 4})", moe, 4),
                    "and of 2 (replicas of the dense part)");
}

TEST(ResolvePlan, weights_stay_on_equal_parts_of_the_ranks_that_shard_them) {
    const Workload moe = workload_of("toy-moe");
    const std::string fsdp = R"({"optimizer": "fsdp", "ep": 2, "reshard_after_forward": )";
    const Plan plan = resolve_plan(parsed(fsdp + "3}"), moe, 12);
    EXPECT_EQ(plan.reshard_ranks, 3);
    EXPECT_TRUE(plan.reshard_after_forward);
    expect_contains(
        resolve_error(fsdp + "4}", moe, 12),
        "p.json: $.reshard_after_forward: found 4 with optimizer \"fsdp\"; expected true, or with \"fsdp\" a "
        "divisor of the 12 ranks that shard the dense part and of the 6 that shard an expert");
    expect_contains(resolve_error(fsdp + R"(3, "shard_replicas": 3})", moe, 12), "found 3 with optimizer");
}

TEST(ResolvePlan, interleaving_needs_layers_for_every_chunk_and_whole_rounds_of_micro_batches) {
    const Workload moe = workload_of("toy-moe");
    const std::string interleaved = R"("schedule": "interleaved-1f1b", "dp": 1)";
    EXPECT_EQ(resolve_error("{" + interleaved + R"(, "pp": 2, "virtual_stages": 2, "micro_batches": 4})", moe, 0),
              "accepted");
    expect_contains(resolve_error("{" + interleaved + R"(, "pp": 2, "virtual_stages": 3, "micro_batches": 4})", moe, 0),
                    "has 4 layers, fewer than pp 2 * virtual_stages 3; at most 4 stages in all");
    expect_contains(resolve_error("{" + interleaved + R"(, "pp": 2, "virtual_stages": 2, "micro_batches": 5})", moe, 0),
                    "$.micro_batches: found 5; interleaved-1f1b needs a multiple of pp 2, such as 4");
    expect_contains(resolve_error("{" + interleaved + R"(, "pp": 1, "virtual_stages": 2})", moe, 0),
                    "$.pp: found 1; expected 2 or more");
}

TEST(ResolvePlan, an_update_before_the_norm_needs_stages_that_wait_for_no_other) {
    const std::string plan = R"({"dp": 1, "pp": 4, "post_validation": true, "micro_batches": 8, "schedule": )";
    Workload dense = workload_of("toy-dense");
    EXPECT_EQ(resolve_error(plan + R"("zb-h2"})", dense, 0), "accepted");
    dense.tied_embeddings = true;
    expect_contains(resolve_error(plan + R"("zb-h2"})", dense, 0),
                    "$.post_validation: found true with tied embeddings");
    dense.layers = 8;
    EXPECT_EQ(resolve_error(plan + R"("zbv"})", dense, 0), "accepted");  // both ends of the table on one rank
}

TEST(ResolvePlan, schedules_of_a_v_need_two_stages_a_rank_and_micro_batches_to_fill_them) {
    Workload dense = workload_of("toy-dense");
    dense.layers = 8;
    const std::string zbv = R"({"dp": 1, "schedule": "zbv", )";
    EXPECT_EQ(resolve_error(zbv + R"("pp": 4, "micro_batches": 7})", dense, 0), "accepted");
    expect_contains(resolve_error(zbv + R"("pp": 4, "micro_batches": 6})", dense, 0),
                    "$.micro_batches: found 6; expected at least 7 with zbv and pp 4");
    expect_contains(resolve_error(zbv + R"("pp": 1, "micro_batches": 6})", dense, 0),
                    "$.pp: found 1; expected 2 or more");
    expect_contains(resolve_error(zbv + R"("pp": 8, "micro_batches": 16})", dense, 0), "has 8 layers, fewer than pp 8");
}

TEST(ResolvePlan, products_that_would_overflow_are_refused) {
    const Workload moe = workload_of("toy-moe");
    expect_contains(resolve_error(R"({"dp": 16777216, "ep": 8})", moe, 0), "more than 16777216 tiles; at most 2097152");
    expect_contains(resolve_error(R"({"dp": 16777216, "ep": 8})", moe, 8), "found 16777216, but 8 tiles");
    expect_contains(resolve_error(R"({"dp": 16777216, "micro_batches": 1000000, "micro_batch_size": 1000000})", moe, 0),
                    "lower one of them");
}

/// Small random grids, right and wrong ones; every field is given in the file's own words.
std::string random_plan(Rng& rng) {
    const auto degree = [&rng](std::uint64_t largest) { return std::to_string(1 + rng.below(largest)); };
    std::string text =
        R"({"ep": )" + degree(12) + R"(, "tp": )" + degree(4) + R"(, "pp": )" + degree(5) + R"(, "cp": )" + degree(3);
    text += rng.below(2) == 0 ? R"(, "etp": )" + degree(4) : "";
    text += rng.below(2) == 0 ? R"(, "dp": )" + degree(6) : "";
    text += rng.below(4) == 0 ? R"(, "sequence_parallel": true)" : "";
    text += rng.below(4) == 0 ? R"(, "schedule": "interleaved-1f1b", "virtual_stages": 2)" : "";
    return text + R"(, "micro_batches": )" + degree(8) + "}";
}

void expect_whole(const Plan& plan, const Workload& workload, int tiles) {
    ASSERT_GE(plan.dp, 1);
    const int all = plan.pp * plan.dp * plan.ep * plan.etp;
    if (tiles > 0) {
        EXPECT_EQ(all, tiles);
    }
    const int stage_ranks = all / plan.pp;
    EXPECT_EQ(stage_ranks % (plan.tp * plan.cp), 0);
    EXPECT_EQ(workload.heads % plan.tp, 0);
    EXPECT_EQ(workload.sequence_length % plan.cp, 0);
    EXPECT_LE(plan.pp * plan.virtual_stages, workload.layers);
    if (workload.num_experts > 0) {
        EXPECT_EQ(workload.num_experts % plan.ep, 0);
        EXPECT_EQ(workload.expert_size % plan.etp, 0);
    } else {
        EXPECT_EQ(plan.ep, 1);
        EXPECT_EQ(plan.etp, plan.tp);
    }
    if (plan.schedule == ScheduleKind::kInterleaved1f1b) {
        EXPECT_EQ(plan.micro_batches % plan.pp, 0);
    }
    if (plan.sequence_parallel) {
        EXPECT_EQ(workload.sequence_length / plan.cp % plan.tp, 0);
    }
}

TEST(ResolvePlan, a_random_grid_is_refused_or_every_product_comes_out_whole) {
    const Workload workloads[] = {workload_of("toy-moe"), workload_of("toy-dense"), workload_of("mula-220b-a10b")};
    Rng rng(20260401);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Workload& workload = workloads[rng.below(3)];
        const int tiles = static_cast<int>(rng.below(3) == 0 ? 0 : 1 + rng.below(200));
        const Plan plan = parsed(random_plan(rng));
        try {
            const Plan resolved = resolve_plan(plan, workload, tiles);
            expect_whole(resolved, workload, tiles);
            EXPECT_EQ(resolve_plan(resolved, workload, tiles).dp, resolved.dp);
            ++accepted;
        } catch (const InputError& error) {
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            ++refused;
        }
    }
    // Both ways must have been tried often, or the test shows nothing.
    EXPECT_GT(accepted, 200);
    EXPECT_GT(refused, 2000);
}

TEST(ResolvePlan, a_grid_whose_products_are_whole_is_accepted) {
    const Workload workload = workload_of("mula-220b-a10b");
    for (const int ep : {1, 2, 3, 4, 5, 6, 8, 10, 12}) {
        for (const int pp : {1, 2, 3, 8, 64}) {
            for (const int dp : {2, 4, 6}) {
                const std::string text =
                    "{\"ep\": " + std::to_string(ep) + ", \"pp\": " + std::to_string(pp) + R"(, "tp": 2, "etp": 1})";
                EXPECT_EQ(resolve_plan(parsed(text), workload, ep * pp * dp).dp, dp);
            }
        }
    }
}

/// The workload that a plan file is for: its own name, or the toy mixture.
std::string workload_name(const std::string& plan) { return plan.starts_with("toy-") ? "toy-moe" : plan; }

TEST(ResolvePlan, every_file_in_plans_resolves_for_its_workload) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/plans")) {
        if (!entry.is_regular_file()) {
            continue;
        }
        const std::string name = entry.path().stem().string();
        const Workload workload = workload_of(workload_name(name));
        const Plan plan = resolve_plan(plan_of(name), workload, 0);
        EXPECT_EQ(plan.name, name);
        expect_whole(plan, workload, 0);
        ++files;
    }
    EXPECT_GE(files, 17);
}

TEST(ResolvePlan, every_real_workload_has_a_plan_and_every_cards_of_12_and_8) {
    for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/workloads")) {
        const std::string name = entry.path().stem().string();
        if (name.starts_with("toy-") || name.starts_with("mini-") || name == "small-moe" ||
            name.starts_with("full-width-") || name == "wide-moe") {
            continue;
        }
        const Plan plan = resolve_plan(plan_of(name), workload_of(name), 0);
        const int tiles = plan.pp * plan.dp * plan.ep * plan.etp;
        EXPECT_EQ(tiles % 8, 0) << name;
        // The published 2,048 devices of DeepSeek-V3, 256 of X-MoE, 128 of Mixtral-8x22B, 64 of Qwen2-57B, 16 of
        // Qwen3-30B, 8 of Llama-2-7B and Llama-3-8B, 16,384 of Llama-3-405B, 256 of Qwen3-235B and 64 of gpt-oss are
        // whole nodes of 8 only.
        const bool is_of_nodes_of_8 = name == "deepseek-v3" || name == "mixtral-8x22b" || name == "qwen2-57b-a14b" ||
                                      name == "qwen3-30b-a3b" || name == "llama2-7b" || name == "x-moe-small" ||
                                      name == "llama3-8b" || name == "llama3-405b" || name == "qwen3-235b-a22b" ||
                                      name == "gpt-oss-120b";
        EXPECT_TRUE(tiles % 12 == 0 || is_of_nodes_of_8) << name;
    }
}

TEST(ResolvePlan, the_papers_plans_all_have_3072_tiles_and_a_batch_of_3072_sequences) {
    for (const char* name : {"mula-1b", "mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b"}) {
        const Plan plan = resolve_plan(plan_of(name), workload_of(name), 3072);
        const int data_parallel = 3072 / plan.pp / plan.tp / plan.cp;
        EXPECT_EQ(plan.micro_batch_size * plan.micro_batches * data_parallel, 3072) << name;
    }
}

TEST(ResolvePlan, dense_toy_plans_also_fit_the_dense_toy_and_fill_8_tiles) {
    const Workload dense = workload_of("toy-dense");
    // By name: the file's dp, and tiles / (pp ep etp) = 8 / 1, 8 / 2, 8 / 2, 8 / 2.
    for (const auto& [name, own, of_8_tiles] : {std::tuple{"toy-dp4", 4, 8}, std::tuple{"toy-pp2-dp2", 2, 4},
                                                std::tuple{"toy-tp2-dp2", 2, 4}, std::tuple{"toy-interleaved", 1, 4}}) {
        Plan plan = plan_of(name);
        EXPECT_EQ(resolve_plan(plan, dense, 0).dp, own) << name;
        plan.dp = 0;
        EXPECT_EQ(resolve_plan(plan, dense, 8).dp, of_8_tiles) << name;
    }
}

}  // namespace
}  // namespace auspex::models
