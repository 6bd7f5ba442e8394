/// @file Reads the sections "storage" and "reliability" of a machine file.
#include "base/json.hpp"
#include "models/reliability/reliability.hpp"

namespace auspex::models {
namespace {

constexpr double kMinRate = 1e5, kMaxRate = 1e16;  // bytes/s: they refuse slips of a unit
constexpr double kMinMtbf = 60, kMaxMtbf = 1e12;
constexpr double kMaxRestart = 1e6;
constexpr double kMinShape = 0.1, kMaxShape = 10;
constexpr std::int64_t kMaxNodes = 1'000'000;

/// Constants of one object.
class ReliabilityReader {
 public:
    ReliabilityReader(JsonValue value, std::vector<Constant>& constants)
        : value_(std::move(value)), constants_(constants) {}

    [[nodiscard]] double quantity(std::string_view key, Dimension dimension, double low, double high) {
        return read_constant(value_, key, dimension, low, high, "machine", constants_);
    }
    [[nodiscard]] double optional(std::string_view key, Dimension dimension, double low, double high, double without) {
        return value_.find(key) ? quantity(key, dimension, low, high) : without;
    }
    [[nodiscard]] double time(std::string_view key) { return optional(key, Dimension::kSeconds, 0, kMaxRestart, 0); }
    [[nodiscard]] double share(std::string_view key) { return optional(key, Dimension::kNone, 0, 1, 0); }

 private:
    JsonValue value_;
    std::vector<Constant>& constants_;
};

FailingPart read_part(const std::string& name, const JsonValue& value, std::vector<Constant>& constants) {
    value.allow_only({"cause", "per", "mtbf", "shape", "nodes", "silent", "soft", "corrupt"});
    constexpr FailureUnit kUnits[] = {FailureUnit::kNode, FailureUnit::kTile, FailureUnit::kSwitch};
    ReliabilityReader in(value, constants);
    FailingPart part;
    part.name = name;
    part.cause = value.find("cause") ? value.at("cause").as_string() : name;
    part.unit = kUnits[value.at("per").as_one_of({"node", "tile", "switch"})];
    part.mtbf_s = in.quantity("mtbf", Dimension::kSeconds, kMinMtbf, kMaxMtbf);
    part.shape = in.optional("shape", Dimension::kNone, kMinShape, kMaxShape, 1);
    part.nodes = value.find("nodes") ? static_cast<int>(value.at("nodes").as_integer(0, kMaxNodes)) : 1;
    part.silent = in.share("silent");
    part.soft = in.share("soft");
    part.corrupt = in.share("corrupt");
    if (part.silent + part.soft + part.corrupt > 1) {
        value.at(part.corrupt > 0 ? "corrupt" : "soft").fail("silent, soft and corrupt of 1 together at most");
    }
    return part;
}

}  // namespace

Storage read_storage(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"write_bandwidth", "read_bandwidth", "checkpoint_write", "checkpoint_read", "checkpoint_start",
                        "stall_share"});
    ReliabilityReader in(section, constants);
    const auto rate = [&](std::string_view key) {
        return in.optional(key, Dimension::kBytesPerSecond, kMinRate, kMaxRate, 0);
    };
    Storage storage;
    storage.write_bytes_per_s = in.quantity("write_bandwidth", Dimension::kBytesPerSecond, kMinRate, kMaxRate);
    storage.read_bytes_per_s = in.quantity("read_bandwidth", Dimension::kBytesPerSecond, kMinRate, kMaxRate);
    storage.checkpoint_write_bytes_per_s = rate("checkpoint_write");
    storage.checkpoint_read_bytes_per_s = rate("checkpoint_read");
    storage.checkpoint_start_s = in.time("checkpoint_start");
    storage.stall_share = in.share("stall_share");
    return storage;
}

Reliability read_reliability(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only({"node_mtbf", "restart", "detection", "swap", "environment", "initialise", "watchdog",
                        "node_failed_start", "components"});
    ReliabilityReader in(section, constants);
    Reliability reliability;
    reliability.node_mtbf_s = in.quantity("node_mtbf", Dimension::kSeconds, kMinMtbf, kMaxMtbf);
    reliability.restart_s = in.quantity("restart", Dimension::kSeconds, 0, kMaxRestart);
    reliability.detection_s = in.time("detection");
    reliability.swap_s = in.time("swap");
    reliability.environment_s = in.time("environment");
    reliability.initialise_s = in.time("initialise");
    reliability.watchdog_s = in.time("watchdog");
    reliability.node_failed_start = in.share("node_failed_start");
    if (const auto components = section.find("components")) {
        for (const std::string& name : components->keys()) {
            if (name == "comment" || name.starts_with("$")) {
                continue;
            }
            reliability.parts.push_back(read_part(name, components->at(name), constants));
        }
    }
    return reliability;
}

}  // namespace auspex::models
