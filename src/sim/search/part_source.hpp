#pragma once
/// @file Who does which part of a search.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "sim/search/search_board.hpp"

namespace auspex::search {

/// A part not done yet: its name, and the numbers of its plans, from `first` on, below `end`.
struct OpenPart {
    std::uint64_t part = 0, first_plan = 0, end_plan = 0;
};

/// Hands out the parts of a search to the threads of a process; parts are known by the first of their shapes.
class PartSource {
 public:
    PartSource() = default;
    PartSource(const PartSource&) = delete;
    PartSource& operator=(const PartSource&) = delete;
    virtual ~PartSource() = default;

    /// Another process leads the search: this one does parts, and decides nothing.
    [[nodiscard]] virtual bool helps() const = 0;
    /// Once, before the rest: the parts not done yet, the one to begin with first. The board is there until end().
    virtual void begin(SearchBoard& board, const std::vector<OpenPart>& parts) = 0;
    /// The board goes.
    virtual void end() = 0;
    /// The next part; waits where there may be one later. None: nothing is left.
    [[nodiscard]] virtual std::optional<std::uint64_t> next() = 0;
    /// The part is done, and the board knows it.
    virtual void finish(std::uint64_t part) = 0;
};

/// A search that goes through parts: begin() and end().
class PartTurn {
 public:
    PartTurn(PartSource& source, SearchBoard& board, const std::vector<OpenPart>& parts) : source_(source) {
        source_.begin(board, parts);
    }
    ~PartTurn() { source_.end(); }
    PartTurn(const PartTurn&) = delete;
    PartTurn& operator=(const PartTurn&) = delete;

 private:
    PartSource& source_;
};

/// Parts to do, and who is at them. From any thread.
class PartQueue {
 public:
    void fill(const std::vector<OpenPart>& parts);
    /// The first that nobody is at; none: there is none at the moment.
    [[nodiscard]] std::optional<std::uint64_t> take(int who);
    void finish(std::uint64_t part);
    /// Nothing is heard of them any more: what they were at is the next to be handed out.
    void give_back(int who);
    /// Filled, and all parts are done.
    [[nodiscard]] bool is_over();

 private:
    std::mutex mutex_;
    bool is_filled_ = false;
    std::deque<std::uint64_t> waiting_;
    std::map<std::uint64_t, int> under_way_;
    std::set<std::uint64_t> open_;
};

/// All parts for this process.
class OwnParts final : public PartSource {
 public:
    [[nodiscard]] bool helps() const override { return false; }
    void begin(SearchBoard& board, const std::vector<OpenPart>& parts) override;
    void end() override {}
    [[nodiscard]] std::optional<std::uint64_t> next() override { return queue_.take(0); }
    void finish(std::uint64_t part) override { queue_.finish(part); }

 private:
    PartQueue queue_;
};

}  // namespace auspex::search
