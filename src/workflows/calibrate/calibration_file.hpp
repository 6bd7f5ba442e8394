#pragma once
/// @file The file that a calibration grows in: which parts it has, which rows are to be measured again, and under what
/// conditions all of them were taken.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/measurement.hpp"

namespace auspex::workflows {

/// What has to be the same for all rows of a file, by name: "cores", "stack", "hosts", … Names and values are texts
/// without ';', '=' and ends of lines.
using Conditions = std::map<std::string, std::string>;
/// The name of the one condition that does not matter where nothing is measured any more.
inline constexpr const char* kBuildCondition = "build";

/// What became of a last line without an end, which a kill or an editor has left.
enum class LastLine { kWhole, kCompleted, kDropped };

/// Of rows "kind,name,…" in a file of measurements (workflows/calibrate/measure_task.hpp) a part ends with a comment
/// line that has its name, "# done: 2 ranks"; "# again: 2 ranks" if some of its rows were taken away to be measured
/// again. The new ones have an end of their own: a part may have several, and is done if one says so. Another comment,
/// "# conditions: …", stands above all. Lines may end as Windows ends them. Members throw InputError where the file is
/// no such file, std::runtime_error where it cannot be written.
class CalibrationFile {
 public:
    explicit CalibrationFile(std::string file) : file_(std::move(file)) {}

    [[nodiscard]] const std::string& name() const { return file_; }

    /// To be gone on with: makes the file where there is none. Else its rows have to be of a computer with this
    /// processor and of conditions that agree with `now` (or of another build): then a last line without an end is
    /// completed or dropped. A file that is refused stays as it is.
    LastLine take(const Conditions& now, const std::string& processor) const;
    /// Another file in its place, without rows. What was there is set aside under the name returned, FILE.before, in
    /// the place of an older one; where that would be lost for a file without a complete part, FILE.before-incomplete.
    /// Throws InputError where auspex calibrate has not written what is there.
    [[nodiscard]] std::string begin_anew(const Conditions& now) const;
    /// Undoes begin_anew, as far as something was set aside.
    void put_back(const std::string& before) const;
    /// Are there rows beside those of the computer, of its caches and of the probe?
    [[nodiscard]] bool has_timings() const;

    [[nodiscard]] std::set<std::string> parts_done() const;
    /// Rows of a part, over all sessions.
    [[nodiscard]] int rows_of_part(const std::string& part) const;
    /// How many rows of each of these parts were measured on slowed cores (models::is_slowed, by the fastest probe that
    /// the file has now); parts without such rows are left out.
    [[nodiscard]] std::map<std::string, int> slowed_rows(const std::set<std::string>& parts) const;
    /// Takes those rows away, and makes the ends of their parts "again": they will be measured again, and nothing else
    /// of them.
    /// Likewise rows on slowed cores behind the last end, of a part that was broken off. In one step: whoever is killed
    /// meanwhile leaves the old file or the new one.
    void drop_slowed(const std::set<std::string>& parts) const;
    void end_part(const std::string& part) const;
    void append(const models::Measurement& row) const;
    /// Of all rows "host,probe"; 0 where there is none.
    [[nodiscard]] double fastest_probe_s() const;

    /// Writes the conditions into a file that has no rows yet. Throws InputError, which names the file, what differs
    /// and what to do, where it has rows of other conditions or of unknown ones. False where only the build differs.
    [[nodiscard]] bool agree_on(const Conditions& now) const;
    /// The InputError of rows that another build has taken.
    [[noreturn]] void refuse_build(const Conditions& now) const;

 private:
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] Conditions conditions() const;
    void append_line(const std::string& line) const;

    std::string file_;
};

}  // namespace auspex::workflows
