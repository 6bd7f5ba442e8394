/// @file Sums over ranks.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "compare/kineto/account/ranks.hpp"
#include "compare/kineto/account/step_account.hpp"
#include "schedule/inspection/operation_loss.hpp"

namespace auspex::kineto {
namespace {

using schedule::Operation;

/// Of one rank, by name of operation.
class OperationSums {
 public:
    OperationSums(const schedule::Program& program, std::map<std::size_t, OperationRow>& rows, double share)
        : program_(program), rows_(rows), share_(share) {}

    void add(const MatchedRank& rank) {
        std::vector<double> slot_s(rank.predicted.slots.size(), 0), message_s(rank.predicted.messages.size(), 0);
        std::vector<int> slot_kernels(slot_s.size(), 0), message_kernels(message_s.size(), 0);
        for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
            const double seconds = to_seconds(rank.measured.kernels[i].length());
            if (rank.match.slot[i] != kNone) {
                slot_s[rank.match.slot[i]] += seconds;
                ++slot_kernels[rank.match.slot[i]];
            } else if (rank.match.message[i] != kNone) {
                message_s[rank.match.message[i]] += seconds;
                ++message_kernels[rank.match.message[i]];
            }
        }
        add_slots(rank.predicted.slots, slot_s, slot_kernels);
        for (std::size_t j = 0; j < message_s.size(); ++j) {
            const ExpectedMessage& message = rank.predicted.messages[j];
            OperationRow& row = row_of(program_.operations[message.operation]);
            row.expected += share_;
            row.all_predicted_s += share_ * message.seconds;
            row.kernels += share_ * message_kernels[j];
            row.measured_s += share_ * message_s[j];
            if (message_kernels[j] > 0) {
                row.matched += share_;
                row.launches += share_;
                row.predicted_s += share_ * message.seconds;
            }
        }
    }

 private:
    /// Slots of one operation follow one another.
    void add_slots(const std::vector<Slot>& slots, const std::vector<double>& seconds,
                   const std::vector<int>& kernels) {
        for (std::size_t begin = 0, end = 0; begin < slots.size(); begin = end) {
            OperationRow& row = row_of(program_.operations[slots[begin].operation]);
            bool has_kernel = false;
            double predicted = 0, launches = 0;
            for (end = begin; end < slots.size() && slots[end].use == slots[begin].use &&
                              slots[end].operation == slots[begin].operation;
                 ++end) {
                has_kernel = has_kernel || kernels[end] > 0;
                predicted += slots[end].kernel_s;
                launches += slots[end].launches;
                row.kernels += share_ * kernels[end];
                row.measured_s += share_ * seconds[end];
            }
            row.expected += share_;
            row.all_predicted_s += share_ * predicted;
            if (has_kernel) {
                row.matched += share_;
                row.launches += share_ * launches;
                row.predicted_s += share_ * predicted;
            }
        }
    }

    OperationRow& row_of(const Operation& op) {
        OperationRow& row = rows_[schedule::operation_name_index(op.kind, op.phase)];
        if (row.name.empty()) {
            row.name = schedule::operation_name(schedule::operation_name_index(op.kind, op.phase));
            row.spent = spent_of(schedule::loss_of(op));
            row.communicates = op.comm != schedule::CommKind::kNone;
        }
        return row;
    }

    const schedule::Program& program_;
    std::map<std::size_t, OperationRow>& rows_;
    double share_;
};

std::string role_name(const MatchedRank& rank) { return "rank " + std::to_string(rank.predicted.rank); }

}  // namespace

void fill_rank_rows(RunDiff& diff, const std::vector<MatchedRank>& ranks) {
    for (const MatchedRank& rank : ranks) {
        RankRow row;
        row.rank = rank.predicted.rank;
        row.stage = rank.predicted.stage;
        row.file = rank.trace->file;
        row.step_number = rank.measured.number;
        row.measured_s = to_seconds(rank.measured.length);
        row.predicted_s = to_seconds(rank.predicted.step);
        for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
            const double seconds = to_seconds(rank.measured.kernels[i].length());
            row.kernel_s += seconds;
            row.matched_s += rank.match.has(i) ? seconds : 0;
        }
        diff.measured_s += row.measured_s / static_cast<double>(ranks.size());
        diff.predicted_s += row.predicted_s / static_cast<double>(ranks.size());
        diff.ranks.push_back(row);
    }
}

void fill_times(RunDiff& diff, const std::vector<MatchedRank>& ranks, const predict::SimulatedStep& step) {
    for (const MatchedRank& rank : ranks) {
        const SpentTimes measured = measured_times(rank.measured, rank.predicted, rank.match, step.program);
        const SpentTimes predicted = predicted_times(step, rank.predicted);
        for (std::size_t i = 0; i < kSpentCount; ++i) {
            diff.measured[i] += to_seconds(measured[i]) / static_cast<double>(ranks.size());
            diff.predicted[i] += to_seconds(predicted[i]) / static_cast<double>(ranks.size());
        }
    }
}

void fill_operations(RunDiff& diff, const std::vector<MatchedRank>& ranks, const schedule::Program& program) {
    std::map<std::size_t, OperationRow> rows;
    OperationSums sums(program, rows, 1 / static_cast<double>(ranks.size()));
    std::for_each(ranks.begin(), ranks.end(), [&](const MatchedRank& rank) { sums.add(rank); });
    for (auto& [name, row] : rows) {
        diff.operations.push_back(std::move(row));
    }
    std::stable_sort(diff.operations.begin(), diff.operations.end(), [](const OperationRow& a, const OperationRow& b) {
        return std::tuple(-a.measured_s, -a.all_predicted_s) < std::tuple(-b.measured_s, -b.all_predicted_s);
    });
}

void fill_unmatched(RunDiff& diff, const std::vector<MatchedRank>& ranks) {
    std::map<std::tuple<std::string, std::string, Work>, UnmatchedKernel> sums;
    const double share = 1 / static_cast<double>(ranks.size());
    for (const MatchedRank& rank : ranks) {
        for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
            const MeasuredKernel& kernel = rank.measured.kernels[i];
            if (rank.match.has(i)) {
                continue;
            }
            const std::string& name = rank.trace->name_of(kernel.name);
            const std::string op = kernel.op_name == kNone ? "" : rank.trace->name_of(kernel.op_name);
            UnmatchedKernel& sum = sums[{name, op, kernel.work}];
            sum.name = name;
            sum.op = op == name ? "" : op;
            sum.work = to_string(kernel.work);
            sum.count += share;
            sum.seconds += share * to_seconds(kernel.length());
        }
    }
    for (auto& [key, sum] : sums) {
        diff.kernels.push_back(std::move(sum));
    }
    std::stable_sort(diff.kernels.begin(), diff.kernels.end(),
                     [](const UnmatchedKernel& a, const UnmatchedKernel& b) { return a.seconds > b.seconds; });
}

void fill_timelines(RunDiff& diff, const std::vector<MatchedRank>& ranks, const schedule::Program& program) {
    schedule::Timeline names;
    for (std::size_t i = 0; i < schedule::kOperationNames; ++i) {
        names.names.push_back(schedule::operation_name(i));
    }
    diff.measured_timeline = diff.predicted_timeline = names;
    if (!diff.kernels.empty()) {
        diff.measured_timeline.names.push_back(kUnmatchedSpan);
    }
    const auto unmatched = static_cast<std::uint32_t>(schedule::kOperationNames);
    for (const MatchedRank& rank : ranks) {
        const auto row = static_cast<std::uint32_t>(diff.measured_timeline.tracks.size());
        for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
            const schedule::Track track{role_name(rank), to_string(static_cast<schedule::Stream>(stream))};
            diff.measured_timeline.tracks.push_back(track);
            diff.predicted_timeline.tracks.push_back(track);
        }
        const std::vector<schedule::BlockUse>& order =
            program.roles[static_cast<std::size_t>(rank.predicted.stage)].order;
        for (std::size_t i = 0; i < rank.measured.kernels.size(); ++i) {
            const MeasuredKernel& kernel = rank.measured.kernels[i];
            schedule::Span span{row, unmatched, kernel.start, kernel.end, -1, -1};
            const bool computes = rank.match.slot[i] != kNone;
            if (rank.match.has(i)) {
                const Slot* const slot = computes ? &rank.predicted.slots[rank.match.slot[i]] : nullptr;
                const ExpectedMessage* const message =
                    computes ? nullptr : &rank.predicted.messages[rank.match.message[i]];
                const Operation& op = program.operations[computes ? slot->operation : message->operation];
                span.track = row + static_cast<std::uint32_t>(op.stream);
                span.name = static_cast<std::uint32_t>(schedule::operation_name_index(op.kind, op.phase));
                span.layer = op.layer;
                span.micro_batch = order[computes ? slot->use : message->use].micro_batch;
            }
            diff.measured_timeline.spans.push_back(span);
        }
        for (schedule::Span span : rank.predicted.spans) {
            span.track += row;
            diff.predicted_timeline.spans.push_back(span);
        }
    }
}

}  // namespace auspex::kineto
