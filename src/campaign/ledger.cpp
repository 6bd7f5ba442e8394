/// @file Bookkeeping of time.
#include "campaign/ledger.hpp"

namespace auspex::campaign {
namespace {

/// What a failure costs; the rest of what time goes to has no cause of its own.
bool is_caused(Spent spent) {
    return spent != Spent::kWork && spent != Spent::kCheckpoint && spent != Spent::kSlowNodes &&
           spent != Spent::kStart && spent != Spent::kMaintenance;
}

}  // namespace

Ledger::Ledger(std::size_t sources, bool keeps_periods) : keeps_periods_(keeps_periods), cause_(sources) {
    out_.interruptions.resize(sources);
    out_.lost_to.resize(sources);
}

void Ledger::pass(Nanoseconds length, Spent spent, Nodes nodes, Nanoseconds slow) {
    now_ += length;
    out_.held += nodes == Nodes::kNone ? 0 : length;
    out_.exposed += nodes == Nodes::kExposed ? length : 0;
    book(length - slow, spent);
    book(slow, Spent::kSlowNodes);
}

void Ledger::book(Nanoseconds length, Spent spent) {
    out_.spent[static_cast<std::size_t>(spent)] += length;
    if (is_caused(spent) && cause_ < out_.lost_to.size()) {
        out_.lost_to[cause_] += length;
    }
    if (!keeps_periods_ || length == 0) {
        return;
    }
    const Nanoseconds begin = out_.periods.empty() ? 0 : out_.periods.back().end;
    if (!out_.periods.empty() && out_.periods.back().spent == spent) {
        out_.periods.back().end += length;
    } else {
        out_.periods.push_back({begin, begin + length, spent});
    }
}

void Ledger::lose(Nanoseconds work) {
    out_.spent[static_cast<std::size_t>(Spent::kWork)] -= work;
    out_.spent[static_cast<std::size_t>(Spent::kReplay)] += work;
    if (cause_ < out_.lost_to.size()) {
        out_.lost_to[cause_] += work;
    }
}

void Ledger::strike(std::size_t source) {
    ++out_.interruptions[source];
    cause_ = source;
    if (keeps_periods_) {
        out_.strikes.push_back({now_, source});
    }
}

}  // namespace auspex::campaign
