#pragma once
/// @file Messages that a rank takes while it computes, in front of the operation that uses them.
#include <vector>

#include "exec/operations/pipeline_messages.hpp"

namespace auspex::exec {

/// Where a plan overlaps pp: of the messages that a rank's role receives in a step, the next is expected always
/// (Communicator::expect): the first from the beginning, each further one once the one before has been used.
template <class P>
class ExpectedMessages {
 public:
    explicit ExpectedMessages(Rank<P>& rank) : rank_(rank) {
        const schedule::Program& program = rank.run->program;
        if (!rank.plan().overlap_pp) {
            return;
        }
        for (const schedule::BlockUse& use : program.roles[static_cast<std::size_t>(rank.coordinates.stage)].order) {
            for (const schedule::Operation& op : program.operations_of(program.blocks[use.block])) {
                if (op.comm == schedule::CommKind::kReceive) {
                    messages_.push_back({&op, use.micro_batch});
                }
            }
        }
        expect_next();
    }

    /// After each operation.
    void after(const schedule::Operation& op) {
        if (op.comm == schedule::CommKind::kReceive) {
            expect_next();
        }
        if (!messages_.empty()) {
            rank_.communicator->advance_expected();
        }
    }

 private:
    struct Message {
        const schedule::Operation* op = nullptr;
        int micro_batch = 0;
    };

    void expect_next() {
        if (next_ < messages_.size()) {
            const Message& message = messages_[next_++];
            rank_.communicator->expect(message.op->group,
                                       message_elements(rank_, message.op->message) * sizeof(typename P::Value),
                                       message_tag(rank_.plan(), *message.op, message.micro_batch));
        }
    }

    Rank<P>& rank_;
    std::vector<Message> messages_;
    std::size_t next_ = 0;
};

}  // namespace auspex::exec
