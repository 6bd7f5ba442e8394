#pragma once
/// @file Models and layouts drawn at random, for comparisons that nobody has seen before they are made.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace auspex::workflows {

/// What is drawn, and from where. Every choice is uniform among those listed or within the limits, sizes by their
/// logarithm; what does not fit together is drawn again.
///   a model    three of four small: 2 to 8 layers, 2 to 12 heads of 16 to 64, hidden 64 to 512, 64 to 384 tokens,
///              300 to 8,000 words, three of ten with fewer key-value heads; seven of ten with experts: 4 to 24 of 32
///              to 384, top 1 to 4, one of five with a dense layer first; else feed-forwards of 1.5 to 4 times hidden
///              the fourth large: 1 to 3 layers, hidden 1,024 to 2,048, heads of 64 or 128, 512 to 2,048 tokens, 50,304
///              words, 4 to 16 experts of 512 to 1,024, top 1 to 4, or none
///   a layout   1, 2, 3, 4, 6, 8, 12 or 16 ranks, as far as there are so many: dp, ep, tp and pp, 1 to 8 micro-batches
///              of 1 to 4 sequences, GPipe, 1F1B or two interleaved chunks, bf16 (gradients bf16 or fp32) one of four,
///              optimizer, dispatch, expert kernels, recompute, sequence parallelism
struct RandomDraw {
    int layouts = 0;  ///< in all: kLayoutsOfAModel for every model, fewer for the last; 0: none
    std::uint64_t seed = 1;
};
inline constexpr int kLayoutsOfAModel = 4;

/// JSON texts of a plan and its model, named by what they are: "07-dp2-tp2-1f1b" on "02-moe-h384-s96".
struct DrawnLayout {
    std::string plan_name, plan, workload_name, workload;
};

/// The same for the same arguments on every computer. `takes` says whether a layout can be run and predicted, and is of
/// a size that is worth it; what it does not take is drawn again. Throws InputError where nothing is found.
std::vector<DrawnLayout> draw_layouts(const RandomDraw& draw, int max_ranks,
                                      const std::function<bool(const DrawnLayout&)>& takes);

}  // namespace auspex::workflows
