#pragma once
/// @file NICs of a node as people write them.
#include <string_view>

namespace auspex::evaluate {

/// Numbers that the text does not have are 0.
struct NicWords {
    int count = 0;            ///< NICs
    double gbit_s = 0;        ///< of one, a direction
    double total_gbit_s = 0;  ///< of all, where the text gives only that
};

/// "8x200Gb/s InfiniBand HDR", "4 x HDR", "8 ConnectX-7 (400 Gbps)": count and rate; "HDR", "NDR200", "Slingshot-11",
/// "Omni-Path": the rate of the kind where no number has a unit; "400 Gb/s per GPU": one a GPU, of the `gpus` of the
/// node (0: not known); "1600 Gb/s node-node", "3.2 Tb/s": the total. A rate with neither a count nor words of a node
/// could be either: it is passed over.
[[nodiscard]] NicWords nics_in(std::string_view text, int gpus);

}  // namespace auspex::evaluate
