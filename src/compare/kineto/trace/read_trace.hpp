#pragma once
/// @file Files of torch.profiler into traces.
#include <string>
#include <vector>

#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {

/// Whether a path names what `read_traces` is for: a folder, a gzip file, or JSON whose first 64 KiB name events of a
/// trace. False for what is not there.
[[nodiscard]] bool looks_like_trace(const std::string& path);

/// Reads a file as Kineto writes it ({"traceEvents": [...]}, plain or gzip) or as PyTorch's older profiler does (a bare
/// array). Throws InputError for a file that is damaged, cut off, no trace of a profiler (none of its events is a host
/// operation or a device activity), or larger than 8 GiB unpacked or 16 million events kept.
[[nodiscard]] Trace read_trace(const std::string& file);

/// A file, or all traces (*.json, *.json.gz) of a folder, by rank: that of distributedInfo, else of a name such as
/// "rank3" in the file's, else its place in the order of names (with a note). Throws InputError for a folder without
/// one, and for two files of one rank.
[[nodiscard]] std::vector<Trace> read_traces(const std::string& path);

}  // namespace auspex::kineto
