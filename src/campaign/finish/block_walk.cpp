/// @file One block after another, each by its length.
#include "campaign/finish/block_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "campaign/blocks.hpp"
#include "campaign/drawn_length.hpp"

namespace auspex::campaign {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
/// More of them are taken as alike.
constexpr int kMostBlocks = 2'000;
/// And of more beside maintenances a run is taken to get nowhere.
constexpr double kMostWalks = 1e9;

}  // namespace

BlockWalk::BlockWalk(const Setting& setting, const RecoveryLaw& law, const MeanTime& open, double step_s)
    : set_(setting),
      law_(law),
      step_s_(step_s),
      idle_(open.exposed_s > 0 ? open.idle_s / open.exposed_s : 0),
      queued_(open.exposed_s > 0 ? open.queued_s / open.exposed_s : 0),
      queue_s_(mean_length_s(setting.blocks.queue_wait_s, setting.blocks.queue_wait_sigma)) {
    const double walltime_s = setting.blocks.walltime_s, requeue_rate = law.requeue_rate;
    // A job that leaves in time gives back what is too short for a step: half a one in the mean.
    const double used_s = walltime_s - (setting.checkpoints.at_block_end ? step_s / 2 : 0);
    length_s_ = walltime_s <= 0 ? kNoEnd : requeue_rate > 0 ? std::expm1(requeue_rate * used_s) / requeue_rate : used_s;
}

double BlockWalk::cost_of_end_s(double block_s) const {
    block_s = set_.blocks.walltime_s > 0 ? std::min(block_s, set_.blocks.walltime_s) : block_s;
    const Checkpoints& c = set_.checkpoints;
    const double work_s = static_cast<double>(std::min(c.every_steps, set_.steps)) * step_s_;
    const double stall_s = c.stall_s + (c.persistent_every > 0 ? c.persistent_stall_s / c.persistent_every : 0);
    const double all_s = work_s + stall_s, start_s = law_.start.exposed_s;
    const double quiet = std::exp(-law_.rate * std::min(block_s, 1e12));  // no failure has shifted the checkpoints
    if (!c.at_block_end) {
        const double free_s = block_s - start_s - c.write_s;
        const double left_s = free_s - std::floor(std::max(free_s, 0.0) / all_s) * all_s;
        return start_s + c.write_s + quiet * left_s + (1 - quiet) * all_s / 2;
    }
    // One checkpoint more than those of the steps between, less the part of an interval that it saves.
    const double free_s = std::max(block_s - start_s - stall_s - c.write_s, 0.0);
    const double whole = std::floor(free_s / all_s), done_s = free_s - whole * stall_s;
    const double more = quiet * (whole + 1 - done_s / work_s) + (1 - quiet) / 2;
    return start_s + c.write_s + more * stall_s;
}

LaidOut BlockWalk::lay_out(double exposed_s, double first) const {
    const double stretch = 1 + idle_ + queued_;
    LaidOut out;
    double left_s = exposed_s, now_s = 0;
    while (std::isfinite(left_s) && out.planned < kMostWalks) {
        const Stretch maintenance = maintenance_from(set_.blocks, to_nanoseconds(now_s));
        const bool has_maintenance = maintenance.begin < kNever;
        if (has_maintenance && to_seconds(maintenance.begin) <= now_s) {
            now_s = to_seconds(maintenance.end);
            continue;
        }
        const double free_s = has_maintenance ? to_seconds(maintenance.begin) - now_s : kNoEnd;
        const double block_s = std::min(length_s_ * (out.planned > 0 ? 1 : first), free_s / stretch);
        if (left_s <= block_s) {
            out.exposed_s += left_s;
            out.elapsed_s = now_s + left_s * stretch;
            out.held_s = out.exposed_s * (1 + idle_);
            return out;
        }
        const double on_s = block_s - cost_of_end_s(block_s);
        if (on_s <= 0 && !has_maintenance && out.planned > 0) {  // the first may be a part of one
            break;
        }
        const bool are_alike = out.planned >= kMostBlocks && !has_maintenance;
        const double count = are_alike ? std::ceil((left_s - block_s) / on_s) : 1;
        now_s += count * (block_s * stretch + queue_s_);
        out.exposed_s += count * block_s;
        left_s -= count * std::max(on_s, 0.0);
        out.planned += count;
    }
    return {kNoEnd, kNoEnd, kNoEnd, kNoEnd};
}

}  // namespace auspex::campaign
