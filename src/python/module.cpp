/// @file Python's module auspex._core: texts in, JSON out. What Python shows of it is src/python/auspex.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cli/commands/answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_texts.hpp"
#include "launch/child_process.hpp"
#include "launch/installation.hpp"
#include "launch/train/child_run.hpp"
#include "python/members.hpp"

namespace auspex::python {
namespace {

namespace py = pybind11;

/// Classes of auspex.errors: this file raises them, and knows no more of them than how they are made.
struct Errors {
    py::object input, internal;
};

Errors& errors() {
    static auto* const kErrors = new Errors;  // outlives the interpreter: its objects must not be released after it
    return *kErrors;
}

/// A signal that came while a command ran goes where it would have gone: to Python's handler, which the main thread is
/// to run, or to what ends this program.
[[noreturn]] void give_back(int signal) {
    std::raise(signal);
    if (PyErr_CheckSignals() == 0) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);  // in another thread, or the handler of the main thread went on
    }
    throw py::error_already_set();
}

/// The answer, or the signal that ended it.
struct Outcome {
    std::string text;
    int signal = 0;
};

Outcome run(const std::string& command, const std::vector<std::string>& flags) {
    const py::gil_scoped_release others_may_run;
    const launch::SignalsCaught signals;
    Outcome outcome;
    try {
        outcome.text = cli::answer_of(command, flags);
        outcome.signal = launch::take_caught_signal();
    } catch (const launch::Interrupted& end) {
        outcome.signal = end.signal();
    }
    return outcome;
}

py::str answer(const std::string& command, const std::vector<std::string>& flags) {
    try {
        const Outcome outcome = run(command, flags);
        if (outcome.signal != 0) {
            give_back(outcome.signal);
        }
        return outcome.text;
    } catch (const InputError& error) {
        PyErr_SetObject(errors().input.ptr(), errors().input(error.where(), error.found()).ptr());
    } catch (const py::builtin_exception&) {
        throw;
    } catch (const py::error_already_set&) {
        throw;
    } catch (const std::exception& error) {
        PyErr_SetObject(errors().internal.ptr(), errors().internal(error.what()).ptr());
    }
    throw py::error_already_set();
}

/// A number, a text without escapes, true, false or null as Python's; nothing for what has to be parsed.
py::object plain_value(std::string_view text) {
    const char first = text.front();
    if (first == '"') {
        const std::string_view inside = text.substr(1, text.size() - 2);
        return inside.find('\\') == std::string_view::npos ? py::object(py::str(inside.data(), inside.size()))
                                                           : py::object();
    }
    if (text == "true" || text == "false") {
        return py::bool_(first == 't');
    }
    if (text == "null") {
        return py::none();
    }
    if (first == '{' || first == '[') {
        return {};
    }
    const char* const end = text.data() + text.size();
    if (std::int64_t whole = 0; std::from_chars(text.data(), end, whole).ptr == end) {
        return py::int_(whole);
    }
    double number = 0;
    return std::from_chars(text.data(), end, number).ptr == end ? py::object(py::float_(number)) : py::object();
}

py::tuple members(const std::string& object) {
    py::dict values, texts;
    for (const Member& member : members_of(object)) {
        const py::str key(member.key.data(), member.key.size());
        if (const py::object value = plain_value(member.value)) {
            values[key] = value;
        } else {
            texts[key] = py::str(member.value.data(), member.value.size());
        }
    }
    return py::make_tuple(values, texts);
}

py::dict flags() {
    py::dict all;
    for (const cli::Command& command : cli::commands()) {
        py::list names;
        for (const cli::CommandFlag& flag : cli::flags_of(command)) {
            names.append(flag.text.name);
        }
        all[command.name] = names;
    }
    return all;
}

}  // namespace
}  // namespace auspex::python

PYBIND11_MODULE(_core, module) {
    namespace python = auspex::python;
    auspex::throw_broken_invariants();
    module.attr("__version__") = AUSPEX_VERSION;
    module.def(
        "set_up",
        [](const std::string& data_folder, const pybind11::object& input_error,
           const pybind11::object& internal_error) {
            python::errors() = {input_error, internal_error};
            if (!data_folder.empty()) {
                auspex::launch::use_data_folder(data_folder);
            }
        },
        pybind11::arg("data_folder"), pybind11::arg("input_error"), pybind11::arg("internal_error"),
        "Once, before anything else: the folder with machines/, stacks/, workloads/ and plans/ that came with this "
        "module (empty: none), and the exceptions to raise.");
    module.def("answer", &python::answer, pybind11::arg("command"), pybind11::arg("flags"),
               "The JSON of auspex COMMAND FLAGS --json. Other threads run meanwhile.");
    module.def("members", &python::members, pybind11::arg("object"),
               "Members of an answer: those that are no object and no list as values, the others as JSON texts.");
    module.def("flags", &python::flags, "Names of the flags of each command.");
}
