/// @file What a prediction costs more through Python than in C++: both in this process, in turns, after their answers
/// were found equal. In C++: names to files, files to inputs, inputs to a prediction. Medians of the pairs; exit code 1
/// where Python takes more than what it may, or answers something else. usage: python_bench [PAIRS]
#include <pybind11/embed.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "schedule/bindings/bindings.hpp"
#include "launch/input_files.hpp"
#include "sim/predict/predict.hpp"

namespace {

namespace py = pybind11;
using namespace py::literals;

constexpr double kMayCost_ms = 0.2;

struct Job {
    const char* model;
    int tiles;
};

auspex::predict::Prediction predict_in_cpp(const Job& job) {
    using auspex::launch::load_document;
    auspex::models::Inputs inputs =
        auspex::models::load_inputs(load_document("machine", "aurora", {}), load_document("stack", "optimus", {}),
                                    load_document("workload", job.model, {}), load_document("plan", job.model, {}));
    inputs.plan.dp = 0;  // follows from the tiles
    return auspex::predict::predict(
               inputs, {.tiles = job.tiles, .sensitivity = false, .executor_runs = auspex::schedule::executor_runs})
        .prediction;
}

py::object predict_in_python(const py::object& function, const Job& job) {
    return function("aurora", "optimus", job.model, job.model, "tiles"_a = job.tiles, "sensitivity"_a = false);
}

template <typename Work>
double milliseconds(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

bool is_equal(const auspex::predict::Prediction& one, const py::object& other) {
    const auto number = [&](const char* name) { return other.attr(name).cast<double>(); };
    bool equal = one.step_time_s == number("step_time_s") && one.mfu == number("mfu") &&
                 one.tokens_per_s == number("tokens_per_s") && one.optimizer_s == number("optimizer_s") &&
                 one.memory.peak_bytes == other.attr("memory").attr("peak_bytes").cast<double>();
    const auto operations = other.attr("operations_by_time").cast<py::list>();
    equal = equal && operations.size() == one.operations_by_time.size();
    for (std::size_t i = 0; equal && i < operations.size(); ++i) {
        const py::object operation = operations[i];
        equal = operation.attr("name").cast<std::string>() == one.operations_by_time[i].name &&
                operation.attr("seconds").cast<double>() == one.operations_by_time[i].seconds;
    }
    return equal;
}

/// True if answers are equal and Python costs no more than it may.
bool compare(const py::object& function, const Job& job, int pairs) {
    if (!is_equal(predict_in_cpp(job), predict_in_python(function, job))) {
        std::printf("%s on %d tiles: the answers differ\n", job.model, job.tiles);
        return false;
    }
    std::vector<double> cpp, python, more;
    for (int pair = 0; pair < pairs; ++pair) {
        cpp.push_back(milliseconds([&] { (void)predict_in_cpp(job); }));
        python.push_back(milliseconds([&] { (void)predict_in_python(function, job); }));
        more.push_back(python.back() - cpp.back());
    }
    std::printf("%-16s %6d tiles   C++ %7.3f ms   Python %7.3f ms   more %6.3f ms   (medians of %d pairs)\n", job.model,
                job.tiles, median(cpp), median(python), median(more), pairs);
    return median(more) <= kMayCost_ms;
}

}  // namespace

int main(int argc, char** argv) {
    const int pairs = argc > 1 ? std::atoi(argv[1]) : 300;
    if (pairs < 1) {
        std::puts("usage: python_bench [PAIRS]");
        return 2;
    }
    std::filesystem::current_path(AUSPEX_SOURCE_DIR);
    const py::scoped_interpreter python;
    py::module_::import("sys").attr("path").attr("insert")(0, AUSPEX_PYTHON_FOLDER);
    const py::object function = py::module_::import("auspex").attr("predict");
    bool is_good = true;
    for (const Job& job : {Job{"mula-7b-a1b", 48}, Job{"mula-20b-a2b", 384}, Job{"mula-220b-a10b", 3072}}) {
        is_good = compare(function, job, pairs) && is_good;
    }
    return is_good ? 0 : 1;
}
