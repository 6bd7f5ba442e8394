/// @file Results to JSON and back.
#include "launch/train/train_result.hpp"

#include <limits>

#include "base/json.hpp"

namespace auspex::launch {
namespace {

constexpr std::size_t kOpKinds = static_cast<std::size_t>(schedule::OpKind::kCount);
constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();
constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr double kMaxNumber = std::numeric_limits<double>::max();

std::vector<exec::OperationCount> summed_counts(const std::vector<exec::RankReport>& ranks) {
    std::vector<exec::OperationCount> sums(kOpKinds);
    for (const exec::RankReport& rank : ranks) {
        for (std::size_t kind = 0; kind < rank.counts.size(); ++kind) {
            sums[kind] += rank.counts[kind];
        }
    }
    return sums;
}

void write_steps(JsonWriter& json, const std::vector<exec::StepReport>& steps) {
    json.key("steps").begin_array();
    for (const exec::StepReport& step : steps) {
        json.begin_object().member("step", step.step);
        json.member_or_text("loss", step.loss);
        json.member_or_text("cross_entropy", step.cross_entropy);
        json.member_or_text("auxiliary", step.auxiliary);
        json.member_or_text("z", step.z);
        json.member_or_text("grad_norm", step.gradient_norm);
        json.member_or_text("learning_rate", step.learning_rate);
        json.member_or_text("step_time_s", step.step_time_s);
        json.member_or_text("tokens_per_s", step.tokens_per_s);
        if (step.probe_s > 0) {
            json.member("probe_s", step.probe_s);
        }
        json.end_object();
    }
    json.end_array();
}

void write_memory(JsonWriter& json, const std::vector<exec::RankReport>& ranks) {
    json.key("memory").begin_object();
    for (const exec::RankReport& rank : ranks) {
        json.key(std::to_string(rank.rank)).begin_object();
        for (std::size_t i = 0; i < schedule::kMemoryLabelCount; ++i) {
            json.member(to_string(static_cast<schedule::MemoryLabel>(i)), std::uint64_t{rank.peaks[i]});
        }
        json.end_object();
    }
    json.end_object().key("memory_total").begin_object();
    for (const exec::RankReport& rank : ranks) {
        json.key(std::to_string(rank.rank)).begin_object().member("peak_bytes", std::uint64_t{rank.peak_bytes});
        json.member("reserved_bytes", std::uint64_t{rank.reserved_bytes});
        json.member("transport_bytes", std::uint64_t{rank.transport_bytes});
        json.member("linear_algebra_bytes", std::uint64_t{rank.blas_bytes}).end_object();
    }
    json.end_object();
}

void write_counts(JsonWriter& json, const std::vector<exec::OperationCount>& counts) {
    json.key("counts").begin_object();
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        if (counts[kind].operations > 0) {
            json.key(to_string(static_cast<schedule::OpKind>(kind))).begin_object();
            json.member("operations", counts[kind].operations).member("messages", counts[kind].messages);
            json.member("bytes", whole(counts[kind].bytes)).end_object();
        }
    }
    json.end_object();
}

void write_restarts(JsonWriter& json, const std::vector<Restart>& restarts) {
    json.key("restarts").begin_array();
    for (const Restart& restart : restarts) {
        json.begin_object().member("reason", restart.reason).member("rank", restart.rank);
        json.member("slot", restart.slot).member("step", restart.step).member("from_step", restart.from_step);
        json.key("slots").begin_array();
        for (const int slot : restart.slots) {
            json.value(slot);
        }
        json.end_array().end_object();
    }
    json.end_array();
}

/// The inverse of member_or_text().
double number_or_text(const JsonValue& value) {
    if (value.is_number()) {
        return value.as_number(-kMaxNumber, kMaxNumber);
    }
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const std::string text = value.as_string();
    return text == "inf" ? kInfinite : text == "-inf" ? -kInfinite : std::numeric_limits<double>::quiet_NaN();
}

std::vector<exec::StepReport> read_steps(const JsonValue& list) {
    std::vector<exec::StepReport> steps;
    for (const JsonValue& value : list.elements()) {
        exec::StepReport& step = steps.emplace_back();
        step.step = static_cast<int>(value.at("step").as_integer(0, kMaxInt));
        step.loss = number_or_text(value.at("loss"));
        step.cross_entropy = number_or_text(value.at("cross_entropy"));
        step.auxiliary = number_or_text(value.at("auxiliary"));
        step.z = number_or_text(value.at("z"));
        step.gradient_norm = number_or_text(value.at("grad_norm"));
        step.learning_rate = number_or_text(value.at("learning_rate"));
        step.step_time_s = number_or_text(value.at("step_time_s"));
        step.tokens_per_s = number_or_text(value.at("tokens_per_s"));
        if (const auto probe = value.find("probe_s")) {
            step.probe_s = probe->as_number(0, kMaxNumber);
        }
    }
    return steps;
}

std::vector<exec::RankReport> read_ranks(const JsonValue& root) {
    const JsonValue memory = root.at("memory"), totals = root.at("memory_total");
    std::vector<exec::RankReport> ranks;
    for (int rank = 0; const auto labels = memory.find(std::to_string(rank)); ++rank) {
        exec::RankReport& report = ranks.emplace_back();
        report.rank = rank;
        for (std::size_t i = 0; i < schedule::kMemoryLabelCount; ++i) {
            report.peaks[i] = static_cast<std::size_t>(
                labels->at(to_string(static_cast<schedule::MemoryLabel>(i))).as_integer(0, kMaxCount));
        }
        report.peak_bytes =
            static_cast<std::size_t>(totals.at(std::to_string(rank)).at("peak_bytes").as_integer(0, kMaxCount));
    }
    return ranks;
}

std::vector<exec::OperationCount> read_counts(const JsonValue& by_kind) {
    std::vector<exec::OperationCount> counts(kOpKinds);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        if (const auto count = by_kind.find(to_string(static_cast<schedule::OpKind>(kind)))) {
            counts[kind].operations = static_cast<std::uint64_t>(count->at("operations").as_integer(0, kMaxCount));
            counts[kind].messages = static_cast<std::uint64_t>(count->at("messages").as_integer(0, kMaxCount));
            counts[kind].bytes = static_cast<double>(count->at("bytes").as_integer(0, kMaxCount));
        }
    }
    return counts;
}

std::vector<Restart> read_restarts(const JsonValue& list) {
    std::vector<Restart> restarts;
    for (const JsonValue& value : list.elements()) {
        const auto number = [&value](const char* key) {
            return static_cast<int>(value.at(key).as_integer(-1, kMaxInt));
        };
        Restart& restart = restarts.emplace_back();
        restart.reason = value.at("reason").as_string();
        restart.rank = number("rank"), restart.slot = number("slot");
        restart.step = number("step"), restart.from_step = number("from_step");
        for (const JsonValue& slot : value.at("slots").elements()) {
            restart.slots.push_back(static_cast<int>(slot.as_integer(0, kMaxInt)));
        }
    }
    return restarts;
}

}  // namespace

std::vector<double> TrainResult::by_step(double exec::StepReport::*number) const {
    std::vector<double> numbers;
    numbers.reserve(steps.size());
    for (const exec::StepReport& step : steps) {
        numbers.push_back(step.*number);
    }
    return numbers;
}

TrainResult train_result(const exec::RunReport& report, const RunFolder* folder) {
    TrainResult result;
    result.steps = folder != nullptr ? folder->steps() : report.steps;
    result.first_step = result.steps.empty() ? report.first_step : result.steps.front().step;
    result.ranks = report.ranks;
    result.counts = summed_counts(report.ranks);
    if (folder != nullptr) {
        result.restarts = folder->restarts();
    }
    result.notes = report.notes;
    return result;
}

void write_train_result(JsonWriter& json, const TrainResult& result) {
    json.member("first_step", result.first_step);
    write_steps(json, result.steps);
    write_memory(json, result.ranks);
    write_counts(json, result.counts);
    write_restarts(json, result.restarts);
    json.key("notes").begin_array();
    for (const std::string& note : result.notes) {
        json.value(note);
    }
    json.end_array();
}

TrainResult read_train_result(const JsonDocument& document) {
    const JsonValue root = document.root();
    TrainResult result;
    result.first_step = static_cast<int>(root.at("first_step").as_integer(0, kMaxInt));
    result.steps = read_steps(root.at("steps"));
    result.ranks = read_ranks(root);
    result.counts = read_counts(root.at("counts"));
    result.restarts = read_restarts(root.at("restarts"));
    for (const JsonValue& note : root.at("notes").elements()) {
        result.notes.push_back(note.as_string());
    }
    return result;
}

}  // namespace auspex::launch
