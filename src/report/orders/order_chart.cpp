/// @file Rows of passes.
#include "report/orders/order_chart.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "report/parts/plot_frame.hpp"
#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

using schedule::PassKind;

constexpr double kLeft = 64, kRight = 30, kRow = 22, kGap = 4, kTop = 34, kBottom = 34;

struct Look {
    const char* name;
    const char* css;
};
/// By PassKind, and of pairs.
constexpr std::array<Look, 5> kLooks{{{"forward", "l0"},
                                      {"input gradient", "l4"},
                                      {"weight gradient", "l2"},
                                      {"whole backward", "l5"},
                                      {"pair: forward, backward", "l6"}}};

const Look& look_of(const orders::PlayedPass& pass) {
    return kLooks.at(pass.is_pair ? kLooks.size() - 1 : static_cast<std::size_t>(pass.pass.kind));
}

std::string words_of(const orders::PlayedPass& pass) {
    std::string text = std::string(look_of(pass).name) + ", stage ";
    if (pass.is_pair) {
        text += std::to_string(pass.stage_beside) + ", micro-batch " + std::to_string(pass.beside) + " beside stage ";
    }
    return text + std::to_string(pass.pass.stage) + ", micro-batch " + std::to_string(pass.pass.micro_batch) + ": " +
           duration(to_seconds(pass.start)) + " to " + duration(to_seconds(pass.end));
}

/// Than the first one that the rank runs.
bool is_of_other_stage(const orders::PlayedPass& pass, const std::vector<orders::PlayedPass>& of_rank) {
    return !pass.is_pair && pass.pass.stage != of_rank.front().pass.stage;
}

void draw_legend(Svg& svg, const orders::PlayedOrder& played) {
    std::array<bool, kLooks.size()> used{};
    bool has_others = false;
    for (const auto& rank : played.ranks) {
        for (const orders::PlayedPass& pass : rank) {
            has_others = has_others || is_of_other_stage(pass, rank);
            used.at(static_cast<std::size_t>(&look_of(pass) - kLooks.data())) = true;
        }
    }
    constexpr double kSquare = 12, kLetter = 7.2;
    double x = kLeft;
    for (std::size_t i = 0; i < kLooks.size(); ++i) {
        if (used.at(i)) {
            svg.rect({x, 8}, kSquare, kSquare, kLooks.at(i).css, "");
            svg.text({x + kSquare + 5, 19}, kLooks.at(i).name, "tick");
            x += kSquare + 22 + kLetter * static_cast<double>(std::string_view(kLooks.at(i).name).size());
        }
    }
    svg.text({x, 19}, has_others ? "paler: other stage" : "", "tick");
}

/// Passes that are too narrow by themselves become boxes of a unit, each with the look that has most of its time.
void draw_narrow(Svg& svg, std::span<const orders::PlayedPass> passes, const SvgScale& x, double top) {
    constexpr double kUnit = 1;
    for (std::size_t first = 0; first < passes.size();) {
        const double from = x(to_seconds(passes[first].start));
        std::array<Picoseconds, kLooks.size()> busy{};
        std::size_t end = first;
        for (; end < passes.size() && x(to_seconds(passes[end].start)) < from + kUnit; ++end) {
            busy.at(static_cast<std::size_t>(&look_of(passes[end]) - kLooks.data())) +=
                passes[end].end - passes[end].start;
        }
        const auto most = static_cast<std::size_t>(std::ranges::max_element(busy) - busy.begin());
        svg.rect({from, top}, std::max(x(to_seconds(passes[end - 1].end)) - from, kUnit / 2), kRow - kGap,
                 kLooks.at(most).css, "");
        first = end;
    }
}

void draw_rank(Svg& svg, const std::vector<orders::PlayedPass>& passes, const SvgScale& x, double top) {
    constexpr double kNarrowest = 1.0 / 3, kDigit = 8;
    const auto is_narrow = [&](const orders::PlayedPass& pass) {
        return x(to_seconds(pass.end)) - x(to_seconds(pass.start)) < kNarrowest;
    };
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const orders::PlayedPass& pass = passes[i];
        if (is_narrow(pass)) {
            const std::size_t first = i;
            for (; i + 1 < passes.size() && is_narrow(passes[i + 1]); ++i) {
            }
            draw_narrow(svg, std::span(passes).subspan(first, i + 1 - first), x, top);
            continue;
        }
        const double from = x(to_seconds(pass.start)), to = x(to_seconds(pass.end));
        svg.rect({from, top}, to - from, kRow - kGap,
                 look_of(pass).css + std::string(is_of_other_stage(pass, passes) ? " other" : ""), words_of(pass));
        const std::string number =
            (pass.is_pair ? std::to_string(pass.beside) + "&" : "") + std::to_string(pass.pass.micro_batch);
        if (to - from > kDigit * static_cast<double>(number.size()) + 2) {
            svg.text({(from + to) / 2, top + kRow - kGap - 5}, number, "cell", "middle");
        }
    }
}

}  // namespace

std::string order_chart(const orders::PlayedOrder& played, const std::string& title, double width) {
    const double height = kTop + kRow * static_cast<double>(played.ranks.size()) + kBottom;
    const double length_s = to_seconds(played.makespan);
    Svg svg(width, height, title, "A row for each rank, a box for each pass, over seconds.");
    const SvgScale x{0, length_s, kLeft, width - kRight};
    draw_legend(svg, played);
    for (std::size_t rank = 0; rank < played.ranks.size(); ++rank) {
        const double top = kTop + kRow * static_cast<double>(rank);
        svg.text({kLeft - 8, top + kRow - kGap - 5}, "rank " + std::to_string(rank), "tick", "end");
        draw_rank(svg, played.ranks[rank], x, top);
    }
    for (const double tick : round_ticks(0, length_s, width > kColumnPicture ? 8 : 4)) {
        if (tick <= length_s) {
            svg.line({x(tick), height - kBottom}, {x(tick), height - kBottom + 5}, "axis");
            svg.text({x(tick), height - kBottom + 19}, duration(tick), "tick", "middle");
        }
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
