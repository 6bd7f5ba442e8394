/// @file "startup" of machine and stack files: read, and slips refused by path.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

JsonDocument open(const std::string& file) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
}

template <typename Load>
std::string refusal(const std::string& file, const std::string& path, const std::string& value, Load load) {
    JsonDocument document = open(file);
    document.set(path, value);
    try {
        static_cast<void>(load(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(StartupSections, aurora_has_all_of_them_and_most_machines_none) {
    const StartupFacts facts = load_machine(open("machines/aurora")).startup;
    ASSERT_TRUE(facts.storage && facts.environment && facts.initialise && facts.compile && facts.index);
    EXPECT_DOUBLE_EQ(facts.storage->lookups_per_s, 17'300);
    EXPECT_DOUBLE_EQ(facts.environment->bytes, 5e9);
    EXPECT_EQ(facts.initialise->shaky_ranks, 6144);
    EXPECT_EQ(facts.initialise->wall_ranks, 12'000);
    EXPECT_EQ(facts.compile->unfinished_nodes, 512);
    EXPECT_EQ(facts.index->node_workers, 104);
    const StartupFacts none = load_machine(open("machines/frontier")).startup;
    EXPECT_FALSE(none.storage || none.environment || none.initialise || none.compile || none.index);
}

TEST(StartupSections, a_machine_may_know_less) {
    JsonDocument document = open("machines/frontier");
    document.set("startup", R"({"initialise": {"device": "5 s", "bootstrap_rank": "1 ms"}})");
    const StartupFacts facts = load_machine(document).startup;
    ASSERT_TRUE(facts.initialise);
    EXPECT_EQ(facts.initialise->wall_ranks, 0);
    EXPECT_FALSE(facts.storage);
}

TEST(StartupSections, slips_are_refused_by_path) {
    const struct {
        const char *path, *value, *word;
    } slips[] = {
        {"startup.colour", "1", "colour"},
        {"startup.storage.colour", "1", "colour"},
        {"startup.environment.colour", "1", "colour"},
        {"startup.initialise.colour", "1", "colour"},
        {"startup.compile.colour", "1", "colour"},
        {"startup.index.colour", "1", "colour"},
        {"startup.storage.lookups", "17 GB/s", "$.startup.storage.lookups"},
        {"startup.index.node_workers", "0", "$.startup.index.node_workers"},
        {"startup.initialise.wall_ranks", R"({"value": 0, "source": "x", "kind": "measured"})", "wall_ranks.value"},
        {"startup.initialise.wall_ranks", R"({"value": 9, "source": "", "kind": "measured"})", "wall_ranks.source"},
        {"startup.initialise.wall_ranks", R"({"value": 9, "source": "x", "kind": "heard"})", "wall_ranks.kind"},
        {"startup.index", R"({"comment": "empty"})", "missing key"},
        {"startup", R"({"compile": {"node": "1 s", "rank_lookups": 1}})", "\"storage\" beside it"}};
    for (const auto& slip : slips) {
        const std::string message = refusal("machines/aurora", slip.path, slip.value, load_machine);
        EXPECT_NE(message.find(slip.word), std::string::npos) << slip.path << " gave: " << message;
    }
}

TEST(StartupSections, stacks_say_how_they_start_and_releases_differ) {
    const Stack optimus = load_stack(open("stacks/optimus"));
    ASSERT_TRUE(optimus.startup);
    EXPECT_TRUE(optimus.startup->broadcasts_model);
    EXPECT_FALSE(optimus.startup->compiles || optimus.startup->reads_all_shards);
    JsonDocument torchtitan = open("stacks/torchtitan");
    EXPECT_TRUE(load_stack(torchtitan).startup->compiles);
    torchtitan.set("releases.use", "torch-2-10-eager");
    EXPECT_FALSE(load_stack(torchtitan).startup->compiles);
    EXPECT_TRUE(load_stack(torchtitan).startup->reads_all_shards);
    EXPECT_FALSE(load_stack(open("stacks/bare")).startup);
    const auto load = [](const JsonDocument& stack) { return load_stack(stack); };
    EXPECT_NE(refusal("stacks/optimus", "startup.colour", "1", load).find("colour"), std::string::npos);
    EXPECT_NE(refusal("stacks/optimus", "startup", "{}", load).find("missing key"), std::string::npos);
    EXPECT_NE(
        refusal("stacks/torchtitan", "releases.entries.torch-2-10.startup", R"({"colour": true})", load).find("colour"),
        std::string::npos);
}

}  // namespace
}  // namespace auspex::models
