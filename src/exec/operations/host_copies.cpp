/// @file What layers save, copied to memory that stands for the host's, and back.
///
/// Operation                 does
/// activations_to_host       copies of the layer's tensors on the host
/// host_copy_wait, forward   releases those on the device
/// activations_from_host     copies them back
/// host_copy_wait, backward  releases those on the host
///
/// Copies are done where they begin. Of a layer with experts there are two: of what grows with the rows of its experts,
/// and of the rest.
#include <algorithm>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"
#include "exec/operations/operations.hpp"

namespace auspex::exec {
namespace {

using schedule::MemoryLabel, schedule::OpKind;

/// Calls visit(device, host, routed) for every tensor of a sublayer that may be kept.
template <class P, class Visit>
void for_each_tensor(AttentionTensors<P>& device, AttentionTensors<P>& host, const Visit& visit) {
    visit(device.input, host.input, false);
    visit(device.norm, host.norm, false);
    visit(device.qkv, host.qkv, false);
    visit(device.sums, host.sums, false);
    visit(device.qk, host.qk, false);
    visit(device.lse, host.lse, false);
    visit(device.output, host.output, false);
    visit(device.context, host.context, false);
    visit(device.heads_output, host.heads_output, false);
    visit(device.latent.q_latent, host.latent.q_latent, false);
    visit(device.latent.kv_latent, host.latent.kv_latent, false);
    visit(device.latent.q_normed, host.latent.q_normed, false);
    visit(device.latent.kv_normed, host.latent.kv_normed, false);
    visit(device.latent.query, host.latent.query, false);
    visit(device.latent.key_value, host.latent.key_value, false);
}

template <class P, class Visit>
void for_each_tensor(ExpertTensors<P>& device, ExpertTensors<P>& host, bool sent, const Visit& visit) {
    visit(device.logits, host.logits, false);
    visit(device.probabilities, host.probabilities, false);
    visit(device.choices, host.choices, false);
    visit(device.weights, host.weights, false);
    visit(device.sequence_counts, host.sequence_counts, false);
    visit(device.tokens, host.tokens, false);
    visit(device.all_choices, host.all_choices, false);
    visit(device.all_weights, host.all_weights, false);
    visit(device.offsets, host.offsets, false);
    visit(device.row_slots, host.row_slots, !sent);
    visit(device.received, host.received, true);
    visit(device.received_experts, host.received_experts, true);
    visit(device.arrival_offsets, host.arrival_offsets, false);
    visit(device.arrival, host.arrival, true);
    visit(device.permuted, host.permuted, true);
    visit(device.gate_up, host.gate_up, true);
    visit(device.product, host.product, true);
    visit(device.outputs, host.outputs, true);
    visit(device.returned, host.returned, false);
}

template <class P, class Visit>
void for_each_tensor(FeedForwardTensors<P>& device, FeedForwardTensors<P>& host, bool sent, const Visit& visit) {
    visit(device.input, host.input, false);
    visit(device.norm, host.norm, false);
    visit(device.gathered_norm, host.gathered_norm, false);
    visit(device.gate_up, host.gate_up, false);
    visit(device.product, host.product, false);
    for_each_tensor(device.experts, host.experts, sent, visit);
}

/// Of both sublayers of the operation's layer, what is kept or was.
template <class P, class Visit>
void for_each_kept(Rank<P>& rank, const CurrentOperation& current, const Visit& visit) {
    PassTensors<P>& pass = rank.passes.at({current.block.chunk, current.micro_batch});
    pass.attention_on_host.resize(pass.attention.size());
    pass.feed_forward_on_host.resize(pass.attention.size());
    const std::size_t layer = current.layer_of_chunk();
    const auto if_kept = [&visit](auto& device, auto& host, bool routed) {
        if ((!device.empty() && device.label() == MemoryLabel::kActivations) || !host.empty()) {
            visit(device, host, routed);
        }
    };
    const bool sent = rank.plan().dispatch == models::Dispatch::kAllToAll && rank.plan().ep > 1;
    for_each_tensor(pass.attention[layer], pass.attention_on_host[layer], if_kept);
    for_each_tensor(pass.feed_forward[layer], pass.feed_forward_on_host[layer], sent, if_kept);
}

template <class T>
void copy(const Buffer<T>& from, Buffer<T>& to, Arena& arena, std::size_t& bytes) {
    to = Buffer<T>(arena, MemoryLabel::kActivations, from.size());
    std::copy_n(from.data(), from.size(), to.data());
    bytes += from.size() * sizeof(T);
}

}  // namespace

template <class P>
bool run_host_copy(Rank<P>& rank, const CurrentOperation& current) {
    const OpKind kind = current.op.kind;
    if (kind == OpKind::kHostCopyWait) {
        for_each_kept(rank, current,
                      [&](auto& device, auto& host, bool) { current.forward() ? device.reset() : host.reset(); });
        return true;
    }
    if (kind != OpKind::kActivationsToHost && kind != OpKind::kActivationsFromHost) {
        return false;
    }
    std::size_t bytes = 0;
    for_each_kept(rank, current, [&](auto& device, auto& host, bool routed) {
        if (routed != current.op.routed) {
            return;
        }
        kind == OpKind::kActivationsToHost ? copy(device, host, *rank.host, bytes)
                                           : copy(host, device, *rank.arena, bytes);
    });
    record_call("copy", 1, bytes);
    rank.host_copy_bytes = static_cast<double>(bytes);
    return true;
}

template bool run_host_copy<Fp32>(Rank<Fp32>&, const CurrentOperation&);
template bool run_host_copy<Fp64>(Rank<Fp64>&, const CurrentOperation&);
template bool run_host_copy<Bf16Precision>(Rank<Bf16Precision>&, const CurrentOperation&);
template bool run_host_copy<Bf16WithFp32Gradients>(Rank<Bf16WithFp32Gradients>&, const CurrentOperation&);

}  // namespace auspex::exec
