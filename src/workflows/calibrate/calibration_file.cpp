/// @file Lines of a calibration's file; what is replaced is written beside it and moved into place.
#include "workflows/calibrate/calibration_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/output_file.hpp"
#include "models/core_speed.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

/// Behind the rows of a part: of one that is complete, and of one of which some are to be measured again.
constexpr std::string_view kDone = "# done: ", kAgain = "# again: ";
constexpr std::string_view kConditions = "# conditions: ";
constexpr const char* kWhatToDo = "expected measurements of the same, another --measurements, or --fresh";
constexpr const char* kExpected = "a CSV file of measurements";

bool is_row(const std::string& line) {
    return !line.empty() && !line.starts_with('#') && line != models::measurement_header();
}

bool is_slowed_row(const std::string& line, double full_speed_s) {
    models::Measurement row;
    row.source = line.substr(line.rfind(',') + 1);
    return is_row(line) && models::is_slowed(row, full_speed_s);
}

/// The part whose rows are above a line, up to the last such line.
std::optional<std::string> part_ended_by(const std::string& line) {
    for (const std::string_view end : {kDone, kAgain}) {
        if (line.starts_with(end)) {
            return line.substr(end.size());
        }
    }
    return std::nullopt;
}

std::string text_of(const Conditions& conditions) {
    std::string text;
    for (const auto& [name, value] : conditions) {
        text += (text.empty() ? "" : "; ") + name + "=" + value;
    }
    return text;
}

Conditions conditions_of(const std::string& text) {
    Conditions conditions;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ';');) {
        const std::size_t begin = word.find_first_not_of(' '), equals = word.find('=');
        if (begin != std::string::npos && equals != std::string::npos && equals > begin) {
            conditions[word.substr(begin, equals - begin)] = word.substr(equals + 1);
        }
    }
    return conditions;
}

std::string value_of(const Conditions& conditions, const std::string& name) {
    const auto found = conditions.find(name);
    return found == conditions.end() ? "nothing" : "\"" + found->second + "\"";
}

/// Names whose values are not the same in both.
std::vector<std::string> differences(const Conditions& then, const Conditions& now) {
    std::vector<std::string> names;
    for (const Conditions* const conditions : {&then, &now}) {
        for (const auto& [name, value] : *conditions) {
            const bool is_known = std::ranges::find(names, name) != names.end();
            if (!is_known && value_of(then, name) != value_of(now, name)) {
                names.push_back(name);
            }
        }
    }
    return names;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        lines.push_back(line);
    }
    return lines;
}

/// What is read, not timed.
constexpr std::array<std::string_view, 3> kOfComputer{"computer", "own_cache", "last_level_cache"};

/// Rows about the computer as a whole, whose source is its processor and a day: "NAME, 2026-11-21".
bool is_of_computer(const models::Measurement& row) {
    return row.kind == "host" && std::ranges::find(kOfComputer, row.name) != kOfComputer.end();
}

bool ends_with_day(const std::string& text) {
    constexpr std::string_view kDay = "2026-11-21";
    return text.size() > kDay.size() && text[text.size() - 3] == '-' && text[text.size() - 6] == '-';
}

bool is_own(const models::Measurement& row) {
    return models::is_own_source(row.source) || (is_of_computer(row) && ends_with_day(row.source));
}

/// Of a line without an end: is that all it lacks? Conditions may lack some of their own; without rows they are written
/// again.
bool is_whole(const std::string& line) {
    if (line == models::measurement_header() || line.starts_with('#')) {
        return !line.starts_with(kConditions);
    }
    try {
        return is_own(models::parse_measurements(models::measurement_header() + "\n" + line, "").front());
    } catch (const InputError&) {
        return false;
    }
}

/// The same, with a last line that is whole and has an end.
std::string whole_lines(const std::string& text) {
    if (text.empty() || text.ends_with('\n')) {
        return text;
    }
    const std::size_t begin = text.rfind('\n') + 1;  // 0 where there is none
    return is_whole(lines_of(text).back()) ? text + "\n" : text.substr(0, begin);
}

Conditions conditions_in(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        if (line.starts_with(kConditions)) {
            return conditions_of(line.substr(kConditions.size()));
        }
    }
    return {};
}

/// Rows of tables from elsewhere are not for calibration to add to, or to replace.
void require_own(const std::vector<models::Measurement>& rows) {
    const auto foreign = std::ranges::find_if_not(rows, is_own);
    if (foreign != rows.end()) {
        throw InputError(foreign->file_line,
                         "found a row from \"" + printable(foreign->source) +
                             "\" in a table that auspex calibrate has not written; expected another "
                             "--measurements; --from reads rows of another machine");
    }
}

/// False where only the build differs.
bool require_conditions(const std::string& file, const std::vector<std::string>& lines, const Conditions& now) {
    const Conditions then = conditions_in(lines);
    if (then.empty()) {
        if (std::ranges::any_of(lines, is_row)) {
            throw InputError(file, std::string("found measurements that do not say under what conditions they were "
                                               "taken (a line \"# conditions: …\"); ") +
                                       kWhatToDo);
        }
        return true;
    }
    bool is_same_build = true;
    for (const std::string& name : differences(then, now)) {
        if (name != kBuildCondition) {
            throw InputError(file, "found measurements with " + name + " " + value_of(then, name) + "; now it is " +
                                       value_of(now, name) + "; " + kWhatToDo);
        }
        is_same_build = false;
    }
    return is_same_build;
}

/// Rows of another processor would be mixed with those of this one.
void require_processor(const std::string& file, const std::vector<models::Measurement>& rows,
                       const std::string& processor) {
    for (const models::Measurement& row : rows) {
        if (is_of_computer(row) && !row.source.starts_with(processor + ", ")) {
            throw InputError(file, "found measurements of \"" + row.source + "\"; expected those of this computer, \"" +
                                       processor + "\", another --measurements, or --fresh");
        }
    }
}

/// parse_measurements, whose errors then say what can be done.
std::vector<models::Measurement> rows_or_advice(const std::string& text, const std::string& file) {
    try {
        return models::parse_measurements(text, file);
    } catch (const InputError& error) {
        const bool is_own_file = !conditions_in(lines_of(text)).empty();
        const std::string what = error.what();
        const std::size_t where = what.find(": ", file.size());
        throw InputError(what.substr(0, where), what.substr(where + 2) + "; or another --measurements" +
                                                    (is_own_file ? ", or --fresh, which sets this file aside" : ""));
    }
}

bool is_filled(const std::string& file) {
    std::error_code status;
    return fs::exists(file, status) && (!fs::is_regular_file(file, status) || fs::file_size(file, status) > 0);
}

std::string first_lines(const Conditions& now) {
    return models::measurement_header() + "\n" + std::string(kConditions) + text_of(now) + "\n";
}

/// Names the flag: a file that is not there yet may not be possible there.
void write_new(const std::string& file, const std::string& text) {
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << text << std::flush;
    if (!stream) {
        throw InputError("--measurements " + file, "found a place that cannot be written to (" +
                                                       std::string(std::strerror(errno)) +
                                                       "); expected a folder with write permission and space");
    }
}

}  // namespace

std::vector<std::string> CalibrationFile::lines() const { return lines_of(read_input_file(file_, kExpected)); }

LastLine CalibrationFile::take(const Conditions& now, const std::string& processor) const {
    if (!is_filled(file_)) {
        write_new(file_, first_lines(now));
        return LastLine::kWhole;
    }
    const std::string text = read_input_file(file_, kExpected), whole = whole_lines(text);
    const std::vector<models::Measurement> rows = rows_or_advice(whole, file_);
    const std::vector<std::string> lines = lines_of(whole);
    if (conditions_in(lines).empty()) {
        require_own(rows);
    }
    require_processor(file_, rows, processor);
    static_cast<void>(require_conditions(file_, lines, now));
    if (whole.size() > text.size()) {
        append_line("");
        return LastLine::kCompleted;
    }
    if (whole.size() < text.size()) {
        std::error_code status;
        fs::resize_file(file_, whole.size(), status);
        if (status) {
            throw InputError(file_,
                             "found a last line that is cut off, and a file that cannot be written; expected "
                             "one that can");
        }
        return LastLine::kDropped;
    }
    return LastLine::kWhole;
}

std::string CalibrationFile::begin_anew(const Conditions& now) const {
    if (!is_filled(file_)) {
        write_new(file_, first_lines(now));
        return "";
    }
    const std::string text = read_input_file(file_, kExpected);
    const std::vector<std::string> old = lines_of(text);
    if (conditions_in(old).empty()) {
        require_own(rows_or_advice(whole_lines(text), file_));
    }
    OutputFile next(file_);
    next.write(first_lines(now));
    const bool has_part = std::ranges::any_of(old, [](const auto& line) { return line.starts_with(kDone); });
    const std::string before = file_ + (has_part || !is_filled(file_ + ".before") ? ".before" : ".before-incomplete");
    std::error_code status;
    fs::rename(file_, before, status);
    if (status) {
        throw InputError(before, "found a place that cannot be written to (" + status.message() +
                                     "); expected one for the measurements that --fresh sets aside");
    }
    try {
        next.commit();
    } catch (...) {
        put_back(before);
        throw;
    }
    return before;
}

void CalibrationFile::put_back(const std::string& before) const {
    std::error_code ignored;
    fs::rename(before, file_, ignored);
}

bool CalibrationFile::has_timings() const {
    const auto is_of = [](const std::string& line, std::string_view name) {
        return line.starts_with("host," + std::string(name) + ",");
    };
    return std::ranges::any_of(lines(), [&](const std::string& line) {
        return is_row(line) && !is_of(line, "probe") && !is_of(line, "sweep") &&
               std::ranges::none_of(kOfComputer, [&](auto name) { return is_of(line, name); });
    });
}

void CalibrationFile::append_line(const std::string& line) const {
    std::ofstream stream(file_, std::ios::binary | std::ios::app);
    stream << line << "\n" << std::flush;
    if (!stream) {
        throw std::runtime_error(file_ + " could not be written");
    }
}

std::set<std::string> CalibrationFile::parts_done() const {
    std::set<std::string> done;
    for (const std::string& line : lines()) {
        if (line.starts_with(kDone)) {
            done.insert(line.substr(kDone.size()));
        }
    }
    return done;
}

int CalibrationFile::rows_of_part(const std::string& part) const {
    int rows = 0, all = 0;
    for (const std::string& line : lines()) {
        rows += is_row(line) ? 1 : 0;
        if (const std::optional<std::string> ended = part_ended_by(line)) {
            all += *ended == part ? rows : 0;
            rows = 0;
        }
    }
    return all;
}

std::map<std::string, int> CalibrationFile::slowed_rows(const std::set<std::string>& parts) const {
    std::map<std::string, int> slowed;
    const double full_speed_s = fastest_probe_s();
    int rows = 0;
    for (const std::string& line : lines()) {
        rows += is_slowed_row(line, full_speed_s) ? 1 : 0;
        if (const std::optional<std::string> ended = part_ended_by(line)) {
            if (rows > 0 && parts.contains(*ended)) {
                slowed[*ended] += rows;
            }
            rows = 0;
        }
    }
    return slowed;
}

void CalibrationFile::drop_slowed(const std::set<std::string>& parts) const {
    const std::map<std::string, int> slowed = slowed_rows(parts);
    const double full_speed_s = fastest_probe_s();
    std::string before, kept;
    std::vector<std::string> segment;
    for (const std::string& line : lines()) {
        before += line + "\n";
        const std::optional<std::string> ended = part_ended_by(line);
        if (!ended) {
            segment.push_back(line);
            continue;
        }
        const bool is_reopened = slowed.contains(*ended);
        for (const std::string& one : std::exchange(segment, {})) {
            kept += is_reopened && is_slowed_row(one, full_speed_s) ? "" : one + "\n";
        }
        kept += (is_reopened ? std::string(kAgain) + *ended : line) + "\n";
    }
    for (const std::string& line : segment) {
        kept += is_slowed_row(line, full_speed_s) ? "" : line + "\n";
    }
    if (kept != before) {
        write_file(file_, kept);
    }
}

void CalibrationFile::end_part(const std::string& part) const { append_line(std::string(kDone) + part); }

void CalibrationFile::append(const models::Measurement& row) const { append_line(to_csv(row)); }

double CalibrationFile::fastest_probe_s() const { return models::full_speed_probe_s(models::load_measurements(file_)); }

Conditions CalibrationFile::conditions() const { return conditions_in(lines()); }

bool CalibrationFile::agree_on(const Conditions& now) const {
    const bool is_same_build = require_conditions(file_, lines(), now);
    if (conditions().empty()) {
        append_line(std::string(kConditions) + text_of(now));
    }
    return is_same_build;
}

void CalibrationFile::refuse_build(const Conditions& now) const {
    throw InputError(file_, "found measurements of another build of auspex-mpi, " +
                                value_of(conditions(), kBuildCondition) + ", that are not complete; now it is " +
                                value_of(now, kBuildCondition) + "; " + kWhatToDo);
}

}  // namespace auspex::workflows
