/// @file The answers of an exploration for scripts of the page that holds them: the same functions as behind the
/// server, over files that the engine has in it. The build of the page (cmake/wasm.cmake) alone has this file.
#include <emscripten/emscripten.h>

#include <filesystem>
#include <string>

#include "base/json.hpp"
#include "explore/answer.hpp"
#include "explore/page.hpp"

namespace auspex::explore {
namespace {

/// Of the files that the engine was linked with: /ROLEs/NAME.json.
Library library_of_engine() {
    const auto folder = [](const std::string& role) { return role + "s"; };
    return {[folder](const std::string& role) {
                std::set<std::string> names;
                for (const auto& entry : std::filesystem::directory_iterator("/" + folder(role))) {
                    names.insert(entry.path().stem().string());
                }
                return names;
            },
            [folder](const std::string& role, const std::string& name) {
                return JsonDocument::load(folder(role) + "/" + name + ".json");
            }};
}

Session& session() {
    static Session one(library_of_engine());
    return one;
}

/// For a caller who copies it at once.
const char* kept(std::string text) {
    static std::string last;
    last = std::move(text);
    return last.c_str();
}

}  // namespace
}  // namespace auspex::explore

extern "C" {

/// The status in three digits, then the answer.
EMSCRIPTEN_KEEPALIVE const char* auspex_answer(const char* request) {
    auspex::explore::Answer found = auspex::explore::answer(auspex::explore::session(), request);
    return auspex::explore::kept(std::to_string(found.status) + found.body);
}

/// The page that begins as `auspex explore` does, for 12,288 tiles and 1 T tokens. `engine` is the text of its scripts
/// that answer.
EMSCRIPTEN_KEEPALIVE const char* auspex_page(const char* engine) {
    const auspex::explore::State start{{"aurora", "optimus", "mula-220b-a10b", "mula-220b-a10b"}, 12288, {}, 1e12};
    return auspex::explore::kept(auspex::explore::explore_page(start, engine));
}
}
