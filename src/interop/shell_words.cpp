/// @file Splitting shell text.
#include "interop/shell_words.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex::interop {
namespace {

class Splitter {
 public:
    Splitter(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    ShellText run() {
        while (at_ < text_.size()) {
            step();
        }
        end_command();
        take_documents();
        if (is_in_array_) {
            throw InputError(name_, "found an array \"" + printable(shell_.arrays.back().first) +
                                        "=(\" that does not end; expected shell text");
        }
        return std::move(shell_);
    }

 private:
    void step() {
        const char c = text_[at_++];
        if (c == '\'') {
            take_quoted();
        } else if (c == '"') {
            take_double_quoted();
        } else if (c == '\\' && at_ < text_.size()) {
            if (const char escaped = text_[at_++]; escaped != '\n') {
                take(escaped);
            }
        } else if (c == '#' && !has_word_) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '(' && word_.ends_with('$')) {
            take_substitution();
        } else if (c == '{' && word_.ends_with('$')) {
            take_parameter();
        } else if (c == '(' && word_.ends_with('=') && !is_in_array_) {
            begin_array();
        } else if (c == '<' && is_document_next() && !is_in_array_) {
            announce_document();
        } else if (c == ')' && is_in_array_) {
            end_word();
            is_in_array_ = false;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            end_word();
        } else if (c == '\n' || (!is_in_array_ && std::string_view(";&|").find(c) != std::string_view::npos)) {
            end_command();
            if (c == '\n') {
                take_documents();
            }
        } else {
            take(c);
        }
    }

    /// "<" has been read: of "<<WORD", and not of "<<<".
    [[nodiscard]] bool is_document_next() const {
        return text_.substr(at_).starts_with('<') && !text_.substr(at_).starts_with("<<") && !word_.ends_with('<');
    }

    /// What ends the here-document whose text begins on the next line.
    void announce_document() {
        end_word();
        ++at_;
        const bool has_tabs = text_.substr(at_).starts_with('-');
        at_ += has_tabs ? 1 : 0;
        at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
        std::string end;
        for (; at_ < text_.size() && std::string_view(" \t\r\n;&|<>").find(text_[at_]) == std::string_view::npos;
             ++at_) {
            if (std::string_view("'\"\\").find(text_[at_]) == std::string_view::npos) {
                end += text_[at_];
            }
        }
        announced_.push_back({end, has_tabs});
    }

    void take_documents() {
        for (const Announced& document : announced_) {
            std::string body;
            bool has_ended = false;
            while (at_ < text_.size() && !has_ended) {
                const std::size_t end = std::min(text_.find('\n', at_), text_.size());
                std::string_view line = text_.substr(at_, end - at_);
                at_ = std::min(end + 1, text_.size());
                line.remove_prefix(document.has_tabs ? std::min(line.find_first_not_of('\t'), line.size()) : 0);
                has_ended = line == document.end;
                body += has_ended ? "" : std::string(line) + "\n";
            }
            if (!has_ended) {
                throw InputError(name_, "found a here-document \"<<" + printable(document.end) +
                                            "\" that does not end; expected shell text");
            }
            shell_.documents.push_back(std::move(body));
        }
        announced_.clear();
    }

    void take(char c) {
        word_ += c;
        has_word_ = true;
    }

    void take_quoted() {
        const std::size_t end = text_.find('\'', at_);
        if (end == std::string_view::npos) {
            refuse_quote('\'');
        }
        word_ += text_.substr(at_, end - at_);
        has_word_ = true;
        at_ = end + 1;
    }

    void take_double_quoted() {
        has_word_ = true;
        for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            const bool escapes = text_[at_] == '\\' && at_ + 1 < text_.size();
            at_ += escapes ? 1 : 0;
            if (!escapes && text_[at_] == '{' && word_.ends_with('$')) {
                ++at_;
                take_parameter();
                --at_;
            } else if (!escapes || text_[at_] != '\n') {
                word_ += text_[at_];
            }
        }
        if (at_ == text_.size()) {
            refuse_quote('"');
        }
        ++at_;
    }
    [[noreturn]] void refuse_quote(char quote) const {
        throw InputError(name_, std::string("found a quote ") + quote + " that does not end; expected shell text");
    }

    /// "$(" has been read up to its bracket: the rest up to the one that closes it.
    void take_substitution() {
        take('(');
        for (int depth = 1; at_ < text_.size() && depth > 0; ++at_) {
            depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
            take(text_[at_]);
        }
    }

    /// "${" has been read up to its bracket: the rest up to the one that closes it, without quotes.
    void take_parameter() {
        take('{');
        for (int depth = 1; at_ < text_.size() && depth > 0; ++at_) {
            depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
            if (text_[at_] != '"' && text_[at_] != '\'') {
                take(text_[at_]);
            }
        }
    }

    void begin_array() {
        word_.pop_back();
        shell_.arrays.emplace_back(std::move(word_), Words{});
        word_.clear();
        has_word_ = false;
        is_in_array_ = true;
    }

    void end_word() {
        if (has_word_) {
            (is_in_array_ ? shell_.arrays.back().second : command_).push_back(std::move(word_));
        }
        word_.clear();
        has_word_ = false;
    }

    void end_command() {
        end_word();
        if (!is_in_array_ && !command_.empty()) {
            shell_.commands.push_back(std::move(command_));
            command_.clear();
        }
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::string word_;
    bool has_word_ = false, is_in_array_ = false;
    struct Announced {
        std::string end;
        bool has_tabs;  ///< in front of lines, which do not count: "<<-"
    };
    std::vector<Announced> announced_;
    Words command_;
    ShellText shell_;
};

}  // namespace

ShellText shell_words(std::string_view text, const std::string& name) { return Splitter(text, name).run(); }

}  // namespace auspex::interop
