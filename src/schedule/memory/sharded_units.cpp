/// @file Hooks of FSDP2 around units, as allocations.
#include "schedule/memory/sharded_units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/program/sharding.hpp"

namespace auspex::schedule {

double WeightTensor::shard_elements() const { return std::ceil(rows / ranks) * columns; }

namespace {

void add_attention(const models::Workload& w, const models::Plan& plan, int ranks, std::vector<WeightTensor>& tensors) {
    const double hidden = w.hidden_size, tp = plan.tp;
    const double heads = w.heads / tp, value = w.value_head_size > 0 ? w.value_head_size : w.head_size;
    if (w.attention != models::AttentionKind::kLatent) {
        for (const double width : {heads, w.kv_heads / tp, w.kv_heads / tp}) {
            tensors.push_back({OpKind::kQkvProjection, width * w.head_size, hidden, ranks});
        }
        tensors.push_back({OpKind::kAttentionOutput, hidden, heads * w.head_size, ranks});
        return;
    }
    const double query = heads * (w.head_size + w.rope_head_size);
    if (w.q_rank > 0) {
        tensors.push_back({OpKind::kQueryDown, 1.0 * w.q_rank, hidden, ranks});
    }
    tensors.push_back({OpKind::kQueryUp, query, w.q_rank > 0 ? 1.0 * w.q_rank : hidden, ranks});
    tensors.push_back({OpKind::kKeyValueDown, 1.0 * w.kv_rank + w.rope_head_size, hidden, ranks});
    tensors.push_back({OpKind::kKeyValueUp, heads * (w.head_size + value), 1.0 * w.kv_rank, ranks});
    tensors.push_back({OpKind::kAttentionOutput, hidden, heads * value, ranks});
}

/// Gates (and up), then down, of a feed-forward of a width.
void add_feed_forward(const models::Workload& w, OpKind up, OpKind down, double width, int ranks,
                      std::vector<WeightTensor>& tensors) {
    for (int gate = 0; gate < w.gates(); ++gate) {
        tensors.push_back({up, width, 1.0 * w.hidden_size, ranks});
    }
    tensors.push_back({down, 1.0 * w.hidden_size, width, ranks});
}

/// The experts of a layer are one tensor for each of their matrices, sharded by experts.
void add_experts(const models::Workload& w, const models::Plan& plan, int ranks, std::vector<WeightTensor>& tensors) {
    const double inner = 1.0 * w.expert_size / plan.etp, matrix = inner * w.hidden_size;
    for (int n = 0; n < w.gates() + 1; ++n) {
        tensors.push_back({OpKind::kExpertComputation, 1.0 * w.num_experts / plan.ep, matrix, ranks});
    }
}

double sum_of(const std::vector<WeightTensor>& tensors) {
    double sum = 0;
    for (const WeightTensor& tensor : tensors) {
        sum += tensor.elements();
    }
    return sum;
}

std::vector<WeightTensor> layer_tensors(const models::Workload& w, const models::Plan& plan,
                                        const OptimizerShards& shards, int layer) {
    std::vector<WeightTensor> tensors;
    add_attention(w, plan, shards.dense, tensors);
    if (!w.is_moe_layer(layer)) {
        add_feed_forward(w, OpKind::kGateUpProjection, OpKind::kDownProjection, 1.0 * w.intermediate_size / plan.tp,
                         shards.dense, tensors);
    } else {
        tensors.push_back({OpKind::kRouter, 1.0 * w.num_experts, 1.0 * w.hidden_size, shards.dense});
        if (w.shared_experts > 0) {
            add_feed_forward(w, OpKind::kSharedExpert, OpKind::kSharedExpert,
                             1.0 * w.shared_experts * w.expert_size / plan.tp, shards.dense, tensors);
        }
    }
    const StageParameters all = layer_parameters(w, plan, layer);
    if (const double rest = all.dense - sum_of(tensors); rest > 0.5) {  // norms, biases
        tensors.push_back({OpKind::kCount, rest, 1, shards.dense});
    }
    if (all.experts > 0) {
        add_experts(w, plan, shards.experts, tensors);
    }
    return tensors;
}

/// A table of the vocabulary, and what else the unit has.
std::vector<WeightTensor> table_tensors(const models::Workload& w, OpKind made_by, double parameters, double vocabulary,
                                        int ranks) {
    std::vector<WeightTensor> tensors;
    const double table = vocabulary * w.hidden_size;
    double left = parameters;
    for (; left >= table && table > 0; left -= table) {
        tensors.push_back({made_by, vocabulary, 1.0 * w.hidden_size, ranks});
    }
    if (left > 0.5) {
        tensors.push_back({OpKind::kCount, left, 1, ranks});
    }
    return tensors;
}

}  // namespace

WeightUnits weight_units(const models::Workload& workload, const models::Plan& plan, const models::Layout& layout,
                         int virtual_stage) {
    const LayerRange range = layers_of(workload, plan, virtual_stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const double vocabulary = 1.0 * workload.vocab_size / plan.tp;
    WeightUnits units;
    for (int layer = range.first; layer < range.last; ++layer) {
        units[unit_of_layer(range, layer)] = layer_tensors(workload, plan, shards, layer);
    }
    if (is_first_part(plan, virtual_stage)) {
        units[unit_of_embedding(range)] =
            table_tensors(workload, OpKind::kEmbedding, embedding_parameters(workload, plan, virtual_stage).dense,
                          vocabulary, shards.dense);
    }
    if (is_last_part(plan, virtual_stage)) {
        units[unit_of_head(range)] = table_tensors(
            workload, OpKind::kLmHead, head_parameters(workload, plan, virtual_stage).dense, vocabulary, shards.dense);
    }
    return units;
}

ShardedUnits::ShardedUnits(CachingAllocator& allocator, const models::Plan& plan, std::vector<WeightUnits> chunks,
                           const Keeping& keeps)
    : allocator_(allocator),
      weight_bytes_(plan.weight_bytes),
      shard_bytes_(models::master_bytes(plan) > 0 ? models::master_bytes(plan) : plan.weight_bytes),
      sum_bytes_(plan.gradient_bytes),
      stored_bytes_(models::stored_gradient_bytes(plan)),
      state_bytes_(models::moment_bytes(plan) / 2),
      keeps_(keeps),
      chunks_(std::move(chunks)) {
    for (const WeightUnits& units : chunks_) {
        for (const auto& [unit, tensors] : units) {
            for (const WeightTensor& tensor : tensors) {
                static_cast<void>(make(tensor.shard_elements() * shard_bytes_, kComputeStream));
            }
        }
    }
}

WeightUnits with_ends_in_root(WeightUnits units, LayerRange layers) {
    const auto embedding = units.find(unit_of_embedding(layers));
    if (embedding == units.end()) {
        return units;
    }
    std::vector<WeightTensor> root = std::move(embedding->second);
    units.erase(embedding);
    std::vector<WeightTensor>& head = units[unit_of_head(layers)];
    root.insert(root.end(), head.begin(), head.end());
    head = std::move(root);
    return units;
}

std::optional<int> ShardedUnits::unit_at(const Operation& op) const {
    const std::optional<int> unit = unit_of(op, layers_, is_tied_);
    return keeps_.root_has_ends && unit == unit_of_embedding(layers_) ? unit_of_head(layers_) : unit;
}

bool ShardedUnits::is_root(int unit) const { return keeps_.root_has_ends && unit == unit_of_head(layers_); }

bool ShardedUnits::stays(int unit) const {
    const bool is_last_layer = unit == unit_of_layer(layers_, layers_.last - 1);
    return (keeps_.last_unit && unit == unit_of_head(layers_)) || (keeps_.root_has_ends && is_last_layer) ||
           is_root(unit);
}

ShardedUnits::Block_ ShardedUnits::make(double bytes, int stream) const {
    return allocator_.allocate(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bytes))), stream);
}

void ShardedUnits::release(std::vector<Block_>& blocks) {
    std::ranges::for_each(blocks, [this](Block_ block) { allocator_.release(block); });
    blocks.clear();
}

void ShardedUnits::begin_pass(const Block& block, LayerRange layers, bool is_tied) {
    chunk_ = block.chunk, layers_ = layers, is_tied_ = is_tied, unit_.reset();
    forward_ = block.kind == BlockKind::kForward;
    if (forward_) {
        order_[chunk_].clear();
    }
}

void ShardedUnits::before(const Operation& op) {
    const std::optional<int> unit = unit_at(op);
    if (!unit || unit == unit_) {
        return;
    }
    if (unit_) {
        leave({chunk_, *unit_});
    }
    unit_ = unit;
    enter({chunk_, *unit});
}

void ShardedUnits::behind(const Operation& op) {
    if (op.phase == Phase::kBackwardWeight && unit_ && unit_at(op) == unit_) {
        make_gradients({chunk_, *unit_}, op.kind);
    }
}

void ShardedUnits::end_pass() {
    if (unit_) {
        leave({chunk_, *unit_});
    }
    if (!forward_) {
        if (const Key root{chunk_, unit_of_head(layers_)}; is_root(root.unit) && !states_[root].weights.empty()) {
            finish(root);
        }
        release(held_sum_);
    }
    unit_.reset();
}

void ShardedUnits::enter(Key key) {
    State& state = states_[key];
    if (state.weights.empty()) {
        if (state.gathered.empty()) {
            gather(key);
        }
        if (forward_) {
            release(held_gather_);
            copy_out(key);
            held_gather_ = std::exchange(state.gathered, {});
        } else {
            copy_out(key);
            release(state.gathered);
        }
    }
    if (forward_) {
        order_[chunk_].push_back(key.unit);
        return;
    }
    if (!is_root(key.unit) || state.gradients.empty()) {
        state.has_gradient.assign(chunks_[static_cast<std::size_t>(key.chunk)][key.unit].size(), false);
    }
    prefetch(key);
}

/// The unit in front of this one in the forward pass.
void ShardedUnits::prefetch(Key key) {
    const std::vector<int>& order = order_[key.chunk];
    const auto place = std::ranges::find(order, key.unit);
    if (place == order.end() || place == order.begin()) {
        return;
    }
    const Key next{key.chunk, *(place - 1)};
    if (states_[next].weights.empty() && states_[next].gathered.empty()) {
        gather(next);
    }
}

void ShardedUnits::gather(Key key) {
    double shard = 0, whole = 0;
    for (const WeightTensor& tensor : chunks_[static_cast<std::size_t>(key.chunk)][key.unit]) {
        shard += tensor.shard_elements();
        whole += tensor.padded_elements();
    }
    std::vector<Block_> cast;
    if (shard_bytes_ != weight_bytes_) {
        cast.push_back(make(shard * weight_bytes_, kCopyStream));
    }
    states_[key].gathered.push_back(make(whole * weight_bytes_, kCopyStream));
    release(cast);
}

void ShardedUnits::copy_out(Key key) {
    for (const WeightTensor& tensor : chunks_[static_cast<std::size_t>(key.chunk)][key.unit]) {
        states_[key].weights.push_back(make(tensor.padded_elements() * weight_bytes_, kComputeStream));
    }
}

void ShardedUnits::leave(Key key) {
    if (forward_ && !stays(key.unit)) {
        release(states_[key].weights);
    } else if (!forward_ && !is_root(key.unit)) {
        finish(key);
    }
}

/// Of a backward pass, with all gradients of the unit.
void ShardedUnits::finish(Key key) {
    make_gradients(key, std::nullopt);
    release(states_[key].weights);
    sum(key);
}

/// Of the tensors whose gradients this operation makes; without one of all that are left.
void ShardedUnits::make_gradients(Key key, std::optional<OpKind> made_by) {
    State& state = states_[key];
    const std::vector<WeightTensor>& tensors = chunks_[static_cast<std::size_t>(key.chunk)][key.unit];
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (!state.has_gradient[i] && (!made_by || tensors[i].made_by == *made_by)) {
            state.gradients.push_back(make(tensors[i].elements() * weight_bytes_, kComputeStream));
            state.has_gradient[i] = true;
        }
    }
}

void ShardedUnits::sum(Key key) {
    State& state = states_[key];
    double shard = 0, whole = 0;
    for (const WeightTensor& tensor : chunks_[static_cast<std::size_t>(key.chunk)][key.unit]) {
        shard += tensor.shard_elements();
        whole += tensor.padded_elements();
    }
    release(held_sum_);
    held_sum_.push_back(make(whole * sum_bytes_, kComputeStream));
    release(state.gradients);
    std::vector<Block_> summed{make(shard * sum_bytes_, kSumStream)};
    if (stored_bytes_ != sum_bytes_) {
        const Block_ stored = make(shard * stored_bytes_, kSumStream);
        release(summed);
        summed.push_back(stored);
    }
    if (state.sums.empty()) {
        state.sums = std::move(summed);
    } else {
        release(summed);  // added to the one that is there
    }
}

void ShardedUnits::update() {
    for (const WeightUnits& units : chunks_) {
        for (const auto& [unit, tensors] : units) {
            for (const WeightTensor& tensor : tensors) {
                for (int moment = 0; moment < 2 && !has_states_; ++moment) {
                    static_cast<void>(make(tensor.shard_elements() * state_bytes_, kComputeStream));
                }
            }
        }
    }
    has_states_ = true;
    for (auto& [key, state] : states_) {
        release(state.sums);
    }
}

}  // namespace auspex::schedule
