#pragma once
/// @file The loss of a training run, drawn.
#include <string>
#include <vector>

#include "report/parts/picture.hpp"

namespace auspex::report {

struct LossPoint {
    int step = 0;
    double loss = 0;
};

/// Loss against steps, as inline SVG. Points that are not finite are left out; requires at least one that is.
[[nodiscard]] std::string training_loss_chart(const std::string& title, const std::vector<LossPoint>& points,
                                              double width = kPagePicture);

struct LossCurve {
    std::string name;
    std::vector<LossPoint> points;
};
/// Several runs over one another, at most seven, with a legend where they are more than one.
[[nodiscard]] std::string training_loss_chart(const std::string& title, const std::vector<LossCurve>& curves,
                                              double width = kPagePicture);

}  // namespace auspex::report
