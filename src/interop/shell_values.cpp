/// @file Expansion of variables, defaults and sums.
#include "interop/shell_values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "base/input_text.hpp"

namespace auspex::interop {
namespace {

constexpr int kDeepest = 100;
constexpr std::size_t kLongest = 65'536;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The name that a text begins with; empty without one.
std::string_view name_of(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_of_name);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

struct Default {
    std::string_view name, text;
};
/// Of "NAME:-text", "NAME-text", "NAME:=text", "NAME=text".
std::optional<Default> default_of(std::string_view inside) {
    const std::string_view name = name_of(inside);
    std::string_view rest = inside.substr(name.size());
    rest.remove_prefix(rest.starts_with(':') ? 1 : 0);
    const bool has_default = !name.empty() && (rest.starts_with('-') || rest.starts_with('='));
    return has_default ? std::optional(Default{name, rest.substr(1)}) : std::nullopt;
}

/// Up to the `close` that closes it, which is taken with it; nothing where there is none.
std::optional<std::string_view> take_inside(std::string_view& rest, char open, char close) {
    int depth = 1;
    for (std::size_t at = 0; at < rest.size(); ++at) {
        depth += rest[at] == open ? 1 : rest[at] == close ? -1 : 0;
        if (depth == 0) {
            const std::string_view inside = rest.substr(0, at);
            rest.remove_prefix(at + 1);
            return inside;
        }
    }
    return std::nullopt;
}

/// Whole numbers with + - * / % and brackets; nothing for other text, for numbers beyond 10^12 and divisors of 0.
class Sum {
 public:
    explicit Sum(std::string_view text) : rest_(text) {}
    std::optional<std::int64_t> run() {
        const auto sum = terms(0);
        blanks();
        return rest_.empty() ? sum : std::nullopt;
    }

 private:
    static constexpr std::int64_t kMost = 1'000'000'000'000;

    void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
    char take_one_of(std::string_view signs) {
        blanks();
        if (rest_.empty() || signs.find(rest_.front()) == std::string_view::npos) {
            return 0;
        }
        const char sign = rest_.front();
        rest_.remove_prefix(1);
        return sign;
    }
    static std::optional<std::int64_t> bounded(std::int64_t value) {
        return value >= -kMost && value <= kMost ? std::optional(value) : std::nullopt;
    }

    std::optional<std::int64_t> terms(int depth) {
        auto sum = factors(depth);
        while (sum) {
            const char sign = take_one_of("+-");
            if (sign == 0) {
                return sum;
            }
            const auto more = factors(depth);
            sum = more ? bounded(*sum + (sign == '+' ? *more : -*more)) : std::nullopt;
        }
        return sum;
    }
    std::optional<std::int64_t> factors(int depth) {
        auto product = number(depth);
        while (product) {
            const char sign = take_one_of("*/%");
            if (sign == 0) {
                return product;
            }
            const auto more = number(depth);
            if (!more || (sign != '*' && *more == 0)) {
                return std::nullopt;
            }
            if (sign != '*') {
                product = sign == '/' ? *product / *more : *product % *more;
                continue;
            }
            std::int64_t value = 0;
            product = __builtin_mul_overflow(*product, *more, &value) ? std::nullopt : bounded(value);
        }
        return product;
    }
    std::optional<std::int64_t> number(int depth) {
        if (depth > kDeepest) {
            return std::nullopt;
        }
        if (take_one_of("(") != 0) {
            const auto inside = terms(depth + 1);
            return take_one_of(")") != 0 ? inside : std::nullopt;
        }
        blanks();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc()) {
            return std::nullopt;
        }
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return bounded(value);
    }

    std::string_view rest_;
};

}  // namespace

void ShellValues::assign(const std::string& name, const std::string& text) {
    Assigned given{text};
    if (text.starts_with("${") && text.ends_with('}')) {
        const auto own = default_of(std::string_view(text).substr(2, text.size() - 3));
        if (own && own->name == name) {
            given = {std::string(own->text), true};
        }
    }
    const auto [known, is_new] = assigned_.try_emplace(name, given);
    known->second.has_two = known->second.has_two || (!is_new && !given.is_default && known->second.text != given.text);
}

std::vector<std::string> ShellValues::names() const {
    std::vector<std::string> all;
    for (const auto& [name, text] : assigned_) {
        all.push_back(name);
    }
    return all;
}

std::optional<std::string> ShellValues::value(const std::string& name, int depth) {
    const auto given = assigned_.find(name);
    if (given == assigned_.end() || given->second.has_two || depth > kDeepest) {
        return std::nullopt;
    }
    if (const auto known = known_.find(name); known != known_.end()) {
        return known->second;
    }
    known_[name] = std::nullopt;
    const auto text = expanded(given->second.text, depth + 1);
    if (text && given->second.is_default) {
        defaults_.insert(name + " " + *text);
    }
    return known_[name] = text;
}

std::optional<std::string> ShellValues::expanded(std::string_view word, int depth) {
    std::string text;
    while (!word.empty()) {
        const std::size_t plain = std::min(word.find('$'), word.size());
        text += word.substr(0, plain);
        word.remove_prefix(plain);
        if (word.empty()) {
            break;
        }
        word.remove_prefix(1);
        const auto part = take_part(word, depth);
        if (!part || text.size() + part->size() > kLongest) {
            return std::nullopt;
        }
        text += *part;
    }
    return text;
}

std::optional<std::string> ShellValues::take_part(std::string_view& rest, int depth) {
    if (rest.starts_with("((")) {
        rest.remove_prefix(2);
        const auto inside = take_inside(rest, '(', ')');
        const bool is_closed = inside && rest.starts_with(')');
        rest.remove_prefix(is_closed ? 1 : 0);
        return is_closed ? arithmetic(*inside, depth) : std::nullopt;
    }
    if (rest.starts_with('{')) {
        rest.remove_prefix(1);
        const auto inside = take_inside(rest, '{', '}');
        return inside ? parameter(*inside, depth) : std::nullopt;
    }
    const std::string name(name_of(rest));
    rest.remove_prefix(name.size());
    return value(name, depth);
}

std::optional<std::string> ShellValues::parameter(std::string_view inside, int depth) {
    if (name_of(inside) == inside) {
        return value(std::string(inside), depth);
    }
    const auto given = default_of(inside);
    if (!given || depth > kDeepest) {
        return std::nullopt;
    }
    const std::string name(given->name);
    if (assigned_.contains(name)) {
        const auto own = value(name, depth);
        const bool counts = own && (!own->empty() || inside[name.size()] != ':');
        return !own || counts ? own : expanded(given->text, depth + 1);
    }
    const auto text = expanded(given->text, depth + 1);
    if (text) {
        defaults_.insert(name + " " + *text);
    }
    return text;
}

std::optional<std::string> ShellValues::arithmetic(std::string_view inside, int depth) {
    std::string numbers;
    while (!inside.empty()) {
        const std::string name(name_of(inside));
        const bool is_variable = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
        if (is_variable || inside.front() == '$') {
            inside.remove_prefix(is_variable ? name.size() : 1);
            const auto part = is_variable ? value(name, depth) : take_part(inside, depth);
            if (!part) {
                return std::nullopt;
            }
            numbers += "(" + *part + ")";
        } else {
            const std::size_t taken = std::max<std::size_t>(1, name.size());
            numbers += inside.substr(0, taken);
            inside.remove_prefix(taken);
        }
    }
    const auto sum = numbers.size() <= kLongest ? Sum(numbers).run() : std::nullopt;
    return sum ? std::optional(std::to_string(*sum)) : std::nullopt;
}

std::vector<std::string> ShellValues::notes() const {
    std::string all;
    for (const std::string& one : defaults_) {
        all += (all.empty() ? "" : ", ") + printable(one);
    }
    return all.empty() ? std::vector<std::string>()
                       : std::vector{"variables that the script leaves to its surroundings have its defaults: " + all};
}

}  // namespace auspex::interop
