/// @file Files and folders of traces.
#include "compare/kineto/trace/read_trace.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

#include "base/error.hpp"
#include "base/streams/packed_file.hpp"
#include "compare/kineto/trace/event_builder.hpp"

namespace auspex::kineto {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;
constexpr const char* kExpected = "a trace of torch.profiler: JSON as export_chrome_trace writes it, plain or gzip";

bool is_trace_name(const std::string& name) { return name.ends_with(".json") || name.ends_with(".json.gz"); }

/// "…rank3…", "…rank_3…", "…rank-3…": 3.
std::optional<int> rank_in(const std::string& name) {
    constexpr std::string_view kWord = "rank";
    for (std::size_t at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
        std::size_t digit = at + kWord.size();
        if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) {
            ++digit;
        }
        std::size_t end = digit;
        while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0 && end < digit + 8) {
            ++end;
        }
        if (end > digit) {
            return std::stoi(name.substr(digit, end - digit));
        }
    }
    return {};
}

template <class Event>
void sort_by_start(std::vector<Event>& events) {
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
    });
    events.shrink_to_fit();
}

std::vector<std::string> files_of(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code status;
    for (const auto& entry : std::filesystem::directory_iterator(folder, status)) {
        if (entry.is_regular_file(status) && is_trace_name(entry.path().filename().string())) {
            files.push_back(entry.path().string());
        }
    }
    if (files.empty()) {
        throw InputError(folder,
                         "found no file whose name ends with .json or .json.gz in it; expected traces of "
                         "torch.profiler, one a rank");
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Where distributedInfo does not say it.
void name_ranks(std::vector<Trace>& traces) {
    for (std::size_t i = 0; i < traces.size(); ++i) {
        Trace& trace = traces[i];
        if (!trace.rank) {
            trace.rank = rank_in(std::filesystem::path(trace.file).filename().string());
        }
        if (!trace.rank) {
            trace.rank = static_cast<int>(i);
            trace.notes.push_back(trace.file + " does not say its rank; it is taken as rank " + std::to_string(i));
        }
    }
    std::map<int, std::string> seen;
    for (const Trace& trace : traces) {
        const auto [place, is_new] = seen.emplace(*trace.rank, trace.file);
        if (!is_new) {
            throw InputError(trace.file, "found rank " + std::to_string(*trace.rank) + ", as in " + place->second +
                                             "; expected one file for each rank");
        }
    }
    std::stable_sort(traces.begin(), traces.end(), [](const Trace& a, const Trace& b) { return a.rank < b.rank; });
}

}  // namespace

bool looks_like_trace(const std::string& path) {
    constexpr std::size_t kPeek = std::size_t{1} << 16;
    std::error_code status;
    if (std::filesystem::is_directory(path, status)) {
        return true;
    }
    if (!std::filesystem::is_regular_file(path, status) || std::filesystem::file_size(path, status) == 0) {
        return false;
    }
    PackedFile file(path, kExpected, kMostBytes);
    std::string front(kPeek, '\0');
    try {
        file.stream().read(front.data(), static_cast<std::streamsize>(front.size()));
    } catch (const InputError&) {
        return true;  // damaged gzip: what reads it says so
    }
    front.resize(static_cast<std::size_t>(file.stream().gcount()));
    const std::size_t first = front.find_first_not_of(" \t\r\n");
    return path.ends_with(".gz") || front.find("\"traceEvents\"") != std::string::npos ||
           front.find("\"deviceProperties\"") != std::string::npos ||
           (first != std::string::npos && front[first] == '[');
}

Trace read_trace(const std::string& file) {
    Trace trace;
    trace.file = file;
    PackedFile packed(file, kExpected, kMostBytes);
    EventBuilder builder(trace);
    read_json_events(packed.stream(), file, builder);
    if (trace.host_ops.empty() && trace.device_events.empty()) {
        throw InputError(file, "found " + std::to_string(trace.events) +
                                   " events, but no operation of PyTorch (cat \"cpu_op\") and no kernel among them; "
                                   "expected " +
                                   std::string(kExpected));
    }
    sort_by_start(trace.host_ops);
    sort_by_start(trace.device_events);
    sort_by_start(trace.launches);
    sort_by_start(trace.steps);
    if (trace.damaged_events > 0) {
        trace.notes.push_back(file + ": " + std::to_string(trace.damaged_events) +
                              " events without a time or with a negative length are left out");
    }
    return trace;
}

std::vector<Trace> read_traces(const std::string& path) {
    std::vector<Trace> traces;
    std::error_code status;
    if (!std::filesystem::is_directory(path, status)) {
        traces.push_back(read_trace(path));
    } else {
        for (const std::string& file : files_of(path)) {
            traces.push_back(read_trace(file));
        }
    }
    name_ranks(traces);
    return traces;
}

}  // namespace auspex::kineto
