/// @file Writing Python, and reading what calls are given.
#include "interop/torchtitan/python_text.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex::interop {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Token {
    enum class Kind { kName, kText, kNumber, kSign, kEndOfLine };
    Kind kind;
    std::string value;  ///< a name with its dots; a text without quotes
    std::size_t begin, end;
};

class Lexer {
 public:
    Lexer(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    std::vector<Token> run() {
        while (at_ < text_.size()) {
            step();
        }
        if (depth_ > 0) {
            throw InputError(name_, "found a bracket that does not close; expected Python");
        }
        return std::move(tokens_);
    }

 private:
    void step() {
        const char c = text_[at_];
        if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '"' || c == '\'') {
            take_text(at_);
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            take_while(Token::Kind::kNumber);
        } else if (is_name_character(c)) {
            take_while(Token::Kind::kName);
        } else {
            take_sign(c);
        }
    }

    void add(Token::Kind kind, std::size_t begin, std::string value) {
        tokens_.push_back({kind, std::move(value), begin, at_});
    }

    void take_while(Token::Kind kind) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_name_character(text_[at_]) || text_[at_] == '.')) {
            ++at_;
        }
        std::string word(text_.substr(begin, at_ - begin));
        const bool is_prefix = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && word.size() <= 2;
        if (is_prefix) {
            take_text(begin);
        } else {
            if (kind == Token::Kind::kNumber) {
                std::erase(word, '_');
            }
            add(kind, begin, std::move(word));
        }
    }

    /// From the quote at at_; `begin` is that of a prefix in front of it.
    void take_text(std::size_t begin) {
        const char quote = text_[at_];
        const std::string three(3, quote);
        const std::string end = text_.substr(at_).starts_with(three) ? three : std::string(1, quote);
        at_ += end.size();
        std::string value;
        while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 1U : 0U;
            value += text_[at_++];
        }
        if (at_ == text_.size()) {
            throw InputError(name_, "found a text in quotes that does not end; expected Python");
        }
        at_ += end.size();
        add(Token::Kind::kText, begin, std::move(value));
    }

    void take_sign(char c) {
        ++at_;
        if (c == '\n' && depth_ == 0) {
            add(Token::Kind::kEndOfLine, at_ - 1, "\n");
        }
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            return;
        }
        depth_ += std::string_view("([{").find(c) != std::string_view::npos ? 1U : 0U;
        depth_ -= depth_ > 0 && std::string_view(")]}").find(c) != std::string_view::npos ? 1U : 0U;
        const bool is_pair = c == '=' && at_ < text_.size() && text_[at_] == '=';
        at_ += is_pair ? 1U : 0U;
        add(Token::Kind::kSign, at_ - (is_pair ? 2U : 1U), is_pair ? "==" : std::string(1, c));
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::vector<Token> tokens_;
};

class Parser {
 public:
    Parser(std::string_view text, const std::string& name)
        : text_(text), name_(name), tokens_(Lexer(text, name).run()), functions_(1) {}

    std::vector<PythonFunction> run() {
        while (at_ < tokens_.size()) {
            step();
        }
        std::erase_if(functions_, [](const PythonFunction& one) { return one.fields.empty(); });
        return std::move(functions_);
    }

 private:
    [[nodiscard]] bool is_sign(std::size_t at, char sign) const {
        return at < tokens_.size() && tokens_[at].kind == Token::Kind::kSign && tokens_[at].value[0] == sign &&
               tokens_[at].value.size() == 1;
    }
    [[nodiscard]] bool is_name(std::size_t at) const {
        return at < tokens_.size() && tokens_[at].kind == Token::Kind::kName;
    }

    void step() {
        const bool is_outside = sections_.empty();
        if (is_outside && is_name(at_) && tokens_[at_].value == "def" && is_name(at_ + 1)) {
            functions_.push_back({tokens_[at_ + 1].value, {}});
            at_ += 2;
        } else if (is_name(at_) && is_sign(at_ + 1, '=') && (is_outside || begins_argument())) {
            take_assignment();
        } else {
            if (is_open(at_)) {
                sections_.push_back(std::exchange(section_, ""));
            } else if (is_close(at_) && !sections_.empty()) {
                sections_.pop_back();
            }
            ++at_;
        }
    }

    [[nodiscard]] bool begins_argument() const { return at_ > 0 && (is_sign(at_ - 1, '(') || is_sign(at_ - 1, ',')); }
    [[nodiscard]] bool is_open(std::size_t at) const {
        return is_sign(at, '(') || is_sign(at, '[') || is_sign(at, '{');
    }
    [[nodiscard]] bool is_close(std::size_t at) const {
        return is_sign(at, ')') || is_sign(at, ']') || is_sign(at, '}');
    }

    /// NAME = …
    void take_assignment() {
        const std::string left = tokens_[at_].value;
        at_ += 2;
        if (is_name(at_) && is_sign(at_ + 1, '(')) {
            section_ = left.substr(left.rfind('.') + 1);  // of the call's own arguments
            ++at_;
            return;
        }
        const std::size_t begin = at_;
        skip_value();
        const std::size_t dot = left.rfind('.');
        if (sections_.empty() && dot != std::string::npos) {
            const std::size_t before = left.rfind('.', dot - 1);
            set(left.substr(before == std::string::npos ? 0 : before + 1), begin);
        } else if (!sections_.empty() && !sections_.back().empty()) {
            set(sections_.back() + "." + left, begin);
        }
    }

    /// Up to the comma, bracket or end of line that ends it.
    void skip_value() {
        std::size_t depth = 0;
        for (; at_ < tokens_.size(); ++at_) {
            const bool closes = is_close(at_);
            const bool ends = closes || is_sign(at_, ',') || tokens_[at_].kind == Token::Kind::kEndOfLine;
            if (depth == 0 && ends) {
                return;
            }
            depth += is_open(at_) ? 1U : 0U;
            depth -= closes ? 1U : 0U;
        }
    }

    void set(const std::string& field, std::size_t begin) {
        if (begin == at_) {
            return;
        }
        const Token& first = tokens_[begin];
        const bool is_literal = at_ == begin + 1 && (first.kind == Token::Kind::kText ||
                                                     first.kind == Token::Kind::kNumber || is_word(first.value));
        const std::string source(text_.substr(first.begin, tokens_[at_ - 1].end - first.begin));
        const std::string value = is_literal ? first.value : source;
        if (is_literal && first.kind == Token::Kind::kName && value == "None") {
            return;
        }
        if (!functions_.back().fields.emplace(field, value).second) {
            throw InputError(name_ + ": " + printable(field), "found twice in a function; expected one value");
        }
    }
    static bool is_word(const std::string& word) { return word == "True" || word == "False" || word == "None"; }

    std::string_view text_;
    const std::string& name_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::vector<std::string> sections_;  ///< of the brackets that are open
    std::string section_;                ///< of the next one
    std::vector<PythonFunction> functions_;
};

}  // namespace

std::string python_name(const std::string& text) {
    std::string name = text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? "model_" : "";
    for (const char c : text) {
        name += is_name_character(c) ? c : '_';
    }
    return name;
}

std::string python_configuration(const std::string& function, const Settings& settings, const std::string& made_by) {
    std::ostringstream out;
    out << "\"\"\"A plan as a configuration of torchtitan (names of fields: commit b5bcd76c, August 2026).\n\n"
        << "The model, its data and its optimizer are those of a configuration that you have: the variable\n"
        << "MODEL_CONFIG names it, as MODULE:FUNCTION.\n\"\"\"\n"
        << "# made by: " << printable(made_by, made_by.size()) << "\n"
        << "import importlib\nimport os\nfrom dataclasses import replace\n\n\ndef " << function << "():\n"
        << "    module, name = os.environ[\"MODEL_CONFIG\"].split(\":\")\n"
        << "    base = getattr(importlib.import_module(module), name)()\n    return replace(\n        base,\n";
    std::vector<std::string> sections;
    for (const Setting& setting : settings) {
        const std::string section = setting.name.substr(0, setting.name.find('.'));
        if (std::ranges::find(sections, section) == sections.end()) {
            sections.push_back(section);
        }
    }
    for (const std::string& section : sections) {
        out << "        " << section << "=replace(\n            base." << section << ",\n";
        for (const Setting& setting : settings) {
            if (setting.name.starts_with(section + ".")) {
                out << "            " << setting.name.substr(section.size() + 1) << "=" << setting.value << ",  # "
                    << setting.from << "\n";
            }
        }
        out << "        ),\n";
    }
    out << "    )\n";
    return out.str();
}

std::vector<PythonFunction> python_functions(std::string_view text, const std::string& name) {
    return Parser(text, name).run();
}

}  // namespace auspex::interop
