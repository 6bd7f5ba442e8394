/// @file Streams beside compute, as cases say them.
#include "compare/evaluate/words/overlap_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace auspex::evaluate {
namespace {

/// "dtp+" is dp, tp and pp among others; "dp!" these alone; "-t" all but tp; "none".
std::string said(const std::string& text) {
    const OverlapSaid found = overlap_said(text);
    std::string letters;
    for (const auto& [stream, letter] :
         std::vector<std::pair<std::string, char>>{{"dp", 'd'}, {"tp", 't'}, {"pp", 'p'}, {"ep", 'e'}}) {
        letters += std::ranges::count(found.named, stream) > 0 ? std::string(1, letter) : "";
    }
    letters += letters.empty() ? "" : found.is_list ? "!" : "+";
    for (const std::string& stream : found.without) {
        letters += "-" + stream.substr(0, 1);
    }
    return found.is_none ? "none" : letters;
}

TEST(OverlapWords, streams_are_those_that_people_mean) {
    const std::vector<std::pair<std::string, std::string>> expected{
        {"", ""},
        {"true", ""},
        {"all gradients overlapped", ""},
        {"steps, support, http", ""},
        // Nothing.
        {"none", "none"},
        {"none (blocking all-reduce after backward)", "none"},
        {"none (no gradient bucketing)", "none"},
        {"none (DP overlapped only in v2)", "none"},
        {"no overlap", "none"},
        {"overlap off", "none"},
        {"overlap disabled", "none"},
        {"w/o overlap", "none"},
        {"without overlap", "none"},
        {"false", "none"},
        {"off", "none"},
        // These alone.
        {"dp, pp", "dp!"},
        {"DP and PP", "dp!"},
        {"dp + p2p overlap", "dp!"},
        {"DDP overlap; pp", "dp!"},
        {"dp only", "d!"},
        {"tensor comm only", "t!"},
        {"off except dp", "d!"},
        {"nothing but dp", "d!"},
        {"everything except TP", "-t"},
        {"all but dp", "-d"},
        {"none (pp only)", "p!"},
        // The framework's, and these.
        {"FSDP2 prefetch", "d+"},
        {"async TP", "t+"},
        {"tp-comm-overlap", "t+"},
        {"tp_comm_overlap=True", "t+"},
        {"overlap_grad_reduce=True", "d+"},
        {"--overlap-grad-reduce --tp-comm-overlap", "dt+"},
        {"overlap-grad-reduce, overlap-param-gather, tp-comm-overlap, pp overlap", "dtp+"},
        {"torch DDP overlaps grad all-reduce; local DDP does not", "d+"},
        {"dp grad-reduce/param-gather overlap on; TP comm overlap where TP>1; a2a overlap per recipe", "dt+"},
        // The framework's without these.
        {"no TP overlap", "-t"},
        {"none (vanilla TP)", "-t"},
        {"vanilla TP", "-t"},
        {"TP exposed", "-t"},
        {"sync TP", "-t"},
        {"TP not async", "-t"},
        {"tp overlap off", "-t"},
        {"tensor-parallel comm not overlapped", "-t"},
        {"no overlap of tp or dp", "-t-d"},
        {"no tp or pp overlap", "-t-p"},
        {"FSDP prefetch; TP exposed", "d+-t"},
        {"DP overlap on; TP overlap off", "d+-t"},
        {"tp=no dp=yes", "d+-t"},
        {"tp_comm_overlap=False overlap_grad_reduce=True", "d+-t"},
        {"DDP overlap; TP comm overlap off", "d+-t"},
        {"dp; no pp", "d+-p"},
        {"TP (none), DP (yes)", "d+-t"},
        {"none for TP; DP overlapped", "d+-t"},
    };
    for (const auto& [text, meant] : expected) {
        EXPECT_EQ(said(text), meant) << text;
    }
}

}  // namespace
}  // namespace auspex::evaluate
