/// @file Fields of the four files: constants with their provenance, other numbers, and those of plans by their schema.
#include "explore/fields.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json_writer.hpp"
#include "explore/slider_range.hpp"

namespace auspex::explore {
namespace {

/// A value as an input field shows it: strings without their quotes.
std::string shown(const JsonValue& value) { return value.is_string() ? value.as_string() : value.dump(); }

JsonValue value_at(const JsonDocument& document, std::string_view path) {
    JsonValue value = document.root();
    for (const JsonPathStep& step : json_path_steps(path, document.name())) {
        value = value.at(step.key);
        if (step.index) {
            value = value.elements().at(*step.index);
        }
    }
    return value;
}

void write_constant(JsonWriter& json, const JsonDocument& document, const Constant& constant) {
    const std::size_t role_end = constant.path.find('.');
    const std::size_t name = constant.path.rfind('.') + 1;
    const JsonValue entry = value_at(document, std::string_view(constant.path).substr(role_end + 1));
    const SliderRange range = slider_range(constant);
    json.begin_object().member("field", constant.path).member("group", constant.path.substr(0, name - 1));
    json.member("label", constant.path.substr(name));
    json.member("text", shown(entry.is_object() ? entry.at("value") : entry)).member("value", constant.value);
    json.member("least", constant.low).member("most", constant.high);
    json.member("from", range.from).member("to", range.to).member("log", range.is_logarithmic);
    json.key("units").begin_array();
    for (const auto& [unit, scale] : readable_units(constant.dimension)) {
        json.begin_array().value(unit).value(scale).end_array();
    }
    json.end_array().member("kind", to_string(constant.kind)).member("source", constant.source).end_object();
}

/// Numbers and flags of a file that are no constants, as they stand in it.
class OtherFields {
 public:
    OtherFields(JsonWriter& json, const char* role, const std::vector<Constant>& constants)
        : json_(json), role_(role), constants_(constants) {}

    void write(const JsonValue& object) {
        for (const std::string& key : object.keys()) {
            const JsonValue value = object.at(key);
            const bool is_for_others = key == "stated" || key == "launch" || key == "environment" || key == "entries";
            if (key == "comment" || key.starts_with('$') || is_for_others || is_constant(value)) {
                continue;
            }
            if (value.is_number() || value.is_bool()) {
                write_field(value, key, value.is_bool() ? "flag" : "number");
            } else if (value.is_object() && !value.find("value")) {
                write(value);
            }
        }
    }
    void write_choice(const JsonValue& value, const std::vector<std::string>& words) {
        begin_field(value, "use", "word");
        json_.key("words").begin_array();
        for (const std::string& word : words) {
            json_.value(word);
        }
        json_.end_array().end_object();
    }

 private:
    [[nodiscard]] bool is_constant(const JsonValue& value) const {
        const std::string path = std::string(role_) + "." + value.path();
        return std::any_of(constants_.begin(), constants_.end(),
                           [&](const Constant& constant) { return constant.path == path; });
    }
    void begin_field(const JsonValue& value, const std::string& label, const char* kind) {
        const std::string field = std::string(role_) + "." + value.path();
        json_.begin_object().member("field", field).member("group", field.substr(0, field.rfind('.')));
        json_.member("label", label).member("kind", kind).member("text", shown(value));
    }
    void write_field(const JsonValue& value, const std::string& label, const char* kind) {
        begin_field(value, label, kind);
        json_.end_object();
    }

    JsonWriter& json_;
    const char* role_;
    const std::vector<Constant>& constants_;
};

void write_words(JsonWriter& json, const JsonValue& words) {
    json.key("words").begin_array();
    for (const JsonValue& word : words.elements()) {
        json.value(word.as_string());
    }
    json.end_array();
}

/// What a schema's property is on a page: "whole" and "number" with their range, "flag", "word" (one of), "words" (any
/// of), "text" (a word of these, or other JSON).
void write_kind(JsonWriter& json, const JsonValue& property) {
    const auto type = property.find("type");
    if (const auto words = property.find("enum")) {
        json.member("kind", "word");
        return write_words(json, *words);
    }
    if (const auto either = property.find("oneOf")) {
        json.member("kind", "text");
        if (const auto first_words = either->elements().front().find("enum")) {
            write_words(json, *first_words);
        }
        return;
    }
    const std::string word = type->as_string();
    const auto items = property.find("items");
    const auto words = items ? items->find("enum") : std::nullopt;
    if (word == "array" && words) {
        json.member("kind", "words");
        return write_words(json, *words);
    }
    json.member("kind", word == "integer"   ? "whole"
                        : word == "number"  ? "number"
                        : word == "boolean" ? "flag"
                                            : "text");
    for (const auto& [key, member] : {std::pair("minimum", "least"), std::pair("maximum", "most")}) {
        if (const auto limit = property.find(key)) {
            json.member(member,
                        limit->as_number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()));
        }
    }
}

void write_plan_field(JsonWriter& json, const std::string& name, const JsonValue& property, const JsonDocument& plan) {
    const auto value = plan.root().find(name);
    const auto otherwise = property.find("default");
    const auto meaning = property.find("description");
    json.begin_object().member("field", "plan." + name).member("group", "plan").member("label", name);
    write_kind(json, property);
    json.member("text", value ? shown(*value) : otherwise ? shown(*otherwise) : std::string());
    json.member("meaning", meaning ? meaning->as_string() : std::string()).end_object();
}

void write_plan_fields(JsonWriter& json, const JsonDocument& plan) {
    const JsonDocument schema = JsonDocument::parse(kPlanSchema, "plan.schema.json");
    const JsonValue properties = schema.root().at("properties");
    std::vector<std::string> names{"pp",
                                   "ep",
                                   "etp",
                                   "tp",
                                   "cp",
                                   "dp",
                                   "micro_batch_size",
                                   "micro_batches",
                                   "schedule",
                                   "virtual_stages"};  // what people change first
    for (const std::string& name : properties.keys()) {
        const bool is_remark = name == "comment" || name == "source" || name.starts_with('$');
        if (!is_remark && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    for (const std::string& name : names) {
        write_plan_field(json, name, properties.at(name), plan);
    }
}

void write_constants(JsonWriter& json, const models::Inputs& inputs) {
    json.key("constants").begin_array();
    for (const Constant& constant : inputs.machine.constants) {
        write_constant(json, inputs.machine_document, constant);
    }
    for (const Constant& constant : inputs.stack.constants) {
        write_constant(json, inputs.stack_document, constant);
    }
    json.end_array();
}

void write_others(JsonWriter& json, const models::Inputs& inputs) {
    json.key("numbers").begin_array();
    OtherFields(json, "machine", inputs.machine.constants).write(inputs.machine_document.root());
    OtherFields of_stack(json, "stack", inputs.stack.constants);
    of_stack.write_choice(inputs.stack_document.root().at("transport").at("use"), inputs.stack.transport_names);
    if (const auto releases = inputs.stack_document.root().find("releases")) {
        of_stack.write_choice(releases->at("use"), inputs.stack.releases);
    }
    of_stack.write(inputs.stack_document.root());
    OtherFields(json, "workload", {}).write(inputs.workload_document.root());
    json.end_array();
}

}  // namespace

std::string fields_answer(Session& session, const State& state) {
    session.forget();
    State plain = state;
    plain.overrides.clear();
    const models::Inputs inputs = session.inputs(plain);
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().key("names").begin_object();
        for (const char* role : kRoles) {
            json.key(role).begin_array();
            for (const std::string& name : session.names(role)) {
                json.value(name);
            }
            json.end_array();
        }
        json.end_object();
        write_constants(json, inputs);
        write_others(json, inputs);
        json.key("plan").begin_array();
        write_plan_fields(json, inputs.plan_document);
        json.end_array().end_object();
    }
    return out.str();
}

}  // namespace auspex::explore
