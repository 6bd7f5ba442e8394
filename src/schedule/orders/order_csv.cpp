/// @file Passes as cells, and back.
#include "schedule/orders/order_csv.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "schedule/orders/orders.hpp"

namespace auspex::schedule {
namespace {

constexpr std::string_view kPair = ")OVERLAP_F_B";
constexpr int kMostNumber = 1'000'000;

std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0 || number > kMostNumber) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::optional<StagePass> read_pass(std::string_view text) {
    const std::optional<int> stage = take_number(text);
    if (!stage || text.empty()) {
        return std::nullopt;
    }
    StagePass pass{PassKind::kForward, *stage, 0};
    for (; letter_of(pass.kind) != text.front(); pass.kind = static_cast<PassKind>(static_cast<int>(pass.kind) + 1)) {
        if (pass.kind == PassKind::kBackward) {
            return std::nullopt;
        }
    }
    text.remove_prefix(1);
    const std::optional<int> micro_batch = take_number(text);
    if (!micro_batch || !text.empty()) {
        return std::nullopt;
    }
    pass.micro_batch = *micro_batch;
    return pass;
}

/// One pass, two of a pair, or none: it is no cell.
std::vector<StagePass> read_cell(std::string_view cell) {
    if (!cell.starts_with('(') || !cell.ends_with(kPair)) {
        const std::optional<StagePass> pass = read_pass(cell);
        return pass ? std::vector{*pass} : std::vector<StagePass>{};
    }
    const std::string_view inside = cell.substr(1, cell.size() - 1 - kPair.size());
    const std::size_t between = std::min(inside.find(';'), inside.size());
    std::optional<StagePass> forward = read_pass(inside.substr(0, between));
    const std::optional<StagePass> backward = read_pass(inside.substr(std::min(between + 1, inside.size())));
    if (!forward || !backward || forward->kind != PassKind::kForward || backward->kind != PassKind::kBackward) {
        return {};
    }
    forward->beside_next = true;
    return {*forward, *backward};
}

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::vector<StagePass> read_rank(std::string_view line, const std::string& where) {
    std::vector<StagePass> passes;
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find(',', at), line.size());
        const std::string_view cell = without_blanks(line.substr(at, end - at));
        const std::vector<StagePass> read = read_cell(cell);
        if (read.empty() && !cell.empty()) {
            throw InputError(where, "found \"" + printable(std::string(cell)) +
                                        "\"; expected a pass such as 3F0, 3I0, 3W0 or 3B0, or (3F4;4B1)OVERLAP_F_B");
        }
        passes.insert(passes.end(), read.begin(), read.end());
        at = end + 1;
    }
    return passes;
}

}  // namespace

std::string order_csv(const PipelineOrder& order) {
    std::string text;
    for (const std::vector<StagePass>& passes : order.ranks) {
        for (std::size_t i = 0; i < passes.size(); ++i) {
            text += i == 0 ? "" : ",";
            if (passes[i].beside_next) {
                text += "(" + text_of(passes[i]) + ";" + text_of(passes[i + 1]) + std::string(kPair);
                ++i;
            } else {
                text += text_of(passes[i]);
            }
        }
        text += "\n";
    }
    return text;
}

PipelineOrder read_order_csv(const std::string& text, const std::string& name) {
    PipelineOrder order;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        if (!without_blanks(line).empty()) {
            order.ranks.push_back(read_rank(line, name + ", rank " + std::to_string(order.ranks.size())));
        }
    }
    std::size_t passes = 0;
    for (const std::vector<StagePass>& rank : order.ranks) {
        passes += rank.size();
        for (const StagePass& pass : rank) {
            order.stages = std::max(order.stages, pass.stage + 1);
            order.micro_batches = std::max(order.micro_batches, pass.micro_batch + 1);
        }
    }
    if (passes < 2 * static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.micro_batches) ||
        passes == 0) {
        throw InputError(name, "found " + std::to_string(passes) + " passes of " + std::to_string(order.stages) +
                                   " stages and " + std::to_string(order.micro_batches) +
                                   " micro-batches; expected a forward and a backward pass of each");
    }
    check_order(order, name);
    return order;
}

}  // namespace auspex::schedule
