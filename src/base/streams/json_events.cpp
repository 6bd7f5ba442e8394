/// @file JSON events over nlohmann's SAX parser.
#include "base/streams/json_events.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::uint64_t kLongestToken = std::uint64_t{64} << 20;

/// The bytes of a stream on their way to the parser, counted: a packed file may unfold into an endless text.
class CountedBytes {
 public:
    CountedBytes(std::streambuf& bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    int next() {
        const int byte = bytes_.sbumpc();
        if (byte != std::char_traits<char>::eof() && ++count_ - token_begin_ > kLongestToken) {
            throw InputError(name_, "found a text of more than 64 MiB; expected shorter ones");
        }
        return byte;
    }
    void token_ended() { token_begin_ = count_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
    std::streambuf& bytes_;
    const std::string& name_;
    std::uint64_t count_ = 0, token_begin_ = 0;
};

/// What nlohmann's parser takes: an input iterator that is equal to any other at the end.
class ByteIterator {
 public:
    using difference_type = std::ptrdiff_t;
    using value_type = char;
    using pointer = const char*;
    using reference = char;
    using iterator_category = std::input_iterator_tag;

    ByteIterator() = default;
    explicit ByteIterator(CountedBytes& bytes) : bytes_(&bytes), byte_(bytes.next()) {}
    char operator*() const { return static_cast<char>(byte_); }
    ByteIterator& operator++() {
        byte_ = bytes_->next();
        return *this;
    }
    bool operator!=(const ByteIterator& other) const { return is_at_end() != other.is_at_end(); }
    bool operator==(const ByteIterator& other) const { return !(*this != other); }

 private:
    [[nodiscard]] bool is_at_end() const { return byte_ == std::char_traits<char>::eof(); }
    CountedBytes* bytes_ = nullptr;
    int byte_ = std::char_traits<char>::eof();
};

class Adapter : public nlohmann::json_sax<nlohmann::json> {
 public:
    Adapter(JsonEvents& events, CountedBytes& bytes, const std::string& name)
        : events_(events), bytes_(bytes), name_(name) {}

    bool null() override {
        return took([&] { events_.word(nullptr); });
    }
    bool boolean(bool value) override {
        return took([&] { events_.word(&value); });
    }
    bool number_integer(number_integer_t value) override { return whole_number(value); }
    bool number_unsigned(number_unsigned_t value) override { return whole_number(value); }
    bool number_float(number_float_t value, const string_t& digits) override {
        return took([&] { events_.number(value, digits); });
    }
    bool string(string_t& value) override {
        return took([&] { events_.text(value); });
    }
    bool binary(binary_t&) override { return false; }
    bool key(string_t& name) override {
        return took([&] { events_.key(name); });
    }
    bool start_object(std::size_t) override {
        deepen();
        return took([&] { events_.begin_object(); });
    }
    bool start_array(std::size_t) override {
        deepen();
        return took([&] { events_.begin_array(); });
    }
    bool end_object() override {
        --depth_;
        return took([&] { events_.end_object(); });
    }
    bool end_array() override {
        --depth_;
        return took([&] { events_.end_array(); });
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        const std::string_view text = error.what();
        const std::size_t dash = text.find(" - ");
        const std::string cause(dash == std::string_view::npos ? text : text.substr(dash + 3));
        const std::string place = "byte " + std::to_string(bytes_.count());
        if (cause.find("unexpected end of input") != std::string::npos ||
            cause.find("missing closing quote") != std::string::npos) {
            throw InputError(name_, "found its end in the middle of the JSON, at " + place +
                                        "; expected a whole file: was it still being written, or cut off?");
        }
        throw InputError(name_, place + ": not JSON: " + plain_json_words(cause));
    }

 private:
    template <class Call>
    bool took(Call&& call) {
        bytes_.token_ended();
        call();
        return true;
    }

    template <class Whole>
    bool whole_number(Whole value) {
        std::array<char, 24> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        return took([&] {
            events_.number(static_cast<double>(value), {digits.data(), static_cast<std::size_t>(end - digits.data())});
        });
    }

    void deepen() {
        if (++depth_ > kDeepest) {
            throw InputError(name_, "found more than " + std::to_string(kDeepest) + " levels of nesting at byte " +
                                        std::to_string(bytes_.count()) + "; expected fewer");
        }
    }

    JsonEvents& events_;
    CountedBytes& bytes_;
    const std::string& name_;
    std::size_t depth_ = 0;
};

}  // namespace

void read_json_events(std::istream& in, const std::string& name, JsonEvents& events) {
    CountedBytes bytes(*in.rdbuf(), name);
    Adapter adapter(events, bytes, name);
    nlohmann::json::sax_parse(ByteIterator(bytes), ByteIterator(), &adapter);
}

}  // namespace auspex
