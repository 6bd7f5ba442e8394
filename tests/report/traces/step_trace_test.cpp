/// @file A predicted step as a Perfetto trace: its slices, arrows and counters are those of the prediction.
#include "report/traces/step_trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "../../sim/step_fixture.hpp"
#include "sim/predict/predict.hpp"
#include "track_event_decoder.hpp"

namespace auspex::report {
namespace {

using testing_steps::shipped_inputs;

predict::PredictResult traced(const models::Inputs& inputs, int tiles = 0) {
    predict::PredictOptions options = testing_steps::plain_options(tiles);
    options.timeline = options.trace_details = options.play_every_operation = true;
    return predict::predict(inputs, options);
}

testing_traces::Trace trace_of(const predict::PredictResult& result) {
    std::ostringstream out;
    write_step_trace(*result.timeline, result.details ? &*result.details : nullptr, {{"plan", "a plan"}}, out);
    return testing_traces::decode(out.str());
}

const std::vector<std::pair<const char*, const char*>> kCases{{"toy-pp2-ep2", "toy-moe"},
                                                              {"toy-interleaved", "toy-dense"},
                                                              {"toy-dp4", "toy-dense"},
                                                              {"mula-20b-a2b", "mula-20b-a2b"}};

/// Times rounded down to nanoseconds; on a track slices follow one another.
TEST(StepTrace, has_a_slice_for_every_span) {
    for (const auto& [plan, workload] : kCases) {
        const predict::PredictResult result = traced(shipped_inputs(plan, workload));
        const testing_traces::Trace trace = trace_of(result);
        std::multiset<std::tuple<std::string, std::string, std::string, std::uint64_t, std::uint64_t>> expected, found;
        for (const schedule::Span& span : result.timeline->spans) {
            const schedule::Track& track = result.timeline->tracks[span.track];
            expected.insert({track.role, track.stream, result.timeline->names[span.name],
                             static_cast<std::uint64_t>(span.start / 1000),
                             static_cast<std::uint64_t>(span.end / 1000)});
        }
        std::map<std::uint64_t, std::uint64_t> last_end;
        for (const testing_traces::Slice& slice : trace.slices) {
            const testing_traces::TracedTrack& track = trace.tracks.at(slice.track);
            EXPECT_EQ(slice.depth, 0U);
            EXPECT_GE(slice.begin_ns, last_end[slice.track]);
            last_end[slice.track] = slice.end_ns;
            if (slice.name != "message received" && slice.name != "step") {
                EXPECT_EQ(slice.category, track.name);
                found.insert(
                    {trace.tracks.at(track.parent).name, track.name, slice.name, slice.begin_ns, slice.end_ns});
            }
        }
        EXPECT_EQ(found, expected) << plan;
        EXPECT_GT(expected.size(), 100U);
    }
}

/// FLOP of all slices are those of the program; bytes of each communication those of its operation.
TEST(StepTrace, slices_say_what_their_operations_do) {
    models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    inputs.plan.optimizer = models::OptimizerSharding::kSharded;  // sums tensor by tensor, one after the other
    const predict::PredictResult result = traced(inputs);
    const predict::SimulatedStep step = predict::prepare_step(inputs, {});
    double expected_flop = 0, flop = 0, expected_bytes = 0, bytes = 0;
    for (const schedule::Role& role : step.program.roles) {
        const schedule::ProgramTotals totals = totals_of(step.program, role);
        expected_flop += totals.useful_flop + totals.recompute_flop;
        for (const schedule::BlockUse& use : role.order) {
            for (const schedule::Operation& op : step.program.operations_of(step.program.blocks[use.block])) {
                expected_bytes += op.comm != schedule::CommKind::kNone ? op.bytes * op.repeat : 0;
            }
        }
    }
    std::set<std::string> bounds, algorithms;
    for (const testing_traces::Slice& slice : trace_of(result).slices) {
        const auto& arguments = slice.arguments;
        flop += arguments.contains("flop") ? std::stod(arguments.at("flop")) : 0;
        bytes += arguments.contains("bytes") ? std::stod(arguments.at("bytes")) : 0;
        if (arguments.contains("group") && arguments.at("group") == "ep") {
            EXPECT_EQ(arguments.at("group_ranks"), "2");
            algorithms.insert(arguments.at("algorithm"));
        }
        if (arguments.contains("bound_by")) {
            bounds.insert(arguments.at("bound_by"));
        }
    }
    EXPECT_NEAR(flop, expected_flop, expected_flop * 1e-6);
    EXPECT_NEAR(bytes, expected_bytes, expected_bytes * 1e-6);
    EXPECT_TRUE(bounds.contains("launches")) << "a toy's kernels are short";
    EXPECT_FALSE(algorithms.empty());
}

/// From every send, in the slice of its send, to the end of its receive, on the track of another stage.
TEST(StepTrace, arrows_go_from_each_send_to_its_receive) {
    for (const auto& [plan, workload] : kCases) {
        const models::Inputs inputs = shipped_inputs(plan, workload);
        const testing_traces::Trace trace = trace_of(traced(inputs));
        std::map<std::uint64_t, const testing_traces::Slice*> begun, ended;
        std::size_t sends = 0;
        for (const testing_traces::Slice& slice : trace.slices) {
            sends += slice.name.starts_with("send_") ? 1U : 0U;
            if (slice.flow != 0) {
                EXPECT_TRUE(begun.emplace(slice.flow, &slice).second);
                EXPECT_TRUE(slice.name.starts_with("send_"));
            }
            if (slice.ends_flow != 0) {
                EXPECT_TRUE(ended.emplace(slice.ends_flow, &slice).second);
            }
        }
        EXPECT_EQ(begun.size(), sends) << plan;
        EXPECT_EQ(ended.size(), sends) << plan;
        for (const auto& [flow, from] : begun) {
            const testing_traces::Slice& to = *ended.at(flow);
            EXPECT_GE(to.begin_ns, from->end_ns);
            EXPECT_NE(trace.tracks.at(to.track).parent, trace.tracks.at(from->track).parent);
        }
        EXPECT_EQ(sends > 0, inputs.plan.pp > 1) << plan;
    }
}

TEST(StepTrace, memory_has_the_peak_of_each_stage) {
    const predict::PredictResult result = traced(shipped_inputs("toy-pp2-ep2", "toy-moe"));
    const testing_traces::Trace trace = trace_of(result);
    for (const schedule::StageMemory& stage : result.prediction.memory.by_stage) {
        const std::string process = "stage " + std::to_string(stage.stage);
        double most = 0, last = -1;
        for (const auto& [at, bytes] : trace.counters.at(trace.track(process, "memory"))) {
            most = std::max(most, bytes);
            last = bytes;
        }
        EXPECT_NEAR(most, stage.peak_bytes, 1);
        EXPECT_EQ(last, trace.counters.at(trace.track(process, "memory")).front().second);
        double activations = 0;
        for (const auto& [at, bytes] : trace.counters.at(trace.track(process, "memory: activations"))) {
            activations = std::max(activations, bytes);
        }
        for (const auto& [label, bytes] : stage.peak_by_label) {
            if (label == "activations") {
                EXPECT_NEAR(activations, bytes, bytes * 0.5);  // of the pass's peak, not the label's own
            }
        }
    }
}

/// The integral of bytes/s over the step is what links of the kind carry in it. Nanoseconds cut off up to 1 of each
/// span: of operations of microseconds, a thousandth.
TEST(StepTrace, rates_of_links_add_up_to_their_bytes) {
    for (const auto& [plan, workload] : kCases) {
        const predict::PredictResult result = traced(shipped_inputs(plan, workload));
        ASSERT_FALSE(result.prediction.link_use.empty());
        std::size_t counters = 0;
        for (const predict::TraceCounter& counter : result.details->counters) {
            counters += counter.is_rate ? 1U : 0U;
        }
        EXPECT_EQ(counters, result.prediction.link_use.size());
        for (const engine::LinkUse& use : result.prediction.link_use) {
            double bytes = 0;
            for (const predict::TraceCounter& counter : result.details->counters) {
                for (std::size_t i = 1; counter.name == use.kind && i < counter.values.size(); ++i) {
                    const auto& [before, rate] = counter.values[i - 1];
                    bytes += rate * to_seconds(counter.values[i].first - before);
                }
            }
            EXPECT_NEAR(bytes, use.bytes, use.bytes * 1e-6) << plan << " " << use.kind;
        }
    }
}

/// The ranks asked for, of the median sample: as long as the step that is predicted.
TEST(StepTrace, has_the_ranks_of_the_unfolded_lens) {
    const models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    predict::PredictOptions options = testing_steps::plain_options();
    options.lens = predict::Lens::kUnfolded;
    options.samples = 3;
    const Picoseconds without = predict::predict(inputs, options).prediction.step;
    options.timeline = options.trace_details = options.play_every_operation = true;
    options.trace_ranks = {0, 2};  // of the same place in both stages
    const predict::PredictResult result = predict::predict(inputs, options);
    EXPECT_NEAR(to_seconds(result.prediction.step), to_seconds(without), 1e-9);
    const testing_traces::Trace trace = trace_of(result);
    std::set<std::string> processes;
    std::uint64_t last = 0;
    for (const testing_traces::Slice& slice : trace.slices) {
        processes.insert(trace.tracks.at(trace.tracks.at(slice.track).parent).name);
        last = std::max(last, slice.end_ns);
    }
    EXPECT_EQ(processes, (std::set<std::string>{"", "rank 0", "rank 2"}));
    EXPECT_EQ(result.details->messages.size(), 2U * static_cast<std::size_t>(inputs.plan.micro_batches));
    EXPECT_NEAR(static_cast<double>(last), to_seconds(result.prediction.step) * 1e9,
                to_seconds(result.prediction.step) * 1e9 * 0.05);
    EXPECT_TRUE(trace.counters.contains(trace.track("rank 2", "memory")));
    options.trace_ranks = {99};
    EXPECT_THROW(static_cast<void>(predict::predict(inputs, options)), InputError);
}

TEST(StepTrace, knows_its_files_by_their_names) {
    EXPECT_TRUE(is_track_event_file("a/step.pftrace"));
    EXPECT_TRUE(is_track_event_file("step.perfetto-trace"));
    EXPECT_FALSE(is_track_event_file("step.json"));
    EXPECT_FALSE(is_track_event_file("pftrace"));
}

}  // namespace
}  // namespace auspex::report
