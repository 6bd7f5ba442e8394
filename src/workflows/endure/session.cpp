/// @file Scratch folder, data, and the request that all runs begin with.
#include "workflows/endure/session.hpp"

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "exec/data/synthetic_text.hpp"
#include "launch/input_files.hpp"
#include "launch/train/child_run.hpp"
#include "models/workload.hpp"

namespace auspex::workflows {
namespace {

/// More than any run will need: what is to be known of restarts here is how long they take.
constexpr int kNoEnd = 1'000'000, kSlots = 10'000;

/// Data-parallel, fp32: the fewest messages, and bits that depend on nothing but the inputs.
std::string plan_text(int ranks) {
    return R"({"dp": )" + std::to_string(ranks) + R"(, "ep": 1, "tp": 1, "pp": 1, "cp": 1, "micro_batch_size": )" +
           std::to_string(kEndureBatch / ranks) +
           R"(, "micro_batches": 1, "schedule": "1f1b", "recompute": [], "precision": "fp32", "gradient_dtype": "fp32",
 "optimizer": "sharded", "dispatch": "alltoall", "expert_kernels": "grouped", "routing": "learned", "overlap": []})"
           "\n";
}

}  // namespace

EndureSession::EndureSession(const EndureRequest& request) : folder_(launch::temporary_folder(), "auspex-endure-") {
    if (kEndureBatch % request.ranks != 0) {
        throw InputError("--ranks", "found " + std::to_string(request.ranks) + "; expected a divisor of the " +
                                        std::to_string(kEndureBatch) + " sequences of a step");
    }
    const JsonDocument document = launch::load_document("workload", request.workload, {});
    const models::Workload workload = models::load_workload(document);
    run_.workload = request.workload;
    run_.plan = scratch() + "/plan.json";
    write_file(run_.plan, plan_text(request.ranks));
    run_.data = request.data.empty()
                    ? exec::make_synthetic_dataset(workload.vocab_size, workload.sequence_length, scratch())
                    : request.data;
    if (document.root().find("training")) {
        run_.overrides.emplace_back("workload.training.decay_steps=1000000");
    }
    run_.ranks = request.ranks;
    run_.is_supervised = true;
    run_.buffer_ranks = kSlots;
    run_.max_restarts = kNoEnd;
    run_.mpirun_flags = request.mpirun_flags;
    run_.command_line = request.command_line;
    static_cast<void>(launch::inputs_of_training(run_of(1, 0)));
}

launch::TrainRequest EndureSession::run_of(int steps, int checkpoint_every) {
    launch::TrainRequest run = run_;
    run.steps = steps;
    run.checkpoint = scratch() + "/run-" + std::to_string(++runs_);
    run.checkpoint_every = checkpoint_every;
    return run;
}

}  // namespace auspex::workflows
