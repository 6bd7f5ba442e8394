/// @file Spans of the compute stream as passes.
#include "sim/orders/play_order.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "sim/engine/engine.hpp"

namespace auspex::orders {
namespace {

/// The passes of a rank with the spans of its compute stream, which follow one another in the same order.
std::vector<PlayedPass> played(const std::vector<schedule::StagePass>& passes,
                               const std::vector<schedule::Span>& spans) {
    std::vector<PlayedPass> list;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        PlayedPass one;
        if (passes[i].beside_next) {
            one.is_pair = true;
            one.beside = passes[i].micro_batch, one.stage_beside = passes[i].stage;
            ++i;
        }
        one.pass = passes[i];
        AUSPEX_CHECK(list.size() < spans.size(), "every pass has a span");
        one.start = spans[list.size()].start, one.end = spans[list.size()].end;
        list.push_back(one);
    }
    return list;
}

}  // namespace

PlayedOrder play_order(const schedule::PipelineOrder& order, const PassTimes& times) {
    OrderProgram program;
    make_program(order, times, program);
    schedule::Timeline timeline;
    PlayedOrder result;
    result.makespan = engine::play_alone(program.costed, timeline).step;
    std::vector<std::vector<schedule::Span>> spans(order.ranks.size());
    for (const schedule::Span& span : timeline.spans) {
        if (span.track % schedule::kStreamCount == 0 && span.layer >= 0) {
            spans[span.track / schedule::kStreamCount].push_back(span);
        }
    }
    for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
        std::ranges::sort(spans[rank], {}, &schedule::Span::start);
        const std::vector<PlayedPass>& list = result.ranks.emplace_back(played(order.ranks[rank], spans[rank]));
        if (list.empty()) {
            continue;
        }
        Picoseconds busy = 0;
        for (const PlayedPass& one : list) {
            busy += one.end - one.start;
        }
        const Picoseconds span = list.back().end - list.front().start;
        if (span > result.span) {
            result.span = span;
            result.bubble_rate = static_cast<double>(span - busy) / static_cast<double>(span);
        }
    }
    return result;
}

}  // namespace auspex::orders
