#pragma once
/// @file Which streams of communication a case says to run beside compute.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

/// Streams in the plan's words: tp, ep, dp, pp.
struct OverlapSaid {
    bool is_none = false;              ///< nothing runs beside compute: "none", "no overlap", "off"
    bool is_list = false;              ///< those that are named, and no others: "dp, pp", "dp only", "off except dp"
    std::vector<std::string> named;    ///< "tp-comm-overlap, pp overlap": tp, pp
    std::vector<std::string> without;  ///< "no TP overlap", "none (vanilla TP)", "TP exposed": tp
};

/// Of a text such as cases have: names of streams as words of their own ("tp", "tensor", "ddp", "p2p", …) or in flags
/// of Megatron ("--overlap-grad-reduce"). Commas,
/// semicolons, brackets, + and "but" part clauses, and so do blanks between "tp=no dp=yes"; a clause with a denial
/// ("no", "off", "exposed", "blocking", "vanilla", "sync", …) denies the streams in it. A clause of a word like "none"
/// or "yes" alone is about the streams of the clause in front of it or, as the first one, behind it, if that denies
/// any. What the text says otherwise is passed over.
[[nodiscard]] OverlapSaid overlap_said(std::string_view text);

}  // namespace auspex::evaluate
