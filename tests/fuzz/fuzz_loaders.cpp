/// @file Throws damaged input files at the loaders: only InputError, of one line, may come out.
///
/// usage: fuzz_loaders [COUNT [SEED]]      in the repository's root, whose JSON files are the seeds
/// Most worth under the asan preset. A failure prints the input; the same COUNT and SEED show it again.
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "damage.hpp"
#include "models/layout.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/routing.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"

namespace auspex {
namespace {

enum Role { kMachineRole, kStackRole, kWorkloadRole, kPlanRole, kRoleCount };
constexpr std::array<const char*, kRoleCount> kFolders{"machines", "stacks", "workloads", "plans"};

/// The good files, by role, and the good values that damaged ones are combined with.
struct Corpus {
    std::array<std::vector<std::string>, kRoleCount> texts;
    std::vector<models::Machine> machines;
    std::vector<models::Workload> workloads;
};

Corpus read_corpus() {
    Corpus corpus;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(kFolders[role])) {
            if (entry.path().extension() == ".json") {
                files.push_back(entry.path());
            }
        }
        std::sort(files.begin(), files.end());  // the order of a directory is not
        for (const auto& file : files) {
            std::ifstream stream(file, std::ios::binary);
            corpus.texts[role].emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
        }
    }
    for (const std::string& text : corpus.texts[kMachineRole]) {
        corpus.machines.push_back(models::load_machine(JsonDocument::parse(text, "machine")));
    }
    for (const std::string& text : corpus.texts[kWorkloadRole]) {
        corpus.workloads.push_back(models::load_workload(JsonDocument::parse(text, "workload")));
    }
    return corpus;
}

/// Overrides as `--set` would, at a path that may or may not exist.
void override_something(JsonDocument& document, Rng& rng) {
    constexpr std::array<const char*, 14> kValues{
        "0",    "-3", "1e30",           "\"25 GB/s\"", "25 GB/s", "null", "{}", "[1,2]", "[\"dp\",\"dp\"]",
        "true", "",   "{\"value\": 1}", "2147483647",  "[[["};
    const std::vector<std::string> keys = document.root().keys();
    if (keys.empty()) {
        return;
    }
    std::string path = any_of(keys, rng);
    JsonValue child = document.root().at(path);
    while (child.is_object() && !child.keys().empty() && rng.below(4) > 0) {
        const std::string key = any_of(child.keys(), rng);
        path += "." + key;
        child = child.at(key);
    }
    document.set(path, any_of(kValues, rng));
}

/// Everything that may be asked of a plan and a workload before the simulator sees them.
void use(const models::Plan& plan, const models::Workload& workload, const models::Machine& machine, Rng& rng) {
    constexpr std::array<int, 8> kTiles{0, 1, 12, 96, 768, 3072, 12288, 1000003};
    const int tiles = any_of(kTiles, rng);
    const models::Plan resolved = resolve_plan(plan, workload, tiles);
    const models::Layout layout = make_layout(resolved, machine, tiles_of(resolved));
    AUSPEX_CHECK(layout.tiles >= 1, "a resolved plan has tiles");
    if (workload.num_experts > 0 && workload.num_experts < 4096) {
        const models::RoutingLoad load = routing_load(resolved.routing, workload.num_experts, resolved.ep, 1, 1);
        AUSPEX_CHECK(load.heaviest_rank >= 0, "a load is not negative");
    }
}

void load_damaged(std::size_t role, const JsonDocument& document, const Corpus& corpus, Rng& rng) {
    switch (role) {
        case kMachineRole: static_cast<void>(models::load_machine(document)); break;
        case kStackRole: static_cast<void>(models::load_stack(document)); break;
        case kWorkloadRole: {
            const models::Workload workload = models::load_workload(document);
            static_cast<void>(count_parameters(workload).total());
            static_cast<void>(count_active_parameters(workload).total());
            static_cast<void>(count_token_flop(workload).training());
            use(models::load_plan(JsonDocument::parse(any_of(corpus.texts[kPlanRole], rng), "plan")), workload,
                any_of(corpus.machines, rng), rng);
            break;
        }
        default: use(models::load_plan(document), any_of(corpus.workloads, rng), any_of(corpus.machines, rng), rng);
    }
}

/// One damaged input. Returns what went wrong, or nothing.
std::string try_one(std::size_t role, const std::string& text, const Corpus& corpus, Rng& rng) {
    try {
        JsonDocument document = JsonDocument::parse(text, "damaged.json");
        if (rng.below(3) == 0 && document.root().is_object()) {
            override_something(document, rng);
        }
        load_damaged(role, document, corpus, rng);
    } catch (const InputError& error) {
        const std::string_view message = error.what();
        return message.find('\n') == std::string_view::npos
                   ? ""
                   : "a message of more than one line: " + std::string(message);
    } catch (const std::exception& error) {
        return std::string("an exception other than InputError: ") + error.what();
    }
    return "";
}

int fuzz(std::uint64_t count, std::uint64_t seed) {
    const Corpus corpus = read_corpus();
    Rng rng(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t role = rng.below(kRoleCount);
        std::string text = any_of(corpus.texts[role], rng);
        for (std::uint64_t left = rng.below(5); left > 0; --left) {
            damage(text, any_of(any_of(corpus.texts, rng), rng), rng);
        }
        const std::string problem = try_one(role, text, corpus, rng);
        if (!problem.empty()) {
            std::cerr << "input " << i << " of seed " << seed << " (" << kFolders[role] << "): " << problem << "\n"
                      << text << "\n";
            return 1;
        }
    }
    std::cout << count << " damaged inputs, seed " << seed << ": refused in order or accepted\n";
    return 0;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) { return auspex::fuzz_main(argc, argv, "fuzz_loaders", auspex::fuzz); }
