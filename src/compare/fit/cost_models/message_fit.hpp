#pragma once
/// @file What messages cost their senders, their receivers, the cores that wait and the wire.
#include <vector>

#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "models/stack.hpp"

namespace auspex::fit {

/// Fills near, poll_s, and far and nic_bytes_per_s where there are rows of far messages. Rows of pipeline
/// messages contain the copy that their sender makes first: the law of kCopy is taken off, and near messages of
/// more than a quarter of the last-level cache are left out. Requires laws and cache_bytes.
///
/// With b bytes and [eager], [long] = 1 up to and beyond the eager limit:
///   send       = send + send_byte b [eager]                                                                  near
///   send       = send + send_byte b                                                                          far
///   ping_pong  = send + receive + poll / 2 + send_byte b [eager] + receive_byte b + rendezvous [long]        near
///   ping_pong  = send + receive + poll / 2 + latency + 2 send_byte b + wire
///                + (rendezvous + 2 latency + poll) [long]                                                    far
/// A short message of a long row takes as long as the slower side: where that is the receiver, "stream" is receive,
/// else a receiver is taken to spend what a sender does. What is left of a short near ping-pong is the time until a
/// waiting process looks, half of poll. Bytes that come from afar are taken to cost the receiver what they cost the
/// sender. On one core, where rows are "shared" and none "near", each short ping-pong has a switch in it, which
/// "pass" rows tell: poll is 0, receive is send. Far messages: nic = b / stream of long ones; wire = max((b - burst) /
/// nic, b / (2 nic)) on a NIC that rests half the time, burst = b - nic (ping_pong - that of the shortest) of those of
/// 0.1 to 1 MB. Eager limits are those of the stack, which has processes.
void fit_messages(const std::vector<models::Measurement>& rows, const models::Stack& stack, FittedCpu& cpu,
                  Calibration& calibration);

}  // namespace auspex::fit
