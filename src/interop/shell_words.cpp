/// @file Splitting shell text.
#include "interop/shell_words.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace auspex::interop {
namespace {

class Splitter {
 public:
    explicit Splitter(std::string_view text) : text_(text) {}

    ShellWords run(const std::string& name) {
        while (at_ < text_.size()) {
            step(name);
        }
        end_word();
        return std::move(words_);
    }

 private:
    void step(const std::string& name) {
        const char c = text_[at_++];
        if (c == '"' || c == '\'') {
            take_quoted(c, name);
        } else if (c == '\\' && at_ < text_.size()) {
            if (const char escaped = text_[at_++]; escaped != '\n') {
                take(escaped);
            }
        } else if (c == '#' && !has_word_) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            end_word();
        } else if (c == '(' && word_.ends_with('=')) {
            word_.clear();
            has_word_ = false;
            is_in_array_ = true;
        } else if (c == ')' && is_in_array_) {
            end_word();
            is_in_array_ = false;
        } else {
            take(c);
        }
    }

    void take(char c) {
        word_ += c;
        has_word_ = true;
    }

    void take_quoted(char quote, const std::string& name) {
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) {
            throw InputError(name, std::string("found a quote ") + quote + " that does not end; expected shell text");
        }
        word_ += text_.substr(at_, end - at_);
        has_word_ = true;
        at_ = end + 1;
    }

    void end_word() {
        if (has_word_) {
            if (is_in_array_) {
                words_.in_arrays.push_back(word_);
            }
            words_.all.push_back(std::move(word_));
        }
        word_.clear();
        has_word_ = false;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string word_;
    bool has_word_ = false, is_in_array_ = false;
    ShellWords words_;
};

}  // namespace

ShellWords shell_words(std::string_view text, const std::string& name) { return Splitter(text).run(name); }

}  // namespace auspex::interop
