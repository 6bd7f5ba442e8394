#pragma once
/// @file The event loop with all that its events do: what the two lenses are made with.
#include "sim/engine/event_loop.hpp"
#include "sim/engine/player_streams.hpp"
#include "sim/engine/player_transfers.hpp"
