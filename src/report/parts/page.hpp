#pragma once
/// @file Parts that HTML pages are made of: first screen, sections, figures. Every text given is escaped here, once.
#include <string>
#include <string_view>
#include <vector>

#include "report/parts/html_table.hpp"
#include "report/parts/input_file.hpp"
#include "report/parts/picture.hpp"

namespace auspex::report {

/// A heading that the navigation can point to.
[[nodiscard]] std::string html_heading(std::string_view id, std::string_view text);
/// A <p> with the class `css`, which may be empty.
[[nodiscard]] std::string html_paragraph(std::string_view text, std::string_view css = {});
/// A bulleted list.
[[nodiscard]] std::string html_list(const std::vector<std::string>& items);
/// `body` is markup already; folded until somebody opens it.
[[nodiscard]] std::string html_details(std::string_view summary, const std::string& body);
/// A big value over its meaning; `bad` in the colour of a warning. Of html_cards.
struct Card {
    std::string value, meaning;
    bool bad = false;
};
[[nodiscard]] std::string html_cards(const std::vector<Card>& cards);
/// The command that makes the page again, files and changes, without a heading.
[[nodiscard]] std::string html_provenance(std::string_view command, const std::vector<InputFile>& inputs,
                                          const std::vector<std::string>& overrides);

/// Where a picture is from: "auspex scale 0.1.0, machines/aurora.json": command, version, machine file, if there is
/// one among the inputs.
[[nodiscard]] std::string source_line(std::string_view command, const std::vector<InputFile>& inputs);
/// What stands below a picture.
struct Caption {
    std::string title, how_to_read;
    std::string source;  ///< of source_line
};
/// The <figcaption> element.
[[nodiscard]] std::string html_caption(const Caption& caption);
[[nodiscard]] std::string html_figure(const Picture& picture, const Caption& caption);

/// A part of a page under a heading; a section without markup is left out.
struct Section {
    std::string id, title;
    std::string markup;
};

/// What a page begins with.
struct FirstScreen {
    std::string title;     ///< of the window: what the page is about
    std::string kind;      ///< the same above the headline, in small print
    std::string headline;  ///< the finding, in a sentence with numbers
    std::string figure;    ///< of html_figure; stands beside the cards; may be empty
    std::vector<Card> cards;
    std::string remarks;  ///< markup below: what has to be said at once
};

/// The whole document, which loads nothing: first screen, navigation, sections, with the scripts that its tables and
/// pictures need; `scripts` are more of them, run behind these.
[[nodiscard]] std::string html_page(const FirstScreen& first, const std::vector<Section>& sections,
                                    const std::vector<const char*>& scripts = {});

}  // namespace auspex::report
