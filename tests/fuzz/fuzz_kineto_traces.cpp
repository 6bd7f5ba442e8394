/// @file Throws damaged traces of torch.profiler at the reader and at all that takes a step out of them: only
/// InputError, of one line, may come out.
///
/// usage: fuzz_kineto_traces [COUNT [SEED]]      in the repository's root
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/streams/json_events.hpp"
#include "base/streams/packed_file.hpp"
#include "compare/kineto/account/step_account.hpp"
#include "compare/kineto/match/match_step.hpp"
#include "compare/kineto/trace/event_builder.hpp"
#include "compare/kineto/trace/measured_step.hpp"
#include "compare/kineto/trace/step_windows.hpp"
#include "damage.hpp"

namespace auspex {
namespace {

constexpr const char* kTorch = "tests/compare/kineto/torch/rank0.pt.trace.json.gz";

/// Of a device, with all that the reader looks at.
constexpr const char* kDevice = R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU"}],
"distributedInfo":{"backend":"nccl","rank":3,"world_size":8},"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":1711000000000000.123,"dur":100.5},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1711000000000005.1,"dur":3,"args":{"External id":11,
"Sequence number":4,"Input Dims":[[8,4],[4,2],[],[[2,2],[3]]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1711000000000006,"dur":1,"args":{"correlation":11}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1711000000000010,"dur":4,"args":{"stream":7,"correlation":11}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather_RING_LL","pid":0,"tid":20,"ts":1711000000000020,"dur":9,"args":
{"stream":20,"correlation":12,"Collective name":"_allgather_base","In msg nelems":4,"Out msg nelems":32,"Group size":8,
"dtype":"BFloat16","Process Group Name":"1"}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":1711000000000040,"dur":2,"args":{"stream":7}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":1,"ts":1711000000000100,"dur":100},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1711000000000130,"dur":4,"args":{"stream":7}}]})";

std::string torch_text() {
    PackedFile file(kTorch, "a trace", std::uint64_t{1} << 30);
    std::string text{std::istreambuf_iterator<char>(file.stream()), std::istreambuf_iterator<char>()};
    return text.substr(0, 200'000);  // of the events the first hundreds: what is cut off is closed below
}

void read_all(const std::string& text) {
    kineto::Trace trace;
    trace.file = "trace.json";
    kineto::EventBuilder builder(trace);
    std::istringstream stream(text);
    read_json_events(stream, trace.file, builder);
    if (trace.host_ops.empty() && trace.device_events.empty()) {
        return;
    }
    const kineto::StepWindow window = kineto::choose_steps({trace}, {}).front();
    const kineto::MeasuredStep step = kineto::measured_step(trace, window);
    const kineto::PredictedRank nothing;
    const models::Workload workload;
    const kineto::StepMatch match = kineto::match_step(step, nothing, workload);
    const kineto::SpentTimes times = kineto::measured_times(step, nothing, match, {});
    Picoseconds sum = 0;
    for (const Picoseconds time : times) {
        sum += time;
    }
    AUSPEX_CHECK(sum == step.length, "the parts of a step sum to it");
}

int fuzz(std::uint64_t count, std::uint64_t seed) {
    Rng rng(seed);
    const std::string torch = torch_text();
    const std::string whole = torch.substr(0, torch.rfind("}, {")) + "}]}";
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string text = rng.below(20) == 0 ? whole : kDevice;
        for (std::uint64_t hits = 1 + rng.below(4); hits > 0; --hits) {
            damage(text, torch, rng);
        }
        try {
            read_all(text);
        } catch (const InputError& error) {
            ++refused;
            if (std::string(error.what()).find('\n') != std::string::npos) {
                std::cerr << "an error of several lines: " << error.what() << "\n" << text << "\n";
                return 1;
            }
        } catch (const std::exception& error) {
            std::cerr << "no InputError: " << error.what() << "\n" << text << "\n";
            return 1;
        }
    }
    std::cout << count << " damaged traces, " << refused << " refused\n";
    return refused > 0 && refused < count ? 0 : 1;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) { return auspex::fuzz_main(argc, argv, "fuzz_kineto_traces", auspex::fuzz); }
