/// @file Strict JSON: what is refused and with which words; overrides; canonical form.
#include "base/json.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace auspex {
namespace {

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

std::string parse_error(const std::string& text) {
    return error_of([&] { static_cast<void>(JsonDocument::parse(text, "f.json")); });
}

TEST(Json, values_are_read_with_their_types) {
    const auto document = JsonDocument::parse(R"({"a": {"b": [1, "20 GB/s", true]}, "n": -2.5})", "f.json");
    const auto list = document.root().at("a").at("b").elements();
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].as_integer(0, 10), 1);
    EXPECT_EQ(list[1].as_quantity(Dimension::kBytesPerSecond, 0, 1e12), 20e9);
    EXPECT_TRUE(list[2].as_bool());
    EXPECT_EQ(document.root().at("n").as_number(-3, 3), -2.5);
    EXPECT_EQ(list[1].where(), "f.json: $.a.b[1]");
    EXPECT_EQ(list[1].path(), "a.b[1]");
}

TEST(Json, a_wrong_type_or_range_names_place_found_and_expected) {
    const auto document =
        JsonDocument::parse(R"({"a": -1, "s": "x", "q": "-3 GB/s", "big": 18446744073709551615, "f": 2.0})", "f.json");
    const auto root = document.root();
    const auto error = [&](const char* key, auto read) { return error_of([&] { read(root.at(key)); }); };
    EXPECT_EQ(error("a", [](const JsonValue& v) { static_cast<void>(v.as_integer(1, 9)); }),
              "f.json: $.a: found -1; expected an integer from 1 to 9");
    EXPECT_EQ(error("f", [](const JsonValue& v) { static_cast<void>(v.as_integer(1, 9)); }),
              "f.json: $.f: found 2.0; expected an integer from 1 to 9");
    EXPECT_EQ(error("big", [](const JsonValue& v) { static_cast<void>(v.as_integer(0, INT64_MAX)); }),
              "f.json: $.big: found 18446744073709551615; expected an integer of at least 0");
    EXPECT_EQ(error("s",
                    [](const JsonValue& v) {
                        static_cast<void>(v.as_one_of({"y", "z"}));
                    }),
              "f.json: $.s: found \"x\"; expected one of \"y\", \"z\"");
    EXPECT_EQ(
        error("q", [](const JsonValue& v) { static_cast<void>(v.as_quantity(Dimension::kBytesPerSecond, 0, 1e12)); }),
        "f.json: $.q: found \"-3 GB/s\"; expected from 0 B/s to 1 TB/s");
    EXPECT_EQ(error_of([&] { static_cast<void>(root.at("nope")); }),
              "f.json: $: missing key \"nope\"; keys there: a, big, f, q, s");
}

TEST(Json, an_unknown_key_is_refused_but_comments_are_not) {
    const auto document = JsonDocument::parse(R"({"$schema": "x", "comment": "y", "pp": 1, "qq": 2})", "f.json");
    EXPECT_EQ(error_of([&] {
                  document.root().allow_only({"pp", "dp"});
              }),
              "f.json: $: found the unknown key \"qq\"; allowed: pp, dp");
    EXPECT_NO_THROW(document.root().allow_only({"pp", "qq"}));
}

TEST(Json, syntax_errors_carry_line_and_column) {
    EXPECT_EQ(parse_error("{\n  \"a\": 1,\n  \"b\": }").find("f.json: line 3, column 8: not JSON: "), 0U)
        << parse_error("{\n  \"a\": 1,\n  \"b\": }");
    for (const char* text : {"{", "[1,", "{\"a\"", "tru", "{} x", "{\"a\":1,}", "// c\n{}", "NaN", "{\"a\": 1e999}",
                             "\"\xff\"", "'a'", "\n"}) {
        const std::string message = parse_error(text);
        EXPECT_EQ(message.find("f.json: line "), 0U) << text << " -> " << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << text;
    }
    EXPECT_EQ(parse_error(""), "f.json: found an empty file; expected a JSON object");
}

TEST(Json, duplicate_keys_are_refused_and_named) {
    EXPECT_EQ(parse_error(R"({"a": [{"x": 1}, {"x": 1, "x": 2}]})"),
              "f.json: $.a[1]: found the key \"x\" twice; expected each key once");
    EXPECT_EQ(parse_error(R"({"a": {"x": 1}, "b": {"x": 1}})"), "no error");
}

TEST(Json, nesting_is_limited_to_64_levels_without_recursion) {
    EXPECT_EQ(parse_error(std::string(64, '[') + std::string(64, ']')), "no error");
    EXPECT_NE(parse_error(std::string(65, '[') + std::string(65, ']')).find("64 levels"), std::string::npos);
    EXPECT_NE(parse_error(std::string(1000000, '[')).find("64 levels"), std::string::npos);
}

TEST(Json, files_that_cannot_be_are_refused) {
    const auto load = [](const std::string& file) {
        return error_of([&] { static_cast<void>(JsonDocument::load(file)); });
    };
    const std::string folder = testing::TempDir();
    EXPECT_EQ(load(folder + "no-such.json"), folder + "no-such.json: found no such file; expected a JSON file");
    EXPECT_NE(load(folder).find("found a directory"), std::string::npos);
    EXPECT_NE(load("/dev/zero").find("no regular file"), std::string::npos);
    const std::string empty = folder + "auspex-empty-" + std::to_string(getpid()) + ".json";
    std::ofstream(empty).close();
    EXPECT_EQ(load(empty), empty + ": found an empty file; expected a JSON object");
    std::filesystem::resize_file(empty, (std::uintmax_t{64} << 20) + 1);
    EXPECT_NE(load(empty).find("more than 64 MiB"), std::string::npos);
    std::remove(empty.c_str());
}

TEST(Json, an_override_replaces_the_value_and_marks_a_sourced_constant) {
    auto document = JsonDocument::parse(
        R"({"nic": {"bw": {"value": "25 GB/s", "source": "page 3", "kind": "measured"}}, "pp": 8})", "f.json");
    document.set("pp", "4");
    document.set("nic.bw", "20 GB/s");
    document.set("overlap", "[\"dp\"]");
    EXPECT_EQ(
        document.dump(),
        R"({"nic":{"bw":{"kind":"assumed","source":"set on the command line","value":"20 GB/s"}},"overlap":["dp"],"pp":4})");
    document.set("nic.bw", R"({"value": "1 GB/s"})");
    document.set("overlap[0]", "tp");
    EXPECT_EQ(document.dump(), R"({"nic":{"bw":{"value":"1 GB/s"}},"overlap":["tp"],"pp":4})");
}

TEST(Json, an_override_below_a_missing_parent_is_refused) {
    auto document = JsonDocument::parse(R"({"nic": {"bw": 1}, "list": [1]})", "f.json");
    const auto set = [&](const char* path) { return error_of([&] { document.set(path, "1"); }); };
    EXPECT_EQ(set("node.bw"), "f.json: $.node: found no such key; keys there: list, nic");
    EXPECT_EQ(set("nic.bw.x"), "f.json: $.nic.bw: found 1, which has no key x; expected an object");
    EXPECT_EQ(set("list[1]"), "f.json: $.list: found [1], which has no element 1; expected a longer array");
    for (const char* path : {"", ".", "nic.", "list[", "list[x]", "list[0", "[0]", "list[0]]"}) {
        EXPECT_NE(set(path), "no error") << path;
    }
    EXPECT_EQ(document.dump(), R"({"list":[1],"nic":{"bw":1}})");
}

TEST(Json, a_quantity_set_for_sensitivity_keeps_kind_and_source) {
    auto document =
        JsonDocument::parse(R"({"bw": {"value": "25 GB/s", "source": "p", "kind": "measured"}, "f": 0.1})", "f.json");
    document.set_quantity("bw", 26e9, Dimension::kBytesPerSecond);
    document.set_quantity("f", 0.25, Dimension::kNone);
    EXPECT_EQ(document.root().at("bw").at("value").as_quantity(Dimension::kBytesPerSecond, 0, 1e12), 26e9);
    EXPECT_EQ(document.root().at("bw").at("kind").as_string(), "measured");
    EXPECT_EQ(document.root().at("f").as_number(0, 1), 0.25);
}

TEST(Json, the_hash_is_that_of_the_text_and_survives_overrides) {
    auto document = JsonDocument::parse("{\"a\": 1}\n", "f.json");
    constexpr const char* kOfText =
        "e8c628edc9968ef0c668f54e0ba2636b35503357eb1aca0ddc828aeace432f67";  // printf '{"a": 1}\n' | sha256sum
    EXPECT_EQ(document.sha256(), kOfText);
    document.set("a", "2");
    EXPECT_EQ(document.sha256(), kOfText);
    EXPECT_NE(JsonDocument::parse("{\"a\":1}\n", "f.json").sha256(), kOfText) << "a space less";
}

TEST(Json, an_override_that_begins_like_json_must_be_json) {
    auto document = JsonDocument::parse(R"({"list": [1], "s": "x"})", "f.json");
    for (const char* value : {"[\"norm\"", "{\"a\":", "\"open"}) {
        EXPECT_NE(error_of([&] { document.set("list", value); }).find("f.json: $.list: found"), std::string::npos)
            << value;
        EXPECT_NE(error_of([&] { document.set("list", value); }).find("not valid JSON"), std::string::npos) << value;
    }
    document.set("s", "plain words");
    EXPECT_EQ(document.dump(), R"({"list":[1],"s":"plain words"})");
}

TEST(Json, a_copy_is_independent) {
    const auto first = JsonDocument::parse(R"({"a": 1})", "f.json");
    auto second = first;
    second.set("a", "2");
    EXPECT_EQ(first.dump(), R"({"a":1})");
    EXPECT_EQ(second.dump(), R"({"a":2})");
}

TEST(Json, written_text_and_numbers_are_json) {
    EXPECT_EQ(json_quote("a\"b\n\xff"), "\"a\\\"b\\n\xEF\xBF\xBD\"");
    EXPECT_EQ(json_number(0.1), "0.1");
    EXPECT_EQ(json_number(12288), "12288");
    EXPECT_EQ(json_number(1e300), "1e+300");
    EXPECT_EQ(json_number(-0.0), "-0");
}

}  // namespace
}  // namespace auspex
