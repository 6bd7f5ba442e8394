#pragma once
/// @file Pages as text, looked into.
#include <algorithm>
#include <string>
#include <vector>

namespace auspex::report {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

/// What stands between script and style elements: there "<" is no tag.
inline std::string without_code(std::string html) {
    for (const char* const name : {"script", "style"}) {
        const std::string open = std::string("<") + name, close = std::string("</") + name + ">";
        for (std::size_t at = html.find(open); at != std::string::npos; at = html.find(open, at)) {
            const std::size_t end = html.find(close, at);
            html.erase(at, end == std::string::npos ? end : end + close.size() - at);
        }
    }
    return html;
}

/// The first tag that is not closed in order, or "" if all are.
inline std::string first_unbalanced_tag(const std::string& page) {
    const std::string html = without_code(page);
    const std::vector<std::string> never_closed{"meta", "br", "wbr", "hr", "!DOCTYPE"};
    std::vector<std::string> open;
    for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
        const std::size_t end = html.find('>', at);
        if (end == std::string::npos) {
            return "a tag without an end";
        }
        const std::string tag = html.substr(at + 1, end - at - 1);
        const bool closes = tag[0] == '/';
        const std::string name = tag.substr(closes ? 1 : 0, tag.find_first_of(" /\n", 1) - (closes ? 1 : 0));
        if (closes) {
            if (open.empty() || open.back() != tag.substr(1)) {
                return tag;
            }
            open.pop_back();
        } else if (tag.back() != '/' &&
                   std::find(never_closed.begin(), never_closed.end(), name) == never_closed.end()) {
            open.push_back(name);
        }
    }
    return open.empty() ? "" : open.back();
}

}  // namespace auspex::report
