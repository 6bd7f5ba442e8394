/// @file Names of inputs, and what was changed in them.
#include "cli/output/input_names.hpp"

#include "cli/flags/input_flags.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::cli {

void write_names(JsonWriter& json, const models::Inputs& inputs, const Options& options) {
    json.member("machine", inputs.machine.name).member("stack", inputs.stack.name);
    json.member("release", inputs.stack.release);
    json.member("communication", models::communication_name(inputs.stack));
    json.member("workload", inputs.workload.name).member("plan", inputs.plan.name);
    json.key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().member("version", AUSPEX_VERSION);
}

std::string overrides_line(const Options& options) {
    std::string out;
    for (const std::string& text : overrides_in_words(options)) {
        out += (out.empty() ? "\nchanged on the command line: " : ", ") + text;
    }
    return out;
}

}  // namespace auspex::cli
