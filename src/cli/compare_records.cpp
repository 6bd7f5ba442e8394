/// @file Runs as lines of JSON.
#include "cli/compare_records.hpp"

#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"

namespace auspex {
namespace {

CaseRun run_of(const JsonValue& value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    const auto number = [&value](const char* key) { return value.at(key).as_number(0, kMost); };
    CaseRun run;
    run.plan = value.at("plan").as_string();
    run.workload = value.at("workload").as_string();
    run.fingerprint = value.at("fingerprint").as_string();
    run.round = static_cast<int>(value.at("round").as_integer(0, std::numeric_limits<int>::max()));
    run.step_s = number("step_s");
    run.probe_s = number("probe_s");
    run.is_slowed = value.at("slowed").as_bool();
    run.others_share = number("others_share");
    run.is_disturbed = value.at("disturbed").as_bool();
    run.memory_bytes = number("memory_bytes");
    run.traced_s = number("traced_s");
    const JsonValue operations = value.at("operations");
    for (const std::string& name : operations.keys()) {
        run.operations.push_back({name, operations.at(name).as_number(0, kMost), 0});
    }
    return run;
}

}  // namespace

std::string to_json_line(const CaseRun& run) {
    std::string operations;
    for (const OperationPair& operation : run.operations) {
        operations +=
            (operations.empty() ? "" : ", ") + json_quote(operation.name) + ": " + json_number(operation.measured_s);
    }
    return "{\"plan\": " + json_quote(run.plan) + ", \"workload\": " + json_quote(run.workload) +
           ", \"fingerprint\": " + json_quote(run.fingerprint) + ", \"round\": " + std::to_string(run.round) +
           ", \"step_s\": " + json_number(run.step_s) + ", \"probe_s\": " + json_number(run.probe_s) +
           ", \"slowed\": " + (run.is_slowed ? "true" : "false") +
           ", \"others_share\": " + json_number(run.others_share) +
           ", \"disturbed\": " + (run.is_disturbed ? "true" : "false") +
           ", \"memory_bytes\": " + json_number(run.memory_bytes) + ", \"traced_s\": " + json_number(run.traced_s) +
           ", \"operations\": {" + operations + "}}\n";
}

std::vector<CaseRun> read_case_runs(const std::string& file) {
    std::vector<CaseRun> runs;
    const std::string text = read_input_file(file);
    std::size_t begin = 0;
    for (std::size_t line = 1, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++line) {
        const std::string where = file + ", line " + std::to_string(line);
        runs.push_back(run_of(JsonDocument::parse(text.substr(begin, end - begin), where).root()));
    }
    return runs;
}

RunRecords::RunRecords(std::string file, const std::vector<CaseRun>& runs) : file_(std::move(file)) {
    if (!file_.empty()) {
        out_.open(file_, std::ios::binary | std::ios::trunc);
    }
    for (const CaseRun& run : runs) {
        add(run);
    }
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

}  // namespace auspex
