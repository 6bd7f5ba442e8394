#pragma once
/// @file A real step on threads: what every rank called and sent, operation by operation.
#include <string>
#include <vector>

#include "../exec/exec_fixture.hpp"
#include "exec/kernels/call_record.hpp"

namespace auspex::testing_agreement {

/// Of one operation; of a rank's first one also what it did before.
struct RecordedOperation {
    std::size_t operation = 0;  ///< of the program
    std::vector<exec::RecordedCall> calls;
    std::vector<exec::SentMessage> messages;
};
/// By rank.
using RecordedStep = std::vector<std::vector<RecordedOperation>>;

/// What the thread of a rank has done since its last operation.
struct RankRecord {
    exec::CallRecord calls;
    std::vector<exec::SentMessage> messages;
    std::vector<RecordedOperation> operations;

    void end_operation(std::size_t operation) {
        operations.push_back({operation, std::move(calls.calls), std::move(messages)});
        calls.calls.clear();
        messages.clear();
    }
};

template <class P>
RecordedStep recorded_step(const exec::RunInputs& run) {
    RecordedStep step(static_cast<std::size_t>(run.layout.tiles));
    static thread_local RankRecord* of_thread = nullptr;
    exec::InProcessOptions options;
    options.gathered_all_reduce_bytes = static_cast<std::size_t>(run.stack.gathered_all_reduce_bytes);
    options.on_message = [](const exec::SentMessage& message) {
        if (of_thread != nullptr) {
            of_thread->messages.push_back(message);
        }
    };
    const auto body = [&](exec::Communicator& communicator) {
        exec_fixture::TestRank<P> test(run, communicator);
        RankRecord record;
        test.rank.after_operation = [&](const schedule::Operation& op) {
            record.end_operation(static_cast<std::size_t>(&op - run.program.operations.data()));
        };
        of_thread = &record;
        exec::call_record = &record.calls;
        test.step();
        exec::call_record = nullptr;
        of_thread = nullptr;
        step[static_cast<std::size_t>(communicator.world_rank())] = std::move(record.operations);
    };
    exec::run_in_process(run.layout, body, options);
    return step;
}

inline RecordedStep recorded_step(const exec::RunInputs& run) {
    if (run.plan.precision == "fp32") {
        return recorded_step<exec::Fp32>(run);
    }
    return run.plan.gradient_bytes == 4 ? recorded_step<exec::Bf16WithFp32Gradients>(run)
                                        : recorded_step<exec::Bf16Precision>(run);
}

/// "name(rows, columns, depth, groups)".
inline std::string call_text(std::string_view kernel, double rows, double columns, double depth, double groups) {
    std::string text(kernel);
    char separator = '(';
    for (const double size : {rows, columns, depth, groups}) {
        const bool is_whole = size == std::floor(size);
        text += separator + (is_whole ? std::to_string(static_cast<long long>(size)) : std::to_string(size));
        separator = ' ';
    }
    return text + ")";
}

}  // namespace auspex::testing_agreement
