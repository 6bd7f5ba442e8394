/// @file Emitting operations: dependencies, blocking and overlap.
#include "schedule/program/block_builder.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "models/routing.hpp"

namespace auspex::schedule {

double gathered_tokens(const models::Workload& workload, const models::Plan& plan, double t_routed) {
    const bool by_node = plan.dispatch == models::Dispatch::kHierarchical && workload.num_experts > 0;
    if (!by_node) {
        return t_routed * plan.ep;
    }
    const double kept = even_token_rows(workload, t_routed) * workload.num_experts / (t_routed * workload.top_k);
    return t_routed * kept * mean_parts_reached(token_spread(workload), plan.ep);
}

Shapes shapes_of(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack) {
    Shapes s{workload, plan, stack};
    s.t = static_cast<double>(plan.micro_batch_size) * workload.sequence_length / plan.cp;
    s.t_norm = plan.sequence_parallel ? s.t / plan.tp : s.t;
    s.t_routed = s.t * plan.etp / plan.tp;
    s.a = plan.weight_bytes;
    s.h = workload.hidden_size;
    s.tp = plan.tp;
    s.experts_on_rank = static_cast<double>(workload.num_experts) / plan.ep;
    s.gathered = gathered_tokens(workload, plan, s.t_routed);
    s.routed_rows = workload.capacity_factor == 0 ? s.t_routed * workload.top_k
                                                  : even_rows(workload, s.t_routed) * workload.num_experts;
    s.token_share =
        workload.pad_to_capacity ? even_token_rows(workload, s.t_routed) / even_rows(workload, s.t_routed) : 1;
    s.context = context_split(plan);
    if (const models::Image& image = workload.image; image.shifted_windows && s.context.windows > 1) {
        s.moved = window_grid(image, s.context.windows).value_or(models::WindowGrid{}).moved;
    }
    s.kv_copies = models::key_value_copies(workload.kv_heads / plan.tp, s.context.all_to_all);
    s.expert_size = static_cast<double>(workload.expert_size) / plan.etp;
    s.all_to_all = plan.dispatch == models::Dispatch::kAllToAll && plan.ep > 1;
    s.by_node = plan.dispatch == models::Dispatch::kHierarchical && plan.ep > 1;
    s.masks = stack.dispatches_by_masks && plan.dispatch == models::Dispatch::kAllToAll;
    return s;
}

BlockBuilder::BlockBuilder(Program& program, const Shapes& shapes) : program_(program), shapes_(shapes) {}

void BlockBuilder::begin(BlockKind kind, int chunk, bool last_micro_batch) {
    Block block;
    block.kind = kind;
    block.chunk = chunk;
    block.last_micro_batch = last_micro_batch;
    block.op_begin = static_cast<std::uint32_t>(program_.operations.size());
    program_.blocks.push_back(block);
    last_compute_ = before_last_compute_ = blocking_ = required_ = required_behind_next_ = kNoValue;
    joins_ = 0;
    for (std::size_t stream = 1; stream < kStreamCount; ++stream) {
        if (!overlaps(static_cast<Stream>(stream))) {
            joins_ = static_cast<std::uint8_t>(joins_ |
                                               (1U << stream));  // what blocks has ended before the next pass begins
        }
    }
}

std::uint32_t BlockBuilder::end() {
    program_.blocks.back().op_end = static_cast<std::uint32_t>(program_.operations.size());
    return static_cast<std::uint32_t>(program_.blocks.size() - 1);
}

bool overlaps(const Program& program, Stream stream) {
    switch (stream) {
        case Stream::kTp: return program.overlap_tp;
        case Stream::kEp: return program.overlap_ep;
        case Stream::kDp: return program.overlap_dp;
        case Stream::kPp: return program.overlap_pp;
        case Stream::kToHost:
        case Stream::kFromHost: return true;
        case Stream::kCp:
        case Stream::kCompute: break;
    }
    return false;
}

bool BlockBuilder::is_of_other_part(OpKind kind) const {
    const bool waits = phase_ == Phase::kBackwardWeight && weights_can_wait(kind);
    return block() == BlockKind::kBackwardInput ? waits : block() == BlockKind::kBackwardWeight && !waits;
}

Value BlockBuilder::emit(Operation op, std::initializer_list<Value> inputs) {
    const auto index = static_cast<Value>(program_.operations.size() - program_.blocks.back().op_begin);
    op.dep_begin = static_cast<std::uint32_t>(program_.dependencies.size());
    for (const Value input : inputs) {
        if (input != kNoValue) {
            AUSPEX_CHECK(input < index, "an operation depends on earlier ones only");
            program_.dependencies.push_back(static_cast<std::uint32_t>(input));
        }
    }
    op.dep_end = static_cast<std::uint32_t>(program_.dependencies.size());
    op.phase = phase_;
    op.layer = layer_;
    op.joins = static_cast<std::uint8_t>(op.joins | joins_);
    joins_ = 0;
    program_.operations.push_back(op);
    return index;
}

namespace {

/// The inputs with one more, as a fixed small list: operations have at most three inputs.
struct Inputs4 {
    Value v[4] = {kNoValue, kNoValue, kNoValue, kNoValue};
    Inputs4(std::initializer_list<Value> inputs, Value more) {
        AUSPEX_CHECK(inputs.size() <= 3, "an operation has at most three inputs");
        std::size_t i = 0;
        bool seen = false;
        for (const Value input : inputs) {
            v[i++] = input;
            seen = seen || input == more;
        }
        v[3] = seen ? kNoValue : more;
    }
};

}  // namespace

Value BlockBuilder::emit_compute(Operation op, std::initializer_list<Value> inputs) {
    const Inputs4 all(inputs, blocking_);
    const Value required = required_;
    blocking_ = kNoValue;
    required_ = std::exchange(required_behind_next_, kNoValue);
    before_last_compute_ = last_compute_;
    return last_compute_ = emit(op, {all.v[0], all.v[1], all.v[2], all.v[3], required});
}

/// Layers have the same kernels: those of an operation of the same name before are taken where they are equal.
void BlockBuilder::set_kernels(Operation& op, std::span<const models::Kernel> kernels) {
    KernelRange& last = last_kernels_[operation_name_index(op.kind, phase_)];
    const auto same = std::span(program_.kernels).subspan(last.begin, last.end - last.begin);
    if (!std::equal(same.begin(), same.end(), kernels.begin(), kernels.end())) {
        last.begin = static_cast<std::uint32_t>(program_.kernels.size());
        program_.kernels.insert(program_.kernels.end(), kernels.begin(), kernels.end());
        last.end = static_cast<std::uint32_t>(program_.kernels.size());
    }
    op.kernel_begin = last.begin;
    op.kernel_end = last.end;
}

Value BlockBuilder::host(OpKind kind, double host_s) {
    Operation op;
    op.kind = kind;
    op.host_s = host_s;
    return emit_compute(op, {last_compute_});
}

Value BlockBuilder::compute(OpKind kind, std::initializer_list<Value> inputs, std::span<const models::Kernel> kernels) {
    if (is_of_other_part(kind)) {
        return kNoValue;
    }
    Operation op;
    op.kind = kind;
    shapes_.plan.fp8 != models::Fp8::kNone&& fp8_may_be(kind) ? set_kernels(op, in_fp8(shapes_, phase_, kernels))
                                                              : set_kernels(op, kernels);
    return emit_compute(op, inputs);
}

Value BlockBuilder::compute(OpKind kind, std::initializer_list<Value> inputs,
                            std::initializer_list<models::Kernel> kernels) {
    return compute(kind, inputs, std::span(kernels.begin(), kernels.size()));
}

void BlockBuilder::set_buffers(Operation& op, std::initializer_list<Buffer> buffers) {
    op.buffer_begin = static_cast<std::uint32_t>(program_.buffers.size());
    for (const Buffer& buffer : buffers) {
        if (buffer.elements > 0) {
            program_.buffers.push_back(buffer);
            op.bytes += buffer.elements * element_bytes(shapes_.plan, buffer.type);
        }
    }
    op.buffer_end = static_cast<std::uint32_t>(program_.buffers.size());
}

Value BlockBuilder::communicate(OpKind kind, Stream stream, CommKind comm, models::GroupKind group, int size,
                                std::initializer_list<Buffer> buffers, std::initializer_list<Value> inputs,
                                const CommTraits& traits) {
    if (stream != Stream::kDp && is_of_other_part(kind)) {
        return kNoValue;
    }
    const bool is_empty = std::ranges::none_of(buffers, [](const Buffer& buffer) { return buffer.elements > 0; });
    if (size <= 1 || (is_empty && comm != CommKind::kBarrier)) {
        return inputs.size() == 0 ? kNoValue : *inputs.begin();
    }
    Operation op;
    op.kind = kind;
    op.stream = stream;
    op.comm = comm;
    op.group = group;
    set_buffers(op, buffers);
    op.repeat = traits.repeat;
    op.routed = traits.routed;
    op.carries = traits.carries;
    op.unit = static_cast<std::int16_t>(traits.unit);
    op.chunk = static_cast<std::int8_t>(traits.chunk);
    const Value before = blocking_ != kNoValue ? blocking_ : last_compute_;
    op.beside = overlaps(stream) || traits.beside;
    if (before == kNoValue && (!op.beside || inputs.size() == 0)) {
        joins_ = static_cast<std::uint8_t>(joins_ |
                                           1U);  // first in its pass: the kernels of the pass before must have ended
    }
    if (op.beside) {
        const Inputs4 all(inputs, inputs.size() == 0 ? before : kNoValue);
        return emit(op, {all.v[0], all.v[1], all.v[2], all.v[3]});
    }
    const Inputs4 all(inputs, before);
    return blocking_ = emit(op, {all.v[0], all.v[1], all.v[2], all.v[3]});
}

/// What blocks in the pass before is left for the kernels to wait for.
Value BlockBuilder::host_copy(CommKind direction, std::initializer_list<Buffer> buffers, bool routed) {
    const bool leaves = direction == CommKind::kToHost;
    Operation op;
    op.kind = leaves ? OpKind::kActivationsToHost : OpKind::kActivationsFromHost;
    op.stream = leaves ? Stream::kToHost : Stream::kFromHost;
    op.comm = direction;
    op.group = models::GroupKind::kRank;
    op.routed = routed;
    op.beside = true;
    set_buffers(op, buffers);
    const std::uint8_t left = joins_;
    joins_ = static_cast<std::uint8_t>(joins_ | (last_compute_ == kNoValue ? 1U : 0U));
    const Value copy = emit(op, {last_compute_});
    joins_ = left;
    return copy;
}

void BlockBuilder::wait_for_host_copy(Value copy) {
    Operation op;
    op.kind = OpKind::kHostCopyWait;
    emit_compute(op, {copy});
}

models::GroupKind BlockBuilder::group_of_message(bool from_before, int boundary) const {
    return from_before == goes_to_next_stage(shapes_.plan, boundary) ? models::GroupKind::kNextStage
                                                                     : models::GroupKind::kPreviousStage;
}

Value BlockBuilder::send(OpKind kind, int boundary, const StageMessage& message, Value input) {
    Operation op;
    op.kind = kind;
    op.stream = Stream::kPp;
    op.comm = CommKind::kSend;
    op.group = group_of_message(kind == OpKind::kSendForward, boundary);
    set_buffers(op, {message.activations, message.router_logits});
    op.message = boundary;
    op.beside = overlaps(Stream::kPp);
    const Value before = blocking_ != kNoValue ? blocking_ : last_compute_;
    const Value sent = emit(op, {input, before == input ? kNoValue : before});
    if (!op.beside) {
        blocking_ = sent;
    }
    return sent;
}

Value BlockBuilder::receive(OpKind kind, int boundary) {
    Operation op;
    op.kind = kind;
    op.comm = CommKind::kReceive;
    op.group = group_of_message(kind == OpKind::kReceiveBackward, boundary);
    op.message = boundary;
    return last_compute_ = emit(op, {});
}

void BlockBuilder::join(std::initializer_list<Stream> streams) {
    for (const Stream stream : streams) {
        joins_ = static_cast<std::uint8_t>(joins_ | (1U << static_cast<unsigned>(stream)));
    }
}

}  // namespace auspex::schedule
