/// @file From flags to a file of the search's state.
#include "cli/plans/plan_checkpoint.hpp"

#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "launch/messages.hpp"

namespace auspex::cli {

std::string search_key(const models::Inputs& inputs, const search::SpaceRequest& request,
                       const search::SearchOptions& how) {
    Sha256 digest;
    const auto add = [&digest](const std::string& text) { digest.add(std::to_string(text.size()) + ":" + text); };
    add(AUSPEX_VERSION);
    for (const JsonDocument* document :
         {&inputs.machine_document, &inputs.stack_document, &inputs.workload_document, &inputs.plan_document}) {
        add(document->dump());
    }
    for (const std::size_t number :
         {static_cast<std::size_t>(request.tiles), static_cast<std::size_t>(request.global_batch), how.top,
          static_cast<std::size_t>(how.exhaustive), static_cast<std::size_t>(request.what_if), request.where.size()}) {
        add(std::to_string(number));
    }
    for (const search::Constraint& one : request.where) {
        add(one.field + one.comparison + std::to_string(one.value));
    }
    for (const std::string& field : std::set<std::string>(request.fixed.begin(), request.fixed.end())) {
        add(field);
    }
    if (!request.filter.name.empty()) {
        add(request.filter.name);
    }
    return digest.hex();
}

KeptSearch::KeptSearch(const Options& options, const std::string& key)
    : file_(options.search.checkpoint.empty() ? options.search.resume : options.search.checkpoint),
      name_{key, options.command_line} {
    const bool goes_on = !options.search.resume.empty();
    where_ = (goes_on ? "--resume " : "--checkpoint ") + file_;
    if (goes_on && !options.search.checkpoint.empty()) {
        throw InputError("--checkpoint", "found with --resume, which keeps its file on; expected one of them");
    }
    if (goes_on) {
        from_ = search::read_checkpoint("--resume", file_, key);
    } else if (!file_.empty() && std::filesystem::exists(file_)) {
        throw InputError(where_, "found a file there; expected none, or --resume " + file_ +
                                     " to go on with the search that it is of");
    }
}

void KeptSearch::attach(search::SearchOptions& how) {
    if (file_.empty()) {
        return;
    }
    how.from = from_ ? &*from_ : nullptr;
    how.from_name = where_;
    how.keep = [this](const search::SearchState& state) {
        try {
            search::write_checkpoint(file_, name_, state);
            has_written_ = true;
        } catch (const std::exception& error) {
            if (!has_written_) {
                throw;
            }
            if (!std::exchange(has_failed_, true)) {
                std::cerr << launch::message_line("auspex: note: ", where_ + " is not kept any more: " + error.what())
                          << std::endl;
            }
        }
    };
}

void refuse_of_one_search(const Options& options, const char* with) {
    for (const auto& [flag, is_given] : {std::pair{"--checkpoint", !options.search.checkpoint.empty()},
                                         std::pair{"--resume", !options.search.resume.empty()},
                                         std::pair{"--time-limit", options.search.time_limit_s > 0}}) {
        if (is_given) {
            throw InputError(
                flag, std::string("found with ") + with + "; expected it with one search: one number of --tiles");
        }
    }
}

}  // namespace auspex::cli
