/// @file Reads a sweep: strict about what it has, explicit about what it infers.
#include "compare/evaluate/layout_sweep.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/statistics/quantiles.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;  ///< allocated_gb and reserved_gb are PyTorch's bytes over this
constexpr int kSequence = 4096;                ///< where the table has no column sequence_length
constexpr double kMostParameters = 1e15;
constexpr double kMostWidth = 1e6;
constexpr double kWidthStep = 256;  ///< widths of feed-forwards are multiples of it

constexpr std::array<std::string_view, 17> kRequired{"params_b",
                                                     "nodes",
                                                     "hidden_size",
                                                     "layers",
                                                     "heads",
                                                     "kv_heads",
                                                     "vocab_size",
                                                     "tied_embeddings",
                                                     "tp",
                                                     "pp",
                                                     "dp",
                                                     "zero_stage",
                                                     "micro_batch_size",
                                                     "micro_batches",
                                                     "status",
                                                     "tokens_per_s_per_gpu",
                                                     "after_pp_fix"};
/// The rate of the gradients' sums is told of each run, and is not used.
constexpr std::array<std::string_view, 6> kOptional{"allocated_gb",    "reserved_gb",       "total_parameters",
                                                    "sequence_length", "intermediate_size", "allreduce_gb_per_s"};

using Columns = std::map<std::string, std::size_t, std::less<>>;

std::string found_text(std::string_view text) { return text.empty() ? "nothing" : json_quote(printable(text)); }

/// One line with its fields by name.
class Fields {
 public:
    Fields(const Columns& columns, std::string place, std::vector<std::string> fields)
        : columns_(columns), place_(std::move(place)), fields_(std::move(fields)) {}

    /// Empty where the table has no such column.
    [[nodiscard]] std::string_view text(std::string_view column) const {
        const auto found = columns_.find(column);
        return found == columns_.end() ? std::string_view{} : fields_[found->second];
    }
    [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }
    [[noreturn]] void refuse(std::string_view column, const std::string& expected) const {
        throw InputError(
            place_, "column " + json_quote(column) + ": found " + found_text(text(column)) + "; expected " + expected);
    }
    [[nodiscard]] double number(std::string_view column, double low, double high, const std::string& expected) const {
        const std::optional<double> value = parsed(text(column));
        if (!value || !(*value >= low && *value <= high)) {
            refuse(column, expected);
        }
        return *value;
    }
    /// "16" and "16.0" alike.
    [[nodiscard]] int whole(std::string_view column, int low, int high) const {
        const std::string expected = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
        const double value = number(column, low, high, expected);
        if (value != std::floor(value)) {
            refuse(column, expected);
        }
        return static_cast<int>(value);
    }
    [[nodiscard]] double positive(std::string_view column) const {
        const double value = number(column, 0, 1e15, "a number above 0");
        if (value <= 0) {
            refuse(column, "a number above 0");
        }
        return value;
    }
    [[nodiscard]] bool boolean(std::string_view column) const {
        return word(column, {"False", "True", "false", "true", "0", "1"}) % 2 == 1;
    }
    [[nodiscard]] std::size_t word(std::string_view column, std::initializer_list<std::string_view> words) const {
        const auto found = std::find(words.begin(), words.end(), text(column));
        if (found == words.end()) {
            std::string list;
            for (const std::string_view one : words) {
                list += (list.empty() ? "" : ", ") + std::string(one);
            }
            refuse(column, "one of " + list);
        }
        return static_cast<std::size_t>(found - words.begin());
    }

 private:
    static std::optional<double> parsed(std::string_view text) {
        double value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        return status == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
    }

    const Columns& columns_;
    std::string place_;
    std::vector<std::string> fields_;
};

std::string all_columns() {
    std::string names;
    for (const std::string_view name : kRequired) {
        names += std::string(name) + ", ";
    }
    for (const std::string_view name : kOptional) {
        names += std::string(name) + (name == kOptional.back() ? "" : ", ");
    }
    return names;
}

void require_known(const std::string& column, const std::string& place) {
    if (std::ranges::find(kRequired, column) == kRequired.end() &&
        std::ranges::find(kOptional, column) == kOptional.end()) {
        throw InputError(place, "found the unknown column " + found_text(column) + "; expected columns of " +
                                    all_columns() + " (docs/layout-search.md)");
    }
}

Columns read_header(const CsvLine& line) {
    Columns columns;
    const std::vector<std::string> names = csv_fields(line.text, line.place);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!columns.emplace(names[i], i).second) {
            throw InputError(line.place, "found column " + found_text(names[i]) + " twice; expected each once");
        }
    }
    std::string missing;
    for (const std::string_view name : kRequired) {
        missing += columns.contains(name) ? "" : (missing.empty() ? "" : ", ") + std::string(name);
    }
    for (const std::string& name : names) {
        require_known(name, line.place);
    }
    if (!missing.empty()) {
        throw InputError(line.place, "found a header without " + missing +
                                         "; expected a layout sweep's columns (docs/layout-search.md)");
    }
    return columns;
}

/// What a row says of its model; the rest is inferred from all rows of the model.
struct ModelFacts {
    std::optional<bool> tied;
    std::optional<double> total_parameters;  ///< of all stages: a tied table counts twice where pp > 1
    std::optional<int> intermediate;
};

double read_total(const Fields& fields) {
    std::string_view text = fields.text("total_parameters");
    const std::string_view units = "KMGT";
    const std::size_t unit = units.find(text.back());
    double value = 0;
    const std::size_t digits = text.size() - (unit == std::string_view::npos ? 0 : 1);
    const auto [end, status] = std::from_chars(text.data(), text.data() + digits, value);
    if (status != std::errc() || end != text.data() + digits || !(value > 0 && value <= kMostParameters)) {
        fields.refuse("total_parameters", "a number above 0, with K, M, G or T behind it, or nothing");
    }
    return unit == std::string_view::npos ? value : value * std::pow(1000, static_cast<double>(unit + 1));
}

models::Workload read_shapes(const Fields& fields) {
    constexpr int kMost = 1'000'000;
    models::Workload w;
    w.name = std::string(fields.text("params_b")) + "B";
    w.layers = fields.whole("layers", 1, 10'000);
    w.hidden_size = fields.whole("hidden_size", 1, kMost);
    w.heads = fields.whole("heads", 1, kMost);
    w.kv_heads = fields.has("kv_heads") ? fields.whole("kv_heads", 1, kMost) : w.heads;
    w.vocab_size = fields.whole("vocab_size", 1, 100'000'000);
    w.sequence_length = fields.has("sequence_length") ? fields.whole("sequence_length", 1, 100'000'000) : kSequence;
    if (w.hidden_size % w.heads != 0) {
        fields.refuse("heads", "a divisor of hidden_size (" + std::to_string(w.hidden_size) + ")");
    }
    if (w.heads % w.kv_heads != 0) {
        fields.refuse("kv_heads", "a divisor of heads (" + std::to_string(w.heads) + ")");
    }
    w.head_size = w.hidden_size / w.heads;
    return w;
}

void read_outcome(const Fields& fields, SweepRow& row) {
    constexpr std::array kStatus{SweepStatus::kOk, SweepStatus::kOutOfMemory, SweepStatus::kOther};
    row.status = kStatus.at(fields.word("status", {"ok", "oom", "other"}));
    const auto bytes = [&](std::string_view column) {
        return fields.has(column) ? std::optional(fields.positive(column) * kGiB) : std::nullopt;
    };
    row.allocated_bytes = bytes("allocated_gb");
    row.reserved_bytes = bytes("reserved_gb");
    if (row.status == SweepStatus::kOk) {
        row.tokens_per_s_per_tile = fields.positive("tokens_per_s_per_gpu");
    }
    row.after_pp_fix = fields.has("after_pp_fix") && fields.boolean("after_pp_fix");
    row.speed_counts = row.status == SweepStatus::kOk && (row.pp == 1 || row.after_pp_fix);
}

SweepRow read_row(const Fields& fields, ModelFacts& facts) {
    constexpr int kMost = 1'000'000;
    SweepRow row;
    row.params_b = fields.positive("params_b");
    row.nodes = fields.whole("nodes", 1, kMost);
    row.workload = read_shapes(fields);
    row.tp = fields.whole("tp", 1, kMost);
    row.pp = fields.whole("pp", 1, kMost);
    row.dp = fields.whole("dp", 1, kMost);
    row.zero_stage = fields.whole("zero_stage", 0, 3);
    if (row.zero_stage == 2) {
        fields.refuse("zero_stage", "0, 1 or 3");
    }
    row.micro_batch_size = fields.whole("micro_batch_size", 1, kMost);
    row.micro_batches = fields.whole("micro_batches", 1, kMost);
    read_outcome(fields, row);
    if (fields.has("tied_embeddings")) {
        facts.tied = fields.boolean("tied_embeddings");
    }
    if (fields.has("total_parameters")) {
        facts.total_parameters = read_total(fields);
    }
    if (fields.has("intermediate_size")) {
        facts.intermediate = fields.whole("intermediate_size", 1, kMost);
    }
    return row;
}

/// The width of a SwiGLU with which the model has so many parameters. `tables`: embeddings that are counted.
double width_of(models::Workload w, double parameters, bool second_table) {
    w.intermediate_size = 0;
    const double without = count_parameters(w).total() + (second_table ? count_parameters(w).embedding : 0);
    w.intermediate_size = 1;
    const double with_one = count_parameters(w).total() + (second_table ? count_parameters(w).embedding : 0);
    return (parameters - without) / (with_one - without);
}

/// Ties and widths of the rows of one model.
void infer_model(const std::vector<std::size_t>& members, std::vector<SweepRow>& rows,
                 const std::vector<ModelFacts>& facts) {
    const bool tied = std::ranges::any_of(members, [&](std::size_t i) { return facts[i].tied.value_or(false); });
    std::vector<double> widths;
    for (const std::size_t i : members) {
        rows[i].workload.tied_embeddings = facts[i].tied.value_or(tied);
        if (facts[i].total_parameters) {
            const bool second = rows[i].workload.tied_embeddings && rows[i].pp > 1;
            widths.push_back(width_of(rows[i].workload, *facts[i].total_parameters, second));
        }
    }
    if (widths.empty()) {
        const SweepRow& first = rows[members.front()];
        widths.push_back(width_of(first.workload, first.params_b * 1e9, false));
    }
    const double width = std::round(median(widths) / kWidthStep) * kWidthStep;
    if (!(width >= kWidthStep && width <= kMostWidth)) {
        throw InputError(rows[members.front()].place,
                         "found a model with parameters that a feed-forward " + json_number(width) +
                             " wide would give it; expected 256 to 1,000,000, or the column \"intermediate_size\"");
    }
    for (const std::size_t i : members) {
        rows[i].workload.intermediate_size = facts[i].intermediate.value_or(static_cast<int>(width));
    }
}

}  // namespace

std::vector<SweepRow> load_layout_sweep(const std::string& file) {
    return parse_layout_sweep(read_input_file(file, "a CSV file of measured layouts"), file);
}

std::vector<SweepRow> parse_layout_sweep(const std::string& text, const std::string& name) {
    const std::vector<CsvLine> lines = csv_lines(text, name);
    if (lines.size() < 2) {
        throw InputError(name, "found " + std::string(lines.empty() ? "no header" : "no rows") +
                                   "; expected a header and a row for each run");
    }
    const Columns columns = read_header(lines.front());
    std::vector<SweepRow> rows;
    std::vector<ModelFacts> facts;
    std::map<std::tuple<double, int, int>, std::vector<std::size_t>> models;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        std::vector<std::string> fields = csv_fields(lines[i].text, lines[i].place);
        if (fields.size() != columns.size()) {
            throw InputError(lines[i].place, "found " + std::to_string(fields.size()) + " fields; expected " +
                                                 std::to_string(columns.size()) + ", as in the header");
        }
        SweepRow row = read_row(Fields(columns, lines[i].place, std::move(fields)), facts.emplace_back());
        row.place = lines[i].place;
        models[{row.params_b, row.workload.hidden_size, row.workload.layers}].push_back(rows.size());
        rows.push_back(std::move(row));
    }
    for (const auto& [model, members] : models) {
        infer_model(members, rows, facts);
    }
    return rows;
}

models::Plan plan_of(const SweepRow& row, const models::Plan& base) {
    models::Plan plan = base;
    plan.file = row.place;
    plan.dp = row.dp;
    plan.tp = plan.etp = row.tp;
    plan.pp = row.pp;
    plan.ep = plan.cp = 1;
    plan.etp_given = false;
    plan.micro_batch_size = row.micro_batch_size;
    plan.micro_batches = row.micro_batches;
    plan.sequence_parallel = base.sequence_parallel && row.tp > 1;
    plan.optimizer = row.zero_stage == 0   ? models::OptimizerSharding::kReplicated
                     : row.zero_stage == 1 ? models::OptimizerSharding::kSharded
                                           : models::OptimizerSharding::kFsdp;
    return plan;
}

}  // namespace auspex::evaluate
