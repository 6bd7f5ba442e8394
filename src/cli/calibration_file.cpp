/// @file Lines of a calibration's file; what is replaced is written beside it and moved into place.
#include "cli/calibration_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/output_file.hpp"
#include "exec/measure/core_probe.hpp"

namespace auspex {
namespace {

constexpr std::string_view kDone = "# done: ", kConditions = "# conditions: ";
constexpr const char* kWhatToDo = "expected measurements of the same, another --measurements, or --fresh";

bool is_row(const std::string& line) { return !line.empty() && !line.starts_with('#') && line != measurement_header(); }

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

}  // namespace

std::vector<std::string> CalibrationFile::lines() const {
    std::vector<std::string> lines;
    std::istringstream stream(read_input_file(file_));
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
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
        if (line.starts_with(kDone)) {
            all += line.substr(kDone.size()) == part ? rows : 0;
            rows = 0;
        }
    }
    return all;
}

std::map<std::string, int> CalibrationFile::slowed_rows(const std::set<std::string>& parts) const {
    std::map<std::string, int> slowed;
    int rows = 0;
    for (const std::string& line : lines()) {
        rows += is_row(line) && line.ends_with(kSlowed) ? 1 : 0;
        if (line.starts_with(kDone)) {
            const std::string part = line.substr(kDone.size());
            if (rows > 0 && parts.contains(part)) {
                slowed[part] += rows;
            }
            rows = 0;
        }
    }
    return slowed;
}

void CalibrationFile::drop_slowed(const std::set<std::string>& parts) const {
    const std::map<std::string, int> slowed = slowed_rows(parts);
    const auto is_slowed = [](const std::string& line) { return is_row(line) && line.ends_with(kSlowed); };
    std::string before, kept;
    std::vector<std::string> part;
    for (const std::string& line : lines()) {
        before += line + "\n";
        part.push_back(line);
        if (!line.starts_with(kDone)) {
            continue;
        }
        const bool is_dropped = slowed.contains(line.substr(kDone.size()));
        for (const std::string& one : std::exchange(part, {})) {
            kept += is_dropped && (one == line || is_slowed(one)) ? "" : one + "\n";
        }
    }
    for (const std::string& line : part) {
        kept += is_slowed(line) ? "" : line + "\n";
    }
    if (kept != before) {
        write_file(file_, kept);
    }
}

void CalibrationFile::end_part(const std::string& part) const { append_line(std::string(kDone) + part); }

void CalibrationFile::append(const Measurement& row) const { append_line(to_csv(row)); }

double CalibrationFile::fastest_probe_s() const {
    double fastest = 0;
    for (const Measurement& row : load_measurements(file_)) {
        if (row.kind == "host" && row.name == "probe" && row.seconds > 0) {
            fastest = fastest > 0 ? std::min(fastest, row.seconds) : row.seconds;
        }
    }
    return fastest;
}

Conditions CalibrationFile::conditions() const {
    for (const std::string& line : lines()) {
        if (line.starts_with(kConditions)) {
            return conditions_of(line.substr(kConditions.size()));
        }
    }
    return {};
}

bool CalibrationFile::agree_on(const Conditions& now) const {
    const Conditions then = conditions();
    if (then.empty()) {
        if (std::ranges::any_of(lines(), is_row)) {
            throw InputError(file_, std::string("found measurements that do not say under what conditions they were "
                                                "taken (a line \"# conditions: …\"); ") +
                                        kWhatToDo);
        }
        append_line(std::string(kConditions) + text_of(now));
        return true;
    }
    bool is_same_build = true;
    for (const std::string& name : differences(then, now)) {
        if (name != kBuildCondition) {
            throw InputError(file_, "found measurements with " + name + " " + value_of(then, name) + "; now it is " +
                                        value_of(now, name) + "; " + kWhatToDo);
        }
        is_same_build = false;
    }
    return is_same_build;
}

void CalibrationFile::refuse_build(const Conditions& now) const {
    throw InputError(file_, "found measurements of another build of auspex-mpi, " +
                                value_of(conditions(), kBuildCondition) + ", that are not complete; now it is " +
                                value_of(now, kBuildCondition) + "; " + kWhatToDo);
}

}  // namespace auspex
