/// @file Colour is for terminals, and changes no character of the text.
#include "cli/terminal/terminal_ink.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>

namespace auspex::cli {
namespace {

std::string inked(const std::string& text) {
    std::ostringstream stream;
    {
        const TerminalInk ink(stream);
        stream << text;
    }
    return stream.str();
}

std::string without_escapes(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

constexpr const char* kAnswer =
    "mula on aurora\n384 tiles\n\n  step time 8.3 s\n\nWhere the step goes\n  compute  4 s\n\nMemory: 70 GB, does not "
    "fit\n"
    "  weights  3 GB\nNote: assumed\n\na sentence\nof two lines\n\nno end";

TEST(TerminalInk, headings_notes_and_what_does_not_fit_stand_out) {
    const std::string text = inked(kAnswer);
    EXPECT_NE(text.find("\x1b[1mWhere the step goes\x1b[0m\n  compute"), std::string::npos) << text;
    EXPECT_NE(text.find("\x1b[33mNote:\x1b[0m assumed"), std::string::npos);
    EXPECT_NE(inked("Memory: does NOT fit\n").find("\x1b[1;31mdoes NOT fit\x1b[0m"), std::string::npos);
    EXPECT_NE(text.find("\na sentence\nof two lines\n"), std::string::npos);
    EXPECT_EQ(inked("auspex: error: no file\n"), "\x1b[1;31mauspex: error:\x1b[0m no file\n");
}

TEST(TerminalInk, the_text_stays_the_same) {
    for (const char* text : {kAnswer, "", "\n", "no end", "\n\n\n  x", "{\n  \"a\": 1\n}\n"}) {
        EXPECT_EQ(without_escapes(inked(text)), text);
    }
    EXPECT_EQ(inked("{\n  \"a\": 1\n}\n"), "{\n  \"a\": 1\n}\n");
}

TEST(TerminalInk, a_flush_holds_nothing_back) {
    std::ostringstream stream;
    const TerminalInk ink(stream);
    stream << "step 1\n" << std::flush;
    EXPECT_EQ(stream.str(), "step 1\n");
    stream << "step" << std::flush;
    EXPECT_EQ(stream.str(), "step 1\nstep");
}

/// What the program shows on a terminal, with more environment: script(1) runs it on one.
std::string on_terminal(const std::string& environment) {
    const std::string command = "env -u NO_COLOR " + environment + " script -qec '" + AUSPEX_BINARY +
                                " predict --machine nowhere' /dev/null </dev/null 2>&1";
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) {
        text += static_cast<char>(c);
    }
    return pipe != nullptr && pclose(pipe) >= 0 ? text : "";
}

TEST(TerminalInk, only_terminals_that_may_have_it) {
    if (std::system("command -v script >/dev/null") != 0) {
        GTEST_SKIP() << "no script(1)";
    }
    const auto is_colored = [](const std::string& text) { return text.find('\x1b') != std::string::npos; };
    const std::string colored = on_terminal("TERM=xterm");
    EXPECT_TRUE(is_colored(colored)) << colored;
    for (const char* plain : {"TERM=dumb", "TERM=xterm NO_COLOR=1"}) {
        const std::string text = on_terminal(plain);
        EXPECT_NE(text.find("auspex: error:"), std::string::npos) << text;
        EXPECT_FALSE(is_colored(text)) << plain << ": " << text;
    }
    EXPECT_TRUE(is_colored(on_terminal("TERM=xterm NO_COLOR=")));
}

}  // namespace
}  // namespace auspex::cli
