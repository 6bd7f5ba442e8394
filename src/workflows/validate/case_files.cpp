/// @file Files of cases, and all their predictions at once.
#include "workflows/validate/case_files.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& place) {
    if (!fs::is_directory(place)) {
        if (!fs::exists(place)) {
            throw InputError("--cases " + place, "found no such file or folder; expected files of published runs");
        }
        return {place};
    }
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    if (files.empty()) {
        throw InputError("--cases " + place, "found a folder without JSON files; expected files of published runs");
    }
    return files;
}

}  // namespace

evaluate::RunNames load_names(std::vector<report::InputFile>& files) {
    const JsonDocument document = JsonDocument::load(launch::find_input("published-names", "runs"));
    files.push_back({"names", document.name(), document.sha256()});
    return evaluate::load_run_names(document);
}

std::vector<evaluate::PublishedRun> load_cases(const std::vector<std::string>& places,
                                               std::vector<report::InputFile>& files) {
    std::vector<evaluate::PublishedRun> runs;
    for (const std::string& place : places) {
        for (const std::string& file : files_of(place)) {
            const JsonDocument document = JsonDocument::load(file);
            files.push_back({"cases", document.name(), document.sha256()});
            std::ranges::move(evaluate::load_published_runs(document), std::back_inserter(runs));
        }
    }
    if (runs.empty()) {
        throw InputError("--cases", "found no case; expected files of published runs");
    }
    return runs;
}

std::vector<evaluate::ValidatedRun> predicted(const RunPredictor& predictor, std::vector<evaluate::PublishedRun> runs) {
    launch::ProgressLine progress("cases predicted");
    std::vector<evaluate::ValidatedRun> all(runs.size());
    std::mutex mutex;
    std::size_t done = 0;
    tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
        all[i] = predictor.validated(std::move(runs[i]));
        const std::scoped_lock lock(mutex);
        progress.show(++done, runs.size());
    });
    return all;
}

}  // namespace auspex::workflows
