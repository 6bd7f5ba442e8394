/// @file Tokens to the ranks that hold their experts, and back: all of them to everyone, or each row to its own.
#include <algorithm>
#include <utility>

#include "exec/kernels/copies.hpp"
#include "exec/operations/expert_context.hpp"
#include "exec/operations/health.hpp"

namespace auspex::exec {
namespace {

/// ep equal parts of `each` elements.
template <class P>
std::vector<std::size_t> equal_parts(const ExpertContext<P>& on, std::size_t each) {
    std::vector<std::size_t> offsets(on.s.ep + 1);
    for (std::size_t i = 0; i <= on.s.ep; ++i) {
        offsets[i] = i * each;
    }
    return offsets;
}

/// `whole` becomes every ep rank's `own`, one after another.
template <class P, class T>
void gather(ExpertContext<P>& on, const T* own, std::size_t each, Buffer<T>& whole, ElementType type) {
    check_contribution(on.rank, on.current, std::span<const T>(own, each));
    copy_values(each, own, whole.data() + on.ep_rank() * each);
    on.rank.communicator->all_gather(models::GroupKind::kEp, whole.data(), equal_parts(on, each), type);
}

/// This rank's part of `whole`, summed over the ep ranks; `whole` is released.
template <class P, class T>
Buffer<T> reduce_to_own(ExpertContext<P>& on, Buffer<T>& whole, std::size_t each) {
    check_contribution(on.rank, on.current, std::as_const(whole).span());
    Buffer<T> own = on.template workspace<T>(each);
    on.rank.communicator->reduce_scatter(models::GroupKind::kEp, whole.data(), equal_parts(on, each),
                                         element_type<T>());
    copy_values(each, std::as_const(whole).data() + on.ep_rank() * each, own.data());
    return own;
}

/// Bytes of the rows that this rank sends to each ep rank from home, `row` bytes each.
template <class P>
std::vector<std::size_t> bytes_from_home(const ExpertContext<P>& on, std::size_t row) {
    std::vector<std::size_t> bytes(on.s.ep);
    for (std::size_t i = 0; i < on.s.ep; ++i) {
        const std::int64_t* first = on.x.offsets.data() + i * on.s.local_experts;
        bytes[i] = static_cast<std::size_t>(first[on.s.local_experts] - *first) * row;
    }
    return bytes;
}
/// Bytes of the rows that came from each ep rank.
template <class P>
std::vector<std::size_t> bytes_of_arrivals(const ExpertContext<P>& on, std::size_t row) {
    std::vector<std::size_t> bytes = on.x.arrived_from;
    std::ranges::transform(bytes, bytes.begin(), [row](std::size_t rows) { return rows * row; });
    return bytes;
}

enum class Direction { kToExperts, kHome };

/// Rows [h] between home and the experts, in the order in which they left home.
template <class P>
void send_rows(ExpertContext<P>& on, Direction direction, const Buffer<typename P::Value>& from,
               Buffer<typename P::Value>& to) {
    check_contribution(on.rank, on.current, from.span());
    const std::size_t row = on.s.h * sizeof(typename P::Value);
    const std::vector<std::size_t> home = bytes_from_home(on, row), away = bytes_of_arrivals(on, row);
    const bool out = direction == Direction::kToExperts;
    on.rank.communicator->all_to_all(models::GroupKind::kEp, from.data(), out ? home : away, to.data(),
                                     out ? away : home);
}

/// Expert numbers go first: they tell how many rows will come.
template <class P>
void send_tokens(ExpertContext<P>& on) {
    constexpr std::size_t kNumber = sizeof(std::int64_t);
    std::vector<std::size_t> came = on.rank.communicator->all_to_all_begin(
        models::GroupKind::kEp, on.x.send_experts.data(), bytes_from_home(on, kNumber));
    std::size_t rows = 0;
    for (std::size_t& part : came) {
        part /= kNumber;
        rows += part;
    }
    on.x.arrived_from = std::move(came);
    on.x.received_experts = on.template kept<std::int64_t>(rows);
    on.rank.communicator->take_received(on.x.received_experts.data());
    on.x.received = on.template kept<typename P::Value>(rows * on.s.h);
    send_rows(on, Direction::kToExperts, on.x.send_rows, on.x.received);
    on.x.send_rows.reset();
    on.x.send_experts.reset();
}

template <class P>
void gather_tokens(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    on.x.tokens = on.template kept<typename P::Value>(s.gathered * s.h);
    on.x.all_choices = on.template kept<std::int64_t>(s.gathered * s.top_k);
    on.x.all_weights = on.template kept<typename P::Real>(s.gathered * s.top_k);
    const typename P::Value* const own = on.entered();
    gather(on, own, s.t_routed * s.h, on.x.tokens, element_type<typename P::Value>());
    gather(on, std::as_const(on.x.choices).data(), s.t_routed * s.top_k, on.x.all_choices, ElementType::kInt64);
    gather(on, std::as_const(on.x.weights).data(), s.t_routed * s.top_k, on.x.all_weights,
           element_type<typename P::Real>());
}

template <class P>
void token_communication_backward(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    if (s.all_to_all) {
        on.x.d_sent = on.template workspace<typename P::Value>(on.sent_rows() * s.h);
        send_rows(on, Direction::kHome, on.x.d_permuted, on.x.d_sent);
        on.x.d_permuted.reset();
        return;
    }
    on.running.x = reduce_to_own(on, on.x.d_tokens, s.t_routed * s.h);
    on.x.d_weights = reduce_to_own(on, on.x.d_all_weights, s.t_routed * s.top_k);
    on.x.d_tokens.reset();
    on.x.d_all_weights.reset();
}

template <class P>
void token_return_backward(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    if (s.all_to_all) {
        on.x.d_rows = on.template workspace<typename P::Value>(on.computed_rows() * s.h);
        send_rows(on, Direction::kToExperts, on.x.d_sent, on.x.d_rows);
        on.x.d_sent.reset();
        return;
    }
    on.running.x = on.template workspace<typename P::Value>(s.gathered * s.h);
    gather(on, on.routed_gradient(), s.t_routed * s.h, on.running.x, element_type<typename P::Value>());
}

}  // namespace

template <class P>
void token_communication(ExpertContext<P>& on) {
    if (!on.forward()) {
        token_communication_backward(on);
    } else if (on.s.all_to_all) {
        send_tokens(on);
    } else {
        gather_tokens(on);
    }
}

template <class P>
void token_return(ExpertContext<P>& on) {
    const RankShapes& s = on.s;
    if (!on.forward()) {
        token_return_backward(on);
    } else if (s.all_to_all) {
        on.x.returned = on.template kept<typename P::Value>(on.sent_rows() * s.h);
        send_rows(on, Direction::kHome, on.x.outputs, on.x.returned);
        on.x.outputs.reset();
    } else {
        on.running.x = reduce_to_own(on, on.running.x, s.t_routed * s.h);
        on.leave();
    }
}

#define AUSPEX_INSTANTIATE(P)                             \
    template void token_communication(ExpertContext<P>&); \
    template void token_return(ExpertContext<P>&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
