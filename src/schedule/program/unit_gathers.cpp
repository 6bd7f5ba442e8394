/// @file All-gathers of units: experts, then the dense part.
#include "schedule/program/unit_gathers.hpp"

#include <algorithm>

namespace auspex::schedule {

namespace {

/// Of a virtual stage that is the model's last part; `gathers_table`: with the embedding's unit, where that has the
/// head's table.
GatheredUnit head_unit(const models::Workload& workload, const models::Plan& plan, int virtual_stage,
                       bool gathers_table) {
    const LayerRange range = layers_of(workload, plan, virtual_stage);
    GatheredUnit head{unit_of_head(range), -1, head_parameters(workload, plan, virtual_stage)};
    if (gathers_table && has_one_table(workload, plan)) {
        head.second_unit = unit_of_embedding(range);
        head.more = embedding_parameters(workload, plan, 0);
    }
    return head;
}

}  // namespace

std::vector<GatheredUnit> forward_units(const models::Workload& workload, const models::Plan& plan, int virtual_stage) {
    std::vector<GatheredUnit> units;
    const LayerRange range = layers_of(workload, plan, virtual_stage);
    if (is_first_part(plan, virtual_stage)) {
        units.push_back({unit_of_embedding(range), -1, embedding_parameters(workload, plan, virtual_stage)});
    }
    const auto add_layers = [&](int first, int last) {
        for (int layer = first; layer < last; ++layer) {
            units.push_back({unit_of_layer(range, layer), layer, layer_parameters(workload, plan, layer)});
        }
    };
    const int own_last = range.last - range.predictions;
    add_layers(range.first, own_last);
    if (is_last_part(plan, virtual_stage)) {
        units.push_back(head_unit(workload, plan, virtual_stage, !is_first_part(plan, virtual_stage)));
    }
    add_layers(own_last, range.last);
    return units;
}

std::vector<GatheredUnit> backward_units(const models::Workload& workload, const models::Plan& plan,
                                         const models::Stack& stack, int virtual_stage) {
    std::vector<GatheredUnit> units;
    if (!shards_weights(plan)) {
        return units;
    }
    const LayerRange range = layers_of(workload, plan, virtual_stage);
    if (is_last_part(plan, virtual_stage)) {
        units.push_back(head_unit(workload, plan, virtual_stage, true));
        units.back().is_there = keeps_last_unit(workload, plan, stack);
    }
    for (int layer = range.last - 1; layer >= range.first; --layer) {
        units.push_back({unit_of_layer(range, layer), layer, layer_parameters(workload, plan, layer)});
    }
    return units;
}

std::vector<GatheredUnit> in_buckets(const std::vector<GatheredUnit>& units, double bucket_bytes, int sharers) {
    constexpr double kFp32Bytes = 4, kOfRank = 1e6;
    const double least = std::max(bucket_bytes / kFp32Bytes, kOfRank * sharers);
    std::vector<GatheredUnit> joined;
    std::size_t first = 0;
    for (const GatheredUnit& unit : units) {
        const bool is_full =
            joined.empty() || joined[first].parameters.dense + joined[first].parameters.experts >= least;
        if (is_full || unit.second_unit >= 0) {
            first = joined.size();
            joined.push_back(unit);
        } else {
            joined[first].parameters += unit.parameters;
            joined.push_back({unit.unit, unit.layer, {}});
            joined.back().is_there = true;
        }
    }
    return joined;
}

void UnitGathers::gather_until(std::size_t end, Value after) {
    const int layer = b_.layer();
    for (; ahead_ < std::min(end, units_.size()); ++ahead_) {
        gathered_[ahead_] = gather(units_[ahead_], after);
    }
    b_.set(b_.phase(), layer);
}

void UnitGathers::all_at_once() { gather_until(units_.size(), kNoValue); }

void UnitGathers::before_next(Value x) {
    if (next_ >= units_.size()) {
        return;
    }
    gather_until(next_ + 1 + static_cast<std::size_t>(b_.shapes().plan.prefetch), x);
    b_.require(gathered_[next_]);
    ++next_;
}

Value UnitGathers::gather(const GatheredUnit& of, Value after) {
    if (of.is_there) {
        return after;
    }
    b_.set(b_.phase(), of.layer);
    const Value first = of.second_unit < 0 ? after : gather(of.second_unit, of.more, after);
    const Value second = gather(of.unit, of.parameters, after);
    return second == after ? first : second;  // one stream: the second ends behind the first
}

/// Without a gather (a group of one rank) what comes back is `after`.
Value UnitGathers::gather(int unit, const StageParameters& parameters, Value after) {
    const auto group = [&](bool experts) {
        const ShardGroups groups = shard_groups(b_.shapes().plan, experts);
        return b_.block() == BlockKind::kForward ? groups.shard : groups.reshard;
    };
    // What neighbours hold for a backward pass is a part of what was filled up for all.
    const int sharers = group_size(layout_, shard_groups(b_.shapes().plan, true).shard);
    const double padding = expert_padding(b_.shapes().workload, b_.shapes().plan, b_.shapes().stack, sharers);
    const Value experts =
        b_.communicate(OpKind::kParameterGatherExperts, Stream::kDp, CommKind::kAllGather, group(true),
                       group_size(layout_, group(true)), {{padding * parameters.experts}}, {after}, {.unit = unit});
    return b_.communicate(OpKind::kParameterGatherDense, Stream::kDp, CommKind::kAllGather, group(false),
                          group_size(layout_, group(false)), {{parameters.dense}}, {experts, after}, {.unit = unit});
}

}  // namespace auspex::schedule
