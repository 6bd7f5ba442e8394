/// @file Stack files: shipped ones load; rules of collectives, unknown keys and slips are refused by path.
#include "models/stack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::models {
namespace {

JsonDocument open_stack(const std::string& name) {
    return with_communication(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/" + name + ".json"));
}

std::string refusal(JsonDocument document, const std::string& path, const std::string& value) {
    document.set(path, value);
    try {
        static_cast<void>(load_stack(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

void expect_refused(const std::string& stack, const std::string& path, const std::string& value,
                    const std::string& expected) {
    const std::string message = refusal(open_stack(stack), path, value);
    EXPECT_NE(message.find(expected), std::string::npos) << path << " = " << value << " gave: " << message;
    EXPECT_NE(message.find(stack + ".json: $"), std::string::npos) << message;
}

TEST(Stack, every_shipped_file_loads_with_a_source_for_every_constant) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(AUSPEX_SOURCE_DIR) + "/stacks")) {
        if (entry.path().extension() == ".json") {
            files.insert(entry.path().stem().string());
        }
    }
    for (const char* name : {"auspex", "bare", "optimus", "rccl", "cray-mpich", "pccl", "oneccl", "torchtitan"}) {
        EXPECT_TRUE(files.contains(name)) << name;
    }
    for (const std::string& file : files) {
        const Stack stack = load_stack(open_stack(file));
        EXPECT_EQ(stack.name, file);
        std::set<std::string> paths;
        for (const Constant& constant : stack.constants) {
            EXPECT_TRUE(constant.path.starts_with("stack.")) << constant.path;
            EXPECT_TRUE(paths.insert(constant.path).second) << constant.path << " read twice";
            EXPECT_FALSE(constant.source.empty()) << file << " " << constant.path;
        }
        for (const auto* rules :
             {&stack.all_reduce, &stack.reduce_scatter, &stack.all_gather, &stack.all_to_all, &stack.broadcast}) {
            ASSERT_FALSE(rules->empty());
            EXPECT_TRUE(std::isinf(rules->back().max_bytes));
        }
    }
}

TEST(Stack, optimus_blocks_reduces_flat_and_overlaps_nothing) {
    const Stack stack = load_stack(open_stack("optimus"));
    EXPECT_TRUE(stack.blocking_sends);
    EXPECT_TRUE(stack.sync_after_pass);
    EXPECT_TRUE(stack.router_logits_travel);
    EXPECT_EQ(stack.reduction, Reduction::kFlat);
    EXPECT_EQ(stack.bucket_bytes, 0);
    EXPECT_TRUE(stack.per_parameter_ep_all_reduce);
    EXPECT_FALSE(stack.can_overlap_tp || stack.can_overlap_ep || stack.can_overlap_dp || stack.can_overlap_pp);
}

TEST(Stack, auspex_checks_gradients_first_adds_them_inside_the_product_and_sums_them_in_buckets) {
    const Stack stack = load_stack(open_stack("auspex"));
    EXPECT_TRUE(stack.check_gradients);
    EXPECT_EQ(stack.loss_terms, 3);
    EXPECT_EQ(stack.world_all_reduces_per_step, 2);
    EXPECT_EQ(stack.barriers_per_step, 0);
    EXPECT_TRUE(stack.reduction == Reduction::kBucketed && stack.bucket_bytes == 131072);
    EXPECT_EQ(stack.kernels.gradient_accumulation, 0);
    EXPECT_FALSE(stack.blocking_sends || stack.sync_after_pass || stack.per_parameter_ep_all_reduce);
    EXPECT_FALSE(stack.can_overlap_tp || stack.can_overlap_ep);
    EXPECT_TRUE(stack.can_overlap_dp && stack.can_overlap_pp && stack.router_logits_travel);
    EXPECT_EQ(stack.offers_optimizers, (std::vector<std::string>{"replicated", "sharded", "ep-aware"}));
    EXPECT_TRUE(stack.offers_expert_kernels.size() == 3 && stack.offers_dispatches.size() == 2);
    EXPECT_TRUE(stack.offers_fp8.empty());
}

// The trainer's collectives: reduce-scatter, all-reduce and all-to-all send straight to each member, an all-gather goes
// round a ring; up to 4 KiB = 4096 bytes an all-reduce gathers everything everywhere.
TEST(Stack, auspex_ranks_are_bound_processes_that_yield_and_talk_directly) {
    const Stack stack = load_stack(open_stack("auspex"));
    EXPECT_TRUE(stack.has_processes);
    EXPECT_TRUE(stack.waits_by_yielding && stack.binds_ranks);
    EXPECT_DOUBLE_EQ(stack.gathered_all_reduce_bytes, 4096);
    EXPECT_DOUBLE_EQ(stack.eager_intra_node_bytes, 4096 - 64);
    EXPECT_DOUBLE_EQ(stack.eager_inter_node_bytes, 65536 - 64);
    EXPECT_DOUBLE_EQ(stack.buffered_intra_node_bytes, 4096.0 / 8 - 64);
    for (const auto* rules : {&stack.all_reduce, &stack.reduce_scatter, &stack.all_to_all}) {
        ASSERT_EQ(rules->size(), 1U);
        EXPECT_EQ(rules->front().algorithm, CollectiveAlgorithm::kDirect);
    }
    EXPECT_EQ(stack.all_gather.front().algorithm, CollectiveAlgorithm::kRing);
}

TEST(Stack, the_section_of_processes_may_be_left_out_but_is_whole_where_it_is) {
    EXPECT_FALSE(load_stack(open_stack("optimus")).has_processes);
    JsonDocument document = open_stack("optimus");
    document.set("processes", R"({"waiting": "spin", "binding": "none", "gathered_all_reduce": "0 B",
                                  "eager_near": "0 B", "eager_far": "64 KiB", "at_once_near": "0 B"})");
    const Stack stack = load_stack(document);
    EXPECT_TRUE(stack.has_processes);
    EXPECT_FALSE(stack.waits_by_yielding || stack.binds_ranks);
    EXPECT_EQ(stack.gathered_all_reduce_bytes, 0);
    EXPECT_EQ(stack.eager_inter_node_bytes, 65'536);
    expect_refused("auspex", "processes.waiting", "sleep", "\"yield\", \"spin\"");
    expect_refused("auspex", "processes.binding", "socket", "\"core\", \"none\"");
    expect_refused("auspex", "processes.gathered_all_reduce", "4096", "$.processes.gathered_all_reduce");
    const std::vector<std::string> members{
        R"("waiting": "yield")",    R"("binding": "core")",  R"("gathered_all_reduce": "4 KiB")",
        R"("eager_near": "4 KiB")", R"("eager_far": "0 B")", R"("at_once_near": "0 B")"};
    for (const std::string& missing : members) {
        std::string others = "{\"comment\": \"\"";
        for (const std::string& member : members) {
            others += member == missing ? "" : ", " + member;
        }
        expect_refused("auspex", "processes", others + "}", "missing key " + missing.substr(0, missing.find(':')));
    }
    expect_refused("auspex", "processes.colour", "1", "colour");
}

TEST(Stack, the_check_of_gradients_and_the_terms_of_the_loss_may_be_left_out) {
    const Stack without = load_stack(open_stack("optimus"));
    EXPECT_FALSE(without.check_gradients);
    EXPECT_EQ(without.loss_terms, 1);
    JsonDocument document = open_stack("optimus");
    document.set("optimizer.check_gradients", "true");
    document.set("optimizer.loss_terms", "5");
    const Stack with = load_stack(document);
    EXPECT_TRUE(with.check_gradients);
    EXPECT_EQ(with.loss_terms, 5);
    expect_refused("optimus", "optimizer.loss_terms", "0", "$.optimizer.loss_terms");
    expect_refused("optimus", "optimizer.check_gradients", "1", "true or false");
    // The check sends flags round, and the loss must go, too: at least two all-reduces.
    expect_refused("auspex", "optimizer.world_all_reduces_per_step", "1", "$.optimizer.world_all_reduces_per_step");
}

// Rules "up to 1 MiB direct, above rabenseifner": 1 MiB = 2^20 bytes, the last rule has no bound.
TEST(Stack, a_rule_holds_up_to_its_size_and_the_last_for_all_above) {
    JsonDocument document = open_stack("optimus");
    document.set("collectives.all_reduce",
                 R"([{"up_to": "1 MiB", "algorithm": "direct"}, {"algorithm": "rabenseifner"}])");
    const Stack stack = load_stack(document);
    ASSERT_EQ(stack.all_reduce.size(), 2U);
    EXPECT_DOUBLE_EQ(stack.all_reduce[0].max_bytes, 1048576);
    EXPECT_EQ(stack.all_reduce[0].algorithm, CollectiveAlgorithm::kDirect);
    EXPECT_TRUE(std::isinf(stack.all_reduce[1].max_bytes));
    EXPECT_EQ(stack.all_reduce[1].algorithm, CollectiveAlgorithm::kRabenseifner);
    EXPECT_EQ(stack.reduce_scatter.front().algorithm, CollectiveAlgorithm::kRing);
    EXPECT_EQ(stack.all_to_all.front().algorithm, CollectiveAlgorithm::kDirect);
}

// A named algorithm without "levels" runs over the whole group, auto over any number of levels (0).
TEST(Stack, a_rule_says_over_how_many_levels_its_algorithm_runs) {
    JsonDocument document = open_stack("optimus");
    document.set("collectives.all_to_all", R"([{"up_to": "1 KB", "algorithm": "bruck"},
        {"up_to": "1 MB", "algorithm": "pairwise", "levels": 2}, {"up_to": "1 GB", "algorithm": "auto", "levels": 3},
        {"algorithm": "auto"}])");
    const Stack stack = load_stack(document);
    ASSERT_EQ(stack.all_to_all.size(), 4U);
    const std::vector<int> expected{1, 2, 3, 0};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(stack.all_to_all[i].levels, expected[i]) << i;
    }
    EXPECT_EQ(stack.all_to_all[1].algorithm, CollectiveAlgorithm::kPairwise);
    for (const std::string levels : {"0", "4", "1.5", "\"two\""}) {
        expect_refused("optimus", "collectives.all_gather", R"([{"algorithm": "ring", "levels": )" + levels + "}]",
                       "$.collectives.all_gather[0].levels");
    }
}

TEST(Stack, several_rings_have_one_level) {
    const std::string path = "collectives.all_gather";
    JsonDocument document = open_stack("optimus");
    document.set(path, R"([{"algorithm": "multi-ring", "levels": 1}])");
    EXPECT_EQ(load_stack(document).all_gather.front().levels, 1);
    document.set(path, R"([{"algorithm": "multi-ring"}])");
    EXPECT_EQ(load_stack(document).all_gather.front().levels, 1);
    expect_refused("optimus", path, R"([{"algorithm": "multi-ring", "levels": 2}])", "$." + path + "[0].levels");
}

TEST(Stack, each_kind_of_collective_has_its_algorithms_and_refuses_the_others) {
    const std::vector<std::string> words{"auto",     "ring",  "recursive-doubling", "rabenseifner", "direct",
                                         "pairwise", "bruck", "double-binary-tree", "multi-ring"};
    const std::map<std::string, std::set<std::string>> allowed{
        {"all_reduce",
         {"auto", "ring", "recursive-doubling", "rabenseifner", "direct", "double-binary-tree", "multi-ring"}},
        {"reduce_scatter", {"auto", "ring", "recursive-doubling", "direct", "multi-ring"}},
        {"all_gather", {"auto", "ring", "recursive-doubling", "direct", "bruck", "multi-ring"}},
        {"all_to_all", {"auto", "direct", "pairwise", "bruck"}},
        {"broadcast", {"auto", "ring", "direct", "recursive-doubling", "double-binary-tree"}}};
    for (const auto& [kind, good] : allowed) {
        const std::string path = "collectives." + kind;
        for (const std::string& word : words) {
            const std::string rules = R"([{"algorithm": ")" + word + R"("}])";
            if (!good.contains(word)) {
                expect_refused("optimus", path, rules, "$." + path + "[0].algorithm");
                continue;
            }
            JsonDocument document = open_stack("optimus");
            document.set(path, rules);
            const Stack stack = load_stack(document);
            const std::map<std::string, const std::vector<AlgorithmRule>*> read{
                {"all_reduce", &stack.all_reduce},
                {"reduce_scatter", &stack.reduce_scatter},
                {"all_gather", &stack.all_gather},
                {"all_to_all", &stack.all_to_all},
                {"broadcast", &stack.broadcast}};
            EXPECT_STREQ(to_string(read.at(kind)->front().algorithm), word.c_str()) << kind;
        }
    }
    EXPECT_STREQ(to_string(CollectiveAlgorithm::kAuto), "auto");
    EXPECT_STREQ(to_string(CollectiveAlgorithm::kRabenseifner), "rabenseifner");
    EXPECT_STREQ(to_string(CollectiveAlgorithm::kDoubleBinaryTree), "double-binary-tree");
    EXPECT_STREQ(to_string(CollectiveAlgorithm::kMultiRing), "multi-ring");
}

TEST(Stack, only_the_transport_entry_in_use_fills_the_stack_and_its_constants) {
    JsonDocument document = open_stack("optimus");
    const Stack today = load_stack(document);
    EXPECT_EQ(today.transport_name, "dlcomm-2026");
    EXPECT_EQ(today.transport_date, "2026-04");
    EXPECT_EQ(today.staging, Staging::kPipelined);
    EXPECT_EQ(today.transport_names, (std::vector<std::string>{"dlcomm-2026", "pytorch-2025", "xccl-2026"}));

    document.set("transport.use", "pytorch-2025");
    const Stack before = load_stack(document);
    EXPECT_EQ(before.transport_name, "pytorch-2025");
    EXPECT_EQ(before.transport_date, "2025-03");
    EXPECT_EQ(before.staging, Staging::kWhole);
    EXPECT_DOUBLE_EQ(before.host_reduction_bytes, 65'536);
    EXPECT_DOUBLE_EQ(before.eager_bytes, 4096);
    EXPECT_EQ(before.constants.size() + 2, today.constants.size());  // rank_window and tree_chunk
    for (const Constant& constant : before.constants) {
        EXPECT_EQ(constant.path.find("dlcomm"), std::string::npos) << constant.path;
    }
    EXPECT_TRUE(std::any_of(before.constants.begin(), before.constants.end(), [](const Constant& constant) {
        return constant.path == "stack.transport.entries.pytorch-2025.rank_bandwidth";
    }));
}

TEST(Stack, each_value_of_an_entry_arrives_in_its_field) {
    JsonDocument document = open_stack("bare");
    const auto set = [&document](const std::string& key, const std::string& value) {
        document.set("transport.entries.wires." + key, value);
    };
    set("date", "1999-12");
    set("staging", "whole");
    set("rank_bandwidth", "1 GB/s");
    set("scale_up_efficiency", "0.2");
    set("scale_out_efficiency", "0.3");
    set("scale_up_message", "4 us");
    set("scale_out_message", "5 us");
    set("eager_message", "6 us");
    set("eager", "7 KiB");
    set("reduction_step", "8 us");
    set("host_reduction", "9 KiB");
    set("collective_launch", "10 us");
    const Stack stack = load_stack(document);
    EXPECT_EQ(stack.transport_date, "1999-12");
    EXPECT_EQ(stack.staging, Staging::kWhole);
    EXPECT_DOUBLE_EQ(stack.rank_bytes_per_s, 1e9);
    EXPECT_DOUBLE_EQ(stack.scale_up_efficiency, 0.2);
    EXPECT_DOUBLE_EQ(stack.scale_out_efficiency, 0.3);
    EXPECT_DOUBLE_EQ(stack.scale_up_message_s, 4e-6);
    EXPECT_DOUBLE_EQ(stack.scale_out_message_s, 5e-6);
    EXPECT_DOUBLE_EQ(stack.eager_message_s, 6e-6);
    EXPECT_DOUBLE_EQ(stack.eager_bytes, 7168);
    EXPECT_DOUBLE_EQ(stack.reduction_step_s, 8e-6);
    EXPECT_DOUBLE_EQ(stack.host_reduction_bytes, 9216);
    EXPECT_DOUBLE_EQ(stack.collective_launch_s, 10e-6);
}

TEST(Stack, every_transport_entry_is_checked_whichever_is_in_use) {
    expect_refused("optimus", "transport.use", "tomorrow", "\"dlcomm-2026\", \"pytorch-2025\", \"xccl-2026\"");
    expect_refused("optimus", "transport.use", "5", "$.transport.use");
    expect_refused("optimus", "transport.entries.pytorch-2025.rank_bandwidth", "6.2 GB", "pytorch-2025.rank_bandwidth");
    expect_refused("optimus", "transport.entries.pytorch-2025.colour", "1", "colour");
    expect_refused("optimus", "transport.entries.pytorch-2025", R"({"date": "2025-03"})", "missing key \"staging\"");
    expect_refused("optimus", "transport.entries.pytorch-2025.staging", "half", "\"pipelined\", \"whole\"");
    expect_refused("optimus", "transport.entries.dlcomm-2026.eager", "-1 B", "$.transport.entries.dlcomm-2026.eager");
    for (const std::string date : {"2025-13", "2025-00", "2025-3", "25-03", "2025/03", "2025-03-01", "soon", "\"\""}) {
        expect_refused("optimus", "transport.entries.pytorch-2025.date", date, "a year and a month");
    }
    expect_refused("optimus", "transport.entries", "{}", "at least one entry");
    expect_refused("optimus", "transport.entries", R"({"comment": "none"})", "at least one entry");
    for (const std::string name : {"a.b", "a b", "", "a_b", "é"}) {
        expect_refused("optimus", "transport.entries", "{\"" + name + "\": {}}", "letters, digits and");
    }
}

TEST(Stack, bare_has_no_software_cost_and_takes_the_fastest_algorithm) {
    const Stack stack = load_stack(open_stack("bare"));
    for (const Constant& constant : stack.constants) {
        if (constant.dimension == Dimension::kSeconds) {
            EXPECT_EQ(constant.value, 0) << constant.path;
        }
    }
    EXPECT_EQ(stack.scale_up_efficiency, 1);
    EXPECT_EQ(stack.scale_out_efficiency, 1);
    EXPECT_EQ(stack.gemm_efficiency, 1);
    EXPECT_GE(stack.rank_bytes_per_s, 1e12);
    EXPECT_EQ(stack.staging, Staging::kPipelined);
    for (const auto* rules :
         {&stack.all_reduce, &stack.reduce_scatter, &stack.all_gather, &stack.all_to_all, &stack.broadcast}) {
        ASSERT_EQ(rules->size(), 1U);
        EXPECT_EQ(rules->front().algorithm, CollectiveAlgorithm::kAuto);
        EXPECT_EQ(rules->front().levels, 0);
    }
    EXPECT_TRUE(stack.can_overlap_tp && stack.can_overlap_ep && stack.can_overlap_dp && stack.can_overlap_pp);
    EXPECT_TRUE(stack.offers_expert_kernels.size() == 3 && stack.offers_optimizers.size() == 4);
    EXPECT_TRUE(stack.offers_dispatches.size() == 3 && stack.offers_fp8.size() == 3);
}

TEST(Stack, megatron_deepspeed_reduces_in_buckets_beside_compute) {
    const Stack stack = load_stack(open_stack("megatron-deepspeed"));
    EXPECT_EQ(stack.reduction, Reduction::kBucketed);
    EXPECT_DOUBLE_EQ(stack.bucket_bytes, 500e6);
    EXPECT_FALSE(stack.blocking_sends);
    EXPECT_TRUE(stack.can_overlap_dp && stack.can_overlap_pp);
    EXPECT_FALSE(stack.can_overlap_tp || stack.can_overlap_ep);
}

TEST(Stack, rules_must_rise_and_only_the_last_is_open) {
    const std::string path = "collectives.all_gather";
    expect_refused("optimus", path, "[]", "at least one rule");
    expect_refused("optimus", path, R"([{"algorithm": "ring"}, {"algorithm": "direct"}])", "missing key \"up_to\"");
    expect_refused("optimus", path, R"([{"up_to": "1 MB", "algorithm": "ring"}])", "$.collectives.all_gather[0].up_to");
    expect_refused(
        "optimus", path,
        R"([{"up_to": "1 MB", "algorithm": "ring"}, {"up_to": "1 MB", "algorithm": "auto"}, {"algorithm": "direct"}])",
        "$.collectives.all_gather[1].up_to");
    expect_refused("optimus", path, R"([{"algorithm": "rabenseifner"}])", "$.collectives.all_gather[0].algorithm");
    expect_refused("optimus", path, R"([{"algorithm": "magic"}])", "recursive-doubling");
    expect_refused("optimus", path, R"([{"algorithm": "ring", "speed": 1}])", "speed");
}

TEST(Stack, unknown_keys_are_refused_in_every_section) {
    for (const std::string path :
         {"colour", "kernels.colour", "kernels.counts.colour", "pipeline.colour", "optimizer.colour",
          "transport.colour", "transport.entries.dlcomm-2026.colour", "collectives.colour"}) {
        expect_refused("optimus", path, "1", "colour");
    }
}

TEST(Stack, every_missing_section_key_is_named) {
    for (const std::string section : {"kernels", "kernels.counts", "pipeline", "optimizer", "transport",
                                      "transport.entries.dlcomm-2026", "collectives"}) {
        expect_refused("optimus", section, R"({"comment": "empty"})", "$." + section);
        expect_refused("optimus", section, R"({"comment": "empty"})", "missing key");
    }
}

TEST(Stack, every_constant_is_refused_when_negative_or_in_another_unit) {
    const JsonDocument document = open_stack("megatron-deepspeed");
    for (const Constant& constant : load_stack(document).constants) {
        const std::string path = constant.path.substr(std::string("stack.").size());
        const bool plain = constant.dimension == Dimension::kNone;
        for (const std::string& value : {plain ? std::string("-1") : exact_quantity(-1, constant.dimension),
                                         std::string(plain ? "\"1 s\"" : "1 W"), std::string("false")}) {
            const std::string message = refusal(document, path, value);
            EXPECT_NE(message.find("$." + path), std::string::npos) << path << " = " << value << " gave: " << message;
        }
    }
}

TEST(Stack, slips_are_refused_by_path) {
    expect_refused("optimus", "kernels.counts.norm", "0", "$.kernels.counts.norm");
    expect_refused("optimus", "kernels.launch", "60 s", "$.kernels.launch");
    expect_refused("optimus", "transport.entries.dlcomm-2026.scale_up_efficiency", "1.5",
                   "$.transport.entries.dlcomm-2026.scale_up_efficiency");
    expect_refused("optimus", "pipeline.blocking_sends", "1", "true or false");
    expect_refused("optimus", "optimizer.reduction", "some", "bucketed");
    expect_refused("optimus", "optimizer.reduction", "bucketed", "missing key \"bucket\"");
    expect_refused("optimus", "optimizer.bucket", "500 MB", "it belongs to \"bucketed\"");
    expect_refused("optimus", "can_overlap", R"(["dp", "dp"])", "$.can_overlap[1]");
    expect_refused("optimus", "can_overlap", R"(["cp"])", "$.can_overlap[0]");
    expect_refused("optimus", "name", "\"\"", "$.name");
    expect_refused("optimus", "offers.fp8", R"(["none"])", "$.offers.fp8[0]");
}

}  // namespace
}  // namespace auspex::models
