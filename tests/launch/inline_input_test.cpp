/// @file Inputs that are given as their own text, and signals that threads hold back together.
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "launch/child_process.hpp"
#include "launch/input_files.hpp"

namespace auspex::launch {
namespace {

TEST(InlineInput, a_text_in_braces_is_the_document_itself) {
    const JsonDocument document = load_document("plan", R"({"dp": 4, "pp": 2})", {"plan.pp=8"});
    EXPECT_EQ(document.name(), "plan (inline)");
    EXPECT_EQ(document.root().at("dp").as_integer(0, 10), 4);
    EXPECT_EQ(document.root().at("pp").as_integer(0, 10), 8);
}

TEST(InlineInput, its_errors_have_a_place_apart_from_what_was_found) {
    try {
        static_cast<void>(load_document("plan", R"({"dp": 4, "dp": 5})", {}));
        FAIL() << "a key that is there twice";
    } catch (const InputError& error) {
        EXPECT_EQ(error.where(), "plan (inline): $");
        EXPECT_EQ(error.found(), "found the key \"dp\" twice; expected each key once");
        EXPECT_EQ(error.what(), error.where() + ": " + error.found());
    }
}

/// What SIGINT does now.
void (*handler_of_interrupts())(int) {
    struct sigaction now {};
    sigaction(SIGINT, nullptr, &now);
    return now.sa_handler;
}

TEST(SignalsCaught, the_last_to_let_go_puts_back_what_the_first_found) {
    const auto before = handler_of_interrupts();
    std::optional<SignalsCaught> first(std::in_place), second(std::in_place);
    const auto catching = handler_of_interrupts();
    EXPECT_NE(catching, before);
    first.reset();  // begun first, ended first: as two threads may
    EXPECT_EQ(handler_of_interrupts(), catching);
    std::raise(SIGINT);
    EXPECT_EQ(take_caught_signal(), SIGINT);
    EXPECT_EQ(take_caught_signal(), 0);
    second.reset();
    EXPECT_EQ(handler_of_interrupts(), before);
}

}  // namespace
}  // namespace auspex::launch
