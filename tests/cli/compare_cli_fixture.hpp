#pragma once
/// @file A made-up machine, a layout of one rank, and the runs that a comparison has kept.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::testing_cli {

/// Runs comparisons.
class CompareRunner : public Runner {
 protected:
    [[nodiscard]] static bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

    /// A computer of two cores with made-up laws: every term of every kernel takes a nanosecond.
    [[nodiscard]] std::string machine(const std::string& core_slice = "3 ms") const {
        std::string laws;
        for (std::size_t k = 0; k < models::kCpuKernels; ++k) {
            const auto kernel = static_cast<models::CpuKernel>(k);
            laws += (laws.empty() ? "{\"" : ", \"") + std::string(to_string(kernel)) + R"(": {"error": 0.03)";
            for (const std::string_view term : cpu_terms(kernel)) {
                laws += ", \"" + std::string(term) + R"(": "1 ns")";
            }
            laws += "}";
        }
        laws += "}";
        JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/dgx-a100.json");
        const char* path =
            R"({"send": "1 us", "receive": "1 us", "send_byte": "100 ps", "receive_byte": "100 ps",
                "eager": "4 KiB", "rendezvous": "1 us", "latency": "0 s"})";
        document.set("host", R"({"cores": 2, "nodes_per_computer": 1, "core_slice": ")" + core_slice +
                                 R"(", "switch": "1 us",
            "poll": "1 us", "busy_speed": 1, "last_level_cache": "32 MiB", "cache_bandwidth": "150 GB/s",
            "memory_bandwidth": "40 GB/s", "core_memory_bandwidth": "25 GB/s", "messages": {"near": )" +
                                 std::string(path) + R"(, "far": )" + path + R"(}, "kernels": {"fp32": )" + laws +
                                 R"(, "bf16": )" + laws + "}}");
        return write("host.json", document.dump());
    }

    /// Flags of a comparison of the layout "one" (one rank) in folder_/report.
    [[nodiscard]] std::string one_layout() const {
        return "compare --steps 3 --json --out " + folder_ + "report --machine " + machine() + " --layouts " +
               write("list.json", R"({"workloads": ["toy-moe"], "layouts": [
                   {"name": "one", "plan": {"dp": 1, "micro_batches": 2, "precision": "fp32"}}]})");
    }

    [[nodiscard]] std::vector<std::string> records() const {
        std::vector<std::string> lines;
        std::ifstream stream(folder_ + "report/cases.jsonl");
        for (std::string line; std::getline(stream, line);) {
            lines.push_back(line);
        }
        return lines;
    }
    void write_records(const std::vector<std::string>& lines) const {
        std::ofstream stream(folder_ + "report/cases.jsonl");
        for (const std::string& line : lines) {
            stream << line << "\n";
        }
    }
};

}  // namespace auspex::testing_cli
