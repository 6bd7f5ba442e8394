/// @file Runs of tokens: parts from both ends of a sequence, slices of a micro-batch.
#include "models/context/dealt_tokens.hpp"

#include <algorithm>
#include <numeric>

namespace auspex::models {
namespace {

/// Of a micro-batch, in the order of rows of a rank of the dense part.
std::vector<TokenRun> dense_tokens(const Plan& plan, int sequence_length, const DensePlace& place, int micro_batch) {
    const std::int64_t first_sequence =
        (std::int64_t{place.data} * plan.micro_batches + micro_batch) * plan.micro_batch_size;
    std::vector<TokenRun> runs;
    for (int i = 0; i < plan.micro_batch_size; ++i) {
        for (const TokenRun& part : dealt_positions(sequence_length, plan.cp, place.cp)) {
            runs.push_back({(first_sequence + i) * sequence_length + part.first, part.count});
        }
    }
    return runs;
}

/// Rows [begin, end) of the runs.
void append_rows(const std::vector<TokenRun>& runs, std::int64_t begin, std::int64_t end, std::vector<TokenRun>& rows) {
    std::int64_t row = 0;
    for (const TokenRun& run : runs) {
        const std::int64_t from = std::max(begin, row), to = std::min(end, row + run.count);
        if (from < to) {
            rows.push_back({run.first + (from - row), to - from});
        }
        row += run.count;
    }
}

}  // namespace

std::vector<TokenRun> dealt_positions(int sequence_length, int cp, int index) {
    if (cp == 1 || sequence_length % (2 * cp) != 0) {
        const std::int64_t part = sequence_length / cp;
        return {{index * part, part}};
    }
    const std::int64_t part = sequence_length / (2 * cp);
    return {{index * part, part}, {(2 * cp - 1 - index) * part, part}};
}

DensePlace dense_place(const Layout& layout, int n) {
    return {n / (layout.cp * layout.tp), n / layout.tp % layout.cp, n % layout.tp};
}

int number_in_stage(const Layout& layout, const GridCoordinates& coordinates) {
    return (coordinates.dp * layout.ep + coordinates.ep) * layout.etp + coordinates.etp;
}

std::vector<TokenRun> routed_tokens(const Plan& plan, const Layout& layout, int sequence_length, int n,
                                    int micro_batch) {
    if (plan.etp == plan.tp) {
        return dense_tokens(plan, sequence_length, dense_place(layout, n), micro_batch);
    }
    const std::int64_t slice = std::int64_t{plan.micro_batch_size} * sequence_length / plan.cp / plan.tp;
    std::vector<TokenRun> rows;
    const int first = n / plan.etp * plan.etp;
    for (int member = first; member < first + plan.etp; ++member) {
        const DensePlace place = dense_place(layout, member);
        append_rows(dense_tokens(plan, sequence_length, place, micro_batch), place.tp * slice, (place.tp + 1) * slice,
                    rows);
    }
    return rows;
}

std::vector<std::int64_t> tokens_of(const std::vector<TokenRun>& runs) {
    std::vector<std::int64_t> tokens;
    for (const TokenRun& run : runs) {
        for (std::int64_t i = 0; i < run.count; ++i) {
            tokens.push_back(run.first + i);
        }
    }
    return tokens;
}

std::int64_t common_run(const Plan& plan, int sequence_length) {
    const std::int64_t of_sequence = dealt_positions(sequence_length, plan.cp, 0).front().count;
    const std::int64_t tokens = std::int64_t{plan.micro_batch_size} * sequence_length;
    const std::int64_t whole = plan.cp == 1 ? tokens : of_sequence;  // whole sequences follow one another
    return plan.etp == plan.tp ? whole : std::gcd(whole, tokens / plan.cp / plan.tp);
}

}  // namespace auspex::models
