/// @file Seconds of a kernel call and of a message by the laws of a host.
#include "models/cpu/host.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex {

Host at_speed(Host host, double speed) {
    AUSPEX_CHECK(speed > 0, "cores run");
    for (auto& laws : host.laws) {
        for (CpuLaw& law : laws) {
            for (double& seconds : law.seconds_per) {
                seconds /= speed;
            }
        }
    }
    for (MessagePath* const path : {&host.near, &host.far}) {
        for (double* const seconds :
             {&path->send_s, &path->receive_s, &path->send_byte_s, &path->receive_byte_s, &path->rendezvous_s}) {
            *seconds /= speed;
        }
    }
    host.poll_s /= speed;
    host.switch_s /= speed;
    return host;
}

double missing_share(double reach_bytes, double set_bytes) { return std::clamp(set_bytes / reach_bytes - 1, 0.0, 1.0); }

double missing_share(const Host& host, const CpuLaw& law, const WorkingSet& set) {
    const double reach = law.reach_bytes > 0 ? law.reach_bytes : host.cache_bytes;
    return std::max(missing_share(reach, set.of_core), missing_share(host.cache_bytes, set.of_computer));
}

double far_byte_s(const Host& host, const CpuLaw& law) {
    return law.far_byte_s > 0 ? law.far_byte_s : 1 / host.core_memory_bytes_per_s;
}

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
