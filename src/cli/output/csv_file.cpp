/// @file Tidy tables of answers.
#include "cli/output/csv_file.hpp"

#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"

namespace auspex::cli {

void require_csv_place(const Options& options) {
    const std::filesystem::path folder = std::filesystem::path(options.csv).parent_path();
    std::error_code status;
    if (std::filesystem::is_directory(options.csv, status)) {
        throw InputError("--csv " + options.csv, "found a directory; expected the name of a file to write");
    }
    if (!folder.empty() && !std::filesystem::is_directory(folder, status)) {
        throw InputError("--csv " + options.csv, "found no folder " + folder.string() +
                                                     "; expected a file in one that "
                                                     "exists");
    }
}

CsvFile::CsvFile(const Options& options) : options_(options), locks_(options.command_line) {
    require_csv_place(options);
    if (!options.csv.empty()) {
        locks_.take_file("--csv " + options.csv, options.csv);
    }
}

void CsvFile::write(const std::function<void(std::ostream&)>& answer, const report::TidyGrid& grid) const {
    if (options_.csv.empty()) {
        return;
    }
    std::ostringstream text;
    answer(text);
    const JsonDocument document = JsonDocument::parse(text.str(), "--csv");
    write_file(options_.csv, report::tidy_csv(document.root(), grid));
}

void CsvFile::write_table(const std::string& table) const {
    if (!options_.csv.empty()) {
        write_file(options_.csv, table);
    }
}

report::TidyGrid grid_of(const models::Inputs& inputs, int tiles) {
    const models::Plan plan = resolve_plan(inputs.plan, inputs.workload, tiles);
    const int all = tiles_of(plan), of_node = inputs.machine.node.tiles;
    return {all, (all + of_node - 1) / of_node, plan.pp, plan.dp, plan.ep, plan.etp, plan.tp, plan.cp};
}

}  // namespace auspex::cli
