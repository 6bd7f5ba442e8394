#pragma once
/// @file Measurements as a CSV file: what calibration writes on this machine, and what is brought from others.
#include <string>
#include <vector>

namespace auspex::models {

/// One measured time. Columns of the file, in this order; a row may leave empty what it does not have, which then is
/// the value here. Sizes mean what CpuCall's do for kind "kernel". docs/formats-machine-stack.md says what a kind must
/// have.
struct Measurement {
    std::string kind;  ///< "kernel", "message", "collective", "host" (this machine); "gemm", "memory", "attention",
                       ///< "link", "start" (machines elsewhere)
    std::string name;  ///< kernel, collective or quantity
    std::string precision;  ///< "fp32", "bf16" or empty
    std::string where;      ///< kernel: "cache" or "memory", where operands come from; message: "near" (intra-node),
                            ///< "shared" (intra-node, one core) or "far" (inter-node); attention: by which kernel
                            ///< (models::AttentionKernel::name)
    double rows = 0, columns = 0, depth = 0, groups = 0;
    int active = 1;         ///< ranks that did the same at the same time
    int ranks = 1;          ///< of the collective or message: members
    int nodes = 1;          ///< that they lie on
    double bytes = 0;       ///< of a message or collective (schedule/program/communication.hpp)
    double seconds = 0;     ///< median of the repetitions
    double spread = 0;      ///< relative: (75th - 25th percentile) / 1.349 / median
    int count = 1;          ///< repetitions
    std::string source;     ///< where it comes from; "this machine"
    std::string file_line;  ///< "file.csv:12" where the row was read from a file; no column
};

/// Where a row is to be looked for, for messages: its line, else its source.
[[nodiscard]] const std::string& line_of(const Measurement& measurement);

/// "kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source"
[[nodiscard]] const std::string& measurement_header();
/// One line, without its end; empty fields for texts that are empty and for numbers that are 0. parse_measurements
/// gives back the same values, to the bit, but "?" for control characters in texts.
[[nodiscard]] std::string to_csv(const Measurement& measurement);
/// Reads a file; lines that begin with '#' are comments. Throws InputError naming file, line, column, value found and
/// what is allowed.
[[nodiscard]] std::vector<Measurement> load_measurements(const std::string& file);
[[nodiscard]] std::vector<Measurement> parse_measurements(const std::string& text, const std::string& name);

}  // namespace auspex::models
