/// @file Strict JSON over nlohmann: a SAX handler that refuses what a lenient parser lets pass, and accessors that name
/// file and path.
#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/sha256.hpp"
#include "base/text/closest_word.hpp"

namespace auspex {
namespace {

using Node = nlohmann::json;

constexpr std::size_t kDeepest = 64;

std::string compact(const Node& node) { return node.dump(-1, ' ', false, Node::error_handler_t::replace); }

std::string joined(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string place(const std::string& file, const std::string& path) {
    const bool is_root = path.empty();
    const bool is_element = !is_root && path.front() == '[';
    return file + ": $" + (is_root || is_element ? "" : ".") + printable(path, 200);
}

std::string key_list(const Node& object) {
    std::string out;
    for (const auto& [key, value] : object.items()) {
        out += (out.empty() ? "" : ", ") + printable(key);
    }
    return out.empty() ? "none" : printable(out, 400);
}

/// Builds the document while it refuses duplicate keys and deep nesting. The parser that drives it does not recurse.
class StrictBuilder : public nlohmann::json_sax<Node> {
 public:
    Node root;
    std::string path;            ///< of the object in which `problem` was found
    std::string problem;         ///< empty: none
    std::size_t error_byte = 0;  ///< of a syntax error, counted from 1; 0: not a syntax error

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t&) override { return refuse("binary data"); }
    bool start_object(std::size_t) override { return open(Node::object()); }
    bool start_array(std::size_t) override { return open(Node::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        if (open_.back()->contains(name)) {
            path = current_path();
            return refuse("found the key \"" + printable(name) + "\" twice; expected each key once");
        }
        keys_.back() = std::move(name);
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        error_byte = std::max<std::size_t>(position, 1);
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …": the cause follows
        // the first " - " or "] ".
        const std::string_view text = error.what();
        const std::size_t dash = text.find(" - ");
        const std::size_t bracket = text.find("] ");
        return refuse(plain_json_words(std::string(text.substr(dash != std::string_view::npos      ? dash + 3
                                                               : bracket != std::string_view::npos ? bracket + 2
                                                                                                   : 0))));
    }

 private:
    std::vector<Node*> open_;        ///< objects and arrays not yet closed, outermost first
    std::vector<std::string> keys_;  ///< beside each: the key being filled

    bool refuse(std::string why) {
        problem = std::move(why);
        return false;
    }

    [[nodiscard]] std::string current_path() const {
        std::string out;
        for (std::size_t level = 0; level + 1 < open_.size(); ++level) {
            out = open_[level]->is_array() ? out + "[" + std::to_string(open_[level]->size() - 1) + "]"
                                           : joined(out, keys_[level]);
        }
        return out;
    }

    Node* add(Node value) {
        if (open_.empty()) {
            root = std::move(value);
            return &root;
        }
        Node& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        return &(parent[keys_.back()] = std::move(value));
    }

    bool put(Node value) {
        add(std::move(value));
        return true;
    }

    bool open(Node container) {
        if (open_.size() >= kDeepest) {
            return refuse("found more than " + std::to_string(kDeepest) + " levels of nesting; expected fewer");
        }
        open_.push_back(add(std::move(container)));
        keys_.emplace_back();
        return true;
    }

    bool close() {
        open_.pop_back();
        keys_.pop_back();
        return true;
    }
};

Node parse_strict(std::string_view text, const std::string& name) {
    StrictBuilder builder;
    if (Node::sax_parse(text.begin(), text.end(), &builder)) {
        return std::move(builder.root);
    }
    if (builder.error_byte > 0) {
        throw InputError(name, line_and_column(text, builder.error_byte) + ": not JSON: " + builder.problem);
    }
    throw InputError(place(name, builder.path), builder.problem);
}

const Node& node_of(const void* pointer) { return *static_cast<const Node*>(pointer); }

/// The node at a path; the last key is added when it is not there.
Node& reach(Node& root, std::string_view dotted_path, const std::string& file) {
    Node* node = &root;
    std::string path;
    const std::vector<JsonPathStep> steps = json_path_steps(dotted_path, file);
    for (const JsonPathStep& step : steps) {
        const bool is_last = &step == &steps.back();
        if (!node->is_object()) {
            throw InputError(place(file, path), "found " + printable(compact(*node)) + ", which has no key " +
                                                    printable(step.key) + "; expected an object");
        }
        if (!node->contains(step.key) && (!is_last || step.index)) {
            throw InputError(place(file, joined(path, step.key)), "found no such key; keys there: " + key_list(*node));
        }
        path = joined(path, step.key);
        node = &(*node)[step.key];
        if (step.index) {
            if (!node->is_array() || *step.index >= node->size()) {
                throw InputError(place(file, path), "found " + printable(compact(*node)) + ", which has no element " +
                                                        std::to_string(*step.index) + "; expected a longer array");
            }
            path += "[" + std::to_string(*step.index) + "]";
            node = &(*node)[*step.index];
        }
    }
    return *node;
}

bool is_sourced(const Node& node) { return node.is_object() && node.contains("value"); }

}  // namespace

struct JsonDocument::Impl {
    std::string name;
    std::string sha256;  ///< of the text
    Node root;
    std::vector<Source> parts{};  ///< that were joined
};

JsonValue::JsonValue(const JsonDocument* document, const void* node, std::string path)
    : document_(document), node_(node), path_(std::move(path)) {}

bool JsonValue::is_object() const { return node_of(node_).is_object(); }
bool JsonValue::is_array() const { return node_of(node_).is_array(); }
bool JsonValue::is_string() const { return node_of(node_).is_string(); }
bool JsonValue::is_number() const { return node_of(node_).is_number(); }
bool JsonValue::is_bool() const { return node_of(node_).is_boolean(); }
bool JsonValue::is_null() const { return node_of(node_).is_null(); }

JsonValue JsonValue::at(std::string_view key) const {
    if (auto member = find(key)) {
        return *std::move(member);
    }
    throw InputError(where(), "missing key \"" + std::string(key) + "\"; keys there: " + key_list(node_of(node_)));
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
    if (!is_object()) {
        fail("an object, in braces: {\"key\": ...}");
    }
    const auto member = node_of(node_).find(std::string(key));
    if (member == node_of(node_).end()) {
        return std::nullopt;
    }
    return JsonValue(document_, &*member, joined(path_, key));
}

std::vector<std::string> JsonValue::keys() const {
    if (!is_object()) {
        fail("an object, in braces: {\"key\": ...}");
    }
    std::vector<std::string> out;
    for (const auto& [key, value] : node_of(node_).items()) {
        out.push_back(key);
    }
    return out;
}

std::vector<JsonValue> JsonValue::elements() const {
    if (!is_array()) {
        fail("an array, in brackets: [...]");
    }
    std::vector<JsonValue> out;
    for (const Node& element : node_of(node_)) {
        out.push_back(JsonValue(document_, &element, path_ + "[" + std::to_string(out.size()) + "]"));
    }
    return out;
}

void JsonValue::allow_only(std::span<const std::string_view> allowed) const {
    for (const std::string& key : keys()) {
        if (key == "comment" || key.starts_with('$') ||
            std::find(allowed.begin(), allowed.end(), key) != allowed.end()) {
            continue;
        }
        std::string list;
        for (const std::string_view word : allowed) {
            list += (list.empty() ? "" : ", ") + std::string(word);
        }
        throw InputError(where(), "found the unknown key \"" + printable(key) + "\"; allowed: " + list +
                                      did_you_mean(key, {allowed.begin(), allowed.end()}));
    }
}

std::string JsonValue::as_string() const {
    if (!is_string()) {
        fail("a string");
    }
    return node_of(node_).get<std::string>();
}

std::size_t JsonValue::as_one_of(std::span<const std::string_view> words) const {
    std::string list;
    for (const std::string_view& word : words) {
        if (is_string() && node_of(node_).get_ref<const std::string&>() == word) {
            return static_cast<std::size_t>(&word - words.data());
        }
        list += (list.empty() ? "\"" : ", \"") + std::string(word) + "\"";
    }
    fail("one of " + list);
}

bool JsonValue::as_bool() const {
    if (!is_bool()) {
        fail("true or false");
    }
    return node_of(node_).get<bool>();
}

std::int64_t JsonValue::as_integer(std::int64_t low, std::int64_t high) const {
    const Node& node = node_of(node_);
    const bool overflows =
        node.is_number_unsigned() && node.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (node.is_number_integer() && !overflows) {
        const auto value = node.get<std::int64_t>();
        if (value >= low && value <= high) {
            return value;
        }
    }
    fail("an integer " + (high == INT64_MAX ? "of at least " + std::to_string(low)
                                            : "from " + std::to_string(low) + " to " + std::to_string(high)));
}

double JsonValue::as_number(double low, double high) const { return as_quantity(Dimension::kNone, low, high); }

double JsonValue::as_quantity(Dimension dimension, double low, double high) const {
    double value = 0;
    if (dimension == Dimension::kNone) {
        if (!is_number()) {
            fail("a number");
        }
        value = node_of(node_).get<double>();
    } else {
        if (!is_string()) {
            fail(std::string("a number and a unit in quotes, such as \"") + example_of(dimension) + "\"");
        }
        value = parse_quantity(node_of(node_).get_ref<const std::string&>(), dimension, where());
    }
    if (!(value >= low && value <= high)) {
        fail(std::isinf(high) ? "at least " + format_quantity(low, dimension)
                              : "from " + format_quantity(low, dimension) + " to " + format_quantity(high, dimension));
    }
    return value;
}

std::string JsonValue::dump() const { return compact(node_of(node_)); }

std::string JsonValue::where() const { return place(document_->name(), path_); }
std::string JsonValue::path() const { return path_; }
std::string JsonValue::excerpt() const { return printable(compact(node_of(node_))); }
void JsonValue::fail(const std::string& expected) const {
    throw InputError(where(), "found " + excerpt() + "; expected " + expected);
}

JsonDocument::JsonDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonDocument::JsonDocument(const JsonDocument& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
JsonDocument& JsonDocument::operator=(const JsonDocument& other) {
    return *this = JsonDocument(other);
}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

JsonDocument JsonDocument::load(const std::string& file) { return parse(read_input_file(file), file); }

JsonDocument JsonDocument::parse(std::string_view text, const std::string& name) {
    if (text.empty()) {
        throw InputError(name, "found an empty file; expected a JSON object");
    }
    return JsonDocument(std::make_unique<Impl>(Impl{name, sha256_hex(text), parse_strict(text, name)}));
}

JsonDocument JsonDocument::converted(std::string_view text) const {
    return JsonDocument(std::make_unique<Impl>(Impl{name(), sha256(), parse_strict(text, name())}));
}

JsonDocument JsonDocument::joined(std::string_view text, const JsonDocument& part) const {
    JsonDocument whole = converted(text);
    whole.impl_->parts = impl_->parts;
    std::ranges::copy(part.sources(), std::back_inserter(whole.impl_->parts));
    return whole;
}

JsonValue JsonDocument::root() const { return JsonValue(this, &impl_->root, ""); }
const std::string& JsonDocument::name() const { return impl_->name; }

void JsonDocument::set(std::string_view dotted_path, const std::string& value_text) {
    StrictBuilder builder;
    const bool is_json = Node::sax_parse(value_text, &builder);
    if (!is_json && !value_text.empty() &&
        std::string_view("[{\"").find(value_text.front()) != std::string_view::npos) {
        throw InputError(place(impl_->name, std::string(dotted_path)),
                         "found " + printable(value_text) + ", not valid JSON: " + builder.problem);
    }
    Node value = is_json ? std::move(builder.root) : Node(value_text);
    Node& node = reach(impl_->root, dotted_path, impl_->name);
    if (is_sourced(node) && !value.is_object()) {
        node["value"] = std::move(value);
        node["source"] = "set on the command line";
        node["kind"] = "assumed";
    } else {
        node = std::move(value);
    }
}

void JsonDocument::set_quantity(std::string_view dotted_path, double value, Dimension dimension) {
    Node& node = reach(impl_->root, dotted_path, impl_->name);
    Node& target = is_sourced(node) ? node["value"] : node;
    target = dimension == Dimension::kNone ? Node(value) : Node(exact_quantity(value, dimension));
}

std::string JsonDocument::dump() const { return compact(impl_->root); }
std::string JsonDocument::indented() const { return impl_->root.dump(2, ' ', false, Node::error_handler_t::replace); }
const std::string& JsonDocument::sha256() const { return impl_->sha256; }
std::vector<JsonDocument::Source> JsonDocument::sources() const {
    std::vector<Source> all{{name(), sha256()}};
    std::ranges::copy(impl_->parts, std::back_inserter(all));
    return all;
}

std::string json_quote(std::string_view text) { return compact(Node(std::string(text))); }

std::string json_number(double value) {
    AUSPEX_CHECK(std::isfinite(value), "a number written to JSON must be finite");
    std::array<char, 32> buffer{};
    const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    AUSPEX_CHECK(status == std::errc(), "32 characters hold any double");
    return std::string(buffer.data(), end);
}

}  // namespace auspex
