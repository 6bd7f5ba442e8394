/// @file Throws damaged files of the trainer at what reads them: only InputError, of one line, may come out.
///
/// usage: fuzz_training_files [COUNT [SEED]]      in the repository's root, whose README.md is the text
/// Digests are put right again in half of the files that have one, so that what they guard is reached too.
/// Most worth under the asan preset. A failure leaves the folder of damaged files and names it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "../exec/checkpoint/read_tensor.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/sha256.hpp"
#include "damage.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "exec/checkpoint/weights_file.hpp"
#include "exec/data/dataset.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/prepare.hpp"
#include "exec/data/tokenizer.hpp"
#include "models/routing_record.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// Replaces the 64 digits behind the last `key`.
void put_digest(std::string& text, std::string_view key, const std::string& digest) {
    const std::size_t at = text.rfind(key);
    if (at != std::string::npos && at + key.size() + digest.size() <= text.size()) {
        text.replace(at + key.size(), digest.size(), digest);
    }
}

/// Eight or four bytes somewhere become a number that sizes are often wrong with.
void damage_binary(std::string& bytes, Rng& rng) {
    constexpr std::array<std::uint64_t, 10> kNumbers{0,          1,          255,        0x7fffffff, 0x80000000,
                                                     0xffffffff, 1ULL << 62, 1ULL << 63, ~0ULL,      ~0ULL - 1};
    const std::uint64_t number = any_of(kNumbers, rng) + (rng.below(2) == 0 ? 0 : rng.below(300));
    const std::size_t size = rng.below(2) == 0 ? 4 : 8;
    if (bytes.size() < size) {
        return;
    }
    // Most of what can be wrong stands in front.
    const std::size_t room = bytes.size() - size + 1;
    std::memcpy(bytes.data() + rng.below(rng.below(2) == 0 ? room : std::min<std::size_t>(room, 64)), &number, size);
}

/// One kind of file: the good one is put back, damaged and read again.
struct Target {
    const char* name;
    std::string file;  ///< that is damaged
    bool is_binary;
    std::function<void(std::string&)> put_right;  ///< digests; none
    std::function<void()> use;
};

void use_dataset(const std::string& folder) {
    const exec::Dataset dataset = exec::Dataset::open(folder);
    std::vector<std::int32_t> tokens;
    for (std::int64_t row = 0; row < std::min<std::int64_t>(dataset.sequences(), 50); ++row) {
        tokens.clear();
        dataset.append_sequence(row * 7, tokens);
        AUSPEX_CHECK(static_cast<int>(tokens.size()) == dataset.sequence_length() + 1, "a row has its length");
    }
    dataset.check_digests();
}

void use_tokenizer(const std::string& file) {
    const std::string text = "The \xff run\0ner's 1234  words\n";
    exec::Tokenizer tokenizer = exec::Tokenizer::load(file);
    std::vector<std::int32_t> tokens;
    tokenizer.encode(text, tokens);
    AUSPEX_CHECK(tokenizer.decode(tokens) == text, "tokens give back their text");
}

void use_weights(const std::string& file) {
    const exec::WeightsFile weights = exec::open_weights_file(file);
    for (const auto& [name, entry] : weights.entries) {
        if (entry.dtype == "F32") {
            AUSPEX_CHECK(exec::read_tensor(weights, name).size() * sizeof(float) == entry.end - entry.begin,
                         "all is read");
        }
    }
}

void use_megatron(const std::string& prefix) {
    const exec::MegatronDataset dataset(prefix);
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < dataset.sequences(); ++i) {
        tokens.clear();
        dataset.append_sequence(i, 300, tokens);
    }
}

void use_routing(const std::string& file) {
    const models::RoutingRecord record = models::read_routing_record(file);
    for (int layer = 0; layer < record.layers; ++layer) {
        static_cast<void>(choices_by_expert(record, record.first_step, layer, 0, record.tokens));
    }
}

exec::Manifest some_manifest() {
    const std::string digest(64, 'a');
    exec::Manifest manifest;
    manifest.serial = 3, manifest.step = 40;
    manifest.workload = "toy", manifest.plan = "pp 2";
    manifest.parts = {{"part-00000.bin", 1000, digest}, {"part-00001.bin", 0, digest}};
    return manifest;
}

models::RoutingRecord some_record() {
    models::RoutingRecord record;
    record.first_step = 1, record.steps = 2, record.layers = 2, record.tokens = 8, record.top_k = 2;
    record.num_experts = 4;
    for (std::uint16_t i = 0; i < 2 * 2 * 8; ++i) {
        record.choices.push_back(i % 4);
        record.choices.push_back(static_cast<std::uint16_t>((i + 1) % 4));
    }
    return record;
}

/// Makes the good files.
std::vector<Target> make_targets(const std::string& folder) {
    exec::PrepareRequest request;
    request.inputs = {"README.md"};
    request.learns_merges = true;
    request.vocabulary = 290;
    request.sequence_length = 32;
    request.shard_rows = 40;
    request.folder = folder + "/data";
    static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
    export_megatron(exec::Dataset::open(request.folder), folder + "/m");
    write(folder + "/manifest.json", manifest_text(some_manifest()));
    write(folder + "/w", exec::weights_file_header({{"a", {2, 3}}, {"b", {4}}, {"c", {}}}, {{"format", "pt"}}) +
                             std::string(11 * sizeof(float), 'x'));
    write_routing_record(some_record(), folder + "/r.json");

    const auto digest_manifest = [](std::string& text) {
        const std::string key = "\"manifest_sha256\": \"";
        const std::size_t at = text.rfind(key);
        put_digest(text, key, sha256_hex(std::string_view(text).substr(0, std::min(at, text.size()))));
    };
    // What was damaged are the choices; the digest stands in the record beside them.
    const auto digest_choices = [folder](std::string& choices) {
        std::string record = read(folder + "/r.json");
        put_digest(record, "\"sha256\": \"", sha256_hex(choices));
        write(folder + "/r.json", record);
    };
    const std::string data = request.folder;
    return {{"dataset.json", data + "/dataset.json", false, {}, [=] { use_dataset(data); }},
            {"shard", data + "/shard-00000.bin", true, {}, [=] { use_dataset(data); }},
            {"tokenizer.json", data + "/tokenizer.json", false, {}, [=] { use_tokenizer(data + "/tokenizer.json"); }},
            {"manifest", folder + "/manifest.json", false, digest_manifest,
             [=] { static_cast<void>(exec::load_manifest(folder + "/manifest.json")); }},
            {"safetensors", folder + "/w", false, {}, [=] { use_weights(folder + "/w"); }},
            {"safetensors in bytes", folder + "/w", true, {}, [=] { use_weights(folder + "/w"); }},
            {"Megatron index", folder + "/m.idx", true, {}, [=] { use_megatron(folder + "/m"); }},
            {"Megatron tokens", folder + "/m.bin", true, {}, [=] { use_megatron(folder + "/m"); }},
            {"routing record", folder + "/r.json", false, {}, [=] { use_routing(folder + "/r.json"); }},
            {"routing choices", folder + "/r.json.choices", true, digest_choices,
             [=] { use_routing(folder + "/r.json"); }}};
}

/// What went wrong, or nothing.
std::string problem_of(const Target& target) {
    try {
        target.use();
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

std::string damaged(std::string text, const Target& target, Rng& rng) {
    const std::string good = text;
    for (std::uint64_t left = rng.below(5); left > 0; --left) {
        if (target.is_binary && rng.below(2) == 0) {
            damage_binary(text, rng);
        } else {
            damage(text, good, rng);
        }
    }
    if (target.put_right && rng.below(2) == 0) {
        target.put_right(text);
    }
    return text;
}

int fuzz(std::uint64_t count, std::uint64_t seed) {
    std::string folder = fs::temp_directory_path().string() + "/auspex-fuzz-XXXXXX";
    AUSPEX_CHECK(mkdtemp(folder.data()) != nullptr, "there is a place for files");
    const std::vector<Target> targets = make_targets(folder);
    std::vector<std::string> good;
    for (const Target& target : targets) {
        good.push_back(read(target.file));
        const std::string problem = problem_of(target);
        AUSPEX_CHECK(problem.empty(), problem.c_str());
    }
    Rng rng(seed);
    const std::string record = read(folder + "/r.json");
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t which = rng.below(targets.size());
        write(targets[which].file, damaged(good[which], targets[which], rng));
        const std::string problem = problem_of(targets[which]);
        if (!problem.empty()) {
            std::cerr << "input " << i << " of seed " << seed << " (" << targets[which].name << "): " << problem
                      << "\nsee " << targets[which].file << "\n";
            return 1;
        }
        write(targets[which].file, good[which]);
        write(folder + "/r.json", record);
    }
    fs::remove_all(folder);
    std::cout << count << " damaged files, seed " << seed << ": refused in order or accepted\n";
    return 0;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) { return auspex::fuzz_main(argc, argv, "fuzz_training_files", auspex::fuzz); }
