#pragma once
/// @file The parts of a search over several processes: one leads and hands out, the others help; all do parts.
///
/// A process's search runs in threads of its own, while the thread that owns the mailbox calls serve() again and again.
/// Helpers report what they find and how many threads are idle; the lead answers with parts and with the step to beat.
/// A helper that is not heard of for kSilence_s counts as gone: what it was at is handed out again. Where it was only
/// slow, plans are looked at twice and count once.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "sim/search/part_source.hpp"
#include "sim/search/shared/mailbox.hpp"
#include "sim/search/shared/search_messages.hpp"

namespace auspex::search {

/// Processes are heard of at least so often, and given up after so long.
inline constexpr double kHeartbeat_s = 0.5, kSilence_s = 15;

class LeadParts final : public PartSource {
 public:
    /// `key`: helpers must have the same. `is_cut`: nothing more is to be begun.
    LeadParts(Mailbox& mailbox, std::string key, std::function<bool()> is_cut, double silence_s = kSilence_s);

    [[nodiscard]] bool helps() const override { return false; }
    void begin(SearchBoard& board, const std::vector<OpenPart>& parts) override;
    void end() override;
    [[nodiscard]] std::optional<std::uint64_t> next() override;
    void finish(std::uint64_t part) override;

    /// Takes in reports and answers them, so that helpers end when all is done or the search was cut. Throws InputError
    /// where a helper searches something else: then the search is cut.
    void serve();
    /// Nothing more is to be begun.
    [[nodiscard]] bool is_cut() const { return has_failed_ || is_cut_(); }
    /// All helpers have ended, those apart that are silent.
    [[nodiscard]] bool is_alone() const;
    /// Lets helpers go.
    void release();
    /// Helpers that are silent.
    [[nodiscard]] std::ptrdiff_t silent() const;

 private:
    using Clock = std::chrono::steady_clock;
    struct Helper {
        Clock::time_point heard = Clock::now();
        bool is_silent = false, is_done = false;
    };
    void take(const Message& message);
    void answer(int rank, std::uint64_t idle_threads);
    void give_up_silent();

    Mailbox& mailbox_;
    std::string key_;
    std::function<bool()> is_cut_;
    std::chrono::duration<double> silence_;
    std::map<int, Helper> helpers_;
    std::atomic<bool> has_failed_ = false;
    PartQueue queue_;
    std::mutex mutex_;  ///< of what follows
    std::condition_variable has_changed_;
    SearchBoard* board_ = nullptr;
    std::unordered_map<std::uint64_t, OpenPart> parts_;
};

class HelperParts final : public PartSource {
 public:
    HelperParts(Mailbox& mailbox, std::string key, double silence_s = kSilence_s);

    [[nodiscard]] bool helps() const override { return true; }
    void begin(SearchBoard& board, const std::vector<OpenPart>& parts) override;
    void end() override;
    [[nodiscard]] std::optional<std::uint64_t> next() override;
    void finish(std::uint64_t part) override;

    /// Reports, and takes orders. Throws std::runtime_error where the lead is not heard of: then all is over.
    void serve();
    /// Threads are to end.
    [[nodiscard]] bool is_over() const { return phase_ >= SearchPhase::kOver; }
    /// They have ended. serve() is to be called until phase() allows to go.
    void note_done();
    [[nodiscard]] SearchPhase phase() const { return phase_; }

 private:
    using Clock = std::chrono::steady_clock;
    void take(const LeadOrder& order);
    void report();
    [[nodiscard]] bool has_to_report();

    Mailbox& mailbox_;
    std::string key_;
    std::chrono::duration<double> silence_;
    Clock::time_point heard_ = Clock::now(), told_{};
    std::atomic<SearchPhase> phase_ = SearchPhase::kOpen;
    bool is_done_ = false;
    std::mutex mutex_;  ///< of what follows
    std::condition_variable has_changed_;
    SearchBoard* board_ = nullptr;
    std::deque<std::uint64_t> given_;
    std::set<std::uint64_t> begun_;  ///< all that were ever given
    std::uint64_t idle_ = 0;         ///< threads that wait
    bool has_news_ = false, is_answered_ = true, got_nothing_ = false;
};

}  // namespace auspex::search
