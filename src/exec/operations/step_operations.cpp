/// @file The optimizer block: health, sums of gradients, norm, update, gathered parameters.
#include <algorithm>
#include <cmath>
#include <utility>

#include "exec/kernels/copies.hpp"
#include "exec/operations/health.hpp"
#include "exec/operations/mirror_exchange.hpp"
#include "exec/operations/operations.hpp"
#include "exec/operations/step_collectives.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/router_balance.hpp"
#include "exec/state/unit_arrays.hpp"

namespace auspex::exec {
namespace {

template <class G>
bool is_finite(const Buffer<G>& values) {
    return all_finite(values.size(), values.data());
}

bool is_finite(const LossParts& loss) {
    return std::isfinite(loss.cross_entropy) && std::isfinite(loss.auxiliary) && std::isfinite(loss.z);
}

template <class P>
void check_gradients(Rank<P>& rank) {
    const Weights<P>& w = rank.weights;
    if (!is_finite(rank.loss) || !is_finite(w.dense_gradient) || !is_finite(w.experts_gradient)) {
        rank.first_not_finite = std::min(rank.first_not_finite, kPositionOfCheck);
    }
    if (rank.communicator->world_size() == 1) {
        rank.unhealthy = first_unhealthy(std::vector{health_flag(rank.first_not_finite)});
    }
}

template <class P>
void all_reduce_floats(Rank<P>& rank, std::span<float> values) {
    rank.communicator->all_reduce(models::GroupKind::kWorld, values.data(), values.size(), ElementType::kFloat,
                                  ReduceOp::kSum);
}

template <class P>
void share_health(Rank<P>& rank) {
    std::vector<float> flags(static_cast<std::size_t>(rank.communicator->world_size()));
    flags[static_cast<std::size_t>(rank.communicator->world_rank())] = health_flag(rank.first_not_finite);
    all_reduce_floats(rank, flags);
    rank.unhealthy = first_unhealthy(flags);
}

/// A stack with one loss term gets the sum as cross entropy.
template <class P>
void share_loss(Rank<P>& rank) {
    const LossParts& own = rank.loss;
    if (rank.run->stack.loss_terms == 3) {
        float parts[3] = {static_cast<float>(own.cross_entropy), static_cast<float>(own.auxiliary),
                          static_cast<float>(own.z)};
        all_reduce_floats(rank, parts);
        rank.total_loss = {parts[0], parts[1], parts[2]};
        return;
    }
    float sum[1] = {static_cast<float>(own.cross_entropy + own.auxiliary + own.z)};
    all_reduce_floats(rank, sum);
    rank.total_loss = {sum[0], 0, 0};
}

/// Tensors of which every tp rank has a part of the gradient: copied into one buffer, summed, copied back. Of a bucket,
/// or of all.
template <class P>
void sum_over_tp(Rank<P>& rank, const CurrentOperation& current) {
    using G = typename P::Gradient;
    const FlatRange range = gradients_of(rank, current, false);
    const auto is_summed = [&](const Parameter& p) {
        return p.summed_over_tp && p.offset >= range.begin && p.offset < range.end;
    };
    std::size_t count = 0;
    for (const Parameter& p : rank.table.dense) {
        count += is_summed(p) ? p.size : 0;
    }
    Buffer<G> buffer(*rank.arena, schedule::MemoryLabel::kCommunication, count);
    const auto for_each_tensor = [&](const auto& copy) {
        G* at = buffer.data();
        for (const Parameter& p : rank.table.dense) {
            if (is_summed(p)) {
                copy(gradients_from(rank, false, p.offset), at, p.size);
                at += p.size;
            }
        }
    };
    for_each_tensor([](const G* gradient, G* at, std::size_t size) { copy_values<G>(size, gradient, at); });
    if (current.block.kind != schedule::BlockKind::kOptimizer) {
        check_contribution(rank, current, std::as_const(buffer).span());
    }
    rank.communicator->all_reduce(models::GroupKind::kTp, buffer.data(), count, element_type<G>(), ReduceOp::kSum);
    for_each_tensor([](G* gradient, const G* at, std::size_t size) { copy_values<G>(size, at, gradient); });
}

template <class P>
void run_collectives(Rank<P>& rank, const CurrentOperation& current) {
    for (const StepCollective& collective : step_collectives(rank, current)) {
        collective.run(*rank.communicator);
    }
}

/// Both ends of the model add the other's gradient of the table to their own: the same bits on both.
template <class P>
void exchange_tied_gradient(Rank<P>& rank, const schedule::Operation& op) {
    using G = typename P::Gradient;
    const std::span<G> own =
        rank.weights.dense_gradient.span().subspan(rank.table.lookup, rank.shapes.vocabulary * rank.shapes.h);
    const std::span<const std::byte> parts[] = {std::as_bytes(own)};
    const int behind_passes = schedule::virtual_stages_in_all(rank.plan()) * rank.plan().micro_batches * 2;
    Buffer<G> other(*rank.arena, schedule::MemoryLabel::kCommunication, own.size());
    rank.communicator->send(op.group, parts, behind_passes);
    rank.communicator->receive(op.group, std::as_writable_bytes(other.span()), behind_passes);
    add<G>(own.size(), own.data(), other.data(), own.data());
}

/// The rank's part of the squared norm, as it is handed over; a world of one has no all-reduce that would finish norm
/// and loss.
template <class P>
void begin_gradient_norm(Rank<P>& rank) {
    rank.gradient_norm = double{static_cast<float>(shard_square_sum(rank))};
    if (rank.communicator->world_size() == 1) {
        rank.gradient_norm = std::sqrt(rank.gradient_norm);
        rank.total_loss = rank.loss;
    }
}

template <class P>
void finish_gradient_norm(Rank<P>& rank) {
    float squares[1] = {static_cast<float>(rank.gradient_norm)};
    all_reduce_floats(rank, squares);
    rank.gradient_norm = std::sqrt(double{squares[0]});
}

/// Counts of all ranks that route others' tokens, then the biases.
template <class P>
void balance_routers(Rank<P>& rank, const schedule::Operation& op) {
    if (op.comm == schedule::CommKind::kNone) {
        return update_router_bias(rank);
    }
    Buffer<float>& counts = rank.weights.balance.counts;
    rank.communicator->all_reduce(op.group, counts.data(), counts.size(), ElementType::kFloat, ReduceOp::kSum);
}

}  // namespace

template <class P>
bool run_step_operation(Rank<P>& rank, const CurrentOperation& current) {
    const schedule::Operation& op = current.op;
    switch (op.kind) {
        case schedule::OpKind::kGradientCheck: check_gradients(rank); return true;
        case schedule::OpKind::kTiedEmbeddingAllReduce: exchange_tied_gradient(rank, op); return true;
        case schedule::OpKind::kMirrorGradientExchange: exchange_gradients_with_mirror(rank); return true;
        case schedule::OpKind::kMirrorParameterExchange: exchange_parameters_with_mirror(rank); return true;
        case schedule::OpKind::kGradientTpAllReduce: sum_over_tp(rank, current); return true;
        case schedule::OpKind::kGradientEpAllReduce:
        case schedule::OpKind::kGradientReduceExperts:
        case schedule::OpKind::kGradientReduceDense:
        case schedule::OpKind::kParameterGatherExperts:
        case schedule::OpKind::kParameterGatherDense: run_collectives(rank, current); return true;
        case schedule::OpKind::kGradientNorm: begin_gradient_norm(rank); return true;
        case schedule::OpKind::kGradientNormAllReduce: finish_gradient_norm(rank); return true;
        case schedule::OpKind::kOptimizerUpdate: update_shards(rank); return true;
        case schedule::OpKind::kRouterBiasUpdate: balance_routers(rank, op); return true;
        case schedule::OpKind::kWorldAllReduce:
            op.carries == schedule::Carries::kHealth ? share_health(rank) : share_loss(rank);
            return true;
        case schedule::OpKind::kBarrier: rank.communicator->barrier(op.group); return true;
        case schedule::OpKind::kHostSync:
        case schedule::OpKind::kHostIssue:
        case schedule::OpKind::kStepHost: return true;
        default: return false;
    }
}

template bool run_step_operation<Fp32>(Rank<Fp32>&, const CurrentOperation&);
template bool run_step_operation<Fp64>(Rank<Fp64>&, const CurrentOperation&);
template bool run_step_operation<Bf16Precision>(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_step_operation<Bf16WithFp32Gradients>(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
