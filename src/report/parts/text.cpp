/// @file Escapes.
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

const char* html_entity(char c) {
    switch (c) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        case '\'': return "&#39;";
        default: return nullptr;
    }
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string html_escape(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        if (const char* entity = html_entity(c)) {
            out += entity;
        } else {
            out += is_control(c) && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

std::string markdown_escape(std::string_view text) {
    constexpr std::string_view kMarkup = "\\`*_{}[]<>#|~$";
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (kMarkup.find(c) != std::string_view::npos) {
            out += '\\';
            out += c;
        } else {
            out += is_control(c) ? ' ' : c;
        }
    }
    return out;
}

}  // namespace auspex::report
