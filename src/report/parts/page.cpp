/// @file Pages as markup.
#include "report/parts/page.hpp"

#include <algorithm>

#include "report/parts/page_assets.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

std::string class_attribute(std::string_view css) { return css.empty() ? "" : " class=\"" + html_escape(css) + "\""; }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string navigation(const std::vector<Section>& sections) {
    std::string out = "<nav aria-label=\"Sections\"><ul>\n";
    for (const Section& section : sections) {
        if (!section.markup.empty()) {
            out += "<li><a href=\"#" + html_escape(section.id) + "\">" + html_escape(section.title) + "</a></li>\n";
        }
    }
    return out + "</ul></nav>\n";
}

std::string scripts_for(const std::string& body, const std::vector<const char*>& more) {
    std::vector<const char*> scripts;
    if (has(body, "<table")) {
        scripts.push_back(kTablesScript);
    }
    if (has(body, "<metadata>")) {
        scripts.push_back(kCrosshairScript);
    }
    if (has(body, "<div class=\"timeline\"")) {
        scripts.push_back(kTimelineScript);
    }
    scripts.insert(scripts.end(), more.begin(), more.end());
    std::string out;
    for (const char* script : scripts) {
        out += "<script>\n" + std::string(script) + "</script>\n";
    }
    return out;
}

/// A number and its unit stay on one line.
std::string unbroken_numbers(const std::string& text) {
    const auto is_unit = [&](std::size_t at) {
        for (const std::string_view unit : {"%", "s", "ms", "us", "GB", "GB/s", "MFU"}) {
            const std::size_t end = at + unit.size();
            const bool ends =
                end >= text.size() || std::string_view(" ,;:.)").find(text[end]) != std::string_view::npos;
            if (text.compare(at, unit.size(), unit) == 0 && ends) {
                return true;
            }
        }
        return false;
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool follows_number = i > 0 && ((text[i - 1] >= '0' && text[i - 1] <= '9') || text[i - 1] == '%');
        out += text[i] == ' ' && follows_number && is_unit(i + 1) ? std::string("\u00a0") : std::string(1, text[i]);
    }
    return out;
}

std::string first_screen(const FirstScreen& first) {
    const std::string cards = first.cards.empty() ? "" : html_cards(first.cards);
    if (first.figure.empty()) {
        return cards + first.remarks;
    }
    return "<div class=\"first\">\n" + first.figure + cards + "</div>\n" + first.remarks;
}

}  // namespace

std::string html_heading(std::string_view id, std::string_view text) {
    return "<h2 id=\"" + html_escape(id) + "\">" + html_escape(text) + "</h2>\n";
}

std::string html_paragraph(std::string_view text, std::string_view css) {
    return "<p" + class_attribute(css) + ">" + html_escape(text) + "</p>\n";
}

std::string html_list(const std::vector<std::string>& items) {
    std::string out = "<ul>\n";
    for (const std::string& item : items) {
        out += "<li>" + html_escape(item) + "</li>\n";
    }
    return out + "</ul>\n";
}

std::string html_details(std::string_view summary, const std::string& body) {
    return "<details><summary>" + html_escape(summary) + "</summary>\n" + body + "</details>\n";
}

std::string html_cards(const std::vector<Card>& cards) {
    std::string out = "<div class=\"cards\">\n";
    for (const Card& card : cards) {
        out += "<div class=\"card\"><b" + std::string(card.bad ? " class=\"bad\"" : "") + ">" +
               html_escape(card.value) + "</b><span>" + html_escape(card.meaning) + "</span></div>\n";
    }
    return out + "</div>\n";
}

std::string html_provenance(std::string_view command, const std::vector<InputFile>& inputs,
                            const std::vector<std::string>& overrides) {
    std::string out = html_paragraph(std::string("auspex ") + AUSPEX_VERSION + ". This command makes the page again:") +
                      "<pre>" + html_escape(command) + "</pre>\n";
    if (!inputs.empty()) {
        TableRows rows{{{"input"}, main_column({"file"}), {"SHA-256 of the file"}}};
        for (const InputFile& input : inputs) {
            rows.push_back({{input.role}, {input.file, "path"}, {input.sha256, "path"}});
        }
        out += html_table(rows, "Files that were read.", {.is_sorted = true});
    }
    return overrides.empty() ? out : out + html_paragraph("Changed on the command line:") + html_list(overrides);
}

std::string source_line(std::string_view command, const std::vector<InputFile>& inputs) {
    const std::size_t flags = std::min(command.find(" --"), command.size());
    const std::size_t words = command.find(' ', std::min(command.find(' '), command.size() - 1) + 1);
    std::string out = std::string(command.substr(0, std::min(flags, words))) + " " + AUSPEX_VERSION;
    for (const InputFile& input : inputs) {
        out += input.role == "machine" ? ", " + input.file : "";
    }
    return out;
}

std::string html_caption(const Caption& caption) {
    std::string out = "<figcaption>";
    out += caption.title.empty() ? "" : "<b>" + html_escape(caption.title) + "</b>";
    out += html_escape(caption.how_to_read);
    out += caption.source.empty() ? "" : "<span class=\"from\">Source: " + html_escape(caption.source) + "</span>";
    return out + "</figcaption>";
}

std::string html_figure(const Picture& picture, const Caption& caption) {
    return "<figure><div class=\"picture\"><div class=\"wide\">\n" + picture.wide + "</div><div class=\"phone\">\n" +
           picture.phone + "</div></div>" + html_caption(caption) + "</figure>\n";
}

std::string html_page(const FirstScreen& first, const std::vector<Section>& sections,
                      const std::vector<const char*>& scripts) {
    std::string body = first_screen(first);
    for (const Section& section : sections) {
        if (!section.markup.empty()) {
            body += "<section aria-labelledby=\"" + html_escape(section.id) + "\">\n" +
                    html_heading(section.id, section.title) + section.markup + "</section>\n";
        }
    }
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
           html_escape(first.title) + "</title>\n<style>\n" + kPictureStyle + kPageStyle +
           "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">To the content</a>\n<header>\n" +
           html_paragraph(first.kind, "kind") + "<h1>" + html_escape(unbroken_numbers(first.headline)) +
           "</h1>\n</header>\n" + navigation(sections) + "<main id=\"content\">\n" + body + "</main>\n" +
           scripts_for(body, scripts) + "</body>\n</html>\n";
}

}  // namespace auspex::report
