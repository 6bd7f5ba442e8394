#pragma once
/// @file A search that is kept in a file, and gone on with.
#include <optional>
#include <string>

#include "cli/flags/options.hpp"
#include "sim/search/plan_search.hpp"
#include "sim/search/state/checkpoint_file.hpp"

namespace auspex::cli {

/// A digest of all that the answer depends on: documents with what was set in them, request, options, version.
[[nodiscard]] std::string search_key(const models::Inputs& inputs, const search::SpaceRequest& request,
                                     const search::SearchOptions& how);

/// --checkpoint or --resume of a search, if one was given.
class KeptSearch {
 public:
    /// Throws InputError: both flags; a file of --checkpoint that is there; one of --resume that is not, is damaged or
    /// of another search.
    KeptSearch(const Options& options, const std::string& key);

    /// Lets the search begin where the file ends, and writes it on; this must outlive it. A file that cannot be
    /// written later on is said once on standard error, and does not end the search.
    void attach(search::SearchOptions& how);

 private:
    std::string where_, file_;
    search::SearchName name_;
    std::optional<search::SearchState> from_;
    bool has_written_ = false, has_failed_ = false;
};

/// --checkpoint and --resume are of a single search: throws InputError where several are asked for.
void refuse_of_one_search(const Options& options, const char* with);

}  // namespace auspex::cli
