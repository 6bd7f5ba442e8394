/// @file Reads the sections "startup" of machine and stack files.
#include "base/json.hpp"
#include "models/startup/startup.hpp"

namespace auspex::models {
namespace {

constexpr double kMinStartRate = 1e5, kMaxStartRate = 1e16;  // bytes/s: they refuse slips of a unit
constexpr double kMaxBytes = 1e15, kMaxTime = 1e6;
constexpr double kMinLookups = 1, kMaxLookups = 1e12;  // a second
constexpr double kMaxNames = 1e9;
constexpr std::int64_t kMaxRanks = 1'000'000'000, kMaxWorkers = 100'000;

/// Constants of one object.
class StartupReader {
 public:
    StartupReader(JsonValue value, std::vector<Constant>& constants)
        : value_(std::move(value)), constants_(constants) {}

    [[nodiscard]] double rate(std::string_view key) {
        return read(key, Dimension::kBytesPerSecond, kMinStartRate, kMaxStartRate);
    }
    [[nodiscard]] double lookups_per_s(std::string_view key) {
        return read(key, Dimension::kPerSecond, kMinLookups, kMaxLookups);
    }
    [[nodiscard]] double time(std::string_view key) { return read(key, Dimension::kSeconds, 0, kMaxTime); }
    [[nodiscard]] double bytes(std::string_view key) { return read(key, Dimension::kBytes, 1, kMaxBytes); }
    [[nodiscard]] double names(std::string_view key) { return read(key, Dimension::kNone, 0, kMaxNames); }
    /// 0 where there is none. It has a source as constants have, but is compared with, and computed with nowhere.
    [[nodiscard]] int limit(std::string_view key) const {
        const auto found = value_.find(key);
        if (!found) {
            return 0;
        }
        found->allow_only({"value", "source", "kind"});
        if (found->at("source").as_string().empty()) {
            found->at("source").fail("a text that is not empty");
        }
        static_cast<void>(found->at("kind").as_one_of({"measured", "specified", "derived", "assumed", "fitted"}));
        return static_cast<int>(found->at("value").as_integer(1, kMaxRanks));
    }

 private:
    double read(std::string_view key, Dimension dimension, double low, double high) {
        return read_constant(value_, key, dimension, low, high, "machine", constants_);
    }
    JsonValue value_;
    std::vector<Constant>& constants_;
};

StartStorage read_start_storage(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"node_read", "shared_read", "local_read", "lookups", "local_lookups"});
    StartupReader in(section, constants);
    StartStorage storage;
    storage.node_read_bytes_per_s = in.rate("node_read");
    storage.shared_read_bytes_per_s = in.rate("shared_read");
    storage.local_read_bytes_per_s = in.rate("local_read");
    storage.lookups_per_s = in.lookups_per_s("lookups");
    storage.local_lookups_per_s = in.lookups_per_s("local_lookups");
    return storage;
}

EnvironmentFacts read_environment(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"archive", "imports", "unpack", "copy", "copy_tail"});
    StartupReader in(section, constants);
    EnvironmentFacts environment;
    environment.bytes = in.bytes("archive");
    environment.lookups = in.names("imports");
    environment.unpack_bytes_per_s = in.rate("unpack");
    environment.copy_bytes_per_s = in.rate("copy");
    environment.copy_tail_s = in.time("copy_tail");
    return environment;
}

InitialiseFacts read_initialise(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"device", "bootstrap_rank", "shaky_ranks", "wall_ranks"});
    StartupReader in(section, constants);
    InitialiseFacts initialise;
    initialise.device_s = in.time("device");
    initialise.bootstrap_rank_s = in.time("bootstrap_rank");
    initialise.shaky_ranks = in.limit("shaky_ranks");
    initialise.wall_ranks = in.limit("wall_ranks");
    return initialise;
}

CompileFacts read_compile(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"node", "rank_lookups", "unfinished_nodes"});
    StartupReader in(section, constants);
    CompileFacts compile;
    compile.node_s = in.time("node");
    compile.rank_lookups = in.names("rank_lookups");
    compile.unfinished_nodes = in.limit("unfinished_nodes");
    return compile;
}

IndexFacts read_index(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"sequence", "start", "node_workers"});
    StartupReader in(section, constants);
    IndexFacts index;
    index.sequence_s = in.time("sequence");
    index.start_s = in.time("start");
    index.node_workers = static_cast<int>(section.at("node_workers").as_integer(1, kMaxWorkers));
    return index;
}

}  // namespace

StartupFacts read_startup_facts(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"storage", "environment", "initialise", "compile", "index"});
    StartupFacts facts;
    if (const auto storage = section.find("storage")) {
        facts.storage = read_start_storage(*storage, constants);
    }
    if (const auto environment = section.find("environment")) {
        facts.environment = read_environment(*environment, constants);
    }
    if (const auto initialise = section.find("initialise")) {
        facts.initialise = read_initialise(*initialise, constants);
    }
    if (const auto compile = section.find("compile")) {
        facts.compile = read_compile(*compile, constants);
    }
    if (const auto index = section.find("index")) {
        facts.index = read_index(*index, constants);
    }
    if (!facts.storage) {
        for (const char* key : {"environment", "compile"}) {
            if (const auto found = section.find(key)) {
                found->fail("\"storage\" beside it, which says how fast files are found and read");
            }
        }
    }
    return facts;
}

std::optional<StackStartup> read_stack_startup(const std::optional<JsonValue>& section,
                                               const std::optional<JsonValue>& release) {
    if (!section && !release) {
        return std::nullopt;
    }
    StackStartup startup;
    const auto read = [&](const JsonValue& from) {
        from.allow_only({"compiles", "broadcasts_model", "reads_all_shards"});
        for (const auto& [key, flag] : {std::pair<const char*, bool*>{"compiles", &startup.compiles},
                                        {"broadcasts_model", &startup.broadcasts_model},
                                        {"reads_all_shards", &startup.reads_all_shards}}) {
            if (const auto found = from.find(key)) {
                *flag = found->as_bool();
            }
        }
    };
    if (section) {
        for (const char* key : {"compiles", "broadcasts_model", "reads_all_shards"}) {
            static_cast<void>(section->at(key));
        }
        read(*section);
    }
    if (release) {
        read(*release);
    }
    return startup;
}

}  // namespace auspex::models
