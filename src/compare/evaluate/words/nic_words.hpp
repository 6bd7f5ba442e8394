#pragma once
/// @file NICs of a node as people write them.
#include <string_view>

namespace auspex::evaluate {

/// Numbers that the text does not tell are 0.
struct NicWords {
    int count = 0;            ///< NICs
    double gbit_s = 0;        ///< of one, a direction
    double total_gbit_s = 0;  ///< of all, where the text gives only that
    /// The text speaks of numbers that are not read: of both directions, or rates and counts that no NICs have.
    bool is_unclear = false;
};

/// The first of these forms that the text has:
///   "8x200Gb/s InfiniBand HDR", "4 x HDR", "8x CX-7 400G", "4x25 GB/s", "8x200"   a count and a rate
///   "400 Gb/s per GPU", "NDR per GPU"             one a GPU, of the `gpus` of the node (0: not known)
///   "1600 Gb/s node-node", "3,200 Gbps per instance", "3.2 Tb/s"                  the total
///   "8 NICs", "8 ConnectX-7 (400 Gbps)", "8 HDR NICs"                             a count, and a rate behind it
/// Kinds of links have rates where no number has a unit: EDR, HDR100 and Omni-Path 100 Gb/s, HDR, NDR200 and
/// Slingshot-11 200, NDR 400, XDR 800. Rates are those that NICs have, 25 to 800 Gb/s; other numbers are not read.
[[nodiscard]] NicWords nics_in(std::string_view text, int gpus);

}  // namespace auspex::evaluate
