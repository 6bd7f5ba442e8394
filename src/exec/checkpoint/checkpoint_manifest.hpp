#pragma once
/// @file What makes files of a folder a checkpoint: docs/formats-training.md.
#include <cstdint>
#include <string>
#include <vector>

#include "exec/state/run_settings.hpp"

namespace auspex::exec {

/// Elements [begin, end) of a slice of a tensor: of part `part` of `parts` equal ones along a dimension;
/// split_dimension -1: of the whole tensor.
struct StoredPart {
    std::string tensor;
    int split_dimension = -1, parts = 1, part = 0;
    std::size_t begin = 0, end = 0;
};

/// A file of the checkpoint's folder, as it must be.
struct PartFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::string sha256;
    std::vector<StoredPart> tensors{};  ///< one behind the other in the file
};

struct Manifest {
    std::int64_t serial = 0;        ///< counts the checkpoints written to a folder; the newest has the largest
    int step = 0;                   ///< steps done
    std::int64_t sequences = 0;     ///< of the dataset, trained on in these steps: the next row to read
    std::string workload;           ///< its name
    std::string plan;               ///< of the run that wrote it, for people: "pp 2, dp 1, ep 2, tp 1"
    Settings model;                 ///< model_settings
    Settings settings;              ///< training_settings
    std::vector<PartFile> parts{};  ///< by rank
};

inline constexpr const char* kManifestName = "manifest.json";

/// JSON that ends with the SHA-256 of everything before that.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
/// Throws InputError for a text that is no manifest, or has another digest than it says; `file` is where it is from.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& file);
/// The same, and for a file that cannot be read.
[[nodiscard]] Manifest load_manifest(const std::string& file);
/// A part as a manifest has it, for its way from the rank that wrote it.
[[nodiscard]] std::string part_text(const PartFile& part);
[[nodiscard]] PartFile parse_part(const std::string& text);

}  // namespace auspex::exec
