#pragma once
/// @file What one rank moves between nodes, as a constant of the stack's transport.
#include <optional>
#include <string>
#include <vector>

#include "compare/fit/calibration.hpp"
#include "compare/fit/machine_edit.hpp"

namespace auspex::fit {

struct RankAdvice {
    std::string text;
    std::optional<ConstantChange> change;  ///< of rank_bandwidth, where the rows tell it; no verdict yet
};

/// `rate` is that of `rows`: messages from a tile of one node to one of another through the stack's library. Where NICs
/// hang on the host it is rank_bandwidth of the transport in use, unless a NIC would let no more through; of a
/// transport that copies whole buffers the copies, which the simulator counts by themselves, are taken off first.
[[nodiscard]] RankAdvice advice_of_rank(const models::Machine& machine, const models::Stack& stack,
                                        const std::vector<models::Measurement>& rows, const FittedNumber& rate);

}  // namespace auspex::fit
