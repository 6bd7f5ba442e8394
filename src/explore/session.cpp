/// @file States to inputs.
#include "explore/session.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/shell_word.hpp"
#include "base/text/closest_word.hpp"
#include "interop/overrides.hpp"
#include "models/stack_file/library_beside.hpp"

namespace auspex::explore {
namespace {

constexpr std::size_t kMostOverrides = 1000;
constexpr std::size_t kMostPages = 64;

/// The file of a plan's routing, or nothing.
std::optional<std::string> trace_of(const JsonDocument& plan) {
    const auto routing = plan.root().find("routing");
    const auto trace = routing && routing->is_object() ? routing->find("trace") : std::nullopt;
    return trace ? std::optional(trace->dump()) : std::nullopt;
}

/// What a role's part of the inputs depends on.
std::string key_of(std::size_t role, const State& state) {
    std::string key = state.names.at(role);
    for (const std::string& text : state.overrides) {
        if (interop::split_override(text).role == kRoles.at(role)) {
            key += '\n' + text;
        }
    }
    return key;
}

}  // namespace

State read_state(const JsonValue& request) {
    State state;
    for (std::size_t role = 0; role < kRoles.size(); ++role) {
        state.names.at(role) = request.at(kRoles.at(role)).as_string();
    }
    if (const auto tiles = request.find("tiles")) {
        state.tiles = static_cast<int>(tiles->as_integer(0, models::kMaxTiles));
    }
    if (const auto set = request.find("set")) {
        for (const JsonValue& text : set->elements()) {
            state.overrides.push_back(text.as_string());
        }
        if (state.overrides.size() > kMostOverrides) {
            set->fail("at most " + std::to_string(kMostOverrides) + " overrides");
        }
    }
    if (const auto tokens = request.find("tokens")) {
        state.tokens = tokens->as_number(0, kMostTokens);
    }
    interop::require_roles(state.overrides, {kRoles.begin(), kRoles.end()});
    return state;
}

std::string command_of(const State& state) { return command_of("predict", state); }

std::string command_of(const std::string& name, const State& state) {
    std::string command = "auspex " + name;
    for (std::size_t role = 0; role < kRoles.size(); ++role) {
        command += std::string(" --") + kRoles.at(role) + " " + quoted_for_shell(state.names.at(role));
    }
    command += state.tiles > 0 ? " --tiles " + std::to_string(state.tiles) : "";
    for (const std::string& text : state.overrides) {
        command += " --set " + quoted_for_shell(text);
    }
    return command;
}

Session::Session(Library library) : library_(std::move(library)) {}

const JsonDocument& Session::known_document(std::size_t role, const std::string& name) {
    const auto known = documents_.find({role, name});
    if (known != documents_.end()) {
        return known->second;
    }
    const std::set<std::string> all = library_.names(kRoles.at(role));
    if (!all.contains(name)) {
        throw InputError(std::string("request: $.") + kRoles.at(role),
                         "found \"" + printable(name) + "\"; expected the name of a " + kRoles.at(role) + " file" +
                             did_you_mean(name, {all.begin(), all.end()}));
    }
    return documents_.emplace(std::pair(role, name), library_.load(kRoles.at(role), name)).first->second;
}

JsonDocument Session::document(std::size_t role, const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return known_document(role, name);
}

JsonDocument Session::changed_document(std::size_t role, const State& state, std::string_view architecture) {
    const JsonDocument& file = known_document(role, state.names.at(role));
    JsonDocument changed =
        interop::with_overrides(kRoles.at(role), file, state.overrides, architecture, [&](const std::string& name) {
            std::optional<JsonDocument> beside = models::library_beside(file.name(), name);
            return beside ? std::move(*beside) : library_.load("stack", name);
        });
    if (std::string_view(kRoles.at(role)) == "plan" && changed.root().is_object() &&
        trace_of(changed) != trace_of(file)) {
        throw InputError(file.name() + ": $.routing.trace",
                         "found another file than the plan's own; expected no other: a page reads no files");
    }
    return changed;
}

models::Inputs Session::inputs(const State& state) {
    const std::scoped_lock lock(mutex_);
    std::array<std::string, kRoles.size()> keys;
    for (std::size_t role = 0; role < kRoles.size(); ++role) {
        keys.at(role) = key_of(role, state);
    }
    if (!kept_) {
        JsonDocument machine = changed_document(0, state);
        const std::string architecture = models::load_machine(machine).tile.architecture;
        kept_ = models::load_inputs(std::move(machine), changed_document(1, state, architecture),
                                    changed_document(2, state), changed_document(3, state));
        keys_ = keys;
    }
    const auto renew = [&](std::size_t role, JsonDocument& document, auto& value, auto load) {
        if (keys_.at(role) != keys.at(role)) {
            JsonDocument changed = changed_document(role, state, kept_->machine.tile.architecture);
            value = load(changed);
            document = std::move(changed);
            keys_.at(role) = keys.at(role);
        }
    };
    if (keys_.front() != keys.front()) {
        keys_.at(1).clear();  // a stack is read for a machine
    }
    renew(0, kept_->machine_document, kept_->machine, models::load_machine);
    renew(1, kept_->stack_document, kept_->stack,
          [this](const JsonDocument& document) { return models::load_stack(document, kept_->machine); });
    renew(2, kept_->workload_document, kept_->workload, models::load_workload);
    renew(3, kept_->plan_document, kept_->plan, models::load_plan);
    models::Inputs inputs = *kept_;
    if (state.tiles > 0 && !interop::value_set(state.overrides, "plan", "dp")) {
        inputs.plan.dp = 0;  // it follows the tiles, as on a command line
    }
    return inputs;
}

void Session::forget() {
    const std::scoped_lock lock(mutex_);
    documents_.clear();
    kept_.reset();
}

void Session::note(const std::string& page, std::int64_t number) {
    const std::scoped_lock lock(mutex_);
    if (latest_.size() >= kMostPages && !latest_.contains(page)) {
        latest_.clear();
    }
    std::int64_t& latest = latest_.try_emplace(page, std::numeric_limits<std::int64_t>::min()).first->second;
    latest = std::max(latest, number);
}

bool Session::is_outdated(const std::string& page, std::int64_t number) const {
    const std::scoped_lock lock(mutex_);
    const auto latest = latest_.find(page);
    return latest != latest_.end() && latest->second > number;
}

}  // namespace auspex::explore
