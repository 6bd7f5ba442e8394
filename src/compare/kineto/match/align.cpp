/// @file Alignment by dynamic programming in sliding windows.
#include "compare/kineto/match/align.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "compare/kineto/trace/trace.hpp"

namespace auspex::kineto {
namespace {

constexpr std::size_t kExpectedWindow = 2000, kLeastMeasuredWindow = 3000, kMostMeasuredWindow = 24000, kFew = 64;
constexpr std::int32_t kPoint = 16;  // of a score, against one expected item that is passed over

enum Move : std::uint8_t { kStart, kSkipMeasured, kNextExpected, kTakeAndStay, kTakeAndGo };

/// A window of both sequences.
struct Window {
    std::size_t measured_begin, measured_end, expected_begin, expected_end;
    [[nodiscard]] std::size_t rows() const { return measured_end - measured_begin; }
    [[nodiscard]] std::size_t columns() const { return expected_end - expected_begin; }
};

class Aligner {
 public:
    explicit Aligner(const AlignProblem& problem) : problem_(problem), matched_(problem.measured.size(), kNone) {
        const std::size_t classes = problem.scores.size() / std::max<std::size_t>(problem.expected_classes, 1);
        for (std::size_t kind = 0; kind < classes; ++kind) {
            const auto begin = problem.scores.begin() + static_cast<std::ptrdiff_t>(kind * problem.expected_classes);
            const std::int32_t most = *std::max_element(begin, begin + problem.expected_classes);
            skip_cost_.push_back(kPoint * most / 2);
        }
    }

    std::vector<std::uint32_t> run() && {
        std::size_t measured = 0, expected = 0;
        while (measured < problem_.measured.size() && expected < problem_.expected.size()) {
            Window window = window_at(measured, expected);
            fill(window);
            if (fits_badly(window) && skip_foreign(window)) {
                measured = window.measured_begin;
            }
            const bool is_last_measured = window.measured_end == problem_.measured.size();
            const bool is_last_expected = window.expected_end == problem_.expected.size();
            if (used_columns_ == 0) {  // nothing here fits: what is measured has a foreign stretch
                measured += is_last_measured ? window.rows() : std::max<std::size_t>(window.rows() / 2, 1);
                continue;
            }
            const bool is_at_end = end_column_ == window.columns() || (end_row_ == window.rows() && is_last_measured);
            const bool is_whole = used_columns_ < kFew || (is_last_expected && is_at_end);
            const std::size_t settled = expected + (is_whole ? used_columns_ : (used_columns_ + 1) / 2);
            measured = settle(window, settled);
            expected = settled;
        }
        return std::move(matched_);
    }

 private:
    [[nodiscard]] Window window_at(std::size_t measured, std::size_t expected) const {
        return {measured, std::min(measured + measured_window(), problem_.measured.size()), expected,
                std::min(expected + kExpectedWindow, problem_.expected.size())};
    }

    /// Less than a point for each expected item.
    [[nodiscard]] bool fits_badly(const Window& window) const {
        return best_end_ < kPoint * static_cast<std::int32_t>(window.columns()) &&
               window.measured_end < problem_.measured.size();
    }

    /// Looks for the place where what is expected here goes on, behind much that is of known kinds but not of this
    /// plan. False: there is none, and the window is as it was.
    bool skip_foreign(Window& window) {
        const Window first = window;
        while (looks_ahead_ > 0 && window.measured_end < problem_.measured.size()) {
            --looks_ahead_;
            window =
                window_at(window.measured_begin + std::max<std::size_t>(window.rows() / 2, 1), window.expected_begin);
            fill(window);
            if (best_end_ >= kPoint * static_cast<std::int32_t>(window.columns())) {
                return true;
            }
        }
        window = first;
        fill(window);
        return false;
    }

    [[nodiscard]] std::size_t measured_window() const {
        const double ratio = static_cast<double>(problem_.measured.size()) /
                             static_cast<double>(std::max<std::size_t>(problem_.expected.size(), 1));
        const double wanted = 3 * ratio * static_cast<double>(kExpectedWindow);
        return std::clamp(static_cast<std::size_t>(wanted), kLeastMeasuredWindow, kMostMeasuredWindow);
    }

    /// Scores of all ways through the window, and the last move of the best way to each of its points. A way ends where
    /// one of both sequences does. An expected item that is passed over costs a little, so that of ways with the same
    /// matches the one counts that stays together; a measured one costs half of its best fit, so that nothing takes
    /// what belongs far behind it, and foreign ones nothing.
    void fill(const Window& window) {
        const std::size_t rows = window.rows(), columns = window.columns(), width = columns + 1;
        moves_.assign((rows + 1) * width, kStart);
        std::vector<std::int32_t> above(width, 0), here(width, 0);
        for (std::size_t column = 1; column < width; ++column) {
            above[column] = -static_cast<std::int32_t>(column);
            moves_[column] = kNextExpected;
        }
        best_end_ = 0;
        end_row_ = rows, end_column_ = 0;
        for (std::size_t row = 1; row <= rows; ++row) {
            const std::uint32_t kind = problem_.measured[window.measured_begin + row - 1];
            const std::int16_t* const scores = &problem_.scores[std::size_t{kind} * problem_.expected_classes];
            const std::int32_t skip_cost = skip_cost_[kind];
            std::uint8_t* const moves = &moves_[row * width];
            for (std::size_t column = 0; column <= columns; ++column) {
                std::int32_t best = above[column] - skip_cost;
                Move move = kSkipMeasured;
                if (column > 0) {
                    const std::size_t before = window.expected_begin + column - 1;
                    const std::int32_t fit = kPoint * scores[problem_.expected[before]];
                    if (problem_.takes_many[before] == 0 && fit > 0 && above[column - 1] + fit > best) {
                        best = above[column - 1] + fit;
                        move = kTakeAndGo;
                    }
                    if (here[column - 1] - 1 > best) {
                        best = here[column - 1] - 1;
                        move = kNextExpected;
                    }
                }
                if (column < columns) {
                    const std::size_t at = window.expected_begin + column;
                    const std::int32_t fit = kPoint * scores[problem_.expected[at]];
                    if (problem_.takes_many[at] != 0 && fit > 0 && above[column] + fit > best) {
                        best = above[column] + fit;
                        move = kTakeAndStay;
                    }
                }
                here[column] = best;
                moves[column] = move;
            }
            if (here[columns] > best_end_) {
                best_end_ = here[columns], end_row_ = row, end_column_ = columns;
            }
            std::swap(above, here);
        }
        for (std::size_t column = 0; column <= columns; ++column) {
            if (above[column] > best_end_) {
                best_end_ = above[column], end_row_ = rows, end_column_ = column;
            }
        }
        used_columns_ = end_column_ + (end_column_ < columns && ends_on_many(width) ? 1 : 0);
    }

    /// Whether the way ends on an item that takes many: its column has not been left yet.
    [[nodiscard]] bool ends_on_many(std::size_t width) const {
        for (std::size_t row = end_row_; row > 0; --row) {
            const std::uint8_t move = moves_[row * width + end_column_];
            if (move != kSkipMeasured) {
                return move == kTakeAndStay;
            }
        }
        return false;
    }

    /// Writes down the matches of expected items before `settled`, and returns the first measured item that is left.
    std::size_t settle(const Window& window, std::size_t settled) {
        const std::size_t width = window.columns() + 1;
        std::size_t row = end_row_, column = end_column_;
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
    std::vector<std::int32_t> skip_cost_;  ///< by class of measured items
    std::int32_t best_end_ = 0;
    int looks_ahead_ = 64;
    std::size_t end_row_ = 0, end_column_ = 0;  ///< of the best way through the window
    std::size_t used_columns_ = 0;              ///< expected items up to its end
};

}  // namespace

std::vector<std::uint32_t> align(const AlignProblem& problem) {
    AUSPEX_CHECK(problem.takes_many.size() == problem.expected.size(), "every expected item says how many it takes");
    return Aligner(problem).run();
}

}  // namespace auspex::kineto
