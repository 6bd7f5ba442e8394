/// @file Searches over several processes, which are threads here; some of them go away.
#include "sim/search/shared/shared_parts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "search_fixture.hpp"

namespace auspex::search {
namespace {

using testing_search::difference;
using testing_search::drawn_inputs;
using testing_search::small_request;

/// Where all ranks have a box.
class PostOffice {
 public:
    explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

    class Box final : public Mailbox {
     public:
        Box(PostOffice& office, int rank) : office_(office), rank_(rank) {}
        [[nodiscard]] int rank() const override { return rank_; }
        [[nodiscard]] int size() const override { return static_cast<int>(office_.boxes_.size()); }
        /// Nothing gets out any more, and the process is told to end.
        void die() { is_dead_ = true; }
        void send(int to, std::string bytes) override {
            if (is_dead_) {
                return;
            }
            const std::lock_guard lock(office_.mutex_);
            office_.boxes_[static_cast<std::size_t>(to)].push_back({rank_, std::move(bytes)});
        }
        [[nodiscard]] std::optional<Message> receive() override {
            if (is_dead_) {
                return std::exchange(is_told_, true)
                           ? std::nullopt
                           : std::optional(Message{0, bytes_of(LeadOrder{.phase = SearchPhase::kLeave})});
            }
            const std::lock_guard lock(office_.mutex_);
            std::deque<Message>& box = office_.boxes_[static_cast<std::size_t>(rank_)];
            if (box.empty()) {
                return std::nullopt;
            }
            Message message = std::move(box.front());
            box.pop_front();
            return message;
        }

     private:
        PostOffice& office_;
        int rank_;
        bool is_dead_ = false, is_told_ = false;
    };

 private:
    std::mutex mutex_;
    std::vector<std::deque<Message>> boxes_;
};

struct Ranks {
    int count = 2;
    int lost = 0;               ///< helpers that go away after some parts, the last ones
    std::uint64_t after = 0;    ///< parts
    double silence_s = 60;      ///< of the lead with its helpers
    std::string odd_key = "k";  ///< of the last helper
};

/// As HelperParts; with the part behind the last that it is to do it is gone.
class LostParts final : public PartSource {
 public:
    LostParts(HelperParts& parts, std::uint64_t after) : parts_(parts), after_(after) {}
    [[nodiscard]] bool helps() const override { return true; }
    void begin(SearchBoard& board, const std::vector<OpenPart>& parts) override { parts_.begin(board, parts); }
    void end() override { parts_.end(); }
    [[nodiscard]] std::optional<std::uint64_t> next() override {
        const std::optional<std::uint64_t> part = parts_.next();
        is_gone_ = is_gone_ || (part && taken_++ >= after_);
        return is_gone_ ? std::nullopt : part;
    }
    void finish(std::uint64_t part) override { parts_.finish(part); }
    [[nodiscard]] bool is_gone() const { return is_gone_; }

 private:
    HelperParts& parts_;
    std::uint64_t after_;
    std::atomic<std::uint64_t> taken_ = 0;
    std::atomic<bool> is_gone_ = false;
};

template <class Serve>
SearchResult search_beside(const models::Inputs& inputs, const SpaceRequest& request, const SearchOptions& options,
                           const Serve& serve) {
    std::future<SearchResult> result =
        std::async(std::launch::async, [&] { return search_plans(inputs, request, options); });
    while (result.wait_for(std::chrono::microseconds{200}) != std::future_status::ready) {
        serve();
    }
    return result.get();
}

void help(const models::Inputs& inputs, const SpaceRequest& request, PostOffice& office, int rank, const Ranks& ranks) {
    PostOffice::Box box(office, rank);
    const bool is_last = rank == ranks.count - 1;
    HelperParts parts(box, is_last ? ranks.odd_key : "k");
    LostParts lost(parts, rank >= ranks.count - ranks.lost ? ranks.after : ~std::uint64_t{0});
    SearchOptions options;
    options.parts = &lost;
    options.is_cut = [&] { return parts.is_over(); };
    const auto serve = [&] {
        if (lost.is_gone()) {
            box.die();
        }
        parts.serve();
    };
    static_cast<void>(search_beside(inputs, request, options, serve));
    parts.note_done();
    while (parts.phase() < SearchPhase::kLeave) {
        serve();
    }
}

struct SharedOutcome {
    SearchResult result;
    std::ptrdiff_t silent = 0;  ///< most at a time
    std::string refusal;
};

SharedOutcome search_shared(const models::Inputs& inputs, const SpaceRequest& request, const Ranks& ranks) {
    PostOffice office(ranks.count);
    std::vector<std::thread> helpers;
    for (int rank = 1; rank < ranks.count; ++rank) {
        helpers.emplace_back([&, rank] { help(inputs, request, office, rank, ranks); });
    }
    SharedOutcome outcome;
    PostOffice::Box box(office, 0);
    LeadParts parts(
        box, "k", [] { return false; }, ranks.silence_s);
    SearchOptions options;
    options.checks = 5;
    options.parts = &parts;
    options.is_cut = [&] { return parts.is_cut(); };
    const auto serve = [&] {
        try {
            parts.serve();
            outcome.silent = std::max(outcome.silent, parts.silent());
        } catch (const InputError& error) {
            outcome.refusal = error.what();
        }
    };
    outcome.result = search_beside(inputs, request, options, serve);
    while (!parts.is_alone()) {
        serve();
    }
    parts.release();
    for (std::thread& helper : helpers) {
        helper.join();
    }
    return outcome;
}

TEST(SharedSearch, gives_the_answer_of_one_process_whatever_the_number_of_ranks) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        const SearchResult alone = search_plans(inputs, request, {.checks = 0});
        for (const int ranks : {1, 2, 5}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " ranks " + std::to_string(ranks));
            const SharedOutcome shared = search_shared(inputs, request, {.count = ranks});
            EXPECT_EQ(difference(alone, shared.result), "");
            EXPECT_EQ(shared.silent, 0);
        }
    }
}

TEST(SharedSearch, parts_of_ranks_that_go_away_are_done_by_others) {
    std::ptrdiff_t silent = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        const SearchResult alone = search_plans(inputs, request, {.checks = 0});
        const SharedOutcome shared =
            search_shared(inputs, request, {.count = 4, .lost = 2, .after = seed % 3, .silence_s = 0.2});
        EXPECT_EQ(difference(alone, shared.result), "");
        silent += shared.silent;
    }
    EXPECT_GT(silent, 0);
}

TEST(SharedSearch, ranks_that_were_given_up_too_early_change_nothing) {
    // Whether a helper is given up is a race with the lead, who may have done it all before any helper has begun:
    // more searches until one was.
    std::ptrdiff_t silent = 0;
    for (std::uint64_t seed = 1; seed <= 4 || (silent == 0 && seed <= 200); ++seed) {
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        const SharedOutcome shared = search_shared(inputs, request, {.count = 3, .silence_s = 1e-9});
        EXPECT_EQ(difference(search_plans(inputs, request, {.checks = 0}), shared.result), "") << seed;
        silent += shared.silent;
    }
    EXPECT_GT(silent, 0) << "while they do their parts";
}

// A second thread at a part would leave out the plan that the first one is at, and report the part before that is done.
TEST(SharedSearch, a_helper_does_a_part_once_however_often_it_is_given) {
    PostOffice office(2);
    PostOffice::Box lead(office, 0), box(office, 1);
    HelperParts helper(box, "k");
    lead.send(1, bytes_of(LeadOrder{.phase = SearchPhase::kOpen, .parts = {{7, {}}}}));
    helper.serve();
    EXPECT_EQ(helper.next(), 7U);
    lead.send(1, bytes_of(LeadOrder{.phase = SearchPhase::kOpen, .parts = {{7, {}}, {8, {}}}}));
    helper.serve();
    EXPECT_EQ(helper.next(), 8U);
    lead.send(1, bytes_of(LeadOrder{.phase = SearchPhase::kOver}));
    helper.serve();
    EXPECT_EQ(helper.next(), std::nullopt);
}

TEST(SharedSearch, a_rank_with_other_inputs_is_refused_by_its_number) {
    const SharedOutcome shared =
        search_shared(drawn_inputs(1), small_request(1), {.count = 3, .silence_s = 0.5, .odd_key = "other"});
    EXPECT_TRUE(shared.refusal.starts_with("rank 2: found inputs, flags or a version")) << shared.refusal;
    EXPECT_TRUE(shared.result.was_cut);
}

TEST(PartQueue, hands_out_each_part_once_and_again_only_what_was_given_back_and_not_done) {
    PartQueue queue;
    EXPECT_FALSE(queue.is_over()) << "not filled";
    queue.fill({{10, 0, 1}, {20, 1, 2}, {30, 2, 3}});
    EXPECT_EQ(queue.take(1), 10U);
    EXPECT_EQ(queue.take(2), 20U);
    EXPECT_EQ(queue.take(1), 30U);
    EXPECT_FALSE(queue.take(1));
    queue.finish(20);
    queue.give_back(1);
    queue.give_back(2);
    queue.finish(10);  // it was only slow
    EXPECT_EQ(queue.take(2), 30U);
    EXPECT_FALSE(queue.take(2));
    EXPECT_FALSE(queue.is_over());
    queue.finish(30);
    EXPECT_TRUE(queue.is_over());
}

}  // namespace
}  // namespace auspex::search
