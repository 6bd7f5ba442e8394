/// @file Lines and their colours.
#include "cli/terminal/terminal_ink.hpp"

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace auspex::cli {
namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[1;31m", kYellow = "\x1b[33m", kPlain = "\x1b[0m";

struct ColoredWords {
    std::string_view words;
    std::string_view color;
    bool begins_line;
};
constexpr ColoredWords kColored[] = {
    {"auspex: error:", kRed, true}, {"auspex: failed:", kRed, true}, {"Note:", kYellow, true}, {"note:", kYellow, true},
    {"does NOT fit", kRed, false},  {"does not fit", kRed, false},   {"too much", kRed, false}};

std::string in_color(std::string_view color, std::string_view text) {
    return std::string(color) + std::string(text) + std::string(kPlain);
}

std::string with_colored_words(std::string line) {
    for (const ColoredWords& one : kColored) {
        const std::size_t at =
            one.begins_line ? (line.starts_with(one.words) ? 0 : std::string::npos) : line.find(one.words);
        if (at != std::string::npos) {
            line.replace(at, one.words.size(), in_color(one.color, one.words));
        }
    }
    return line;
}

bool may_be_heading(const std::string& line) {
    return !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
}

}  // namespace

bool has_color(int descriptor) {
    const char* const refused = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return (refused == nullptr || *refused == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb" &&
           isatty(descriptor) == 1;
}

TerminalInk::TerminalInk(std::ostream& stream) : stream_(stream), terminal_(stream.rdbuf(this)) {}

TerminalInk::~TerminalInk() {
    TerminalInk::sync();
    stream_.rdbuf(terminal_);
}

void TerminalInk::put(const std::string& text) {
    const auto size = static_cast<std::streamsize>(text.size());
    is_written_ = terminal_->sputn(text.data(), size) == size && is_written_;
}

void TerminalInk::end_line() {
    if (!held_.empty()) {
        put((line_.starts_with("  ") ? in_color(kBold, held_) : with_colored_words(held_)) + "\n");
        held_.clear();
    }
    if (is_after_empty_ && may_be_heading(line_)) {
        held_ = line_;
    } else {
        put(with_colored_words(line_) + "\n");
    }
    is_after_empty_ = line_.empty();
    line_.clear();
}

TerminalInk::int_type TerminalInk::overflow(int_type character) {
    if (traits_type::eq_int_type(character, traits_type::eof())) {
        return traits_type::not_eof(character);
    }
    if (traits_type::to_char_type(character) == '\n') {
        end_line();
    } else {
        line_ += traits_type::to_char_type(character);
    }
    return is_written_ ? character : traits_type::eof();
}

int TerminalInk::sync() {
    if (!held_.empty()) {
        put(with_colored_words(held_) + "\n");
        held_.clear();
    }
    if (!line_.empty()) {
        put(with_colored_words(line_));
        line_.clear();
    }
    return terminal_->pubsync() == 0 && is_written_ ? 0 : -1;
}

}  // namespace auspex::cli
