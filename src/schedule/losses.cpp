/// @file Names and meanings of the losses, and their mean.
#include "schedule/losses.hpp"

#include "base/error.hpp"

namespace auspex::schedule {
namespace {

struct LossText {
    const char* name;
    const char* meaning;
};

constexpr std::array<LossText, kLossCount> kLosses{{
    {"useful_compute",
     "The forward and backward pass, each operation counted once: arithmetic, memory traffic, and the launches of its "
     "kernels."},
    {"recompute",
     "Forward operations run a second time in the backward pass, because their results were not kept in order to save "
     "memory."},
    {"bubble",
     "A pipeline stage has nothing to do: it waits for the first micro-batch to arrive or for the last one to leave "
     "the other stages."},
    {"exposed_tp",
     "Tensor-parallel communication (pieces of one layer's result exchanged between tiles) that no compute hides."},
    {"exposed_ep",
     "Expert-parallel communication (tokens sent to the tiles of their experts and back) that no compute hides."},
    {"exposed_dp",
     "Data-parallel communication (gradients summed and weights shared between replicas) that no compute hides."},
    {"exposed_pp", "Pipeline messages (activations and gradients passed between stages) that no compute hides."},
    {"exposed_cp",
     "Context-parallel communication (parts of one long sequence exchanged between tiles) that no compute hides."},
    {"exposed_host", "Copies of saved activations to the host's memory and back that no compute hides."},
    {"optimizer",
     "The weight update itself: reading gradients and moments and writing new weights, after the backward pass."},
    {"imbalance", "Waiting for the tile whose experts received more tokens than the others'."},
    {"jitter", "Waiting for tiles that are slower than the mean, for good or for a moment."},
    {"waiting",
     "Host work once a step, barriers, synchronisation with the host, and waiting for other stages after a stage's "
     "last backward pass."},
    {"host_bound",
     "The device has nothing to do: the host takes longer to issue a pass's kernels than the device takes to run "
     "them."},
}};

const LossText& text_of(Loss loss) {
    const auto index = static_cast<std::size_t>(loss);
    AUSPEX_CHECK(index < kLossCount, "a loss is one of the enum");
    return kLosses[index];
}

}  // namespace

const char* to_string(Loss loss) { return text_of(loss).name; }

const char* meaning_of(Loss loss) { return text_of(loss).meaning; }

LossTimes mean_losses(const std::vector<LossTimes>& by_actor, Picoseconds step) {
    LossTimes mean{};
    const auto actors = static_cast<Picoseconds>(by_actor.size());
    Picoseconds left = step;
    std::array<Picoseconds, kLossCount> remainder{};
    for (std::size_t loss = 0; loss < kLossCount; ++loss) {
        for (const LossTimes& losses : by_actor) {
            mean[loss] += losses[loss] / actors;
            remainder[loss] += losses[loss] % actors;
        }
        mean[loss] += remainder[loss] / actors;
        remainder[loss] %= actors;
        left -= mean[loss];
    }
    for (std::size_t loss = 0; loss < kLossCount && left > 0; ++loss) {
        if (remainder[loss] > 0) {
            ++mean[loss];
            --left;
        }
    }
    return mean;
}

}  // namespace auspex::schedule
