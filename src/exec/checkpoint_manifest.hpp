#pragma once
/// @file What makes files of a folder a checkpoint: docs/formats-training.md.
#include <cstdint>
#include <string>
#include <vector>

#include "models/workload.hpp"

namespace auspex {

/// A file of the checkpoint's folder, as it must be.
struct PartFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::string sha256;
};

struct Manifest {
    std::int64_t serial = 0;  ///< counts the checkpoints written to a folder; the newest has the largest
    int step = 0;             ///< steps done
    std::uint64_t seed = 1;
    std::string workload;         ///< its name
    std::string workload_digest;  ///< shapes_digest
    std::string plan;             ///< of the run that wrote it, for people: "pp 2, dp 1, ep 2, tp 1"
    std::vector<PartFile> parts;  ///< by rank
};

inline constexpr const char* kManifestName = "manifest.json";

/// JSON that ends with the SHA-256 of everything before that.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
/// Throws InputError for a file that cannot be read, is no manifest, or has another digest than it says.
[[nodiscard]] Manifest load_manifest(const std::string& file);
/// SHA-256 of a text with everything of a workload that decides which tensors there are and their shapes.
[[nodiscard]] std::string shapes_digest(const Workload& workload);

}  // namespace auspex
