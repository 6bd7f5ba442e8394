/// @file Throws damaged Chakra traces at the reader and the player: only InputError, of one line, may come out.
///
/// usage: fuzz_chakra_traces [COUNT [SEED]]      in the repository's root
/// Most worth under the asan preset. A failure leaves the folder of damaged files and names it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
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
#include "models/inputs.hpp"
#include "workflows/chakra/export_traces.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

models::Inputs toy_inputs() {
    const auto document = [](const char* folder, const char* name) {
        return JsonDocument::load(std::string(folder) + "/" + name + ".json");
    };
    return models::load_inputs(document("machines", "aurora"), document("stacks", "optimus"),
                               document("workloads", "toy-moe"), document("plans", "toy-pp2-ep2"));
}

std::string read(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}
void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// A varint that lengths, ids and sizes are often wrong with, somewhere.
void damage_number(std::string& bytes, Rng& rng) {
    static const std::vector<std::string> kNumbers{std::string(1, '\0'),
                                                   "\x01",
                                                   "\x7f",
                                                   "\xff\xff\xff\xff\x07",
                                                   "\xff\xff\xff\xff\x0f",
                                                   std::string(9, '\xff') + "\x01",
                                                   std::string(9, '\x80') + "\x01",
                                                   std::string(10, '\xff')};
    if (!bytes.empty()) {
        const std::string& number = any_of(kNumbers, rng);
        bytes.replace(rng.below(bytes.size()), rng.below(3), number);
    }
}

/// Returns what went wrong, or nothing.
std::string try_one(const fs::path& folder, const models::Inputs& inputs, Rng& rng) {
    using Clock = std::chrono::steady_clock;
    constexpr double kPatience_s = 60;
    const auto began = Clock::now();
    std::string problem;
    try {
        const workflows::ChakraImport request{.folder = folder.string(),
                                              .durations = rng.below(2) == 0 ? workflows::TraceDurations::kRecorded
                                                                             : workflows::TraceDurations::kRoofline,
                                              .one_communication = rng.below(2) == 0};
        static_cast<void>(play_traces(request, inputs.machine, inputs.stack));
    } catch (const InputError& error) {
        const std::string_view message = error.what();
        problem = message.find('\n') == std::string_view::npos ? "" : "a message of more than one line";
    } catch (const std::exception& error) {
        problem = std::string("an exception other than InputError: ") + error.what();
    }
    const double took_s = std::chrono::duration<double>(Clock::now() - began).count();
    return problem.empty() && took_s > kPatience_s ? "more than a minute" : problem;
}

int fuzz(std::uint64_t count, std::uint64_t seed) {
    const models::Inputs inputs = toy_inputs();
    const fs::path folder = fs::temp_directory_path() / ("auspex-fuzz-traces-" + std::to_string(getpid()));
    fs::create_directories(folder);
    Rng rng(seed);
    std::vector<std::pair<fs::path, std::string>> files;
    static_cast<void>(workflows::export_chakra(inputs, {.folder = folder.string(), .by_role = true}));
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        files.emplace_back(entry.path(), read(entry.path()));
    }
    std::sort(files.begin(), files.end());
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto& [file, good] = any_of(files, rng);
        std::string bytes = good;
        if (rng.below(3) == 0) {  // short ones are read to the end more often
            bytes.resize(rng.below(bytes.size()) + 1);
        }
        for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
            rng.below(2) == 0 ? damage_number(bytes, rng) : damage(bytes, any_of(files, rng).second, rng);
        }
        write(file, bytes);
        const std::string problem = try_one(folder, inputs, rng);
        if (!problem.empty()) {
            std::cerr << "input " << i << " of seed " << seed << " (" << file << "): " << problem << "\n";
            return 1;
        }
        write(file, good);
    }
    fs::remove_all(folder);
    std::cout << count << " damaged traces, seed " << seed << ": refused in order or played\n";
    return 0;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) { return auspex::fuzz_main(argc, argv, "fuzz_chakra_traces", auspex::fuzz); }
