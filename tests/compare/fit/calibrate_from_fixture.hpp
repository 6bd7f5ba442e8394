#pragma once
/// @file Rows by hand for Aurora's machine file, and what a calibration from them says.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "compare/fit/calibration.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::testing_fit {

inline JsonDocument aurora() { return JsonDocument::load("machines/aurora.json"); }

inline models::Stack optimus(const std::string& transport = "dlcomm-2026") {
    JsonDocument document = models::with_communication(JsonDocument::load("stacks/optimus.json"));
    document.set("transport.use", transport);
    return models::load_stack(document);
}

inline models::Machine machine_of(const fit::Calibration& calibration) {
    return models::load_machine(JsonDocument::parse(calibration.machine_json, "calibrated.json"));
}

inline models::Measurement row(const std::string& kind, const std::string& name, double seconds) {
    models::Measurement measurement;
    measurement.kind = kind;
    measurement.name = name;
    measurement.seconds = seconds;
    measurement.source = "test";
    return measurement;
}

inline models::Measurement sized(const std::string& kind, const std::string& name, double bytes, double seconds) {
    models::Measurement measurement = row(kind, name, seconds);
    measurement.bytes = bytes;
    return measurement;
}

/// The first that is so; throws where none is.
template <class T, class Is>
const T& found_in(const std::vector<T>& all, const std::string& what, const Is& is_it) {
    const auto found = std::ranges::find_if(all, is_it);
    return found != all.end() ? *found : throw std::runtime_error("there is no " + what);
}

inline const fit::FitQuality& fit_of(const fit::Calibration& calibration, const std::string& kind,
                                     const std::string& name) {
    return found_in(calibration.fits, kind + " " + name,
                    [&](const fit::FitQuality& fit) { return fit.kind == kind && fit.name == name; });
}

inline Constant constant_of(const models::Machine& machine, const std::string& path) {
    return found_in(machine.constants, path, [&](const Constant& constant) { return constant.path == path; });
}

inline fit::ConstantChange change_of(const fit::Calibration& calibration, const std::string& path) {
    return found_in(calibration.changes, "change of " + path,
                    [&](const fit::ConstantChange& change) { return change.now.path == path; });
}

inline bool any_holds(const std::vector<std::string>& texts, const std::string& words) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

}  // namespace auspex::testing_fit
