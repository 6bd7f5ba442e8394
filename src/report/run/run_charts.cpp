/// @file Where the step goes, in two bars a part.
#include "report/run/run_charts.hpp"

#include <algorithm>
#include <vector>

#include "report/parts/svg.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {

std::string spent_bars(const kineto::RunDiff& diff) {
    constexpr double kWidth = 860, kNames = 190, kEnd = 690, kRow = 30, kBar = 11, kHead = 36;
    std::vector<std::size_t> parts;
    double longest = 0;
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        const double most = std::max(diff.measured[i], diff.predicted[i]);
        if (most > 0) {
            parts.push_back(i);
            longest = std::max(longest, most);
        }
    }
    const SvgScale x{0, longest, kNames, kEnd};
    Svg svg(kWidth, kHead + kRow * static_cast<double>(parts.size()) + 8, "Where the step goes, measured and predicted",
            "measured " + duration(diff.measured_s) + ", predicted " + duration(diff.predicted_s));
    svg.rect({kNames, 8}, 11, 11, "l0", {});
    svg.text({kNames + 17, 18}, "measured", "tick");
    svg.rect({kNames + 110, 8}, 11, 11, "l2", {});
    svg.text({kNames + 127, 18}, "predicted", "tick");
    double y = kHead;
    for (const std::size_t i : parts) {
        svg.text({kNames - 8, y + kBar + 4.5}, to_string(static_cast<kineto::Spent>(i)), "tick", "end");
        svg.rect({kNames, y}, x(diff.measured[i]) - kNames, kBar, "l0", duration(diff.measured[i]));
        svg.rect({kNames, y + kBar}, x(diff.predicted[i]) - kNames, kBar, "l2", duration(diff.predicted[i]));
        svg.text({std::max(x(diff.measured[i]), x(diff.predicted[i])) + 8, y + kBar + 4.5},
                 duration(diff.measured[i]) + " / " + duration(diff.predicted[i]), "tick");
        y += kRow;
    }
    return std::move(svg).finish();
}

}  // namespace auspex::report
