/// @file From the narrowest words to the widest.
#include "compare/evaluate/words/precision_words.hpp"

#include <algorithm>
#include <regex>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

bool has_any(std::string_view text, const std::vector<std::string_view>& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

bool says_any(std::string_view text, const std::vector<std::string_view>& parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return says(text, part); });
}

bool has_word(std::string_view text, const std::vector<std::string_view>& wanted) {
    return std::ranges::any_of(words_in(text), [&](const std::string& word) { return is_one_of(word, wanted); });
}

bool is_by_blocks(std::string_view text) {
    return has_any(text, {"block", "finer granularity", "mxfp8", "sub-channel", "subchannel", "1x128", "1x32"}) ||
           has_word(text, {"mx", "sc"});
}

/// Of 8 bits with one scale a tensor, as far as that is said.
std::string recipe_of_tensors(std::string_view text, const std::string& otherwise, std::vector<std::string>& notes) {
    if (says(text, "delayed") || has_word(text, {"ds"})) {
        notes.emplace_back(
            "delayed scaling is taken as tensorwise: that its scales come from steps before is left out");
        return "tensorwise";
    }
    if (has_any(text, {"rowwise", "row-wise", "per-row", "per-channel", "channelwise"})) {
        notes.emplace_back("scales by rows are taken as tensorwise");
        return "tensorwise";
    }
    const bool is_said = has_any(text, {"hybrid", "current", "tensorwise", "per-tensor", "per tensor"});
    return is_said || has_word(text, {"cs"}) ? "tensorwise" : otherwise;
}

/// "BF16/FP8", "BF16 with FP8 optimizer moments": of two the narrower one, whatever the text says it is for.
void note_two(std::string_view said, std::string_view text, const std::string& taken, std::vector<std::string>& notes) {
    const bool has_wide = has_any(text, {"bf16", "fp16", "bfloat16"});
    if (has_wide) {
        notes.push_back("precision " + json_quote(said) + " names two: products in " + taken +
                        ", the rest in bf16, are assumed");
    }
}

StatedPrecision refused(const std::string& why) { return {why, "", "", {}}; }

/// "FP8 attention", "fp8 all-gather", "FP8 optimizer states", which are no products with weights; blanks in their
/// place.
std::string without_other_uses(std::string text, std::vector<std::string>& notes, std::string_view said) {
    static const std::regex form(
        "(fp8|float8)[- _](attention|attn|all-?gathers?|communication|comms?|dispatch|optimi[sz]er|states?|moments?|"
        "kv|cache|gradients?)[a-z]*( only)?");
    std::string rest = std::regex_replace(text, form, " ");
    if (rest == text || !says_any(text, {"fp8", "float8"})) {
        return text;
    }
    notes.push_back("of precision " + json_quote(said) + " what is in 8 bits beside products is left out");
    return rest;
}

/// Nothing narrow is said: of fp8 "none".
StatedPrecision narrow_in(std::string_view said, std::string_view text, const std::string& fp8_alone) {
    StatedPrecision found{"", "bf16", "none", {}};
    if (says_any(text, {"mxfp4", "mxfp6", "fp6", "int8", "int4"})) {
        return refused(
            "bf16, fp16, tf32, fp32, fp8 of a whole tensor or by blocks, or nvfp4: products by other recipes are not "
            "modelled");
    }
    if (says_any(text, {"fp4", "float4"})) {
        found.fp8 = "nvfp4";
        if (!has_any(text, {"nvfp4", "nv fp4", "nv-fp4"})) {
            found.notes.push_back("precision " + json_quote(said) + " is taken as NVFP4");
        }
    } else if (has(text, "finer granularity")) {
        found.fp8 = "blockwise";
    } else if (says_any(text, {"fp8", "float8", "fp_8", "e4m3"})) {
        found.fp8 = is_by_blocks(text) ? "blockwise" : recipe_of_tensors(text, fp8_alone, found.notes);
    }
    if (found.fp8 != "none") {
        note_two(said, text, found.fp8 == "nvfp4" ? "NVFP4" : "FP8", found.notes);
    }
    return found;
}

StatedPrecision of_products(std::string_view said, const std::string& text, const std::string& fp8_alone) {
    if (StatedPrecision narrow = narrow_in(said, text, fp8_alone); !narrow.refused.empty() || narrow.fp8 != "none") {
        return narrow;
    }
    if (has_any(text, {"bf16", "bfloat16", "fp16", "float16", "half"})) {
        return {"", "bf16", "none", {}};
    }
    if (has_any(text, {"mixed", "16-true"}) || text == "amp") {
        return {"", "bf16", "none", {"precision " + json_quote(said) + " is taken as bf16"}};
    }
    if (has_any(text, {"tf32", "fp32", "float32", "single", "32-true"})) {
        return {"",
                "fp32",
                "none",
                {"products of fp32 operands take the machine's gemm_fp32, which is TF32's where it has that"}};
    }
    if (said_of(text, "fp8") == Said::kDenied) {
        return {"", "bf16", "none", {"precision " + json_quote(said) + " is taken as bf16"}};
    }
    return refused("one with bf16, fp16, mixed, fp8, nvfp4, tf32 or fp32 in it");
}

}  // namespace

StatedPrecision precision_in(std::string_view said, const std::string& fp8_alone) {
    std::vector<std::string> notes;
    const std::string text = without_other_uses(lower_case(said.substr(0, kLongestText)), notes, said);
    StatedPrecision found = of_products(said, text, fp8_alone);
    found.notes.insert(found.notes.end(), notes.begin(), notes.end());
    return found;
}

}  // namespace auspex::evaluate
