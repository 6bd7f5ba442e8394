/// @file simgrid_check: plays the cases with both simulators, prints and writes what they say.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include "comparison.hpp"
#include "tables.hpp"

namespace {

using namespace auspex::simgrid_check;

constexpr const char* kUsage =
    "    simgrid_check [--quick] [--case NAME] [--out DIRECTORY]\n"
    "--quick: only cases of a few seconds, and exit code 1 if one differs by more than 5 %\n"
    "--out: also write report.md and cases.csv there\n";

struct Options {
    bool quick = false;
    std::string only, out;
};

Options parse(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        const bool has_value = i + 1 < count;
        if (argument == "--quick") {
            options.quick = true;
        } else if (argument == "--case" && has_value) {
            options.only = arguments[++i];
        } else if (argument == "--out" && has_value) {
            options.out = arguments[++i];
        } else {
            throw std::invalid_argument("found " + std::string(argument) + "; expected\n" + kUsage);
        }
    }
    return options;
}

void write_file(const std::filesystem::path& path, const std::vector<Comparison>& comparisons,
                void (*print)(const std::vector<Comparison>&, std::ostream&)) {
    std::ofstream file(path);
    print(comparisons, file);
    if (!file.flush()) {
        throw std::runtime_error(path.string() + " cannot be written");
    }
}

int run(const Options& options) {
    std::vector<Comparison> comparisons;
    bool all_within = true;
    for (const Case& of : all_cases()) {
        if ((options.quick && !of.is_quick) || (!options.only.empty() && options.only != of.name)) {
            continue;
        }
        comparisons.push_back(compare(of));
        print_text(comparisons.back(), std::cout);
        all_within = all_within && comparisons.back().is_within(kTolerance);
    }
    if (comparisons.empty()) {
        throw std::invalid_argument("found no case " + options.only + "; expected a number of the list");
    }
    if (!options.out.empty()) {
        std::filesystem::create_directories(options.out);
        write_file(std::filesystem::path(options.out) / "report.md", comparisons, print_markdown);
        write_file(std::filesystem::path(options.out) / "cases.csv", comparisons, print_csv);
    }
    return options.quick && !all_within ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return run(parse(count, arguments));
    } catch (const std::exception& failure) {
        std::cerr << "simgrid_check: " << failure.what() << '\n';
        return 2;
    }
}
