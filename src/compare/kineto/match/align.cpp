/// @file Alignment by dynamic programming in sliding windows.
#include "compare/kineto/match/align.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {
namespace {

constexpr std::size_t kExpectedWindow = 1200, kLeastMeasuredWindow = 3000, kMostMeasuredWindow = 24000;

enum Move : std::uint8_t { kStart, kSkipMeasured, kNextExpected, kTakeAndStay, kTakeAndGo };

/// A window of both sequences.
struct Window {
    std::size_t measured_begin, measured_end, expected_begin, expected_end;
    [[nodiscard]] std::size_t rows() const { return measured_end - measured_begin; }
    [[nodiscard]] std::size_t columns() const { return expected_end - expected_begin; }
};

class Aligner {
 public:
    explicit Aligner(const AlignProblem& problem)
        : problem_(problem), matched_(problem.measured.size(), kNone) {}

    std::vector<std::uint32_t> run() && {
        std::size_t measured = 0, expected = 0;
        while (measured < problem_.measured.size() && expected < problem_.expected.size()) {
            Window window{measured, 0, expected, std::min(expected + kExpectedWindow, problem_.expected.size())};
            window.measured_end = std::min(measured + measured_window(), problem_.measured.size());
            fill(window);
            const bool is_last_measured = window.measured_end == problem_.measured.size();
            const bool is_last_expected = window.expected_end == problem_.expected.size();
            if (best_ == 0 && !is_last_measured) {  // nothing here fits: what is measured has a foreign stretch
                measured += std::max<std::size_t>(window.rows() / 2, 1);
                continue;
            }
            const std::size_t settled =
                is_last_expected ? window.expected_end : expected + std::max<std::size_t>(window.columns() / 2, 1);
            measured = settle(window, settled);
            expected = settled;
        }
        return std::move(matched_);
    }

 private:
    [[nodiscard]] std::size_t measured_window() const {
        const double ratio = static_cast<double>(problem_.measured.size()) /
                             static_cast<double>(std::max<std::size_t>(problem_.expected.size(), 1));
        const double wanted = 3 * ratio * static_cast<double>(kExpectedWindow);
        return std::clamp(static_cast<std::size_t>(wanted), kLeastMeasuredWindow, kMostMeasuredWindow);
    }

    /// Scores of all ways through the window, and the last move of the best way to each of its points.
    void fill(const Window& window) {
        const std::size_t rows = window.rows(), columns = window.columns(), width = columns + 1;
        moves_.assign((rows + 1) * width, kStart);
        std::vector<std::int32_t> above(width, 0), here(width, 0);
        std::fill(moves_.begin() + 1, moves_.begin() + static_cast<std::ptrdiff_t>(width), kNextExpected);
        for (std::size_t row = 1; row <= rows; ++row) {
            const std::uint32_t kind = problem_.measured[window.measured_begin + row - 1];
            const std::int16_t* const scores = &problem_.scores[std::size_t{kind} * problem_.expected_classes];
            std::uint8_t* const moves = &moves_[row * width];
            for (std::size_t column = 0; column <= columns; ++column) {
                std::int32_t best = above[column];
                Move move = kSkipMeasured;
                if (column > 0) {
                    const std::size_t before = window.expected_begin + column - 1;
                    const std::int16_t fit = scores[problem_.expected[before]];
                    if (problem_.takes_many[before] == 0 && fit > 0 && above[column - 1] + fit > best) {
                        best = above[column - 1] + fit;
                        move = kTakeAndGo;
                    }
                    if (here[column - 1] > best) {
                        best = here[column - 1];
                        move = kNextExpected;
                    }
                }
                if (column < columns) {
                    const std::size_t at = window.expected_begin + column;
                    const std::int16_t fit = scores[problem_.expected[at]];
                    if (problem_.takes_many[at] != 0 && fit > 0 && above[column] + fit > best) {
                        best = above[column] + fit;
                        move = kTakeAndStay;
                    }
                }
                here[column] = best;
                moves[column] = move;
            }
            std::swap(above, here);
        }
        best_ = above[columns];
    }

    /// Writes down the matches of expected items before `settled`, and returns the first measured item that is left.
    std::size_t settle(const Window& window, std::size_t settled) {
        const std::size_t width = window.columns() + 1;
        std::size_t row = window.rows(), column = window.columns();
        std::size_t next = window.measured_begin;
        while (row > 0 || column > 0) {
            const auto move = static_cast<Move>(moves_[row * width + column]);
            const std::size_t measured = window.measured_begin + row - 1;
            if (move == kTakeAndStay || move == kTakeAndGo) {
                const std::size_t expected = window.expected_begin + column - (move == kTakeAndGo ? 1 : 0);
                if (expected < settled) {
                    matched_[measured] = static_cast<std::uint32_t>(expected);
                    next = std::max(next, measured + 1);
                }
            }
            row -= move == kSkipMeasured || move == kTakeAndStay || move == kTakeAndGo ? 1 : 0;
            column -= move == kNextExpected || move == kTakeAndGo ? 1 : 0;
        }
        return next;
    }

    const AlignProblem& problem_;
    std::vector<std::uint32_t> matched_;
    std::vector<std::uint8_t> moves_;
    std::int32_t best_ = 0;
};

}  // namespace

std::vector<std::uint32_t> align(const AlignProblem& problem) {
    AUSPEX_CHECK(problem.takes_many.size() == problem.expected.size(), "every expected item says how many it takes");
    return Aligner(problem).run();
}

}  // namespace auspex::kineto
