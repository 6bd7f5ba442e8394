#pragma once
/// @file A tensor of a weights file, whole: ranks read no more than their slices.
#include <span>
#include <string>
#include <vector>

#include "exec/checkpoint/durable_file.hpp"
#include "exec/checkpoint/weights_file.hpp"

namespace auspex::exec {

inline std::vector<float> read_tensor(const WeightsFile& weights, const std::string& name) {
    const WeightsFile::Entry& entry = find_tensor(weights, name);
    std::vector<float> values((entry.end - entry.begin) / sizeof(float));
    ReadFile(weights.file).read(weights.data_begin + entry.begin, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace auspex::exec
