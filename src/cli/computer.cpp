/// @file Reads /proc/cpuinfo, /proc/meminfo, the caches of core 0 and the boot's number.
#include "cli/computer.hpp"

#include <array>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "exec/measure/system_caches.hpp"

namespace auspex {
namespace {

std::string first_line(const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

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

/// "24 kB": bytes, or 0 where there is no number.
double kibibytes(const std::string& text) {
    constexpr double kKi = 1024;
    return text.empty() || text.find_first_of("0123456789") != 0 ? 0 : kKi * std::stod(text);
}

}  // namespace

Computer this_computer() {
    Computer computer;
    computer.model = field_of("/proc/cpuinfo", "model name");
    computer.model = computer.model.empty() ? "a processor without a name" : computer.model;
    computer.kernel = first_line("/proc/sys/kernel/random/boot_id");
    computer.memory_bytes = kibibytes(field_of("/proc/meminfo", "MemTotal"));
    computer.last_level_cache_bytes = last_level_cache_bytes();
    if (computer.memory_bytes <= 0 || computer.last_level_cache_bytes <= 0) {
        throw std::runtime_error("the sizes of memory and caches cannot be read from /proc/meminfo and /sys");
    }
    return computer;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    static_cast<void>(gmtime_r(&now, &parts));
    std::array<char, 16> text{};
    static_cast<void>(std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts));
    return text.data();
}

}  // namespace auspex
