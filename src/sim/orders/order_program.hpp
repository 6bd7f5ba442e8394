#pragma once
/// @file An order of passes as a program with given times.
#include "schedule/orders/pipeline_pass.hpp"
#include "sim/engine/costed_program.hpp"

namespace auspex::orders {

/// What a pass of one micro-batch through one stage takes, and a message between ranks.
struct PassTimes {
    double forward_s = 0;
    double input_s = 0, weight_s = 0;  ///< the parts of a backward pass; a whole one takes both
    double send_s = 0;                 ///< nothing waits for it but who receives it
    double pair_s = 0;                 ///< a forward pass beside a whole backward one
};

/// The costed program points into the program: it moves nowhere without it.
struct OrderProgram {
    schedule::Program program;
    engine::CostedProgram costed;
    OrderProgram() = default;
    OrderProgram(const OrderProgram&) = delete;
    OrderProgram& operator=(const OrderProgram&) = delete;
};

/// Fills an empty one: a role a rank, an operation a pass (one for a pair, of the backward pass), a message where a
/// micro-batch goes from rank to rank. The operation's layer is the stage. Requires an order that check_order takes.
void make_program(const schedule::PipelineOrder& order, const PassTimes& times, OrderProgram& out);

}  // namespace auspex::orders
