/// @file auspex explore: a page that predicts while its sliders are moved.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "cli/commands/commands.hpp"
#include "explore/server/server.hpp"
#include "launch/child_process.hpp"
#include "launch/input_files.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): unistd.h has it with extensions only

namespace auspex::cli {
namespace {

/// Of the whole run that the page begins with.
constexpr double kTokens = 1e12;

explore::State start_of(const Options& options) {
    explore::State start;
    const auto or_else = [](const std::string& given, const char* otherwise) {
        return given.empty() ? std::string(otherwise) : given;
    };
    start.names = {or_else(options.machine, "aurora"), or_else(options.stack, "optimus"),
                   or_else(options.workload, "mula-220b-a10b"), or_else(options.plan, "mula-220b-a10b")};
    start.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    start.overrides = options.overrides;
    if (options.tokens > explore::kMostTokens) {
        throw InputError("--tokens", "found " + short_count(options.tokens) + "; expected at most 1e18");
    }
    start.tokens = options.tokens > 0 ? options.tokens : kTokens;
    return start;
}

/// Names that find_input knows, and the files that the command line names.
explore::Library library_of(const explore::State& start) {
    explore::Library library;
    library.names = [names = start.names](const std::string& role) {
        std::set<std::string> all = launch::input_names(role);
        for (std::size_t i = 0; i < explore::kRoles.size(); ++i) {
            if (explore::kRoles.at(i) == role) {
                all.insert(names.at(i));
            }
        }
        return all;
    };
    library.load = [](const std::string& role, const std::string& name) {
        return role == "stack" ? launch::load_stack_file(name) : launch::load_document(role, name, {});
    };
    return library;
}

/// Asks the desktop to show the page. A computer without one has no xdg-open.
void open_browser(const std::string& address) {
    if (!launch::is_in_path("xdg-open")) {
        std::cerr << "auspex: --open: found no xdg-open; open the address in a browser\n";
        return;
    }
    std::vector<std::string> words{"xdg-open", address};
    const std::vector<char*> arguments = launch::argv_of(words);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
    }
    pid_t child = 0;
    if (posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ) != 0) {
        std::cerr << "auspex: --open: xdg-open could not be started; open the address in a browser\n";
    }
    posix_spawn_file_actions_destroy(&actions);
}

void say(const explore::Served& served, const Options& options) {
    if (options.json) {
        JsonWriter json(std::cout, JsonLayout::kOneLine);
        json.begin_object().member("address", served.address).member("port", served.port);
        json.member("token", served.token).end_object();
    } else {
        std::cout << "The page is at " << served.address << "\n"
                  << "It is served to this computer alone, to whoever has the address, until Ctrl-C.\n";
    }
    std::cout.flush();
    if (options.explore.open) {
        open_browser(served.address);
    }
}

}  // namespace

void run_explore(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack", "workload", "plan"});
    const explore::State start = start_of(options);
    explore::Session session(library_of(start));
    static_cast<void>(session.inputs(start));  // refuses now what the page could not begin with
    const launch::SignalsCaught signals;
    explore::serve(
        session, start, options.explore.port, [&](const explore::Served& served) { say(served, options); },
        [] { return launch::caught_signal() != 0; });
    static_cast<void>(launch::take_caught_signal());  // Ctrl-C is how it ends
}

}  // namespace auspex::cli
