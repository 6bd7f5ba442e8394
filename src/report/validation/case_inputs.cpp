/// @file Inputs of cases as files.
#include "report/validation/case_inputs.hpp"

#include <set>

#include "base/shell_word.hpp"
#include "report/parts/report_files.hpp"

namespace auspex::report {
namespace {

/// Upper and lower case are one to some file systems: names are counted without.
std::string lower(std::string text) {
    for (char& c : text) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

std::string safe_name(const std::string& id) {
    constexpr std::size_t kLongest = 100;
    std::string name;
    for (const char c : id.substr(0, kLongest)) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                              c == '-' || (c == '.' && !name.empty());
        name += is_plain ? c : '_';
    }
    return name.empty() ? "case" : name;
}

}  // namespace

std::vector<std::string> case_folders(const std::vector<evaluate::ValidatedRun>& runs) {
    std::vector<std::string> folders;
    std::set<std::string> taken;
    for (const evaluate::ValidatedRun& one : runs) {
        const std::string name = safe_name(one.run.id);
        std::string folder = name;
        for (int number = 2; !taken.insert(lower(folder)).second; ++number) {
            folder = name + "-" + std::to_string(number);
        }
        folders.push_back(std::move(folder));
    }
    return folders;
}

std::string case_command(const ValidationReport& report, std::size_t i, const std::vector<std::string>& folders) {
    const evaluate::ValidatedRun& one = report.runs[i];
    if (!one.why_unmapped.empty() || report.folder.empty()) {
        return "";
    }
    const auto file_of = [](const std::string& name, const std::string& folder) {
        return quoted_for_shell(folder.empty() ? name : folder + "/" + name + ".json");
    };
    const std::string inputs = report.folder + "/inputs/" + folders[i] + "/";
    std::string command = "auspex predict --machine " + file_of(one.machine, report.machines) + " --stack " +
                          file_of(one.stack, report.stacks) + " --workload " +
                          quoted_for_shell(inputs + "workload.json") + " --plan " +
                          quoted_for_shell(inputs + "plan.json") + " --tiles " + std::to_string(one.run.gpus);
    for (const std::string& setting : one.settings) {
        command += " --set " + quoted_for_shell(setting);
    }
    return command;
}

void write_case_inputs(const ValidationReport& report, const std::filesystem::path& folder) {
    const std::vector<std::string> folders = case_folders(report.runs);
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
        const evaluate::ValidatedRun& one = report.runs[i];
        if (!one.why_unmapped.empty()) {
            continue;
        }
        const std::filesystem::path own =
            make_report_folder((folder / folders[i]).string(), "workload.json, plan.json and command.txt");
        write_report_file(own / "workload.json", one.workload);
        write_report_file(own / "plan.json", one.plan);
        write_report_file(own / "command.txt", case_command(report, i, folders) + "\n");
    }
}

}  // namespace auspex::report
