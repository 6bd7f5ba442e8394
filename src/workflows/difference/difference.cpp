/// @file Both sides, then what differs.
#include "workflows/difference/difference.hpp"

#include <array>

#include "base/json.hpp"
#include "launch/input_files.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::workflows {
namespace {

constexpr double kMost = 1e30;

double number(const JsonValue& object, std::string_view key) { return object.at(key).as_number(0, kMost); }
int count(const JsonValue& object, std::string_view key) {
    return static_cast<int>(object.at(key).as_integer(0, 2'000'000'000));
}

predict::Lens lens_of(const JsonValue& root) {
    constexpr std::array kLenses{predict::Lens::kFolded, predict::Lens::kUnfolded, predict::Lens::kCpu};
    return kLenses.at(root.at("lens").as_one_of({"folded", "unfolded", "host"}));
}

schedule::LossTimes losses_of(const JsonValue& losses) {
    schedule::LossTimes times{};
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        const auto loss = static_cast<schedule::Loss>(i);
        // in files of before it was a loss it is in `waiting`
        const bool is_there = loss != schedule::Loss::kHostBound || losses.find(to_string(loss)).has_value();
        times[i] = is_there ? to_picoseconds(number(losses, to_string(loss))) : 0;
    }
    return times;
}

predict::MemoryReport memory_of(const JsonValue& memory) {
    predict::MemoryReport report;
    report.peak_bytes = number(memory, "peak_bytes");
    report.capacity_bytes = number(memory, "capacity_bytes");
    report.fits = memory.at("fits").as_bool();
    const JsonValue labels = memory.at("by_label");
    for (const std::string& label : labels.keys()) {
        report.by_label.emplace_back(label, number(labels, label));
    }
    return report;
}

predict::Prediction prediction_of(const JsonValue& root) {
    predict::Prediction p;
    p.lens = lens_of(root);
    p.tiles = count(root, "tiles"), p.nodes = count(root, "nodes");
    p.pp = count(root, "pp"), p.dp = count(root, "dp"), p.ep = count(root, "ep");
    p.etp = count(root, "etp"), p.tp = count(root, "tp"), p.cp = count(root, "cp");
    p.global_batch = count(root, "global_batch");
    p.step_time_s = root.at("step_time_s").as_number(1e-12, kMost);  // others are divided by it
    p.step = to_picoseconds(p.step_time_s);
    p.forward_backward_s = number(root, "forward_backward_s"), p.optimizer_s = number(root, "optimizer_s");
    p.tokens_per_s = number(root, "tokens_per_s");
    p.tokens_per_s_per_tile = number(root, "tokens_per_s_per_tile");
    p.mfu = number(root, "mfu"), p.hfu = number(root, "hfu");
    p.node_hours = number(root, "node_hours");
    const double step_hours = p.step_time_s / 3600;
    p.step_node_hours = root.find("step_node_hours") ? number(root, "step_node_hours") : p.nodes * step_hours;
    p.memory = memory_of(root.at("memory"));
    p.losses = losses_of(root.at("losses"));
    for (const JsonValue& operation : root.at("operations_by_time").elements()) {
        p.operations_by_time.push_back({operation.at("name").as_string(), number(operation, "seconds"),
                                        operation.find("count") ? number(operation, "count") : 0});
    }
    for (const JsonValue& note : root.at("notes").elements()) {
        p.notes.push_back(note.as_string());
    }
    return p;
}

report::ComparedSide predicted_side(const DifferenceRequest& request, const std::string& name,
                                    const models::Inputs& inputs) {
    report::ComparedSide side;
    side.label = name;
    side.names = {{"machine", json_quote(inputs.machine.name)},
                  {"stack", json_quote(inputs.stack.name)},
                  {"workload", json_quote(inputs.workload.name)},
                  {"plan", json_quote(inputs.plan.name)}};
    const auto add = [&](const char* role, const JsonDocument& document) {
        report::add_sources(side.inputs, role, document);
    };
    add("machine", inputs.machine_document);
    add("stack", inputs.stack_document);
    add("workload", inputs.workload_document);
    add("plan", inputs.plan_document);
    predict::PredictResult result = predict::predict(inputs, request.options);
    side.prediction = std::move(result.prediction);
    side.timeline = std::move(result.timeline);
    return side;
}

const JsonDocument& document_of(const models::Inputs& inputs, const std::string& role) {
    return role == "machine"    ? inputs.machine_document
           : role == "stack"    ? inputs.stack_document
           : role == "workload" ? inputs.workload_document
                                : inputs.plan_document;
}

/// What a side is called: an input that is given as its own text has no name.
std::string label_of(const std::string& name, const char* side) {
    return launch::is_inline(name) ? std::string(side) + " (inline)" : name;
}

report::ComparedSide saved_side(const std::string& name, const char* side) {
    const std::string label = label_of(name, side);
    return side_of_result(label, launch::is_inline(name) ? JsonDocument::parse(name, label) : JsonDocument::load(name));
}

}  // namespace

report::ComparedSide side_of_result(const std::string& label, const JsonDocument& document) {
    const JsonValue root = document.root();
    report::ComparedSide side;
    side.label = label;
    for (const char* key : {"machine", "stack", "workload", "plan", "overrides", "version"}) {
        side.names.push_back({key, root.at(key).excerpt()});
    }
    for (const char* key : {"release", "communication"}) {  // results saved before have none
        const auto value = root.find(key);
        side.names.push_back({key, value ? value->excerpt() : "not said"});
    }
    side.prediction = prediction_of(root);
    return side;
}

report::Difference find_difference(const DifferenceRequest& request) {
    if (request.role == "result") {
        return difference_of(request.role, saved_side(request.before, "before"), saved_side(request.after, "after"),
                             {});
    }
    const models::Inputs before = request.load(request.before), after = request.load(request.after);
    const std::vector<report::InputChange> fields = report::changed_fields(
        request.role, document_of(before, request.role).root(), document_of(after, request.role).root());
    return difference_of(request.role, predicted_side(request, label_of(request.before, "before"), before),
                         predicted_side(request, label_of(request.after, "after"), after), fields);
}

}  // namespace auspex::workflows
