/// @file seconds = FLOP / (rate efficiency) (1 + half_sequence / S) (1 + h / d) / (1 + h / 128), the last for d < 128.
#include "compare/fit/attention_table.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "base/statistics/statistics.hpp"
#include "base/text/text_list.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::fit {
namespace {

using models::AttentionKernel;

constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";
constexpr const char* kBoth = "forward+backward";
constexpr double kFullHead = 128;

/// FLOP of causal flash attention as they are executed: 2 products of half of S x S forward, 5 backward.
double attention_flop(const models::Measurement& row) {
    const double forward = 2 * row.rows * row.rows * row.depth * row.groups;
    return forward * ((row.name == kBackward ? 0 : 1) + (row.name == kForward ? 0 : 2.5));
}

/// Seconds at the rate of products.
double full_s(const TableCalibration& work, const models::Measurement& row) {
    return attention_flop(row) / sustained_rate(work.machine.tile, row);
}

void check_sizes(const Rows& rows) {
    for (const models::Measurement& row : rows) {
        if (!(row.rows > 0 && row.depth > 0 && row.groups > 0)) {
            throw InputError(line_of(row),
                             "found a row of kind attention without rows (sequence), depth (head size) or "
                             "groups (sequences times heads); expected numbers above 0");
        }
    }
}

double mean_seconds(const Rows& rows) {
    double sum = 0;
    for (const models::Measurement& row : rows) {
        sum += row.seconds;
    }
    return sum / static_cast<double>(rows.size());
}

/// A step goes both ways: shapes that were measured forward and backward become one row with the sum.
Rows of_both_directions(const Rows& rows) {
    std::map<std::tuple<std::string, double, double, double>, std::map<std::string, Rows>> shapes;
    for (const models::Measurement& row : rows) {
        shapes[{row.precision, row.rows, row.depth, row.groups}][row.name].push_back(row);
    }
    Rows together;
    for (auto& [shape, by_name] : shapes) {
        if (by_name.contains(kForward) && by_name.contains(kBackward)) {
            models::Measurement both = by_name[kForward].front();
            both.name = kBoth;
            both.seconds = mean_seconds(by_name[kForward]) + mean_seconds(by_name[kBackward]);
            together.push_back(both);
            by_name.erase(kForward);
            by_name.erase(kBackward);
        }
        for (const auto& [name, of_one] : by_name) {
            together.insert(together.end(), of_one.begin(), of_one.end());
        }
    }
    return together;
}

std::string names_of(const models::Tile& tile) {
    std::vector<std::string> names;
    std::ranges::transform(tile.attention_kernels, std::back_inserter(names), &AttentionKernel::name);
    return joined(names, ", ");
}

/// The name of the machine's kernel that rows of `name` are of; empty: it has one, without a name.
std::string name_on_machine(const TableCalibration& work, const std::string& name, const Rows& rows) {
    const std::vector<AttentionKernel>& kernels = work.machine.tile.attention_kernels;
    if (kernels.front().name.empty() || !name.empty()) {
        return kernels.front().name.empty() ? "" : name;
    }
    if (kernels.size() > 1) {
        throw InputError(line_of(rows.front()),
                         "found a row of kind attention that does not say in column \"where\" "
                         "by which kernel; expected one of " +
                             names_of(work.machine.tile) + " of machine " + work.machine.name +
                             ", or the name of another");
    }
    return kernels.front().name;
}

/// As the machine's fastest kernel, until rows say otherwise.
void add_kernel(TableCalibration& work, const std::string& name) {
    const AttentionKernel as = models::fastest_attention_kernel(work.machine.tile);
    const auto constant = [&](double value) {
        return "{\"value\": " + json_number(value) + ", \"source\": \"as " + as.name + "\", \"kind\": \"assumed\"}";
    };
    work.document.set("tile.attention_kernels." + name, "{\"efficiency\": " + constant(as.efficiency) +
                                                            ", \"half_sequence\": " + constant(as.half_sequence) +
                                                            ", \"half_head\": " + constant(as.half_head) + "}");
    work.machine = models::load_machine(work.document);
}

/// Where the file has the constants of a kernel, and the kernel as the machine has it now.
struct Curve {
    std::string name;

    [[nodiscard]] const AttentionKernel& now(const TableCalibration& work) const {
        return *models::find_attention_kernel(work.machine.tile, name);
    }
    [[nodiscard]] std::string path(const std::string& key) const {
        return name.empty() ? "tile.attention_" + key : "tile.attention_kernels." + name + "." + key;
    }
};

/// What heads of d take over heads of 128, by what the file has.
double head_factor(const AttentionKernel& kernel, double depth) {
    AttentionKernel heads_alone = kernel;
    heads_alone.efficiency = 1, heads_alone.half_sequence = 0;
    return 1 / models::attention_efficiency(heads_alone, 1, depth);
}

/// put, of a constant that a file may leave out, as 0.
FitQuality::Term put_optional(TableCalibration& work, const std::string& path, const FittedNumber& number,
                              const Rows& rows) {
    const auto is_it = [&](const Constant& constant) { return constant.path == "machine." + path; };
    if (std::ranges::none_of(work.machine.constants, is_it)) {
        work.document.set(path, "0");
        work.machine = models::load_machine(work.document);
    }
    return put(work, path, Dimension::kNone, number, rows);
}

/// seconds = full_s / efficiency (1 + half_sequence / S).
std::vector<FitQuality::Term> put_lengths(TableCalibration& work, const Curve& curve, const Rows& rows) {
    const AttentionKernel before = curve.now(work);
    const auto least_s = [&](const models::Measurement& row) {
        return full_s(work, row) * head_factor(before, row.depth);
    };
    if (!can_be_fitted(rows, [](const models::Measurement& row) { return row.rows; })) {
        const auto share = [&](const models::Measurement& row) {
            return least_s(row) * (1 + before.half_sequence / row.rows) / row.seconds;
        };
        return {put_share(work, curve.path("efficiency"), median_of(rows, share), rows)};
    }
    std::vector<Observation> observations;
    for (const models::Measurement& row : rows) {
        observations.push_back({{least_s(row), least_s(row) / row.rows}, row.seconds});
    }
    const NonNegativeFit fit = fit_non_negative(observations, kSeed);
    const FittedNumber reciprocal = fitted(fit.coefficients[0], "");
    if (reciprocal.value <= 0) {
        throw InputError(line_of(rows.front()),
                         "found rates of attention that grow in step with the sequence; expected a ceiling");
    }
    return {
        put_share(work, curve.path("efficiency"), inverse(reciprocal), rows),
        put_optional(work, curve.path("half_sequence"), scaled(fitted(fit.coefficients[1], ""), 1 / reciprocal.value),
                     rows),
    };
}

/// A head of d that takes r times what one of 128 would: h = (r - 1) / (1 / d - r / 128), 0 at least.
FitQuality::Term put_heads(TableCalibration& work, const Curve& curve, const Rows& rows) {
    constexpr double kMost = 1024;
    AttentionKernel of_full_heads = curve.now(work);
    of_full_heads.half_head = 0;
    const auto half = [&](const models::Measurement& row) {
        const double ratio = row.seconds * attention_efficiency(of_full_heads, row.rows, row.depth) / full_s(work, row);
        const double divisor = 1 / row.depth - ratio / kFullHead;
        return divisor <= 0 ? kMost : std::clamp((ratio - 1) / divisor, 0.0, kMost);
    };
    return put_optional(work, curve.path("half_head"), median_of(rows, half), rows);
}

void take_kernel(TableCalibration& work, const Curve& curve, const Rows& rows) {
    Rows full_heads, small_heads;
    std::ranges::partition_copy(rows, std::back_inserter(full_heads), std::back_inserter(small_heads),
                                [](const models::Measurement& row) { return row.depth >= kFullHead; });
    const bool tells_heads = !full_heads.empty() && !small_heads.empty();
    std::vector<FitQuality::Term> terms = put_lengths(work, curve, tells_heads ? full_heads : rows);
    if (tells_heads) {
        terms.push_back(put_heads(work, curve, small_heads));
    }
    judge_table_rows(work, rows, terms, [&](const models::Measurement& row) {
        return full_s(work, row) / attention_efficiency(curve.now(work), row.rows, row.depth);
    });
}

}  // namespace

void take_attention(TableCalibration& work, const Rows& all) {
    std::map<std::string, Rows> by_kernel;
    for (const char* const name : {kForward, kBackward, kBoth}) {
        const Rows rows = busiest_rows_of(work, all, "attention", name);
        check_sizes(rows);
        for (const models::Measurement& row : rows) {
            by_kernel[row.where].push_back(row);
        }
    }
    if (by_kernel.size() > 1 && work.machine.tile.attention_kernels.front().name.empty()) {
        throw InputError(line_of(by_kernel.rbegin()->second.front()),
                         "found attention by several kernels; expected one, for machine " + work.machine.name +
                             " has the rate of one without a name (tile.attention_efficiency), not "
                             "tile.attention_kernels");
    }
    for (const auto& [name, rows] : by_kernel) {
        const Curve curve{name_on_machine(work, name, rows)};
        if (models::find_attention_kernel(work.machine.tile, curve.name) == nullptr) {
            add_kernel(work, curve.name);
        }
        take_kernel(work, curve, of_both_directions(rows));
    }
}

}  // namespace auspex::fit
