/// @file Reports and orders.
#include "sim/search/shared/shared_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"

namespace auspex::search {
namespace {

constexpr int kLead = 0;
constexpr std::chrono::milliseconds kLook{20};      // how often threads that wait look round
constexpr std::chrono::milliseconds kAskAgain{10};  // helpers that got nothing

std::string rank_name(int rank) { return "rank " + std::to_string(rank); }

}  // namespace

LeadParts::LeadParts(Mailbox& mailbox, std::string key, std::function<bool()> is_cut, double silence_s)
    : mailbox_(mailbox), key_(std::move(key)), is_cut_(std::move(is_cut)), silence_(silence_s) {
    for (int rank = 0; rank < mailbox.size(); ++rank) {
        if (rank != kLead) {
            helpers_[rank];
        }
    }
}

void LeadParts::begin(SearchBoard& board, const std::vector<OpenPart>& parts) {
    const std::lock_guard lock(mutex_);
    board_ = &board;
    for (const OpenPart& part : parts) {
        parts_.emplace(part.part, part);
    }
    queue_.fill(parts);
}

void LeadParts::end() {
    const std::lock_guard lock(mutex_);
    board_ = nullptr;
}

std::optional<std::uint64_t> LeadParts::next() {
    while (!is_cut()) {
        if (const std::optional<std::uint64_t> part = queue_.take(kLead)) {
            return part;
        }
        if (queue_.is_over()) {
            return std::nullopt;
        }
        std::unique_lock lock(mutex_);
        has_changed_.wait_for(lock, kLook);
    }
    return std::nullopt;
}

void LeadParts::finish(std::uint64_t part) {
    if (!is_cut()) {
        queue_.finish(part);
    }
}

void LeadParts::serve() {
    while (const std::optional<Message> message = mailbox_.receive()) {
        take(*message);
    }
    give_up_silent();
}

void LeadParts::take(const Message& message) {
    Helper& helper = helpers_.at(message.from);
    helper.heard = Clock::now();
    helper.is_silent = false;
    const HelperReport report = report_of(message.bytes, message.from);
    if (report.key != key_) {
        has_failed_ = true;
        throw InputError(rank_name(message.from),
                         "found inputs, flags or a version that are not those of rank 0; expected the same files on "
                         "all computers");
    }
    helper.is_done = report.is_done;
    {
        const std::lock_guard lock(mutex_);
        if (board_ != nullptr) {
            board_->absorb(report.news, rank_name(message.from));
            for (const DonePart& part : report.news.parts) {
                queue_.finish(part.first_shape);
            }
        }
    }
    has_changed_.notify_all();
    answer(message.from, report.idle_threads);
}

void LeadParts::answer(int rank, std::uint64_t idle_threads) {
    const bool is_over = queue_.is_over() || is_cut();
    LeadOrder order{.phase = is_over ? SearchPhase::kOver : SearchPhase::kOpen,
                    .cutoff_s = std::numeric_limits<double>::infinity()};
    {
        const std::lock_guard lock(mutex_);
        while (!is_over && board_ != nullptr && order.parts.size() < idle_threads) {
            const std::optional<std::uint64_t> part = queue_.take(rank);
            if (!part) {
                break;
            }
            const OpenPart& plans = parts_.at(*part);
            order.parts.push_back({*part, board_->known_between(plans.first_plan, plans.end_plan)});
        }
        order.cutoff_s = board_ != nullptr ? board_->cutoff_s() : order.cutoff_s;
    }
    mailbox_.send(rank, bytes_of(order));
}

void LeadParts::give_up_silent() {
    for (auto& [rank, helper] : helpers_) {
        if (!helper.is_silent && Clock::now() - helper.heard > silence_) {
            helper.is_silent = true;
            queue_.give_back(rank);
            has_changed_.notify_all();
        }
    }
}

bool LeadParts::is_alone() const {
    return std::ranges::all_of(helpers_, [](const auto& one) { return one.second.is_done || one.second.is_silent; });
}

std::ptrdiff_t LeadParts::silent() const {
    return std::ranges::count_if(helpers_, [](const auto& one) { return one.second.is_silent; });
}

void LeadParts::release() {
    const LeadOrder order{.phase = silent() > 0 ? SearchPhase::kLeaveWithoutOthers : SearchPhase::kLeave};
    for (const auto& [rank, helper] : helpers_) {
        mailbox_.send(rank, bytes_of(order));
    }
}

HelperParts::HelperParts(Mailbox& mailbox, std::string key, double silence_s)
    : mailbox_(mailbox), key_(std::move(key)), silence_(silence_s) {}

void HelperParts::begin(SearchBoard& board, const std::vector<OpenPart>& /*parts*/) {
    const std::lock_guard lock(mutex_);
    board_ = &board;
}

void HelperParts::end() {
    const std::lock_guard lock(mutex_);
    board_ = nullptr;
}

std::optional<std::uint64_t> HelperParts::next() {
    std::unique_lock lock(mutex_);
    while (!is_over()) {
        if (!given_.empty()) {
            const std::uint64_t part = given_.front();
            given_.pop_front();
            return part;
        }
        ++idle_;
        has_changed_.wait_for(lock, kLook);
        --idle_;
    }
    return std::nullopt;
}

void HelperParts::finish(std::uint64_t /*part*/) {
    const std::lock_guard lock(mutex_);
    has_news_ = true;
}

void HelperParts::serve() {
    while (const std::optional<Message> message = mailbox_.receive()) {
        take(order_of(message->bytes, message->from));
    }
    if (phase_ >= SearchPhase::kLeave) {
        return;
    }
    if (Clock::now() - heard_ > silence_) {
        phase_ = SearchPhase::kLeaveWithoutOthers;
        throw std::runtime_error("rank 0 has not been heard of for " + std::to_string(std::lround(silence_.count())) +
                                 " s");
    }
    if (has_to_report()) {
        report();
    }
}

bool HelperParts::has_to_report() {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> since = Clock::now() - told_;
    const bool is_idle = idle_ > given_.size() && (!got_nothing_ || since > kAskAgain);
    return is_answered_ && (is_idle || has_news_ || since.count() > kHeartbeat_s);
}

void HelperParts::report() {
    HelperReport report{.key = key_, .is_done = is_done_};
    {
        const std::lock_guard lock(mutex_);
        report.idle_threads = idle_ - std::min<std::uint64_t>(idle_, given_.size());
        if (board_ != nullptr) {
            report.news = board_->take_news();
        }
        has_news_ = is_answered_ = false;
    }
    told_ = Clock::now();
    mailbox_.send(kLead, bytes_of(report));
}

void HelperParts::take(const LeadOrder& order) {
    heard_ = Clock::now();
    {
        const std::lock_guard lock(mutex_);
        is_answered_ = true;
        got_nothing_ = true;
        phase_ = std::max(phase_.load(), order.phase);
        for (const GivenPart& part : order.parts) {
            // Given up too early, it may be handed the part that it is at: a second thread would leave out what the
            // first one is at, and report the part as done before that is.
            if (begun_.insert(part.part).second) {
                given_.push_back(part.part);
                got_nothing_ = false;
            }
            if (board_ != nullptr) {
                board_->take(part.known);
            }
        }
        if (board_ != nullptr && order.phase == SearchPhase::kOpen) {
            board_->lower_cutoff(order.cutoff_s);
        }
    }
    has_changed_.notify_all();
}

void HelperParts::note_done() { is_done_ = true; }

}  // namespace auspex::search
