/// @file Small text files, one fact a line.
#include "launch/run_folder.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>

namespace auspex::launch {

namespace fs = std::filesystem;

std::string own_host() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void RunFolder::write_status(int rank, const RankStatus& status) const {
    std::ofstream(file("rank-" + std::to_string(rank)))
        << status.process << " " << status.step << " " << status.host << "\n";
}

std::optional<RankStatus> RunFolder::status(int rank) const {
    std::ifstream in(file("rank-" + std::to_string(rank)));
    RankStatus status;
    if (in >> status.process >> status.step) {
        in >> status.host;
        return status;
    }
    return std::nullopt;
}

void RunFolder::forget_ranks(int ranks) const {
    for (int rank = 0; rank < ranks; ++rank) {
        std::error_code status;
        fs::remove(file("rank-" + std::to_string(rank)), status);
    }
}

void RunFolder::append_step(const exec::StepReport& r) const {
    std::ostringstream line;
    line << std::setprecision(std::numeric_limits<double>::max_digits10) << r.step << " " << r.loss << " "
         << r.cross_entropy << " " << r.auxiliary << " " << r.z << " " << r.gradient_norm << " " << r.learning_rate
         << " " << r.step_time_s << " " << r.tokens_per_s << " " << r.probe_s << "\n";
    std::ofstream(file("steps"), std::ios::app) << line.str();
}

std::vector<exec::StepReport> RunFolder::steps() const {
    std::map<int, exec::StepReport> by_step;
    std::ifstream in(file("steps"));
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        exec::StepReport r;
        // strtod reads "nan" and "inf", which streams do not.
        const auto number = [&](double& value) {
            std::string word;
            words >> word;
            value = std::strtod(word.c_str(), nullptr);
        };
        words >> r.step;
        for (double* const value : {&r.loss, &r.cross_entropy, &r.auxiliary, &r.z, &r.gradient_norm, &r.learning_rate,
                                    &r.step_time_s, &r.tokens_per_s, &r.probe_s}) {
            number(*value);
        }
        by_step[r.step] = r;
    }
    std::vector<exec::StepReport> steps;
    for (const auto& [step, report] : by_step) {
        steps.push_back(report);
    }
    return steps;
}

std::size_t RunFolder::progress() const {
    std::error_code status;
    const auto size = fs::file_size(file("steps"), status);
    return status ? 0 : static_cast<std::size_t>(size);
}

void RunFolder::write_soft_failure(int step, const std::vector<int>& ranks) const {
    std::ofstream out(file("failure"));
    out << step;
    for (const int rank : ranks) {
        out << " " << rank;
    }
    out << "\n";
}

std::optional<SoftFailureRecord> RunFolder::take_soft_failure() const {
    std::ifstream in(file("failure"));
    SoftFailureRecord failure;
    const bool is_there = static_cast<bool>(in >> failure.step);
    for (int rank = 0; in >> rank;) {
        failure.ranks.push_back(rank);
    }
    std::error_code status;
    fs::remove(file("failure"), status);
    return is_there ? std::optional(failure) : std::nullopt;
}

void RunFolder::append_restart(const Restart& restart) const {
    std::ofstream out(file("restarts"), std::ios::app);
    out << restart.rank << " " << restart.slot << " " << restart.step << " " << restart.from_step << " "
        << restart.slots.size();
    for (const int slot : restart.slots) {
        out << " " << slot;
    }
    out << " " << restart.reason << "\n";
}

std::vector<Restart> RunFolder::restarts() const {
    std::vector<Restart> restarts;
    std::ifstream in(file("restarts"));
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        Restart& restart = restarts.emplace_back();
        std::size_t slots = 0;
        words >> restart.rank >> restart.slot >> restart.step >> restart.from_step >> slots;
        restart.slots.resize(slots);
        for (int& slot : restart.slots) {
            words >> slot;
        }
        std::getline(words >> std::ws, restart.reason);
    }
    return restarts;
}

void RunFolder::mark_done() const { std::ofstream(file("done")) << "\n"; }
bool RunFolder::is_done() const {
    std::error_code status;
    return fs::exists(file("done"), status);
}

void RunFolder::mark_terminal() const { std::ofstream(file("terminal")) << "\n"; }
bool RunFolder::is_on_terminal() const {
    std::error_code status;
    return fs::exists(file("terminal"), status);
}

std::optional<RunFolder> run_folder_in(const std::string& checkpoints) {
    std::error_code status;
    for (fs::directory_iterator entry(checkpoints, status), end; !status && entry != end; entry.increment(status)) {
        if (entry->path().filename().string().starts_with(kRunFolderPrefix)) {
            return RunFolder(entry->path().string());
        }
    }
    return std::nullopt;
}

}  // namespace auspex::launch
