#pragma once
/// @file --csv: what a command answers as JSON, kept as a tidy table, or a table of its own.
#include <functional>
#include <ostream>
#include <string>

#include "cli/flags/options.hpp"
#include "launch/output_locks.hpp"
#include "models/inputs.hpp"
#include "report/parts/tidy_csv.hpp"

namespace auspex::cli {

/// Throws InputError where --csv names a place in which no file can be written: before a command works for long.
void require_csv_place(const Options& options);

/// Holds the file while it lives. Without --csv it does nothing.
class CsvFile {
 public:
    /// Throws InputError as above, and for a file that another command writes.
    explicit CsvFile(const Options& options);
    /// Of the JSON that `answer` writes, whose parts have the grid that they say, else `grid`.
    void write(const std::function<void(std::ostream&)>& answer, const report::TidyGrid& grid = {}) const;
    /// A table of the command's own.
    void write_table(const std::string& table) const;

 private:
    const Options& options_;
    launch::OutputLocks locks_;
};

/// Of a plan on its machine: for answers that say the tiles alone. 0 tiles: as the plan has them.
[[nodiscard]] report::TidyGrid grid_of(const models::Inputs& inputs, int tiles);

}  // namespace auspex::cli
