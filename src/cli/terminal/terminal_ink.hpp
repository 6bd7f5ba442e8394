#pragma once
/// @file Colour on terminals: headings, errors, notes and what does not fit, by what a line says, so that the text of
/// every command is the same with and without it.
#include <ostream>
#include <streambuf>
#include <string>

namespace auspex::cli {

/// Whether text on the open file `descriptor` may be coloured: it is a terminal other than TERM=dumb, and NO_COLOR
/// (https://no-color.org) is unset or empty.
[[nodiscard]] bool has_color(int descriptor);

/// Colours what is written to a stream while it lives. Escape sequences are the only difference: headings (a line over
/// an indented one, after an empty line or the first) are bold, what an error begins with and "does not fit" red,
/// "Note:" yellow. A heading is held back until its next line or a flush.
class TerminalInk : public std::streambuf {
 public:
    explicit TerminalInk(std::ostream& stream);
    ~TerminalInk() override;
    TerminalInk(const TerminalInk&) = delete;
    TerminalInk& operator=(const TerminalInk&) = delete;

 protected:
    int_type overflow(int_type character) override;
    int sync() override;

 private:
    void end_line();
    void put(const std::string& text);

    std::ostream& stream_;
    std::streambuf* terminal_;
    std::string line_;            ///< so far
    std::string held_;            ///< a heading, if the next line is indented
    bool is_after_empty_ = true;  ///< nothing or an empty line stands above
    bool is_written_ = true;      ///< the terminal took everything
};

}  // namespace auspex::cli
