#pragma once
/// @file Which streams of communication a case says to run beside compute.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

/// Streams in the plan's words: tp, ep, dp, pp.
struct OverlapSaid {
    bool is_none = false;              ///< nothing runs beside compute: "none", "no overlap", "off"
    bool is_list = false;              ///< those that are named, and no others: "dp, pp", "dp only"
    std::vector<std::string> named;    ///< "tp-comm-overlap, pp overlap": tp, pp
    std::vector<std::string> without;  ///< "no TP overlap", "none (vanilla TP)": tp
};

/// Of a text such as cases have: names of streams as words of their own ("tp", "tensor", "ddp", "p2p", …), each
/// denied or not by what is near it (is_denied); a denial as a whole is of the streams that brackets behind it name, if
/// they name any. What the text says otherwise is passed over.
[[nodiscard]] OverlapSaid overlap_said(std::string_view text);

}  // namespace auspex::evaluate
