/// @file Shards of the two chunks as messages.
#include "exec/operations/mirror_exchange.hpp"

#include <array>

#include "exec/kernels/copies.hpp"
#include "exec/kernels/elementwise.hpp"
#include "exec/state/sharding.hpp"

namespace auspex::exec {
namespace {

/// Of the messages of a step the last, one a kind.
enum class Exchanged : std::uint8_t { kGradients, kParameters };

/// The two arrays, with the rank's pieces of both chunks.
template <class T>
struct Pieces {
    T* array = nullptr;
    Shard updated, mirrored;
};

/// Calls take(own, what came, count) for each piece of the other chunk than the one that is sent.
template <class P, class T, class Take>
void exchange(Rank<P>& rank, Exchanged what, T* dense, T* experts, const Take& take) {
    const Sharding of_dense = sharding_of(rank, false), of_experts = sharding_of(rank, true);
    const std::array arrays{Pieces<T>{dense, of_dense.shard(), of_dense.mirrored()},
                            Pieces<T>{experts, of_experts.shard(), of_experts.mirrored()}};
    const bool sends_updated = what == Exchanged::kParameters;
    std::vector<std::span<const std::byte>> parts;
    std::size_t sent = 0;
    for (const Pieces<T>& pieces : arrays) {
        for (const Shard::Piece& piece : (sends_updated ? pieces.updated : pieces.mirrored).pieces) {
            parts.push_back(std::as_bytes(std::span<const T>(pieces.array + piece.range.begin, piece.range.size())));
            sent += piece.range.size();
        }
    }
    // Shards that are an element shorter than others are filled up: messages of a stage are of one length.
    const std::vector<T> filling(of_dense.longest(sends_updated) + of_experts.longest(sends_updated) - sent);
    parts.push_back(std::as_bytes(std::span<const T>(filling)));
    const models::Plan& plan = rank.plan();
    const int behind_passes = schedule::virtual_stages_in_all(plan) * plan.micro_batches * 2;
    const int tag = behind_passes + static_cast<int>(what);
    Buffer<T> other(*rank.arena, schedule::MemoryLabel::kCommunication,
                    of_dense.longest(!sends_updated) + of_experts.longest(!sends_updated));
    rank.communicator->send(models::GroupKind::kMirrorStage, parts, tag);
    rank.communicator->receive(models::GroupKind::kMirrorStage, std::as_writable_bytes(other.span()), tag);
    const T* from = other.data();
    for (const Pieces<T>& pieces : arrays) {
        for (const Shard::Piece& piece : (sends_updated ? pieces.mirrored : pieces.updated).pieces) {
            take(pieces.array + piece.range.begin, from, piece.range.size());
            from += piece.range.size();
        }
    }
}

}  // namespace

template <class P>
void exchange_gradients_with_mirror(Rank<P>& rank) {
    using G = typename P::Gradient;
    exchange(rank, Exchanged::kGradients, rank.weights.dense_gradient.data(), rank.weights.experts_gradient.data(),
             [](G* own, const G* other, std::size_t count) { add<G>(count, own, other, own); });
}

template <class P>
void exchange_parameters_with_mirror(Rank<P>& rank) {
    using V = typename P::Value;
    exchange(rank, Exchanged::kParameters, rank.weights.dense.data(), rank.weights.experts.data(),
             [](V* own, const V* other, std::size_t count) { copy_values<V>(count, other, own); });
}

#define AUSPEX_INSTANTIATE(P)                                  \
    template void exchange_gradients_with_mirror<P>(Rank<P>&); \
    template void exchange_parameters_with_mirror<P>(Rank<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
