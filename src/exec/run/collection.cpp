/// @file Reports, timelines and recorded routing on their way to rank 0.
#include "exec/run/collection.hpp"

#include <algorithm>
#include <type_traits>

#include "base/error.hpp"
#include "exec/run/interpreter.hpp"
#include "models/context/dealt_tokens.hpp"

namespace auspex::exec {
namespace {

/// The numbers of a RankReport, as bytes.
struct ReportHead {
    int rank = 0;
    schedule::LabelBytes peaks{}, at_peak{};
    std::size_t peak_bytes = 0, reserved_bytes = 0, transport_bytes = 0, blas_bytes = 0;
};

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::as_bytes(std::span(values));
}

template <typename T>
std::vector<T> from_bytes(const std::vector<std::byte>& bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    AUSPEX_CHECK(bytes.size() % sizeof(T) == 0, "whole elements were sent");
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(values)).begin());
    return values;
}

/// Calls take(index) for every choice that a rank records: those of its tokens in the MoE layers of its stage.
template <class Take>
void for_each_choice(const RunInputs& run, const models::RoutingRecord& record, const RankCoordinates& coordinates,
                     const Take& take) {
    const models::Plan& plan = run.plan;
    const auto k = static_cast<std::size_t>(record.top_k), tokens = static_cast<std::size_t>(record.tokens);
    const auto tokens_of_chunk = [&](int chunk) {
        std::vector<std::size_t> own;
        const schedule::MicroBatches passing = schedule::micro_batches_of(plan, chunk);
        for (int m = passing.first; m < passing.last; ++m) {
            for (const std::int64_t token : models::tokens_of(
                     routed_tokens(plan, run.layout, run.workload.sequence_length, coordinates.number, m))) {
                own.push_back(static_cast<std::size_t>(token));
            }
        }
        return own;
    };
    for (std::size_t step = 0; step < static_cast<std::size_t>(record.steps); ++step) {
        for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
            const std::vector<std::size_t> own = tokens_of_chunk(chunk);
            const schedule::LayerRange layers =
                schedule::layers_of(run.workload, plan, schedule::virtual_stage_of(plan, chunk, coordinates.stage));
            for (int layer = std::max(layers.first, run.workload.first_dense_layers); layer < layers.last; ++layer) {
                const auto moe_layer = static_cast<std::size_t>(layer - run.workload.first_dense_layers);
                const std::size_t row = step * static_cast<std::size_t>(record.layers) + moe_layer;
                for (const std::size_t token : own) {
                    for (std::size_t j = 0; j < k; ++j) {
                        take((row * tokens + token) * k + j);
                    }
                }
            }
        }
    }
}

}  // namespace

std::vector<RankReport> collect_reports(Communicator& communicator, const RankReport& own) {
    const std::vector<ReportHead> head{
        {own.rank, own.peaks, own.at_peak, own.peak_bytes, own.reserved_bytes, own.transport_bytes, own.blas_bytes}};
    communicator.send_bytes(0, bytes_of(head));
    communicator.send_bytes(0, bytes_of(own.counts));
    std::vector<RankReport> reports;
    for (int rank = 0; communicator.world_rank() == 0 && rank < communicator.world_size(); ++rank) {
        const ReportHead h = from_bytes<ReportHead>(communicator.receive_bytes(rank)).at(0);
        reports.push_back({h.rank, h.peaks, h.at_peak, h.peak_bytes, h.reserved_bytes, h.transport_bytes, h.blas_bytes,
                           from_bytes<OperationCount>(communicator.receive_bytes(rank))});
    }
    return reports;
}

schedule::Timeline collect_timelines(Communicator& communicator, const schedule::Timeline& own) {
    communicator.send_bytes(0, bytes_of(own.spans));
    schedule::Timeline all;
    for (int rank = 0; communicator.world_rank() == 0 && rank < communicator.world_size(); ++rank) {
        schedule::Timeline one = empty_rank_timeline(rank);
        const auto first_track = static_cast<std::uint32_t>(all.tracks.size());
        all.tracks.insert(all.tracks.end(), one.tracks.begin(), one.tracks.end());
        all.names = std::move(one.names);
        for (schedule::Span span : from_bytes<schedule::Span>(communicator.receive_bytes(rank))) {
            span.track += first_track;
            all.spans.push_back(span);
        }
    }
    return all;
}

models::RoutingRecord empty_routing_record(const RunInputs& run, int first_step, int end_step) {
    const models::Workload& workload = run.workload;
    models::RoutingRecord record;
    record.first_step = first_step, record.steps = end_step - first_step;
    record.layers = workload.moe_layers();
    record.top_k = workload.top_k, record.num_experts = workload.num_experts;
    record.tokens = run.layout.global_batch * workload.sequence_length;
    record.choices.resize(static_cast<std::size_t>(record.steps) * static_cast<std::size_t>(record.layers) *
                          static_cast<std::size_t>(record.tokens) * static_cast<std::size_t>(record.top_k));
    return record;
}

void collect_routing(Communicator& communicator, const RunInputs& run, models::RoutingRecord& record) {
    const RankCoordinates own = rank_coordinates(run.layout, communicator.world_rank());
    std::vector<std::uint16_t> choices;
    if (own.etp == 0 && own.rank != 0) {
        for_each_choice(run, record, own, [&](std::size_t i) { choices.push_back(record.choices[i]); });
        communicator.send_bytes(0, bytes_of(choices));
    }
    for (int rank = 1; own.rank == 0 && rank < communicator.world_size(); ++rank) {
        const RankCoordinates coordinates = rank_coordinates(run.layout, rank);
        if (coordinates.etp == 0) {
            choices = from_bytes<std::uint16_t>(communicator.receive_bytes(rank));
            auto next = choices.begin();
            for_each_choice(run, record, coordinates, [&](std::size_t i) { record.choices[i] = *next++; });
        }
    }
}

}  // namespace auspex::exec
