#pragma once
/// @file An exploration served to browsers on this computer.
#include <functional>
#include <string>

#include "explore/session.hpp"

namespace auspex::explore {

/// Where a page is.
struct Served {
    int port = 0;
    std::string token;    ///< 128 random bits in hex
    std::string address;  ///< "http://127.0.0.1:PORT/TOKEN/"
};

/// Serves the page of `start` and its answers on 127.0.0.1 until `ends` says so. `port` 0: any that is free. Requests
/// get 403 unless their address begins with the token, their Host is 127.0.0.1 or localhost, and they come from no
/// other site. `ready` is called once when browsers may come. Throws InputError for a port that cannot be had.
void serve(Session& session, const State& start, int port, const std::function<void(const Served&)>& ready,
           const std::function<bool()>& ends);

}  // namespace auspex::explore
