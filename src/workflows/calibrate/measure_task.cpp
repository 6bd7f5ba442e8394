/// @file Words of a measuring launch; appending rows.
#include "workflows/calibrate/measure_task.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::workflows {
namespace {

double read_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (status != std::errc() || end != text.data() + text.size() || !(seconds > 0)) {
        throw InputError("auspex-mpi measure", "found \"" + text + "\"; expected a positive number of seconds");
    }
    return seconds;
}

/// All that says what was measured, without what came of it.
std::string name_of(models::Measurement row) {
    row.seconds = row.spread = 0;
    row.count = 1;
    row.source.clear();
    return to_csv(row);
}

void append_text(const std::string& file, const std::string& text) {
    std::ofstream stream(file, std::ios::binary | std::ios::app);
    stream << text << std::flush;
    if (!stream) {
        throw std::runtime_error(file + " could not be written: " + std::strerror(errno));
    }
}

}  // namespace

std::vector<std::string> arguments_of(const MeasureTask& task) {
    std::vector<std::string> words{kMeasureRole, task.file, task.stack};
    const auto add = [&](bool is_wanted, const char* what, double seconds) {
        if (is_wanted) {
            words.insert(words.end(), {what, json_number(seconds)});
        }
    };
    add(task.kernels, "kernels", task.kernels_s);
    add(task.sharing, "sharing", task.sharing_s);
    add(task.messages, "messages", task.messages_s);
    add(task.undisturbed_probe_s > 0, "calm-probe", task.undisturbed_probe_s);
    for (const std::string& precision : task.precisions) {
        words.insert(words.end(), {"precision", precision});
    }
    return words;
}

MeasureTask measure_task(const std::vector<std::string>& words) {
    constexpr std::size_t kHead = 2;
    if (words.size() < kHead || words.size() % 2 != 0) {
        throw InputError("auspex-mpi measure", "found other words than \"auspex calibrate\" passes on");
    }
    MeasureTask task;
    task.file = words[0];
    task.stack = words[1];
    for (std::size_t i = kHead; i < words.size(); i += 2) {
        if (words[i] == "kernels") {
            task.kernels = true;
            task.kernels_s = read_seconds(words[i + 1]);
        } else if (words[i] == "sharing") {
            task.sharing = true;
            task.sharing_s = read_seconds(words[i + 1]);
        } else if (words[i] == "messages") {
            task.messages = true;
            task.messages_s = read_seconds(words[i + 1]);
        } else if (words[i] == "calm-probe") {
            task.undisturbed_probe_s = read_seconds(words[i + 1]);
        } else if (words[i] == "precision") {
            task.precisions.push_back(words[i + 1]);
        } else {
            throw InputError(
                "auspex-mpi measure",
                "found \"" + words[i] + "\"; expected kernels, sharing, messages, calm-probe or precision");
        }
    }
    return task;
}

MeasurementFile::MeasurementFile(std::string file) : file_(std::move(file)), rows_(models::load_measurements(file_)) {
    for (const models::Measurement& row : rows_) {
        names_.insert(name_of(row));
    }
}

bool MeasurementFile::has(const models::Measurement& row) const { return names_.contains(name_of(row)); }

void MeasurementFile::append(const models::Measurement& row) {
    append_text(file_, to_csv(row) + "\n");
    names_.insert(name_of(row));
    rows_.push_back(row);
}

}  // namespace auspex::workflows
