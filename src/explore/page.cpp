/// @file The page's files put together.
#include "explore/page.hpp"

#include <sstream>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "report/parts/page_assets.hpp"

namespace auspex::explore {
namespace {

std::string state_json(const State& state) {
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object();
        for (std::size_t role = 0; role < kRoles.size(); ++role) {
            json.member(kRoles.at(role), state.names.at(role));
        }
        json.member("tiles", state.tiles).member("tokens", state.tokens).key("set").begin_array();
        for (const std::string& text : state.overrides) {
            json.value(text);
        }
        json.end_array().member("version", AUSPEX_VERSION).end_object();
    }
    std::string text = out.str();
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
        text.replace(at, 1, "\\u003c");  // "<" would end the script element
    }
    return text;
}

void fill(std::string& page, const std::string& place, const std::string& text) {
    const std::size_t at = page.find(place);
    AUSPEX_CHECK(at != std::string::npos, "explore.html has the places that are filled");
    page.replace(at, place.size(), text);
}

}  // namespace

std::string explore_page(const State& start, const std::string& engine) {
    std::string page = kPage;
    fill(page, "/* style */", std::string(report::kPictureStyle) + report::kPageStyle + kPageStyle);
    fill(page, "/* start */", state_json(start));
    fill(page, "<!-- engine -->",
         engine.empty() ? ""
                        : "<script type=\"text/plain\" id=\"engine\">" + engine + "</script>\n<script>\n" +
                              kWorkersScript + "</script>");
    fill(page, "/* scripts */",
         std::string(report::kTimelineScript) + kAskScript + kFieldsScript + kPicturesScript + kExploreScript);
    return page;
}

}  // namespace auspex::explore
