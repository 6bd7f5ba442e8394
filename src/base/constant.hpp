#pragma once
/// @file A physical constant with its provenance: {"value": "205 TF/s", "source": "...", "kind": "measured"}.
#include <string>
#include <string_view>
#include <vector>

#include "base/json_forward.hpp"
#include "base/units.hpp"

namespace auspex {

/// Where a number comes from. A bare value in a file means kAssumed.
enum class ConstantKind { kMeasured, kSpecified, kDerived, kAssumed, kFitted };
[[nodiscard]] const char* to_string(ConstantKind kind);

/// One constant as loaded; `path` is dotted and begins with the input's role ("machine.node.nic.bandwidth").
struct Constant {
    std::string path;
    double value = 0;
    Dimension dimension = Dimension::kNone;
    ConstantKind kind = ConstantKind::kAssumed;
    std::string source;
    /// One standard deviation over the value: the file's "uncertainty" if given, else by kind:
    /// measured 3 %, specified 2 %, derived 5 %, fitted 10 %, assumed 30 %.
    double relative_uncertainty = 0.3;
    double low = 0, high = 0;  ///< what the file may say
};

/// Reads the constant at parent[key]: a bare quantity (assumed) or {"value", "source", "kind", "uncertainty"?}. Strict:
/// an object must have a non-empty source and a kind. Appends to `constants` with path role + "." + JSON path, and
/// returns its value in SI.
double read_constant(const JsonValue& parent, std::string_view key, Dimension dimension, double low, double high,
                     const std::string& role, std::vector<Constant>& constants);

}  // namespace auspex
