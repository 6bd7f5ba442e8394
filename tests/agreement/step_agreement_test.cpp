/// @file What real steps call and send, against what the CPU lens plays: equal, rank by rank, operation by operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/json.hpp"
#include "layouts.hpp"
#include "predicted_functions.hpp"
#include "recorded_step.hpp"
#include "sim/cpu/collectives.hpp"
#include "sim/cpu/program_actions.hpp"

namespace auspex {
namespace {

using namespace testing_agreement;

/// Laws that tell calls apart: no two kernels, and no two sizes of one, take the same time.
void give_telling_laws(models::CpuModel& cpu) {
    Rng rng(5);
    for (auto& laws : cpu.kernel_costs) {
        for (models::CpuKernelCost& cost : laws) {
            std::ranges::generate(cost.seconds_per, [&rng] { return 1e-9 * (1 + rng.uniform()); });
            cost.known = true;
        }
    }
}

/// Of a machine with such laws. The documents are those of a toy: only the loaded values are used.
models::Inputs telling_inputs() {
    const auto document = [](const std::string& name) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + name + ".json");
    };
    models::Inputs inputs = models::load_inputs(document("machines/aurora"), document("stacks/auspex"),
                                                document("workloads/toy-dense"), document("plans/toy-dp4"));
    constexpr double kUnlimited = 1e30;
    models::CpuModel& cpu = inputs.machine.cpu;
    cpu.cores = inputs.machine.node.tiles;
    cpu.cache_bytes = cpu.cache_bytes_per_s = cpu.memory_bytes_per_s = cpu.core_memory_bytes_per_s = kUnlimited;
    cpu.intra_node.eager_bytes = cpu.inter_node.eager_bytes = kUnlimited;
    give_telling_laws(cpu);
    return inputs;
}

struct Predicted {
    models::Inputs inputs;
    schedule::StepProgram step;
    cpu::ProgramActions rows;

    explicit Predicted(const exec::RunInputs& run)
        : inputs(inputs_of(run)), step{run.plan, run.layout, run.program, {}}, rows(inputs, step) {}

    static models::Inputs inputs_of(const exec::RunInputs& run) {
        static const models::Inputs kTelling = telling_inputs();
        models::Inputs inputs = kTelling;
        inputs.workload = run.workload, inputs.stack = run.stack, inputs.plan = run.plan;
        for (auto& laws : inputs.machine.cpu.kernel_costs) {
            if (run.plan.overlap_dp) {  // a sum ends in whichever operation happens to run
                laws[static_cast<std::size_t>(models::CpuKernel::kReducePartsGradients)] =
                    laws[static_cast<std::size_t>(models::CpuKernel::kReduceParts)];
            }
        }
        return inputs;
    }
};

/// Messages with bytes that a row sends, in order, "rank: bytes".
std::vector<std::string> messages_of(const cpu::OperationActions& row) {
    std::vector<std::string> list;
    for (const cpu::RankAction& action : row.actions) {
        if (action.type == cpu::RankAction::Type::kSend && action.bytes > 0) {
            list.push_back(std::to_string(action.peer) + ": " + std::to_string(action.bytes));
        }
    }
    return list;
}
std::vector<std::string> messages_of(const RecordedOperation& real) {
    std::vector<std::string> list;
    for (const exec::SentMessage& message : real.messages) {
        list.push_back(std::to_string(message.to) + ": " + std::to_string(static_cast<double>(message.bytes)));
    }
    return list;
}

/// Seconds of the transport's work between messages, sorted: those of a row's work that is not among `calls` of them
/// before, and as many behind.
std::vector<double> transport_seconds(const cpu::OperationActions& row, std::size_t before, std::size_t after) {
    std::vector<double> seconds;
    for (const cpu::RankAction& action : row.actions) {
        if (action.type == cpu::RankAction::Type::kWork) {
            seconds.push_back(action.work.seconds);
        }
    }
    EXPECT_GE(seconds.size(), before + after);
    seconds.erase(seconds.end() - static_cast<std::ptrdiff_t>(after), seconds.end());
    seconds.erase(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(before));
    std::ranges::sort(seconds);
    return seconds;
}

bool is_gradient(schedule::OpKind kind) {
    return kind == schedule::OpKind::kGradientTpAllReduce || kind == schedule::OpKind::kGradientEpAllReduce ||
           kind == schedule::OpKind::kGradientReduceExperts || kind == schedule::OpKind::kGradientReduceDense;
}

/// Of what the transport did, by the laws of its kernels in the precision of its elements.
std::vector<double> transport_seconds(const OnRank& on, const models::Machine& machine, const RecordedOperation& real) {
    std::vector<double> seconds;
    const models::CpuPrecision of_plan = schedule::cpu_precision(on.run.plan);
    for (const exec::RecordedCall& call : real.calls) {
        const auto columns = static_cast<double>(call.sizes[1]), depth = static_cast<double>(call.sizes[2]);
        if (!is_of_transport(call) || call.sizes[1] == 0) {
            continue;
        }
        models::CpuKernel kernel =
            is_gradient(on.op.kind) ? models::CpuKernel::kReducePartsGradients : models::CpuKernel::kReduceParts;
        models::CpuPrecision precision =
            call.sizes[3] == sizeof(float) ? models::CpuPrecision::kFp32 : models::CpuPrecision::kBf16;
        if (call.kernel != "reduce_parts") {
            kernel = call.kernel == "copy_own_part" ? models::CpuKernel::kCopy : models::CpuKernel::kReduceSoftmaxParts;
            precision = of_plan;
        }
        seconds.push_back(
            cpu::work_of(machine, {.kernel = kernel, .columns = columns, .depth = depth}, precision, {}).seconds);
    }
    std::ranges::sort(seconds);
    return seconds;
}

/// Sizes that depend on the choices of a router, which predictions take to be even.
bool depends_on_choices(const OnRank& on) {
    const schedule::OpKind kind = on.op.kind;
    return on.run.plan.routing.kind != models::RoutingDistribution::kUniform &&
           (kind == schedule::OpKind::kIndexGeneration || kind == schedule::OpKind::kExpertComputation ||
            kind == schedule::OpKind::kOutputReduction || kind == schedule::OpKind::kTokenCommunication ||
            kind == schedule::OpKind::kTokenReturn);
}

/// Norm and update go over parts of tensors that a rank's shard happens to cut; predicted is a shard of mean size, in a
/// mean number of parts.
bool is_over_shards(schedule::OpKind kind) {
    return kind == schedule::OpKind::kGradientNorm || kind == schedule::OpKind::kOptimizerUpdate;
}

/// Elements and parts that norm and update go over on all ranks of a stage.
struct ShardSums {
    double predicted_elements = 0, predicted_parts = 0, elements = 0, parts = 0;
    void add(const std::vector<models::CpuCall>& calls, const std::vector<exec::RecordedCall>& real) {
        for (const models::CpuCall& call : calls) {
            const bool is_norm = call.kernel == models::CpuKernel::kSquareSum;
            if (is_norm || call.kernel == models::CpuKernel::kAdamW) {
                predicted_elements += call.columns * call.repeat;
                predicted_parts += is_norm ? call.repeat : call.rows;
            }
        }
        for (const exec::RecordedCall& call : real) {
            elements += static_cast<double>(call.sizes[1]);
            parts += 1;
        }
    }
};

/// Messages and sums of a rank's step where some communication goes on beside other operations: all of them together,
/// in whatever order.
class SumsOfRank {
 public:
    void add_predicted(const cpu::OperationActions& row, std::size_t before, std::size_t after) {
        append(predicted_messages_, messages_of(row));
        append(predicted_seconds_, transport_seconds(row, before, after));
    }
    void add_real(const RecordedOperation& real, const std::vector<double>& seconds) {
        append(messages_, messages_of(real));
        append(seconds_, seconds);
    }
    void expect_equal_and_clear() {
        for (auto* list : {&messages_, &predicted_messages_}) {
            std::ranges::sort(*list);
        }
        for (auto* list : {&seconds_, &predicted_seconds_}) {
            std::ranges::sort(*list);
        }
        EXPECT_EQ(messages_, predicted_messages_);
        EXPECT_EQ(seconds_, predicted_seconds_);
        *this = {};
    }

 private:
    template <class List>
    static void append(List& list, const List& more) {
        list.insert(list.end(), more.begin(), more.end());
    }
    std::vector<std::string> messages_, predicted_messages_;
    std::vector<double> seconds_, predicted_seconds_;
};

class Comparison {
 public:
    explicit Comparison(const exec::RunInputs& run) : run_(run), predicted_(run), real_(recorded_step(run)) {}

    void expect_equal() {
        for (int rank = 0; rank < run_.layout.tiles; ++rank) {
            expect_equal_rank(rank, real_[static_cast<std::size_t>(rank)]);
        }
        EXPECT_EQ(messages_ > 0, run_.layout.tiles > 1);
        for (const auto& [which, sums] : shards_) {
            EXPECT_NEAR(sums.elements, sums.predicted_elements, 1e-9 * sums.elements);
            EXPECT_LE(sums.parts, sums.predicted_parts * (1 + 1e-12));
        }
    }

 private:
    void expect_equal_rank(int rank, const std::vector<RecordedOperation>& operations) {
        const exec::RankCoordinates coordinates = exec::rank_coordinates(run_.layout, rank);
        cpu::OperationActions begin;
        ASSERT_TRUE(predicted_.rows.next(rank, begin));
        std::vector<models::CpuCall> before_step =
            schedule::step_start_calls(run_.workload, run_.plan, run_.layout, coordinates.stage);
        EXPECT_EQ(begin.actions.size(), before_step.size());
        for (const RecordedOperation& real : operations) {
            cpu::OperationActions row;
            ASSERT_TRUE(next_row(rank, row));
            ASSERT_EQ(row.operation_index, real.operation);
            const OnRank on{run_, run_.program.operations[real.operation], coordinates};
            messages_ += real.messages.size();
            if (!depends_on_choices(on)) {
                const std::string what = schedule::operation_name(operation_name_index(on.op.kind, on.op.phase)) +
                                         " of layer " + std::to_string(on.op.layer) + ", rank " + std::to_string(rank);
                SCOPED_TRACE(what);
                if (!run_.plan.overlap_dp) {
                    expect_equal_messages(on, row, real);
                }
                expect_equal_calls(on, row, real, std::exchange(before_step, {}));
            }
            before_step.clear();
        }
        cpu::OperationActions none;
        EXPECT_FALSE(next_row(rank, none));
        beside_.expect_equal_and_clear();
    }

    /// The next that is no end of what runs beside others.
    bool next_row(int rank, cpu::OperationActions& row) {
        while (predicted_.rows.next(rank, row)) {
            if (row.part != cpu::OperationActions::Part::kEnd) {
                return true;
            }
            beside_.add_predicted(row, 0, 0);
            row = {};
        }
        return false;
    }

    /// A barrier is the MPI library's own; empty messages of the lens stand in for it.
    static void expect_equal_messages(const OnRank& on, const cpu::OperationActions& row,
                                      const RecordedOperation& real) {
        EXPECT_EQ(messages_of(real), messages_of(row));
        if (on.op.comm != schedule::CommKind::kBarrier) {
            EXPECT_TRUE(std::ranges::none_of(row.actions, [](const cpu::RankAction& action) {
                return action.type == cpu::RankAction::Type::kSend && action.bytes == 0;
            }));
        }
    }

    /// Functions of kernels, and what the transport does between messages.
    void expect_equal_calls(const OnRank& on, const cpu::OperationActions& row, const RecordedOperation& real,
                            const std::vector<models::CpuCall>& before_step) {
        const schedule::OperationCalls calls =
            kernel_calls(run_.workload, run_.plan, run_.stack, run_.layout, on.place.stage, on.op);
        std::vector<models::CpuCall> all = before_step;
        all.insert(all.end(), calls.before.begin(), calls.before.end());
        all.insert(all.end(), calls.after.begin(), calls.after.end());
        const std::vector<double> seconds = transport_seconds(on, predicted_.inputs.machine, real);
        if (run_.plan.overlap_dp) {
            const bool begins = row.part == cpu::OperationActions::Part::kBegin;
            beside_.add_predicted(row, calls.before.size(), begins ? 0 : calls.after.size());
            beside_.add_real(real, seconds);
        } else {
            EXPECT_EQ(seconds, transport_seconds(row, calls.before.size(), calls.after.size()));
        }
        if (is_over_shards(on.op.kind)) {
            shards_[{on.place.stage, on.op.kind}].add(all, real.calls);
        } else {
            EXPECT_EQ(functions_called(on, real.calls), functions_of(on, all));
        }
    }

    exec::RunInputs run_;
    Predicted predicted_;
    RecordedStep real_;
    SumsOfRank beside_;
    std::size_t messages_ = 0;  ///< of the real step
    std::map<std::pair<int, schedule::OpKind>, ShardSums> shards_;
};

class Agreement : public testing::TestWithParam<AgreementCase> {};

TEST_P(Agreement, of_calls_and_messages_with_the_prediction) {
    models::Stack stack = exec_fixture::trainer_stack();
    stack.bucket_bytes = GetParam().bucket_bytes;
    Comparison(exec_fixture::run_inputs(GetParam().workload, GetParam().plan, exec_fixture::still_training(), stack))
        .expect_equal();
}

INSTANTIATE_TEST_SUITE_P(CollectiveStep, Agreement, testing::ValuesIn(agreement_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace auspex
