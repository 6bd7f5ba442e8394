/// @file /proc/cpuinfo, the boot's number, sysconf(3).
#include "exec/system/computer.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

#include "exec/system/control_groups.hpp"

namespace auspex::exec {
namespace {

/// Behind the colon of the first line that begins with `head`.
std::string field_of(const std::string& file, const std::string& head) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(head)) {
            const std::size_t colon = line.find(':');
            const std::size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
            return begin == std::string::npos ? "" : line.substr(begin);
        }
    }
    return "";
}

std::string processor_name() {
    for (const char* const head : {"model name", "Model Name", "cpu model", "Processor", "cpu\t"}) {
        if (std::string name = field_of("/proc/cpuinfo", head); !name.empty()) {
            return name;
        }
    }
    return "a processor without a name";
}

/// A boot's number, or, where the kernel gives none, the name that it gives this computer.
std::string running_system() {
    std::ifstream stream("/proc/sys/kernel/random/boot_id");
    std::string boot;
    utsname names{};
    return std::getline(stream, boot) && !boot.empty() ? boot : uname(&names) == 0 ? names.nodename : "";
}

double memory_bytes() {
    const double all = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return std::min(all, group_limits().memory_bytes);
}

}  // namespace

Computer this_computer() { return {processor_name(), running_system(), memory_bytes()}; }

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    static_cast<void>(gmtime_r(&now, &parts));
    std::array<char, 16> text{};
    static_cast<void>(std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts));
    return text.data();
}

}  // namespace auspex::exec
