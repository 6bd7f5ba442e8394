#pragma once
/// @file What an exploration knows: the input files by name, and the inputs of the present state.
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/inputs.hpp"

namespace auspex::explore {

/// Of input files, in the order of a command line.
inline constexpr std::array kRoles{"machine", "stack", "workload", "plan"};

/// Where input files come from: folders, or a page that holds them.
struct Library {
    std::function<std::set<std::string>(const std::string& role)> names;
    /// Asked for such names only. Throws InputError.
    std::function<JsonDocument(const std::string& role, const std::string& name)> load;
};

/// Of a whole run, at most.
inline constexpr double kMostTokens = 1e18;

/// What `auspex predict` would be given.
struct State {
    std::array<std::string, kRoles.size()> names;  ///< of input files, in the order of kRoles
    int tiles = 0;                                 ///< 0: what the plan's dp gives
    std::vector<std::string> overrides;            ///< ROLE.PATH=VALUE
    double tokens = 0;                             ///< of the whole run; 0: none is asked for
};
/// Strict: {"machine", "stack", "workload", "plan", "tiles", "set", "tokens"}, of which `also` names what else may be
/// there. Throws InputError.
[[nodiscard]] State read_state(const JsonValue& request);
/// The command that predicts the same, or another one over the same inputs.
[[nodiscard]] std::string command_of(const State& state);
[[nodiscard]] std::string command_of(const std::string& name, const State& state);

/// Files are read once, and of the inputs only that is loaded again whose name or overrides are others. Its functions
/// may be called from several threads at once.
class Session {
 public:
    explicit Session(Library library);

    [[nodiscard]] std::set<std::string> names(const std::string& role) const { return library_.names(role); }
    /// Of a file as it is, without overrides. Throws InputError for a name that the library does not have.
    [[nodiscard]] JsonDocument document(std::size_t role, const std::string& name);
    /// As `auspex predict` has them for the same state. Throws InputError; also for an override that would read a file.
    [[nodiscard]] models::Inputs inputs(const State& state);
    /// Reads files again when they are next asked for.
    void forget();

    /// Pages number their requests upwards: true once a later number of the same page has come. `page` is any text; of
    /// more than a few pages the first are forgotten, and never outdated.
    void note(const std::string& page, std::int64_t number);
    [[nodiscard]] bool is_outdated(const std::string& page, std::int64_t number) const;

 private:
    [[nodiscard]] const JsonDocument& known_document(std::size_t role, const std::string& name);
    [[nodiscard]] JsonDocument changed_document(std::size_t role, const State& state,
                                                std::string_view architecture = {});

    Library library_;
    mutable std::mutex mutex_;
    std::map<std::pair<std::size_t, std::string>, JsonDocument> documents_;  ///< by role and name
    std::optional<models::Inputs> kept_;
    std::array<std::string, kRoles.size()> keys_;  ///< of what is kept: name and overrides
    std::map<std::string, std::int64_t> latest_;   ///< by page
};

}  // namespace auspex::explore
