/// @file Requests read, asked of the right function, and errors brought to the field that they are about.
#include "explore/answer.hpp"

#include <exception>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "explore/curve.hpp"
#include "explore/fields.hpp"
#include "explore/step.hpp"

namespace auspex::explore {
namespace {

/// "FILE: $.PATH: found …" of one of the state's files: the field's name, "machine.tile.cores"; "tiles" where a plan's
/// dp is what follows from them. Empty: of no field.
std::string field_of(Session& session, const State& state, const std::string& message) {
    for (std::size_t role = 0; role < kRoles.size(); ++role) {
        std::string file;
        try {
            file = session.document(role, state.names.at(role)).name() + ": $.";
        } catch (const InputError&) {
            continue;
        }
        if (message.starts_with(file)) {
            const std::string path = message.substr(file.size(), message.find(": ", file.size()) - file.size());
            return state.tiles > 0 && role + 1 == kRoles.size() && path == "dp"
                       ? "tiles"
                       : std::string(kRoles.at(role)) + "." + path;
        }
    }
    if (const std::string own = "request: $."; message.starts_with(own)) {
        return message.substr(own.size(), message.find(": ", own.size()) - own.size());
    }
    return "";
}

Answer refusal(const std::string& message, const std::string& field) {
    return {400, "{\"error\":{\"message\":" + json_quote(printable(message, 2000)) +
                     (field.empty() ? "" : ",\"field\":" + json_quote(field)) + "}}"};
}

std::string answer_of(Session& session, std::size_t ask, const JsonValue& root, const State& state) {
    if (ask == 0) {
        return fields_answer(session, state);
    }
    const bool is_step = ask == 1;
    if (is_step && !root.find("page")) {
        return step_answer(session, state);
    }
    const std::string page = root.at("page").as_string();
    const std::int64_t number = root.at("number").as_integer(0, std::int64_t{1} << 53);
    session.note(page, number);
    if (is_step) {
        return step_answer(session, state);
    }
    return curve_answer(session, state, [&] { return session.is_outdated(page, number); });
}

}  // namespace

Answer answer(Session& session, std::string_view request) {
    State state;
    try {
        const JsonDocument document = JsonDocument::parse(request, "request");
        const JsonValue root = document.root();
        root.allow_only({"ask", "machine", "stack", "workload", "plan", "tiles", "set", "tokens", "page", "number"});
        const std::size_t ask = root.at("ask").as_one_of({"fields", "step", "curve"});
        state = read_state(root);
        return {200, answer_of(session, ask, root, state)};
    } catch (const InputError& error) {
        return refusal(error.what(), field_of(session, state, error.what()));
    } catch (const std::exception& error) {
        return {500, "{\"error\":{\"message\":" + json_quote(printable(error.what(), 2000)) + "}}"};
    }
}

}  // namespace auspex::explore
