/// @file Pictures as files.
#include "report/parts/picture.hpp"

#include <charconv>
#include <vector>

#include "base/error.hpp"
#include "report/parts/page_assets.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

constexpr double kLine = 19, kMargin = 14;

/// Width and height of viewBox="0 0 W H".
std::pair<double, double> size_of(const std::string& svg) {
    const std::string attribute = "viewBox=\"0 0 ";
    const std::size_t at = svg.find(attribute);
    AUSPEX_CHECK(at != std::string::npos, "a picture has a size");
    const char* const end = svg.data() + svg.size();
    double width = 0, height = 0;
    const auto read = std::from_chars(svg.data() + at + attribute.size(), end, width);
    std::from_chars(read.ptr + 1, end, height);
    return {width, height};
}

/// Lines of about `characters` at most, broken between words.
std::vector<std::string> lines_of(std::string_view text, std::size_t characters) {
    std::vector<std::string> lines;
    while (text.size() > characters) {
        std::size_t end = text.rfind(' ', characters);
        end = end == std::string_view::npos || end == 0 ? text.find(' ', characters) : end;
        if (end == std::string_view::npos) {
            break;
        }
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    if (!text.empty()) {
        lines.emplace_back(text);
    }
    return lines;
}

std::string text_lines(const std::vector<std::string>& lines, double first_y, std::string_view css) {
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        out += "<text x=\"" + fixed(kMargin, 0) + "\" y=\"" + fixed(first_y + kLine * static_cast<double>(i), 1) +
               "\" class=\"" + std::string(css) + "\">" + html_escape(lines[i]) + "</text>\n";
    }
    return out;
}

}  // namespace

std::string standalone_svg(const std::string& inline_svg, std::string_view title, std::string_view source) {
    constexpr double kTitleLetter = 9.3, kLetter = 7.6;
    const auto [width, height] = size_of(inline_svg);
    const auto characters = [room = width - 2 * kMargin](double letter) {
        return static_cast<std::size_t>(room / letter);
    };
    const std::vector<std::string> head = lines_of(title, characters(kTitleLetter));
    const std::vector<std::string> foot =
        lines_of(source.empty() ? std::string() : "Source: " + std::string(source), characters(kLetter));
    const double above = head.empty() ? 0 : kLine * static_cast<double>(head.size()) + 10;
    const double below = foot.empty() ? 0 : kLine * static_cast<double>(foot.size()) + 6;
    const std::size_t open = inline_svg.find("<svg "), body = inline_svg.find('>', open) + 1;
    std::string tag = inline_svg.substr(open, body - open);
    const std::string box = "viewBox=\"0 0 ";
    const std::size_t box_at = tag.find(box), box_end = tag.find('"', box_at + box.size());
    tag.replace(box_at, box_end - box_at, box + fixed(width, 0) + " " + fixed(above + height + below, 0));
    tag.insert(5, "xmlns=\"http://www.w3.org/2000/svg\" ");
    const std::size_t end = inline_svg.rfind("</svg>");
    std::string drawing = inline_svg.substr(body, end - body);
    const std::string readout_end = "</metadata>\n";
    if (const std::size_t readout = drawing.find("<metadata>"); readout != std::string::npos) {  // for a page's script
        drawing.erase(readout, drawing.find(readout_end) + readout_end.size() - readout);
    }
    return tag + "\n<style>" + kPictureStyle +
           "svg{font:13.5px system-ui,\"Liberation Sans\",sans-serif;background:var(--page)}</style>\n" +
           text_lines(head, 22, "headline") + "<g transform=\"translate(0 " + fixed(above, 0) + ")\">\n" + drawing +
           "</g>\n" + text_lines(foot, above + height + 14, "tick") + "</svg>\n";
}

}  // namespace auspex::report
