/// @file What /proc says of them.
#include "launch/rank_processes.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "launch/hung_rank.hpp"

namespace auspex::launch {
namespace {

/// Processor time of a process of this host, in clock ticks; none if it is not there.
std::optional<long> processor_ticks(int process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string word;
    long user = 0, system = 0;
    constexpr int kWordsBefore = 11;
    for (int i = 0; i < kWordsBefore; ++i) {
        words >> word;
    }
    return words >> user >> system ? std::optional<long>(user + system) : std::nullopt;
}

/// Processes of this host that belong to launches with this folder.
std::vector<pid_t> processes_of(const RunFolder& folder) {
    const std::string variable = std::string(kRunFolderVariable) + "=" + folder.path();
    std::vector<pid_t> processes;
    std::error_code status;
    for (std::filesystem::directory_iterator entry("/proc", status), end; !status && entry != end;
         entry.increment(status)) {
        const std::string name = entry->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        std::ifstream environment(entry->path() / "environ", std::ios::binary);
        for (std::string text; std::getline(environment, text, '\0');) {
            if (text == variable) {
                processes.push_back(std::stoi(name));
            }
        }
    }
    return processes;
}

}  // namespace

std::optional<int> rank_that_hangs(const RunFolder& folder, int ranks) {
    constexpr std::chrono::seconds kWhile{2};
    std::vector<int> steps;
    std::vector<std::optional<long>> before, after;
    for (int rank = 0; rank < ranks; ++rank) {
        const RankStatus status = folder.status(rank).value_or(RankStatus{});
        steps.push_back(status.step);
        before.push_back(status.host == own_host() ? processor_ticks(status.process) : std::nullopt);
    }
    if (const auto rank = only_rank_behind(steps)) {
        return rank;
    }
    std::this_thread::sleep_for(kWhile);
    for (int rank = 0; rank < ranks; ++rank) {
        after.push_back(processor_ticks(folder.status(rank).value_or(RankStatus{}).process));
    }
    return only_idle_rank(before, after);
}

void kill_orphaned_ranks(const RunFolder& folder) {
    constexpr std::chrono::milliseconds kBetweenLooks{20};
    constexpr int kLooks = 500;
    for (int trial = 0; trial < kLooks; ++trial) {
        const std::vector<pid_t> left = processes_of(folder);
        for (const pid_t process : left) {
            kill(process, SIGKILL);
        }
        while (waitpid(-1, nullptr, WNOHANG) > 0) {  // they have become children of this process
        }
        if (left.empty()) {
            return;
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace auspex::launch
