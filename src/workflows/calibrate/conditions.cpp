/// @file Stack, hosts, netlab and build, as short texts.
#include "workflows/calibrate/conditions.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/input_text.hpp"
#include "base/sha256.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/system/cores.hpp"
#include "launch/flag_context.hpp"
#include "launch/input_files.hpp"
#include "launch/installation.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

/// The first digits of a digest tell things apart.
std::string short_hash(const std::string& bytes) {
    constexpr std::size_t kDigits = 12;
    return sha256_hex(bytes).substr(0, kDigits);
}

/// Of `tools/netlab run`, which says in its environment where its network is described.
std::string netlab_settings() {
    const char* const hostfile = std::getenv("AUSPEX_NETLAB_HOSTFILE");
    const fs::path settings = fs::path(hostfile == nullptr ? "" : hostfile).parent_path() / "settings";
    std::error_code status;
    if (hostfile == nullptr || !fs::exists(settings, status)) {
        return hostfile == nullptr ? "none" : "unknown";
    }
    const std::string text = read_input_file(settings.string(), "the settings of tools/netlab");
    return text.substr(0, text.find('\n'));
}

std::string text_of_hosts(const std::string& hostfile) {
    return launch::with_flag_context("--hostfile", hostfile,
                                     [&] { return read_input_file(hostfile, "a list of hosts, one a line"); });
}

}  // namespace

Conditions conditions_now(const CalibrateRequest& request, const models::Stack& stack) {
    const std::string& hostfile = request.hostfile;
    constexpr std::size_t kDigits = 12;
    Conditions now{{"cores", std::to_string(exec::allowed_cores().size())},
                   {"stack", std::string(stack.waits_by_yielding ? "yields" : "spins") +
                                 (stack.binds_ranks ? ", bound, " : ", not bound, ") +
                                 short_hash(launch::load_document("stack", request.stack, {}).dump())},
                   {"hosts", hostfile.empty() ? "none" : short_hash(text_of_hosts(hostfile))},
                   {"mpirun flags", request.mpirun_flags.empty() ? "none" : request.mpirun_flags},
                   {"netlab", netlab_settings()},
                   {kBuildCondition, exec::sha256_of_file(launch::mpi_program()).substr(0, kDigits)}};
    for (auto& [name, value] : now) {
        std::ranges::replace_if(
            value, [](char c) { return c == ';' || c == '=' || c == '\n'; }, '_');
    }
    return now;
}

}  // namespace auspex::workflows
