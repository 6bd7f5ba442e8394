/// @file Stack files: shipped ones load; rules of collectives, unknown keys and slips are refused by path.
#include "models/stack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.hpp"

namespace auspex {
namespace {

JsonDocument open_stack(const std::string& name) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/" + name + ".json");
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

TEST(Stack, EveryShippedFileLoadsWithASourceForEveryConstant) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(AUSPEX_SOURCE_DIR) + "/stacks")) {
        if (entry.path().extension() == ".json") {
            files.insert(entry.path().stem().string());
        }
    }
    for (const char* name : {"optimus", "megatron-deepspeed"}) {
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

TEST(Stack, OptimusBlocksReducesFlatAndOverlapsNothing) {
    const Stack stack = load_stack(open_stack("optimus"));
    EXPECT_TRUE(stack.blocking_sends);
    EXPECT_TRUE(stack.sync_after_pass);
    EXPECT_TRUE(stack.router_logits_travel);
    EXPECT_EQ(stack.reduction, Reduction::kFlat);
    EXPECT_EQ(stack.bucket_bytes, 0);
    EXPECT_TRUE(stack.per_parameter_ep_all_reduce);
    EXPECT_FALSE(stack.can_overlap_tp || stack.can_overlap_ep || stack.can_overlap_dp || stack.can_overlap_pp);
}

// Rules "up to 1 MiB direct, above rabenseifner": 1 MiB = 2^20 bytes, the last rule has no bound.
TEST(Stack, ARuleHoldsUpToItsSizeAndTheLastForAllAbove) {
    JsonDocument document = open_stack("optimus");
    document.set("collectives.all_reduce",
                 R"([{"up_to": "1 MiB", "algorithm": "direct"}, {"algorithm": "rabenseifner"}])");
    const Stack stack = load_stack(document);
    ASSERT_EQ(stack.all_reduce.size(), 2U);
    EXPECT_DOUBLE_EQ(stack.all_reduce[0].max_bytes, 1048576);
    EXPECT_EQ(stack.all_reduce[0].algorithm, CollectiveAlgorithm::kDirect);
    EXPECT_TRUE(std::isinf(stack.all_reduce[1].max_bytes));
    EXPECT_EQ(stack.all_reduce[1].algorithm, CollectiveAlgorithm::kRabenseifner);
    EXPECT_EQ(stack.reduce_scatter.front().algorithm, CollectiveAlgorithm::kHierarchical);
    EXPECT_EQ(stack.all_to_all.front().algorithm, CollectiveAlgorithm::kDirect);
}

TEST(Stack, EveryAlgorithmWordMeansItsAlgorithm) {
    const std::vector<std::pair<std::string, CollectiveAlgorithm>> words{
        {"auto", CollectiveAlgorithm::kAuto},
        {"ring", CollectiveAlgorithm::kRing},
        {"direct", CollectiveAlgorithm::kDirect},
        {"recursive-doubling", CollectiveAlgorithm::kRecursiveDoubling},
        {"rabenseifner", CollectiveAlgorithm::kRabenseifner},
        {"hierarchical", CollectiveAlgorithm::kHierarchical}};
    for (const auto& [word, algorithm] : words) {
        JsonDocument document = open_stack("optimus");
        document.set("collectives.all_reduce", R"([{"algorithm": ")" + word + R"("}])");
        EXPECT_EQ(load_stack(document).all_reduce.front().algorithm, algorithm) << word;
    }
}

TEST(Stack, MegatronDeepSpeedReducesInBucketsBesideCompute) {
    const Stack stack = load_stack(open_stack("megatron-deepspeed"));
    EXPECT_EQ(stack.reduction, Reduction::kBucketed);
    EXPECT_DOUBLE_EQ(stack.bucket_bytes, 500e6);
    EXPECT_FALSE(stack.blocking_sends);
    EXPECT_TRUE(stack.can_overlap_dp && stack.can_overlap_pp);
    EXPECT_FALSE(stack.can_overlap_tp || stack.can_overlap_ep);
}

TEST(Stack, RulesMustRiseAndOnlyTheLastIsOpen) {
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

TEST(Stack, UnknownKeysAreRefusedInEverySection) {
    for (const std::string path : {"colour", "kernels.colour", "kernels.counts.colour", "pipeline.colour",
                                   "optimizer.colour", "transport.colour", "collectives.colour"}) {
        expect_refused("optimus", path, "1", "colour");
    }
}

TEST(Stack, EveryMissingSectionKeyIsNamed) {
    for (const std::string section :
         {"kernels", "kernels.counts", "pipeline", "optimizer", "transport", "collectives"}) {
        expect_refused("optimus", section, R"({"comment": "empty"})", "$." + section);
        expect_refused("optimus", section, R"({"comment": "empty"})", "missing key");
    }
}

TEST(Stack, EveryConstantIsRefusedWhenNegativeOrInAnotherUnit) {
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

TEST(Stack, SlipsAreRefusedByPath) {
    expect_refused("optimus", "kernels.counts.norm", "0", "$.kernels.counts.norm");
    expect_refused("optimus", "kernels.launch", "60 s", "$.kernels.launch");
    expect_refused("optimus", "transport.scale_up_efficiency", "1.5", "$.transport.scale_up_efficiency");
    expect_refused("optimus", "pipeline.blocking_sends", "1", "true or false");
    expect_refused("optimus", "optimizer.reduction", "some", "bucketed");
    expect_refused("optimus", "optimizer.reduction", "bucketed", "missing key \"bucket\"");
    expect_refused("optimus", "optimizer.bucket", "500 MB", "it belongs to \"bucketed\"");
    expect_refused("optimus", "can_overlap", R"(["dp", "dp"])", "$.can_overlap[1]");
    expect_refused("optimus", "can_overlap", R"(["cp"])", "$.can_overlap[0]");
    expect_refused("optimus", "name", "\"\"", "$.name");
}

}  // namespace
}  // namespace auspex
