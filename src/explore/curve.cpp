/// @file Sizes halved and doubled, played side by side.
#include "explore/curve.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "explore/step.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::explore {
namespace {

/// Halves of the job down to one replica of the plan, and its double if the machine has so many.
std::vector<int> sizes_around(const models::Inputs& inputs, int tiles) {
    constexpr int kMostHalves = 5;
    const std::int64_t replica = tiles_per_replica(inputs.plan);
    std::vector<int> sizes{tiles};
    for (std::int64_t size = tiles; size % 2 == 0 && size / 2 % replica == 0 && sizes.size() <= kMostHalves;) {
        size /= 2;
        sizes.push_back(static_cast<int>(size));
    }
    std::reverse(sizes.begin(), sizes.end());
    const std::int64_t most = std::int64_t{inputs.machine.fabric.max_nodes} * inputs.machine.node.tiles;
    if (2 * std::int64_t{tiles} <= most) {
        sizes.push_back(2 * tiles);
    }
    return sizes;
}

std::string points_json(const std::vector<std::optional<predict::Prediction>>& points) {
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().key("points").begin_array();
        for (const auto& point : points) {
            if (point) {
                json.begin_object().member("tiles", point->tiles).member("step_time_s", point->step_time_s);
                json.member("tokens_per_s_per_tile", point->tokens_per_s_per_tile).member("mfu", point->mfu);
                json.member("fits", point->memory.fits).end_object();
            }
        }
        json.end_array().end_object();
    }
    return out.str();
}

}  // namespace

std::string curve_answer(Session& session, const State& state, const std::function<bool()>& is_outdated) {
    const models::Inputs inputs = session.inputs(state);
    require_playable(inputs, state.tiles);
    const int tiles = tiles_of(resolve_plan(inputs.plan, inputs.workload, state.tiles));
    const models::Inputs scaled = at_scale(inputs, predict::ScaleMode::kWeak, tiles, tiles);
    const std::vector<int> sizes = sizes_around(scaled, tiles);
    std::vector<std::optional<predict::Prediction>> points(sizes.size());
    std::atomic<bool> outdated{false};
    tbb::parallel_for(std::size_t{0}, sizes.size(), [&](std::size_t i) {
        if (outdated || is_outdated()) {
            outdated = true;
            return;
        }
        try {
            points[i] = predict::predict(scaled, {.tiles = sizes[i], .sensitivity = false}).prediction;
        } catch (const InputError&) {
            return;  // a size that the plan does not divide: the curve has no point there
        }
    });
    return outdated ? "{\"outdated\":true}" : points_json(points);
}

}  // namespace auspex::explore
