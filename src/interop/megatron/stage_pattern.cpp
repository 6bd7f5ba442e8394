/// @file Patterns of stages, written out.
#include "interop/megatron/stage_pattern.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex::interop {
namespace {

constexpr std::size_t kLongest = 100'000, kLongestShown = 200;
constexpr int kDeepest = 64;

class Pattern {
 public:
    Pattern(const std::string& text, const std::string& where) : text_(text), where_(where) {}

    /// Every letter and bar, with all repetitions written out.
    std::string written_out() {
        std::string all = group();
        if (at_ < text_.size()) {
            refuse();
        }
        return all;
    }

    [[noreturn]] void refuse() const {
        throw InputError(where_, "found \"" + printable(text_, kLongestShown) +
                                     "\"; expected stages of E, t, m and L between bars, m right in front of "
                                     "L, with *N for repetitions, as in \"Et*3|(tt|)*29mL\"");
    }

 private:
    std::string group() {
        std::string all;
        while (at_ < text_.size() && text_[at_] != ')') {
            const std::string part = item();
            const std::size_t times = repetitions();
            if (part.size() * times + all.size() > kLongest) {
                refuse();
            }
            for (std::size_t i = 0; i < times; ++i) {
                all += part;
            }
        }
        return all;
    }

    std::string item() {
        const char c = text_[at_++];
        if (c == ',') {
            return "";
        }
        if (c == '(') {
            if (++depth_ > kDeepest) {
                refuse();
            }
            std::string inner = group();
            if (at_ == text_.size()) {
                refuse();
            }
            --depth_;
            ++at_;
            return inner;
        }
        if (std::string("EtmL|").find(c) == std::string::npos) {
            refuse();
        }
        return {c};
    }

    std::size_t repetitions() {
        if (at_ == text_.size() || text_[at_] != '*') {
            return 1;
        }
        std::size_t times = 0;
        const std::size_t begin = ++at_;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 && times <= kLongest) {
            times = 10 * times + static_cast<std::size_t>(text_[at_++] - '0');
        }
        if (at_ == begin) {
            refuse();
        }
        return times;
    }

    const std::string& text_;
    const std::string& where_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

StagePattern layers_of_pattern(const std::string& pattern, const std::string& where) {
    Pattern parsed(pattern, where);
    const std::string all = parsed.written_out();
    const bool is_whole = all.starts_with('E') && all.ends_with('L') && std::ranges::count(all, 'E') == 1 &&
                          std::ranges::count(all, 'L') == 1;
    const std::size_t first_m = all.find('m');
    const bool is_last = first_m == std::string::npos || all.find_first_not_of('m', first_m) + 1 == all.size();
    if (!is_whole || !is_last) {
        parsed.refuse();
    }
    std::vector<int> layers{0};
    int predictions = 0;
    for (const char c : all) {
        if (c == '|') {
            layers.push_back(0);
        } else if (c == 't') {
            ++layers.back();
        } else if (c == 'm') {
            ++predictions;
        }
    }
    return {layers, predictions};
}

}  // namespace auspex::interop
