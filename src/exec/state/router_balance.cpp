/// @file Biases of routers, in the order of the stage's layers.
#include "exec/state/router_balance.hpp"

#include <algorithm>

#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

template <class P>
std::size_t slot_of(const Rank<P>& rank, int layer) {
    return rank.table.layers[static_cast<std::size_t>(layer)].router_balance;
}

}  // namespace

template <class P>
RouterBalance make_router_balance(const Rank<P>& rank) {
    RouterBalance balance;
    for (Buffer<float>* numbers : {&balance.bias, &balance.counts}) {
        *numbers = {*rank.arena, schedule::MemoryLabel::kWeights, rank.table.balance_size};
        std::ranges::fill(numbers->span(), 0.0F);
    }
    return balance;
}

template <class P>
const float* router_bias_of(const Rank<P>& rank, int layer) {
    const std::size_t slot = slot_of(rank, layer);
    return slot == LayerSlots::kNone ? nullptr : rank.weights.balance.bias.data() + slot;
}

template <class P>
float* router_counts_of(Rank<P>& rank, int layer) {
    const std::size_t slot = slot_of(rank, layer);
    return slot == LayerSlots::kNone ? nullptr : rank.weights.balance.counts.data() + slot;
}

template <class P>
void update_router_bias(Rank<P>& rank) {
    RouterBalance& balance = rank.weights.balance;
    const std::size_t experts = rank.shapes.experts;
    const auto speed = static_cast<float>(rank.training().router_bias_speed);
    record_call("update_router_bias", 1, balance.bias.size());
    for (std::size_t first = 0; first < balance.bias.size(); first += experts) {
        const std::span<float> counts = balance.counts.span().subspan(first, experts);
        double sum = 0;
        for (const float count : counts) {
            sum += double{count};
        }
        const double mean = sum / static_cast<double>(experts);
        for (std::size_t e = 0; e < experts; ++e) {
            const double lacks = mean - double{counts[e]};
            balance.bias[first + e] += lacks > 0 ? speed : lacks < 0 ? -speed : 0;
        }
        std::ranges::fill(counts, 0.0F);
    }
}

template <class P>
std::vector<TensorPart> balance_parts(const Rank<P>& rank, bool owned) {
    std::vector<TensorPart> parts;
    for (const Parameter& p : rank.table.balance) {
        if (!owned || rank.coordinates.number == 0) {
            parts.push_back({&p, false, 0, p.size, 0, true});
        }
    }
    return parts;
}

#define AUSPEX_INSTANTIATE(P)                                      \
    template RouterBalance make_router_balance<P>(const Rank<P>&); \
    template const float* router_bias_of<P>(const Rank<P>&, int);  \
    template float* router_counts_of<P>(Rank<P>&, int);            \
    template void update_router_bias<P>(Rank<P>&);                 \
    template std::vector<TensorPart> balance_parts<P>(const Rank<P>&, bool);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
