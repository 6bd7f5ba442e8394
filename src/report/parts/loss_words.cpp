/// @file Words for losses.
#include "report/parts/loss_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/parts/text.hpp"

namespace auspex::report {

std::string readable(schedule::Loss loss) {
    if (loss == schedule::Loss::kOptimizer) {
        return "optimizer (update kernels)";
    }
    std::string name = to_string(loss);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string change_text(double seconds) {
    constexpr double kRounding = 1e-9;
    return signed_significant(std::abs(seconds) < kRounding ? 0 : seconds);
}

const char* plain_name(schedule::Loss loss) {
    constexpr std::array<const char*, schedule::kLossCount> kNames{"useful compute",
                                                                   "recomputing",
                                                                   "idle pipeline stages",
                                                                   "tensor-parallel communication",
                                                                   "expert-parallel communication",
                                                                   "data-parallel communication",
                                                                   "messages between pipeline stages",
                                                                   "context-parallel communication",
                                                                   "copies of activations to the host and back",
                                                                   "the optimizer's update kernels",
                                                                   "unequal load of the experts",
                                                                   "slow or jittering tiles",
                                                                   "other waiting",
                                                                   "the host, which issues kernels too slowly"};
    return kNames.at(static_cast<std::size_t>(loss));
}

std::string share_in_words(double share) {
    constexpr double kNear = 0.015;
    struct Fraction {
        double value;
        const char* words;
    };
    constexpr std::array<Fraction, 9> kFractions{{{1.0 / 2, "half"},
                                                  {1.0 / 3, "a third"},
                                                  {2.0 / 3, "two thirds"},
                                                  {1.0 / 4, "a quarter"},
                                                  {3.0 / 4, "three quarters"},
                                                  {1.0 / 5, "a fifth"},
                                                  {2.0 / 5, "two fifths"},
                                                  {3.0 / 5, "three fifths"},
                                                  {4.0 / 5, "four fifths"}}};
    const auto nearest = std::ranges::min_element(
        kFractions, {}, [share](const Fraction& fraction) { return std::abs(fraction.value - share); });
    return std::abs(nearest->value - share) <= kNear ? nearest->words : percent(share, 0);
}

}  // namespace auspex::report
