/// @file Runs as lines of JSON.
#include "workflows/compare/records.hpp"

#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/output_file.hpp"
#include "models/core_speed.hpp"

namespace auspex::workflows {
namespace {

/// Empty in lines of a version of this program that did not write it.
RunOrigin origin_of_line(const JsonValue& value) {
    RunOrigin origin;
    if (const auto parts = value.find("origin")) {
        for (const std::string& name : parts->keys()) {
            origin[name] = parts->at(name).as_string();
        }
    }
    return origin;
}

CaseRun run_of(const JsonValue& value) {
    constexpr double kShortest_s = 1e-9, kLongest_s = 1e6, kMaxBytes = 1e18;
    constexpr int kMaxBackgroundProcesses = 1'000'000;
    const auto seconds = [&value](const char* key) { return value.at(key).as_number(kShortest_s, kLongest_s); };
    CaseRun run;
    run.plan = value.at("plan").as_string();
    run.workload = value.at("workload").as_string();
    run.origin = origin_of_line(value);
    run.round = static_cast<int>(value.at("round").as_integer(0, std::numeric_limits<int>::max()));
    run.step_s = seconds("step_s");
    run.probe_s = seconds("probe_s");
    run.is_slowed = value.at("slowed").as_bool();
    run.background_share = value.at("others_share").as_number(0, 1);
    for (const JsonValue& count : value.at("others").elements()) {
        run.background_processes.push_back(static_cast<int>(count.as_integer(0, kMaxBackgroundProcesses)));
    }
    run.is_disturbed = value.at("disturbed").as_bool();
    run.memory_bytes = value.at("memory_bytes").as_number(0, kMaxBytes);
    run.traced_s = seconds("traced_s");
    run.traced_probe_s = seconds("traced_probe_s");
    const JsonValue operations = value.at("operations");
    for (const std::string& name : operations.keys()) {
        run.operations.push_back({name, operations.at(name).as_number(0, kLongest_s), 0});
    }
    return run;
}

/// Names of what differs, in `names`.
void add_differences(const RunOrigin& a, const RunOrigin& b, std::set<std::string>& names) {
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        for (const auto& [name, digest] : *one) {
            const auto found = other->find(name);
            if (found == other->end() || found->second != digest) {
                names.insert(name);
            }
        }
    }
}

std::string note_of(const std::string& file, std::size_t left, std::size_t all, const std::set<std::string>& names) {
    std::string differences;
    for (const std::string& name : names) {
        differences += (differences.empty() ? "" : ", ") + name;
    }
    return std::to_string(left) + " of " + std::to_string(all) + " runs in " + file +
           " are not taken, for they are of another " + differences;
}

}  // namespace

evaluate::ComparedRun compared_run(const CaseRun& run, double reference_probe_s) {
    evaluate::ComparedRun compared;
    compared.step_s = run.step_s;
    compared.is_valid = run.is_valid();
    compared.traced_s = run.traced_s;
    compared.operations = run.operations;
    if (reference_probe_s > 0) {
        compared.speed = reference_probe_s / run.probe_s;
        compared.is_traced_at_full_speed = models::has_full_speed(run.traced_probe_s, reference_probe_s);
    }
    return compared;
}

std::string to_json_line(const CaseRun& run) {
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("plan", run.plan).member("workload", run.workload);
        json.key("origin").begin_object();
        for (const auto& [name, digest] : run.origin) {
            json.member(name, digest);
        }
        json.end_object().member("round", run.round).member("step_s", run.step_s).member("probe_s", run.probe_s);
        json.member("slowed", run.is_slowed).member("others_share", run.background_share);
        json.key("others").begin_array();
        for (const int count : run.background_processes) {
            json.value(count);
        }
        json.end_array().member("disturbed", run.is_disturbed).member("memory_bytes", run.memory_bytes);
        json.member("traced_s", run.traced_s).member("traced_probe_s", run.traced_probe_s);
        json.key("operations").begin_object();
        for (const evaluate::OperationPair& operation : run.operations) {
            json.member(operation.name, operation.measured_s);
        }
        json.end_object().end_object();
    }
    return std::move(out).str();
}

EarlierRuns read_case_runs(
    const std::string& file,
    const std::function<const RunOrigin*(const std::string& plan, const std::string& workload)>& origin_of) {
    EarlierRuns earlier;
    std::set<std::string> differences;
    const std::string text = read_input_file(file, "runs of auspex compare, one a line");
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        earlier.lines.push_back(text.substr(begin, end - begin));
        const std::string where = file + ", line " + std::to_string(earlier.lines.size());
        const JsonDocument line = JsonDocument::parse(earlier.lines.back(), where);
        const JsonValue run = line.root();
        const RunOrigin* wanted = origin_of(run.at("plan").as_string(), run.at("workload").as_string());
        if (wanted == nullptr) {
            differences.insert("layout");
        } else if (const RunOrigin found = origin_of_line(run); found != *wanted) {
            add_differences(found, *wanted, differences);
        } else {
            earlier.runs.push_back(run_of(run));
        }
    }
    if (const std::size_t left = earlier.lines.size() - earlier.runs.size(); left > 0) {
        earlier.note = note_of(file, left, earlier.lines.size(), differences);
    }
    return earlier;
}

RunRecords::RunRecords(std::string file, const std::vector<std::string>& lines) : file_(std::move(file)) {
    if (file_.empty()) {
        return;
    }
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    write_file(file_, text);
    out_.open(file_, std::ios::binary | std::ios::app);
}

void RunRecords::add(const CaseRun& run) {
    if (file_.empty()) {
        return;
    }
    out_ << to_json_line(run) << std::flush;
    if (!out_) {
        throw InputError(file_, "found a file that cannot be written; expected write permission and free space");
    }
}

}  // namespace auspex::workflows
