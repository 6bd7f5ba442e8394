/// @file Passes as blocks of a receive, an operation and a send.
#include "sim/orders/order_program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace auspex::orders {
namespace {

using engine::Task;
using schedule::OpKind;
using schedule::PassKind;
using schedule::Stream;

/// What of a pass a block has. Both passes of a pair begin and end together, which takes three blocks: the forward
/// pass's receive, the backward pass with the time of both, and the forward pass's send.
enum class Part : std::uint8_t { kWhole, kReceive, kPair, kSend };

bool is_backward(PassKind kind) { return kind != PassKind::kForward; }

/// Messages of the two ways do not wait for one another.
Stream stream_of(bool backward) { return backward ? Stream::kPp : Stream::kCp; }

class Builder {
 public:
    Builder(const schedule::PipelineOrder& order, const PassTimes& times, OrderProgram& out)
        : order_(order), times_(times), program_(out.program), costed_(out.costed) {}

    void run() {
        number_stages();
        const auto ranks = static_cast<int>(order_.ranks.size());
        program_.micro_batches = order_.micro_batches;
        program_.chunks = (static_cast<int>(program_.role_of_stage.size()) + ranks - 1) / ranks;
        program_.overlap_pp = true;
        costed_.program = &program_;
        costed_.transfers.push_back({{{.solo_time = to_picoseconds(times_.send_s)}}, {}});
        for (int rank = 0; rank < ranks; ++rank) {
            schedule::Role& role = program_.roles.emplace_back();
            role.stage = rank;
            const std::vector<schedule::StagePass>& passes = order_.ranks[static_cast<std::size_t>(rank)];
            for (std::size_t i = 0; i < passes.size(); ++i) {
                if (passes[i].beside_next) {
                    add(role, passes[i], Part::kReceive);
                    add(role, passes[i + 1], Part::kPair);
                    add(role, passes[i], Part::kSend);
                    ++i;
                } else {
                    add(role, passes[i], Part::kWhole);
                }
            }
        }
    }

 private:
    /// Micro-batches that take the same way share the numbers of its stages.
    void number_stages() {
        std::vector<std::vector<std::uint32_t>> ways(
            static_cast<std::size_t>(order_.micro_batches),
            std::vector<std::uint32_t>(static_cast<std::size_t>(order_.stages)));
        for (std::uint32_t rank = 0; rank < order_.ranks.size(); ++rank) {
            for (const schedule::StagePass& pass : order_.ranks[rank]) {
                ways[static_cast<std::size_t>(pass.micro_batch)][static_cast<std::size_t>(pass.stage)] = rank;
            }
        }
        std::map<std::vector<std::uint32_t>, int> known;
        for (const std::vector<std::uint32_t>& way : ways) {
            const auto [found, is_new] = known.try_emplace(way, static_cast<int>(program_.role_of_stage.size()));
            if (is_new) {
                program_.role_of_stage.insert(program_.role_of_stage.end(), way.begin(), way.end());
            }
            first_stage_of_.push_back(found->second);
        }
    }

    void add(schedule::Role& role, const schedule::StagePass& pass, Part part) {
        const int v = first_stage_of_[static_cast<std::size_t>(pass.micro_batch)] + pass.stage;
        const auto [known, is_new] =
            blocks_.try_emplace({v, pass.kind, part}, static_cast<std::uint32_t>(program_.blocks.size()));
        if (is_new) {
            make_block(pass, part, v);
        }
        role.order.push_back({known->second, pass.micro_batch});
    }

    void make_block(const schedule::StagePass& pass, Part part, int v) {
        const bool backward = is_backward(pass.kind), has_messages = pass.kind != PassKind::kBackwardWeight;
        schedule::Block block;
        block.kind = backward ? schedule::BlockKind::kBackward : schedule::BlockKind::kForward;
        block.op_begin = static_cast<std::uint32_t>(program_.operations.size());
        first_task_ = static_cast<std::uint32_t>(costed_.tasks.size());
        const bool receives = part != Part::kSend, sends = part != Part::kReceive;
        const int from = backward ? v + 1 : v - 1, to = backward ? v - 1 : v + 1;
        const int last = order_.stages - 1;
        if (has_messages && receives && (backward ? pass.stage < last : pass.stage > 0) && are_apart(from, v)) {
            add_message(false, backward, std::min(from, v));
        }
        if (part == Part::kWhole || part == Part::kPair) {
            add_pass(pass.kind, part == Part::kPair, pass.stage);
        }
        if (has_messages && sends && (backward ? pass.stage > 0 : pass.stage < last) && are_apart(v, to)) {
            add_message(true, backward, std::min(v, to));
        }
        block.op_end = static_cast<std::uint32_t>(program_.operations.size());
        program_.blocks.push_back(block);
        add_costed_block(block.kind);
    }

    [[nodiscard]] bool are_apart(int a, int b) const {
        return program_.role_of_stage[static_cast<std::size_t>(a)] !=
               program_.role_of_stage[static_cast<std::size_t>(b)];
    }

    Task& add_task(const schedule::Operation& op) {
        Task task;
        task.stream = op.stream;
        task.op_begin = static_cast<std::uint32_t>(costed_.tasks.size()) - first_task_;
        task.op_end = task.op_begin + 1;
        task.message = op.message;
        program_.operations.push_back(op);
        return costed_.tasks.emplace_back(task);
    }

    void add_message(bool sends, bool backward, int boundary) {
        schedule::Operation op;
        op.kind = backward ? (sends ? OpKind::kSendBackward : OpKind::kReceiveBackward)
                           : (sends ? OpKind::kSendForward : OpKind::kReceiveForward);
        op.comm = sends ? schedule::CommKind::kSend : schedule::CommKind::kReceive;
        op.message = boundary;
        op.stream = sends ? stream_of(backward) : Stream::kCompute;
        Task& task = add_task(op);
        task.backward_message = backward;
        task.type = sends ? Task::Type::kTransfer : Task::Type::kReceive;
        task.loss = schedule::Loss::kExposedPp;
        if (sends) {
            task.transfer = 0;
            task.joins = 1U << static_cast<unsigned>(Stream::kCompute);
        }
    }

    void add_pass(PassKind kind, bool is_pair, int stage) {
        schedule::Operation op;
        op.kind = OpKind::kExpertComputation;  // one name for all passes: timelines tell them by phase
        op.phase = kind == PassKind::kForward          ? schedule::Phase::kForward
                   : kind == PassKind::kBackwardWeight ? schedule::Phase::kBackwardWeight
                                                       : schedule::Phase::kBackwardInput;
        op.layer = static_cast<std::int16_t>(stage);
        Task& task = add_task(op);
        task.duration = to_picoseconds(is_pair                             ? times_.pair_s
                                       : kind == PassKind::kForward        ? times_.forward_s
                                       : kind == PassKind::kBackwardInput  ? times_.input_s
                                       : kind == PassKind::kBackwardWeight ? times_.weight_s
                                                                           : times_.input_s + times_.weight_s);
        task.time_by_loss[static_cast<std::size_t>(schedule::Loss::kUsefulCompute)] = task.duration;
    }

    void add_costed_block(schedule::BlockKind kind) {
        engine::CostedBlock& costed = costed_.blocks.emplace_back();
        costed.kind = kind;
        costed.task_begin = first_task_;
        costed.task_end = static_cast<std::uint32_t>(costed_.tasks.size());
        costed.first.fill(engine::kNone);
        for (std::uint32_t i = costed.task_end; i-- > costed.task_begin;) {
            std::uint32_t& first = costed.first[static_cast<std::size_t>(costed_.tasks[i].stream)];
            costed_.tasks[i].next = first;
            first = i - costed.task_begin;
        }
    }

    const schedule::PipelineOrder& order_;
    const PassTimes& times_;
    schedule::Program& program_;
    engine::CostedProgram& costed_;
    std::vector<int> first_stage_of_;  ///< by micro-batch: the number of its way's first stage
    std::map<std::tuple<int, PassKind, Part>, std::uint32_t> blocks_;
    std::uint32_t first_task_ = 0;  ///< of the block that is being made
};

}  // namespace

void make_program(const schedule::PipelineOrder& order, const PassTimes& times, OrderProgram& out) {
    Builder(order, times, out).run();
}

}  // namespace auspex::orders
