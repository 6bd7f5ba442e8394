/// @file SVG elements as text.
#include "report/parts/svg.hpp"

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {

namespace {

std::string attribute(std::string_view name, double value) {
    return " " + std::string(name) + "=\"" + fixed(value, 1) + "\"";
}

std::string css_class(std::string_view css) { return " class=\"" + std::string(css) + "\""; }

std::string point_list(const std::vector<SvgPoint>& points) {
    std::string out = " points=\"";
    for (std::size_t i = 0; i < points.size(); ++i) {
        out += (i == 0 ? "" : " ") + fixed(points[i].x, 1) + "," + fixed(points[i].y, 1);
    }
    return out + "\"";
}

/// A shape with its tooltip inside, or closed at once.
std::string element(std::string_view name, const std::string& attributes, std::string_view tooltip) {
    const std::string open = "<" + std::string(name) + attributes;
    if (tooltip.empty()) {
        return open + "/>\n";
    }
    return open + "><title>" + html_escape(tooltip) + "</title></" + std::string(name) + ">\n";
}

/// As a JSON array.
std::string quoted_list(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (std::size_t i = 0; i < texts.size(); ++i) {
        out += (i > 0 ? "," : "") + json_quote(texts[i]);
    }
    return out + "]";
}

}  // namespace

double SvgScale::operator()(double value) const {
    const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
}

void spread_labels(std::vector<SvgLabel>& labels, double gap, double top, double bottom) {
    std::stable_sort(labels.begin(), labels.end(), [](const SvgLabel& a, const SvgLabel& b) { return a.y < b.y; });
    double lowest_free = top;
    for (SvgLabel& label : labels) {
        label.y = std::max(label.y, lowest_free);
        lowest_free = label.y + gap;
    }
    double highest_free = bottom;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
        label->y = std::min(label->y, highest_free);
        highest_free = label->y - gap;
    }
}

std::vector<double> round_ticks(double low, double high, int wanted) {
    const double raw = (high - low) / wanted;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    const double lead = raw / power;
    const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
    std::vector<double> ticks;
    const auto first = static_cast<long>(std::floor(low / step + 1e-9));
    const auto last = static_cast<long>(std::ceil(high / step - 1e-9));
    for (long tick = first; tick <= last; ++tick) {
        ticks.push_back(static_cast<double>(tick) * step);
    }
    return ticks;
}

std::vector<double> wide_ticks(double low, double high, int wanted) {
    constexpr double kReach = 0.1;
    return high > (1 + kReach) * low ? round_ticks(low, high, wanted)
                                     : round_ticks((1 - kReach) * low, (1 + kReach) * high, wanted);
}

std::vector<double> decade_ticks(double low, double high) {
    std::vector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low))),
              last = static_cast<int>(std::floor(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
        const double power = std::pow(10.0, exponent);
        for (const double lead : {1.0, 2.0, 5.0}) {
            if (lead * power >= low && lead * power <= high) {
                ticks.push_back(lead * power);
            }
        }
    }
    if (ticks.size() < 3) {
        ticks = round_ticks(low, high, 5);
        std::erase_if(ticks, [low, high](double tick) { return tick < low || tick > high; });
    }
    return ticks;
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : width_(width), height_(height), label_(html_escape(title) + ". " + html_escape(description)) {}

void Svg::line(SvgPoint a, SvgPoint b, std::string_view css) {
    out_ += element(
        "line",
        attribute("x1", a.x) + attribute("y1", a.y) + attribute("x2", b.x) + attribute("y2", b.y) + css_class(css), {});
}

void Svg::polyline(const std::vector<SvgPoint>& points, std::string_view css) {
    out_ += element("polyline", point_list(points) + css_class(css), {});
}

void Svg::polygon(const std::vector<SvgPoint>& points, std::string_view css) {
    out_ += element("polygon", point_list(points) + css_class(css), {});
}

void Svg::rect(SvgPoint corner, double width, double height, std::string_view css, std::string_view tooltip) {
    out_ += element("rect",
                    attribute("x", corner.x) + attribute("y", corner.y) + attribute("width", width) +
                        attribute("height", height) + css_class(css),
                    tooltip);
}

void Svg::dots(const std::vector<SvgPoint>& centers, std::string_view css) {
    std::string path;
    for (const SvgPoint& center : centers) {
        path += "M" + fixed(center.x, 0) + " " + fixed(center.y, 0) + "h0";
    }
    out_ += element("path", " d=\"" + path + "\"" + css_class(css), {});
}

void Svg::marker(SvgPoint center, std::size_t shape, std::string_view css, std::string_view tooltip) {
    const auto [x, y] = center;
    switch (shape % 5) {
        case 0:
            out_ += element("circle", attribute("cx", x) + attribute("cy", y) + attribute("r", 4.5) + css_class(css),
                            tooltip);
            return;
        case 1:
            out_ +=
                element("polygon", point_list({{x, y - 5}, {x + 5, y + 4}, {x - 5, y + 4}}) + css_class(css), tooltip);
            return;
        case 2: rect({x - 4, y - 4}, 8, 8, css, tooltip); return;
        case 3:
            out_ +=
                element("polygon",
                        point_list({{x, y - 5.5}, {x + 5.5, y}, {x, y + 5.5}, {x - 5.5, y}}) + css_class(css), tooltip);
            return;
        default:
            out_ +=
                element("polygon", point_list({{x - 5, y - 4}, {x + 5, y - 4}, {x, y + 5}}) + css_class(css), tooltip);
    }
}

void Svg::text(SvgPoint at, std::string_view text, std::string_view css, std::string_view anchor) {
    out_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + css_class(css) + " text-anchor=\"" +
            std::string(anchor) + "\">" + html_escape(text) + "</text>\n";
}

void Svg::text_upwards(SvgPoint at, std::string_view text, std::string_view css) {
    out_ += "<text transform=\"translate(" + fixed(at.x, 1) + " " + fixed(at.y, 1) + ") rotate(-90)\"" +
            css_class(css) + " text-anchor=\"middle\">" + html_escape(text) + "</text>\n";
}

void Svg::labels(const std::vector<SvgLabel>& labels, double from_x, double x) {
    constexpr double kSwatch = 10;
    for (const SvgLabel& label : labels) {
        if (label.is_led) {
            line({from_x, label.anchor_y}, {x - 4, label.y}, "leader");
        }
        if (label.swatch >= 0) {
            rect({x, label.y - kSwatch / 2}, kSwatch, kSwatch, "l" + std::to_string(label.swatch), {});
        }
        const bool has_mark = label.curve >= 0 && !label.is_led;
        if (has_mark) {
            marker({x + kSwatch / 2, label.y}, label.shape, "mark v" + std::to_string(label.curve), {});
        }
        text({x + (label.swatch >= 0 || has_mark ? kSwatch + 6 : 0), label.y + 4.5}, label.text, label.css);
    }
}

void Svg::readout(const Readout& readout) {
    std::string json = "{\"top\":" + fixed(readout.top, 1) + ",\"bottom\":" + fixed(readout.bottom, 1) + ",\"x\":[";
    for (std::size_t i = 0; i < readout.x.size(); ++i) {
        json += (i > 0 ? "," : "") + fixed(readout.x[i], 1);
    }
    json += "],\"heads\":" + quoted_list(readout.heads) + ",\"series\":[";
    for (std::size_t i = 0; i < readout.series.size(); ++i) {
        const Readout::Series& series = readout.series[i];
        json += std::string(i > 0 ? "," : "") + "{\"name\":" + json_quote(series.name) + ",\"y\":[";
        for (std::size_t k = 0; k < series.y.size(); ++k) {
            json += (k > 0 ? "," : "") + (series.y[k] ? fixed(*series.y[k], 1) : std::string("null"));
        }
        json += "],\"texts\":" + quoted_list(series.texts) + "}";
    }
    std::string text;  // quotes may stand in an element, and there are many
    for (const char c : json + "]}") {
        text += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    out_ += "<metadata>" + text + "</metadata>\n";
}

std::string Svg::finish() && {
    return "<svg role=\"img\" viewBox=\"0 0 " + fixed(width_, 0) + " " + fixed(height_, 0) + "\" aria-label=\"" +
           label_ + "\">\n" + out_ + "</svg>\n";
}

}  // namespace auspex::report
