/// @file Seconds of a kernel call and of a message by the laws of a host.
#include "models/host.hpp"

#include "base/error.hpp"

namespace auspex {

double cpu_seconds(const Host& host, const CpuCall& call, CpuPrecision precision) {
    const CpuLaw& law = host.laws[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)];
    AUSPEX_CHECK(law.known, "a call is timed by a law that the machine file has");
    const std::array<double, kMostCpuTerms> sizes = cpu_sizes(call);
    double seconds = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        seconds += law.seconds_per[i] * sizes[i];
    }
    return seconds;
}

double send_cpu_s(const MessagePath& path, double bytes, bool far) {
    return path.send_s + (far || bytes <= path.eager_bytes ? bytes * path.send_byte_s : 0);
}

double receive_cpu_s(const MessagePath& path, double bytes) {
    return path.receive_s + bytes * path.receive_byte_s + (bytes > path.eager_bytes ? path.rendezvous_s : 0);
}

}  // namespace auspex
