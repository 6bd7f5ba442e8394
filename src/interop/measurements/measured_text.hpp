#pragma once
/// @file What benchmarks of communication print, as rows that calibrate --from and collective --against read.
#include <string>
#include <vector>

#include "models/measurement.hpp"

namespace auspex::interop {

/// What is read, and what its user knows that the text does not say.
struct MeasuredText {
    std::string text, name;    ///< of the file
    std::string kind;          ///< of the collective, "all-reduce"; empty: as the text says
    std::string link;          ///< messages between two ranks are of this link: "nic", "rank", "pair", …
    int ranks = 0, nodes = 0;  ///< of the job; 0: as the text says
    double min_bytes = -1;     ///< rows of less are left out; below 0: as the benchmark needs it
};

struct MeasuredRows {
    std::vector<models::Measurement> rows;
    std::vector<std::string> notes;  ///< what was left out, or taken
};

/// The tables of nccl-tests, and of rccl-tests, which prints the same: a row for the columns out of place and one for
/// those in place. Ranks and nodes are those of the lines below "Using devices"; the collective is that of "Collective
/// test starting". Sizes count whole buffers, as ours do. Throws InputError for columns, units and collectives that are
/// not known, wrong results, rows in which time, algbw and busbw contradict each other, the collective and its ranks,
/// and a table that does not end.
[[nodiscard]] MeasuredRows rows_of_nccl_tests(const MeasuredText& from);

/// The tables of the OSU micro-benchmarks: latency and bandwidth of two ranks as rows of a link, collectives by their
/// mean. An all-gather's and an all-to-all's size is what one rank gives to, or has for, one other: it is multiplied by
/// the ranks. Throws InputError for benchmarks, columns and units that are not known, failed validation, sizes that do
/// not grow, and a line that ends early.
[[nodiscard]] MeasuredRows rows_of_osu(const MeasuredText& from);

/// A file of measurements (models/measurement.hpp).
[[nodiscard]] std::string measurement_table(const std::vector<models::Measurement>& rows);
/// A file of published rows, as `auspex collective --against` reads it, in a source's words for machine and library.
/// Requires collectives only.
[[nodiscard]] std::string published_table(const std::vector<models::Measurement>& rows, const std::string& machine,
                                          const std::string& library);

}  // namespace auspex::interop
