#pragma once
/// @file A played order of passes as a picture: a row for each rank.
#include <string>

#include "report/parts/picture.hpp"
#include "sim/orders/play_order.hpp"

namespace auspex::report {

/// Inline SVG: forward passes, gradients of inputs, of weights, whole backward passes and pairs in a colour each, with
/// the number of the micro-batch where there is room; passes of another stage than a rank's first one paler. Passes too
/// narrow to be seen are drawn together.
[[nodiscard]] std::string order_chart(const orders::PlayedOrder& played, const std::string& title,
                                      double width = kPagePicture);

}  // namespace auspex::report
