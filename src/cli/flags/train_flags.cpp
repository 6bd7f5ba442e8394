/// @file The flags of `auspex train`: their texts and their values.
#include "cli/flags/train_flags.hpp"

#include "base/error.hpp"
#include "cli/flags/flag_numbers.hpp"
#include "cli/flags/flag_texts.hpp"
#include "cli/flags/flag_values.hpp"

namespace auspex::cli {
namespace {

int parse_count(Flag flag, const std::string& text, int low) {
    constexpr int kMax = 1'000'000'000;
    return parse_whole(train_flag_text(flag).name, text, low, kMax);
}

double parse_seconds(Flag flag, const std::string& text) {
    return parse_number(train_flag_text(flag).name, text, kLeastPositive, kLargestNumber,
                        "a positive number of seconds");
}

}  // namespace

FlagText train_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kTrainRanks: return {"ranks", "N", "or -n N: ranks of the run; without it what the plan's dp gives"};
        case Flag::kTrainStack:
            return {"stack", "FILE", "software stack file, or the name of one (default auspex)", "stack"};
        case Flag::kTrainSeed: return {"seed", "N", "of the initial weights" + by_default(launch::TrainRequest().seed)};
        case Flag::kSteps:
            return {"steps", "N",
                    "the run ends after this many steps, those before --resume included; 0: only --export-weights"};
        case Flag::kResume:
            return {"resume", nullptr, "go on from the newest checkpoint of --checkpoint, if there is one"};
        case Flag::kCheckpoint: return {"checkpoint", "DIR", "save the run there: two checkpoints in turn"};
        case Flag::kCheckpointEvery: return {"checkpoint-every", "N", "every N steps; without it only at the end"};
        case Flag::kModelEvery:
            return {"model-every", "N", "also keep the weights after every N steps: DIR/model-STEP.safetensors"};
        case Flag::kWeights:
            return {"weights", "FILE", "begin with these weights (safetensors) instead of random ones"};
        case Flag::kExportWeights: return {"export-weights", "FILE", "write the weights after the last step"};
        case Flag::kExportGradients: return {"export-gradients", "FILE", "write the gradients of the last step"};
        case Flag::kRecordRouting:
            return {"record-routing", "FILE", "write which experts every token chose, for a plan's {\"trace\": FILE}"};
        case Flag::kTrainTrace: return {"trace", "FILE", "write a Chrome trace of the last step, for ui.perfetto.dev"};
        case Flag::kProbeCores:
            return {"probe-cores", nullptr,
                    "time a small fixed product on every rank's core between steps: probe_s of --json"};
        case Flag::kPlot: return {"plot", "FILE.svg", "draw the loss"};
        case Flag::kSupervise:
            return {"supervise", nullptr, "relaunch from the last checkpoint, without the bad slot, when a rank fails"};
        case Flag::kBufferRanks: return {"buffer-ranks", "B", "with --supervise: spare slots (default 0)"};
        case Flag::kHangTimeout:
            return {"hang-timeout", "S",
                    "with --supervise: seconds without a finished step that mean a hang" +
                        by_default(launch::kDefaultHangTimeout_s)};
        case Flag::kMaxRestarts:
            return {"max-restarts", "R",
                    "with --supervise: give up after R relaunches" + by_default(launch::kDefaultMaxRestarts)};
        case Flag::kInject:
            return {"inject", "FAULT",
                    "for trying out failures: nan, kill, kill-checkpoint or hang, as in kill:rank=1,step=5"};
        case Flag::kHostfile: return {"hostfile", "FILE", "hosts for mpirun; with --supervise a line is a slot"};
        case Flag::kMpirun:
            return {"mpirun", "FLAGS", "more flags for mpirun, in one argument: --mpirun=\"--mca a b\""};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

void store_train_flag(Options& options, Flag flag, const std::string& text) {
    TrainFlags& train = options.train;
    switch (flag) {
        case Flag::kTrainRanks: options.ranks = parse_count(flag, text, 1); return;
        case Flag::kTrainStack: options.stack = text; return;
        case Flag::kTrainSeed: options.seed = parse_seed(text); return;
        case Flag::kSteps: train.steps = parse_count(flag, text, 0); return;
        case Flag::kResume: train.resume = true; return;
        case Flag::kCheckpoint: train.checkpoint = text; return;
        case Flag::kCheckpointEvery: train.checkpoint_every = parse_count(flag, text, 1); return;
        case Flag::kModelEvery: train.model_every = parse_count(flag, text, 1); return;
        case Flag::kWeights: train.weights = text; return;
        case Flag::kExportWeights: train.export_weights = text; return;
        case Flag::kExportGradients: train.export_gradients = text; return;
        case Flag::kRecordRouting: train.record_routing = text; return;
        case Flag::kTrainTrace: options.trace = text; return;
        case Flag::kProbeCores: train.probes_cores = true; return;
        case Flag::kPlot: train.plot = text; return;
        case Flag::kSupervise: train.supervise = true; return;
        case Flag::kBufferRanks: train.buffer_ranks = parse_count(flag, text, 0); return;
        case Flag::kHangTimeout: train.hang_timeout_s = parse_seconds(flag, text); return;
        case Flag::kMaxRestarts: train.max_restarts = parse_count(flag, text, 0); return;
        case Flag::kInject: train.inject = text; return;
        case Flag::kHostfile: train.hostfile = text; return;
        case Flag::kMpirun: train.mpirun = text; return;
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

Command train_command(void (*run)(const Options&)) {
    return {"train",
            "train a model with the same program, on CPU cores over MPI",
            "auspex train -n 4 --workload toy-moe --plan toy-pp2-ep2 --data build/data --steps 20",
            {Flag::kWorkload, Flag::kPlan, Flag::kData, Flag::kSteps},
            {Flag::kTrainRanks,      Flag::kTrainStack,    Flag::kTrainSeed,   Flag::kSet,         Flag::kCheckpoint,
             Flag::kCheckpointEvery, Flag::kModelEvery,    Flag::kResume,      Flag::kWeights,     Flag::kExportWeights,
             Flag::kExportGradients, Flag::kRecordRouting, Flag::kTrainTrace,  Flag::kProbeCores,  Flag::kPlot,
             Flag::kSupervise,       Flag::kBufferRanks,   Flag::kHangTimeout, Flag::kMaxRestarts, Flag::kInject,
             Flag::kHostfile,        Flag::kMpirun,        Flag::kJson},
            run,
            {{Flag::kSet, "override a field; ROLE is stack, workload or plan; may be repeated"}}};
}

launch::TrainRequest train_request(const Options& options) {
    const TrainFlags& flags = options.train;
    launch::TrainRequest request;
    request.stack = options.stack.empty() ? request.stack : options.stack;
    request.workload = options.workload;
    request.plan = options.plan;
    request.overrides = options.overrides;
    request.data = options.data;
    request.ranks = options.ranks;
    request.steps = flags.steps.value_or(0);
    request.seed = options.seed.value_or(request.seed);
    request.checkpoint = flags.checkpoint;
    request.checkpoint_every = flags.checkpoint_every;
    request.model_every = flags.model_every;
    request.resumes = flags.resume;
    request.weights = flags.weights;
    request.export_weights = flags.export_weights;
    request.export_gradients = flags.export_gradients;
    request.record_routing = flags.record_routing;
    request.trace = options.trace;
    request.plot = flags.plot;
    request.probes_cores = flags.probes_cores;
    request.fault = flags.inject;
    request.is_supervised = flags.supervise;
    request.buffer_ranks = flags.buffer_ranks;
    request.hang_timeout_s = flags.hang_timeout_s;
    request.max_restarts = flags.max_restarts;
    request.hostfile = flags.hostfile;
    request.mpirun_flags = flags.mpirun;
    request.command_line = options.command_line;
    return request;
}

}  // namespace auspex::cli
