/// @file Two lists of operations, interleaved.
#include "schedule/program/merge_pairs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {
namespace {

constexpr std::uint32_t kNothing = ~0U;

class PairMerger {
 public:
    explicit PairMerger(PairedProgram& out) : out_(out), program_(out.program) {}

    /// Number of the block of both.
    std::uint32_t merge(std::uint32_t forward, std::uint32_t backward) {
        sides_ = {Side{program_.blocks[forward], false}, Side{program_.blocks[backward], true}};
        Block block = program_.blocks[backward];
        block.op_begin = begin_ = static_cast<std::uint32_t>(program_.operations.size());
        blocking_ = last_compute_ = kNothing;
        begun_ = false;
        first_joins_ = first_joins(sides_[0]) | first_joins(sides_[1]);
        while (!ended(sides_[0]) || !ended(sides_[1])) {
            take_turn(sides_[1]);
            take_turn(sides_[0]);
        }
        block.op_end = static_cast<std::uint32_t>(program_.operations.size());
        program_.blocks.push_back(block);
        return static_cast<std::uint32_t>(program_.blocks.size() - 1);
    }

 private:
    struct Side {
        Block block;
        bool second = false;
        std::uint32_t next = 0;              ///< operation of the block
        std::vector<std::uint32_t> place{};  ///< by operation of the block: its place in the merged one
    };

    [[nodiscard]] static bool ended(const Side& side) { return side.block.op_begin + side.next == side.block.op_end; }
    [[nodiscard]] unsigned first_joins(const Side& side) const {
        return ended(side) ? 0U : program_.operations[side.block.op_begin].joins;
    }
    [[nodiscard]] bool blocks(const Operation& op) const {
        return op.stream != Stream::kCompute && op.stream != Stream::kEp && !op.beside;
    }

    void take_turn(Side& side) {
        bool began_communication = false;
        while (!ended(side) && !began_communication) {
            const std::uint32_t index = side.block.op_begin + side.next;
            began_communication = program_.operations[index].stream == Stream::kEp;
            append(side, index);
            ++side.next;
        }
    }

    void append(Side& side, std::uint32_t index) {
        Operation op = program_.operations[index];
        const auto place = static_cast<std::uint32_t>(program_.operations.size()) - begin_;
        const std::vector<std::uint32_t> own(program_.dependencies.begin() + op.dep_begin,
                                             program_.dependencies.begin() + op.dep_end);
        op.second = side.second;
        op.joins = static_cast<std::uint8_t>(begun_ ? op.joins & 1U : first_joins_);
        begun_ = begun_ || !is_host_copy(op.comm);  // what waits behind a copy of the first layer still has to
        op.dep_begin = static_cast<std::uint32_t>(program_.dependencies.size());
        for (const std::uint32_t dep : own) {
            program_.dependencies.push_back(side.place[dep]);
        }
        if (op.stream == Stream::kCompute) {
            add_dependency(op, std::exchange(blocking_, kNothing));
            last_compute_ = place;
        } else if (blocks(op)) {
            add_dependency(op, blocking_ != kNothing ? blocking_ : last_compute_);
            blocking_ = place;
        }
        op.dep_end = static_cast<std::uint32_t>(program_.dependencies.size());
        side.place.push_back(place);
        program_.operations.push_back(op);
        out_.origin.push_back(index);
    }

    void add_dependency(const Operation& op, std::uint32_t on) {
        const auto own = std::span(program_.dependencies).subspan(op.dep_begin);
        if (on != kNothing && std::ranges::find(own, on) == own.end()) {
            program_.dependencies.push_back(on);
        }
    }

    PairedProgram& out_;
    Program& program_;
    std::array<Side, 2> sides_;
    std::uint32_t begin_ = 0, blocking_ = kNothing, last_compute_ = kNothing;
    unsigned first_joins_ = 0;
    bool begun_ = false;  ///< operations other than copies from the host
};

}  // namespace

bool has_pairs(const Program& program) {
    return std::ranges::any_of(program.roles, [](const Role& role) {
        return std::ranges::any_of(role.order, [](const BlockUse& use) { return use.beside_next; });
    });
}

PairedProgram merge_pairs(const Program& program) {
    PairedProgram out{program, std::vector<std::uint32_t>(program.operations.size())};
    std::iota(out.origin.begin(), out.origin.end(), 0U);
    PairMerger merger(out);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    for (Role& role : out.program.roles) {
        std::vector<BlockUse> order;
        for (std::size_t i = 0; i < role.order.size(); ++i) {
            const BlockUse& use = role.order[i];
            if (!use.beside_next) {
                order.push_back(use);
                continue;
            }
            const BlockUse& backward = role.order[++i];
            const auto [found, is_new] = known.try_emplace({use.block, backward.block});
            if (is_new) {
                found->second = merger.merge(use.block, backward.block);
            }
            order.push_back({found->second, use.micro_batch, false, backward.micro_batch});
        }
        role.order = std::move(order);
    }
    return out;
}

}  // namespace auspex::schedule
