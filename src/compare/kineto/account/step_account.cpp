/// @file Sweeps over a measured step, and the losses of a predicted one.
#include "compare/kineto/account/step_account.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "schedule/inspection/operation_loss.hpp"

namespace auspex::kineto {
namespace {

struct SpentText {
    const char* name;
    const char* meaning;
};

constexpr std::array<SpentText, kSpentCount> kTexts{{
    {"useful_compute", "Kernels of the forward and backward pass, each operation counted once."},
    {"recompute", "Forward operations run a second time in the backward pass."},
    {"optimizer", "The weight update."},
    {"launch_gaps", "The device is idle although the host has already launched the next kernel."},
    {"host", "The device waits for the host: Python, the framework, synchronisation, data."},
    {"exposed_tp", "Tensor-parallel communication that no compute hides."},
    {"exposed_ep", "Expert-parallel communication that no compute hides."},
    {"exposed_dp", "Data-parallel communication that no compute hides."},
    {"exposed_pp", "Pipeline messages on their way that no compute hides."},
    {"exposed_cp", "Context-parallel communication that no compute hides."},
    {"exposed_host", "Copies of activations to the host and back that no compute hides."},
    {"bubble", "Waiting for a message of another pipeline stage."},
    {"waiting", "Barriers and sums over all ranks, uneven routing, slower ranks."},
    {"other_kernels", "Kernels, copies and fills that match no operation of the plan."},
    {"other_communication", "Communication that matches none of the plan, and that no compute hides."},
}};

/// Goes over a step from event to event.
class Sweep {
 public:
    Sweep(const MeasuredStep& step, const PredictedRank& rank, const StepMatch& match, const schedule::Program& program)
        : step_(step), rank_(rank), match_(match), program_(program) {
        find_transfers();
    }

    SpentTimes run() && {
        struct Edge {
            Picoseconds at;
            bool begins;
            std::uint32_t kernel;
        };
        std::vector<Edge> edges;
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            if (step_.kernels[i].length() > 0) {
                edges.push_back({step_.kernels[i].start, true, i});
                edges.push_back({step_.kernels[i].end, false, i});
            }
        }
        std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
            return std::tuple(a.at, a.begins, a.kernel) < std::tuple(b.at, b.begins, b.kernel);
        });
        for (const Edge& edge : edges) {
            spend_until(edge.at, edge.begins ? edge.kernel : kNone);
            std::set<std::uint32_t>& active = communicates(edge.kernel) ? messages_ : compute_;
            if (edge.begins) {
                active.insert(edge.kernel);
            } else {
                active.erase(edge.kernel);
            }
        }
        spend_until(step_.length, kNone);
        return times_;
    }

 private:
    [[nodiscard]] bool communicates(std::uint32_t kernel) const {
        return step_.kernels[kernel].work == Work::kCommunication;
    }

    /// The shortest message of each size, sent or received, is taken as one that found its partner waiting.
    void find_transfers() {
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            if (kernel.is_message && kernel.length() > 0) {
                const auto [place, is_new] = transfers_.try_emplace(kernel.bytes, kernel.length());
                place->second = std::min(place->second, kernel.length());
            }
        }
    }

    void add(Spent spent, Picoseconds time) { times_[static_cast<std::size_t>(spent)] += time; }

    /// [now, at) has one set of active kernels; `next` begins at its end.
    void spend_until(Picoseconds at, std::uint32_t next) {
        if (at <= now_) {
            return;
        }
        if (!compute_.empty()) {
            add(spent_by_compute(*compute_.begin()), at - now_);
        } else if (!messages_.empty()) {
            spend_on_message(*messages_.begin(), at);
        } else {
            spend_idle(at, next);
        }
        now_ = at;
    }

    [[nodiscard]] Spent spent_by_compute(std::uint32_t kernel) const {
        const std::uint32_t slot = match_.slot[kernel];
        return slot == kNone ? Spent::kOtherKernels
                             : spent_of(schedule::loss_of(program_.operations[rank_.slots[slot].operation]));
    }

    void spend_on_message(std::uint32_t index, Picoseconds at) {
        const MeasuredKernel& kernel = step_.kernels[index];
        const std::uint32_t message = match_.message[index];
        if (message == kNone) {
            add(Spent::kOtherCommunication, at - now_);
            return;
        }
        if (!kernel.is_message) {
            add(spent_of(schedule::loss_of(program_.operations[rank_.messages[message].operation])), at - now_);
            return;
        }
        const Picoseconds leaves = kernel.end - transfers_.at(kernel.bytes);
        const Picoseconds waits = std::clamp<Picoseconds>(leaves - now_, 0, at - now_);
        add(Spent::kBubble, waits);
        add(Spent::kExposedPp, at - now_ - waits);
    }

    void spend_idle(Picoseconds at, std::uint32_t next) {
        constexpr Picoseconds kShort = 10'000'000, kLongLaunch = 50'000'000;  // 10, 50 us
        const Picoseconds gap = at - now_;
        if (next == kNone || !step_.has_device) {
            add(Spent::kHost, gap);
            return;
        }
        if (!step_.kernels[next].is_launch_known) {
            add(!step_.has_launches && gap <= kShort ? Spent::kLaunch : Spent::kHost, gap);
            return;
        }
        const Picoseconds host = std::clamp<Picoseconds>(step_.kernels[next].launched - now_, 0, gap);
        const Picoseconds launch = std::min(gap - host, kLongLaunch);
        add(Spent::kHost, host);
        add(Spent::kLaunch, launch);
        add(Spent::kWaiting, gap - host - launch);
    }

    const MeasuredStep& step_;
    const PredictedRank& rank_;
    const StepMatch& match_;
    const schedule::Program& program_;
    std::map<double, Picoseconds> transfers_;     ///< by bytes
    std::set<std::uint32_t> compute_, messages_;  ///< active: of two the one that began first is in front
    Picoseconds now_ = 0;
    SpentTimes times_{};
};

}  // namespace

const char* to_string(Spent spent) {
    AUSPEX_CHECK(static_cast<std::size_t>(spent) < kSpentCount, "one of the names");
    return kTexts[static_cast<std::size_t>(spent)].name;
}

const char* meaning_of(Spent spent) {
    AUSPEX_CHECK(static_cast<std::size_t>(spent) < kSpentCount, "one of the names");
    return kTexts[static_cast<std::size_t>(spent)].meaning;
}

Spent spent_of(schedule::Loss loss) {
    switch (loss) {
        case schedule::Loss::kUsefulCompute: return Spent::kUseful;
        case schedule::Loss::kRecompute: return Spent::kRecompute;
        case schedule::Loss::kOptimizer: return Spent::kOptimizer;
        case schedule::Loss::kBubble: return Spent::kBubble;
        case schedule::Loss::kExposedTp: return Spent::kExposedTp;
        case schedule::Loss::kExposedEp: return Spent::kExposedEp;
        case schedule::Loss::kExposedDp: return Spent::kExposedDp;
        case schedule::Loss::kExposedPp: return Spent::kExposedPp;
        case schedule::Loss::kExposedCp: return Spent::kExposedCp;
        case schedule::Loss::kExposedHost: return Spent::kExposedHost;
        case schedule::Loss::kHostBound: return Spent::kHost;
        default: return Spent::kWaiting;
    }
}

SpentTimes measured_times(const MeasuredStep& step, const PredictedRank& rank, const StepMatch& match,
                          const schedule::Program& program) {
    return Sweep(step, rank, match, program).run();
}

SpentTimes predicted_times(const predict::SimulatedStep& step, const PredictedRank& rank) {
    SpentTimes times{};
    const auto at = [&times](Spent spent) -> Picoseconds& { return times[static_cast<std::size_t>(spent)]; };
    const schedule::LossTimes& losses =
        step.role_losses.empty() ? step.losses : step.role_losses[static_cast<std::size_t>(rank.stage)];
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        at(spent_of(static_cast<schedule::Loss>(loss))) += losses[loss];
    }
    const auto move = [&at](Spent from, Spent to, double seconds) {
        const Picoseconds time = std::min(to_picoseconds(seconds), at(from));
        at(from) -= time;
        at(to) += time;
    };
    double launches = 0, recomputed = 0, updates = 0, host = 0;
    for (const Slot& slot : rank.slots) {
        (slot.pass == Pass::kOptimizer   ? updates
         : slot.pass == Pass::kRecompute ? recomputed
                                         : launches) += slot.launch_s;
    }
    for (const schedule::Span& span : rank.spans) {
        const auto kind = static_cast<schedule::OpKind>(span.name / schedule::kPhaseCount);
        const bool is_host = kind == schedule::OpKind::kHostSync || kind == schedule::OpKind::kStepHost;
        host += is_host ? to_seconds(span.end - span.start) : 0;
    }
    move(Spent::kUseful, Spent::kLaunch, launches);
    move(Spent::kRecompute, Spent::kLaunch, recomputed);
    move(Spent::kOptimizer, Spent::kLaunch, updates);
    move(Spent::kWaiting, Spent::kHost, host);
    return times;
}

}  // namespace auspex::kineto
