/// @file Draws of constants, and where two lines cross.
#include "sim/search/answers/choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/rng.hpp"

namespace auspex::search {
namespace {

constexpr int kDraws = 20'000;
constexpr double kEqual = 1e-9;  // of ln step
constexpr double kFarthest = 5;  // standard deviations

/// Elasticities of all plans to one constant.
struct Leaning {
    Constant constant;
    std::vector<double> elasticities;
};

std::vector<Leaning> leanings_of(const std::vector<RankedPlan>& ranked) {
    std::map<std::string, Leaning> by_path;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
        for (const predict::ConstantSensitivity& one : ranked[i].prediction.top_constants) {
            Leaning& leaning = by_path[one.constant.path];
            leaning.constant = one.constant;
            leaning.elasticities.resize(ranked.size(), 0);
            leaning.elasticities[i] = one.elasticity;
        }
    }
    std::vector<Leaning> list;
    for (auto& [path, leaning] : by_path) {
        list.push_back(std::move(leaning));
    }
    return list;
}

std::vector<double> probabilities(const std::vector<RankedPlan>& ranked, const std::vector<Leaning>& leanings,
                                  std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> wins(ranked.size(), 0), steps(ranked.size());
    for (int draw = 0; draw < kDraws; ++draw) {
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            steps[i] = std::log(ranked[i].lead.ratio);
        }
        for (const Leaning& leaning : leanings) {
            const double change = rng.normal() * leaning.constant.relative_uncertainty;
            for (std::size_t i = 0; i < ranked.size(); ++i) {
                steps[i] += leaning.elasticities[i] * change;
            }
        }
        const double least = *std::ranges::min_element(steps) + kEqual;
        const auto equal = static_cast<double>(std::ranges::count_if(steps, [&](double s) { return s <= least; }));
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            wins[i] += steps[i] <= least ? 1 / equal / kDraws : 0;
        }
    }
    return wins;
}

}  // namespace

Choice judge_choice(const std::vector<RankedPlan>& ranked, std::uint64_t seed) {
    const std::vector<Leaning> leanings = leanings_of(ranked);
    Choice choice{probabilities(ranked, leanings, seed), {}};
    for (const Leaning& leaning : leanings) {
        DecidingConstant nearest{leaning.constant};
        for (std::size_t i = 1; i < ranked.size(); ++i) {
            const double distance = std::log(ranked[i].lead.ratio);
            const double slope = leaning.elasticities[i] - leaning.elasticities.front();
            const double change = -distance / slope;  // of ln constant
            const double deviations = std::abs(change) / leaning.constant.relative_uncertainty;
            if (distance > kEqual && deviations <= kFarthest &&
                (nearest.rival == 0 || deviations < nearest.deviations)) {
                nearest.rival = i;
                nearest.factor = std::exp(change);
                nearest.deviations = deviations;
            }
        }
        if (nearest.rival > 0) {
            choice.constants.push_back(std::move(nearest));
        }
    }
    std::ranges::stable_sort(choice.constants, {}, &DecidingConstant::deviations);
    return choice;
}

}  // namespace auspex::search
