#include "compare/kineto/trace/read_trace.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "base/error.hpp"
#include "compare/kineto/trace/event_builder.hpp"
#include "compare/kineto/trace/measured_step.hpp"
#include "compare/kineto/trace/step_windows.hpp"
#include "made_up_trace.hpp"

namespace auspex::kineto {
namespace {

using testing_traces::TraceFolder;

/// A host operation that launches a kernel 10 us later; times in us.
std::string op_and_kernel(const std::string& op, const std::string& kernel, int start, int length, int id) {
    const std::string number = std::to_string(id);
    return R"({"ph":"X","cat":"cpu_op","name":")" + op + R"(","pid":1,"tid":1,"ts":)" + std::to_string(start) +
           R"(,"dur":3,"args":{"External id":)" + number +
           R"(,"Input Dims":[[8,4],[4,2]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
           std::to_string(start + 1) + R"(,"dur":1,"args":{"correlation":)" + number + R"(}},
{"ph":"X","cat":"kernel","name":")" +
           kernel + R"(","pid":0,"tid":7,"ts":)" + std::to_string(start + 10) + R"(,"dur":)" + std::to_string(length) +
           R"(,"args":{"stream":7,"correlation":)" + number + R"(}})";
}

std::string mark(int number, int start, int length) {
    return R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(number) +
           R"(","pid":1,"tid":1,"ts":)" + std::to_string(start) + R"(,"dur":)" + std::to_string(length) + "}";
}

std::string document(const std::string& events, const std::string& front = "") {
    return "{" + front + "\"traceEvents\":[" + events + "]}";
}

std::string refusal(const std::string& file) {
    try {
        (void)read_traces(file);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

/// 4 us of step 3, 5 us of step 4, 7 us of step 5.
std::string three_steps() {
    return mark(3, 0, 60) + "," + op_and_kernel("aten::mm", "gemm", 5, 4, 11) + "," + mark(4, 100, 100) + "," +
           op_and_kernel("aten::mm", "gemm", 105, 5, 12) + "," + mark(5, 200, 300) + "," +
           op_and_kernel("aten::mm", "gemm", 205, 7, 13);
}

TEST(ReadTrace, keeps_times_to_the_nanosecond_whatever_the_epoch) {
    EXPECT_EQ(nanoseconds_of("1711000000000000.123"), 1711000000000000123);
    EXPECT_EQ(nanoseconds_of("12"), 12000);
    EXPECT_EQ(nanoseconds_of("0.5"), 500);
    EXPECT_EQ(nanoseconds_of("-3.25"), -3250);
    EXPECT_EQ(nanoseconds_of("1.5e3"), 1500000);
    EXPECT_FALSE(nanoseconds_of("1e300"));
    EXPECT_FALSE(nanoseconds_of("soon"));
}

TEST(ReadTrace, takes_operations_launches_kernels_and_the_job) {
    const TraceFolder folder;
    const Trace trace = read_trace(
        folder.write("a.json", document(three_steps(), R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":8},
            "deviceProperties":[{"id":0,"name":"H100"},{"id":1,"name":"other"}],)")));
    EXPECT_EQ(trace.rank, 3);
    EXPECT_EQ(trace.world_size, 8);
    EXPECT_EQ(trace.backend, "nccl");
    EXPECT_EQ(trace.device, "H100");
    EXPECT_EQ(trace.host_ops.size(), 3U);
    EXPECT_EQ(trace.launches.size(), 3U);
    ASSERT_EQ(trace.device_events.size(), 3U);
    EXPECT_EQ(trace.device_events[1].start, 115000);
    EXPECT_EQ(trace.operands[trace.host_ops[0].operands].dims, (std::vector<Dims>{{8, 4}, {4, 2}}));
}

TEST(ReadTrace, a_step_lasts_until_the_next_one_s_first_kernel) {
    const TraceFolder folder;
    const Trace trace = read_trace(folder.write("a.json", document(three_steps())));
    const std::vector<StepWindow> windows = step_windows(trace);
    ASSERT_EQ(windows.size(), 3U);
    // Kernels begin at 15, 115 and 215 us, whatever the marks (60, 100 us); the last mark is 300 us long, and nothing
    // is behind it.
    EXPECT_EQ(windows[0].length(), 100000);
    EXPECT_EQ(windows[1].length(), 100000);
    EXPECT_EQ(windows[2].length(), 300000);
    EXPECT_EQ(choose_steps({trace}, {}).front().number, 4);  // 100, 100, 300 us: the middle one
    EXPECT_EQ(choose_steps({trace}, 5).front().number, 5);
}

TEST(ReadTrace, a_kernel_knows_its_operation_its_shape_and_its_launch) {
    const TraceFolder folder;
    const Trace trace = read_trace(folder.write("a.json", document(three_steps())));
    const MeasuredStep step = measured_step(trace, choose_steps({trace}, 4).front());
    ASSERT_EQ(step.kernels.size(), 1U);
    const MeasuredKernel& kernel = step.kernels.front();
    EXPECT_EQ(kernel.work, Work::kGemm);
    EXPECT_EQ(kernel.product.m, 8);
    EXPECT_EQ(kernel.product.k, 4);
    EXPECT_EQ(kernel.product.n, 2);
    EXPECT_EQ(kernel.length(), 5'000'000);   // picoseconds
    EXPECT_EQ(kernel.launched, -8'000'000);  // the call ended at 107 us, the step begins at 115
    EXPECT_EQ(kernel.pass, Pass::kForward);
}

TEST(ReadTrace, passes_are_told_by_autograd_and_what_it_records) {
    const TraceFolder folder;
    const auto op = [](const std::string& name, int start, int length, const std::string& args) {
        return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":2,"ts":)" + std::to_string(start) +
               R"(,"dur":)" + std::to_string(length) + R"(,"args":{)" + args + "}}";
    };
    const Trace trace = read_trace(folder.write(
        "a.json", document(op("aten::mul", 0, 4, R"("Sequence number":5)") + "," +
                           op("autograd::engine::evaluate_function: MulBackward0", 10, 30, R"("Sequence number":5)") +
                           "," + op("MulBackward0", 11, 28, R"("Sequence number":5)") + "," +
                           op("aten::mul", 12, 5, "") + "," + op("aten::add", 20, 5, R"("Sequence number":9)") + "," +
                           op("Optimizer.step#AdamW.step", 50, 30, "") + "," + op("aten::addcmul_", 55, 5, ""))));
    const MeasuredStep step = measured_step(trace, step_windows(trace).front());
    ASSERT_EQ(step.kernels.size(), 4U);
    EXPECT_EQ(step.kernels[0].pass, Pass::kForward);
    EXPECT_EQ(step.kernels[1].pass, Pass::kBackward);
    EXPECT_EQ(step.kernels[2].pass, Pass::kRecompute);  // recorded for autograd while a node runs
    EXPECT_EQ(step.kernels[3].pass, Pass::kOptimizer);
    EXPECT_EQ(step.kernels[3].work, Work::kOptimizer);
}

TEST(ReadTrace, the_older_profiler_s_array_is_read_too) {
    const TraceFolder folder;
    const Trace trace = read_trace(
        folder.write("a.json",
                     R"([{"name":"ProfilerStep#1","ph":"X","ts":10,"dur":90,"tid":1,"pid":"CPU functions","args":{}},
            {"name":"aten::mm","ph":"X","ts":20,"dur":30,"tid":1,"pid":"CPU functions","args":{}}])"));
    const MeasuredStep step = measured_step(trace, step_windows(trace).front());
    EXPECT_EQ(step.length, 90'000'000);
    ASSERT_EQ(step.kernels.size(), 1U);
    EXPECT_EQ(step.kernels.front().work, Work::kGemm);
    EXPECT_FALSE(step.has_shapes);
}

TEST(ReadTrace, gzip_is_unpacked_and_damage_is_named) {
    const TraceFolder folder;
    const std::string text = document(three_steps()), file = folder.path() + "/rank2.json.gz";
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    EXPECT_EQ(read_trace(file).device_events.size(), 3U);
    EXPECT_EQ(read_traces(file).front().rank, 2);  // of its name
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    EXPECT_NE(refusal(file).find("found a gzip file that ends too early"), std::string::npos) << refusal(file);
}

TEST(ReadTrace, what_is_no_trace_is_refused_in_one_line) {
    const TraceFolder folder;
    const std::string text = document(three_steps());
    EXPECT_NE(refusal(folder.write("cut.json", text.substr(0, text.size() / 2))).find("in the middle of the JSON"),
              std::string::npos);
    EXPECT_NE(refusal(folder.write("bad.json", "{\"traceEvents\": [}")).find("not JSON"), std::string::npos);
    EXPECT_NE(
        refusal(folder.write("ours.json", document(R"({"ph":"X","name":"router","pid":0,"tid":0,"ts":0,"dur":1})")))
            .find("no operation of PyTorch"),
        std::string::npos);
    EXPECT_NE(refusal(folder.write("empty.json", "")).find("empty file"), std::string::npos);
    EXPECT_NE(refusal(folder.path() + "/none.json").find("no such file"), std::string::npos);
    std::string deep = "{\"traceEvents\":";
    for (int i = 0; i < 100; ++i) {
        deep += "[";
    }
    EXPECT_NE(refusal(folder.write("deep.json", deep)).find("levels of nesting"), std::string::npos);
}

TEST(ReadTrace, events_with_senseless_times_are_left_out_and_counted) {
    const TraceFolder folder;
    const Trace trace = read_trace(
        folder.write("a.json", document(three_steps() +
                                        R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":"then","dur":1}
                              ,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":-1}
                              ,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5})")));
    EXPECT_EQ(trace.damaged_events, 3U);
    EXPECT_EQ(trace.device_events.size(), 3U);
    ASSERT_EQ(trace.notes.size(), 1U);
}

TEST(ReadTrace, ranks_of_a_folder_are_told_apart) {
    const TraceFolder folder;
    folder.write("b_rank-1.pt.trace.json", document(three_steps()));
    folder.write("a_rank-0.pt.trace.json", document(three_steps()));
    const std::vector<Trace> traces = read_traces(folder.path());
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(traces[0].rank, 0);
    EXPECT_EQ(traces[1].rank, 1);
    folder.write("c_rank1.json", document(three_steps()));
    EXPECT_NE(refusal(folder.path()).find("found rank 1, as in"), std::string::npos) << refusal(folder.path());
}

TEST(ReadTrace, ranks_of_different_steps_have_nothing_in_common) {
    const TraceFolder folder;
    const Trace a = read_trace(folder.write("rank0.json", document(three_steps())));
    const Trace b = read_trace(
        folder.write("rank1.json", document(mark(9, 0, 100) + "," + op_and_kernel("aten::mm", "gemm", 5, 4, 11))));
    try {
        (void)choose_steps({a, b}, {});
        FAIL() << "steps 3 to 5 and step 9 are taken for the same";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("found the steps 9, but"), std::string::npos) << error.what();
    }
    EXPECT_THROW((void)choose_steps({a}, 9), InputError);
}

}  // namespace
}  // namespace auspex::kineto
