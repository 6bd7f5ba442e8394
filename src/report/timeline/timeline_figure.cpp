/// @file A canvas, the picture in its place, and what the data has of the timeline.
#include "report/timeline/timeline_figure.hpp"

#include "report/parts/text.hpp"
#include "report/timeline/timeline_data.hpp"

namespace auspex::report {
namespace {

std::string what_is_shown(const TimelineData& data) {
    const std::string all = counted(static_cast<double>(data.operations), "operation");
    if (data.merged_below == 0) {
        return " Every operation is in it (" + all + "), with its times to the nanosecond.";
    }
    return " Of " + all + ", those of one micro-batch that follow one another within " +
           duration(to_seconds(data.merged_below)) +
           " are drawn as one, with their number: the page would be too large otherwise. auspex predict --trace has "
           "each.";
}

}  // namespace

std::string html_timeline(const std::vector<TimelinePanel>& panels, const Caption& caption, std::size_t most_bytes) {
    const TimelineData data = timeline_data(caption.title, panels, most_bytes);
    const Picture still =
        picture_of([&](double width) { return timeline_chart(caption.title, panels, width); }, kPagePicture);
    return "<figure><div class=\"timeline\"><script type=\"application/json\">" + data.json +
           "</script>\n<noscript><div class=\"picture\"><div class=\"wide\">\n" + still.wide +
           "</div><div class=\"phone\">\n" + still.phone + "</div></div></noscript></div>\n" +
           html_caption({caption.title, caption.how_to_read + what_is_shown(data), caption.source}) + "</figure>\n";
}

}  // namespace auspex::report
