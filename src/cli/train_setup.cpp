/// @file Inputs and options of a training run, checked.
#include "cli/train_setup.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "cli/input_files.hpp"
#include "exec/checkpoint/weights_file.hpp"
#include "exec/run/run_checks.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;

/// The plan for this many ranks (0: what its dp gives), with what the plan needs in the message where they do not fit.
Plan plan_for(const Plan& plan, const Workload& workload, int ranks) {
    const Plan shapes_only = [&] {
        Plan one = plan;
        one.etp = plan.etp_given ? plan.etp : plan.tp;
        return one;
    }();
    const std::int64_t replica = std::int64_t{shapes_only.pp} * shapes_only.ep * shapes_only.etp;
    const std::string grid = "pp " + std::to_string(plan.pp) + " * ep " + std::to_string(plan.ep) + " * etp " +
                             std::to_string(shapes_only.etp);
    if (ranks > 0 && plan.dp > 0 && ranks != replica * plan.dp) {
        throw InputError("-n", "found " + std::to_string(ranks) + " ranks; expected " +
                                   std::to_string(replica * plan.dp) + ", as " + plan.name + " has dp " +
                                   std::to_string(plan.dp) + " * " + grid);
    }
    if (plan.dp == 0 && (ranks == 0 || ranks % replica != 0)) {
        throw InputError("-n", "found " + (ranks == 0 ? std::string("no number of") : std::to_string(ranks)) +
                                   " ranks; expected a multiple of " + std::to_string(replica) + ", as " + plan.name +
                                   " has " + grid);
    }
    return resolve_plan(plan, workload, ranks);
}

RunInputs load_run(const Options& options, int ranks) {
    require_roles(options.overrides, {"stack", "workload", "plan"});
    RunInputs run;
    run.stack = load_stack(load_document("stack", stack_of(options), options.overrides));
    run.workload = load_workload(load_document("workload", options.workload, options.overrides));
    run.plan = plan_for(load_plan(load_document("plan", options.plan, options.overrides)), run.workload, ranks);
    run.training = run.workload.training;
    run.layout = rank_grid(run.plan, tiles_of(run.plan));
    run.program = build_program(run.workload, run.plan, run.stack, run.layout);
    run.last_step = options.train.steps.value_or(0) - 1;
    run.seed = options.seed.value_or(1);
    return run;
}

void require(bool holds, const char* flag, const char* needed) {
    if (!holds) {
        throw InputError(flag, std::string("found without ") + needed + "; expected both");
    }
}

void check_flags(const TrainFlags& train) {
    const bool saves = !train.checkpoint.empty();
    require(saves || !train.resume, "--resume", "--checkpoint");
    require(saves || train.checkpoint_every == 0, "--checkpoint-every", "--checkpoint");
    require(saves || train.model_every == 0, "--model-every", "--checkpoint");
    require(saves || !train.supervise, "--supervise", "--checkpoint");
    require(train.supervise || train.buffer_ranks == 0, "--buffer-ranks", "--supervise");
    require(train.supervise || train.hang_timeout_s == 0, "--hang-timeout", "--supervise");
    require(train.supervise || !train.max_restarts, "--max-restarts", "--supervise");
    if (train.steps == 0 && train.export_weights.empty()) {
        throw InputError("--steps", "found 0 without --export-weights; expected at least one step, or both");
    }
    if (train.steps == 0 && !(train.record_routing + train.export_gradients).empty()) {
        throw InputError("--steps", "found 0 with --record-routing or --export-gradients; expected at least one step");
    }
}

/// So that no run ends with nowhere to write to.
void check_output(const char* flag, const std::string& file) {
    if (file.empty()) {
        return;
    }
    std::error_code status;
    const fs::path folder = fs::path(file).parent_path();
    const std::string where = std::string(flag) + " " + file;
    if (fs::is_directory(file, status)) {
        throw InputError(where, "found a directory; expected the name of a file to write");
    }
    if (!folder.empty() && !fs::is_directory(folder, status)) {
        throw InputError(where, "found no folder " + folder.string() + "; expected a file in one that exists");
    }
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
        throw InputError(where, "found a folder that cannot be written to (" + std::string(std::strerror(errno)) +
                                    "); expected a file in one that can");
    }
}

void check_outputs(const Options& options) {
    const TrainFlags& train = options.train;
    check_output("--trace", options.trace);
    check_output("--plot", train.plot);
    if (!train.plot.empty() && fs::path(train.plot).extension() != ".svg") {
        throw InputError("--plot " + train.plot,
                         "found no name that ends in .svg; expected one: the drawing is an SVG");
    }
    check_output("--export-weights", train.export_weights);
    check_output("--export-gradients", train.export_gradients);
    check_output("--record-routing", train.record_routing);
    std::error_code status;
    if (!train.checkpoint.empty() && fs::exists(train.checkpoint, status) &&
        !fs::is_directory(train.checkpoint, status)) {
        throw InputError("--checkpoint " + train.checkpoint, "found a file; expected a folder, or a new name");
    }
}

}  // namespace

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
            run};
}

std::string stack_of(const Options& options) { return options.stack.empty() ? "auspex" : options.stack; }

InjectedFault parse_fault(const std::string& text) {
    const std::array<std::pair<const char*, InjectedFault::Kind>, 4> kinds{
        {{"nan", InjectedFault::Kind::kNan},
         {"kill", InjectedFault::Kind::kKill},
         {"kill-checkpoint", InjectedFault::Kind::kKillInCheckpoint},
         {"hang", InjectedFault::Kind::kHang}}};
    for (const auto& [word, kind] : kinds) {
        const std::string head = std::string(word) + ":rank=", middle = ",step=";
        const std::size_t comma = text.find(middle);
        if (!text.starts_with(head) || comma == std::string::npos) {
            continue;
        }
        InjectedFault fault;
        fault.kind = kind;
        const auto reads = [&](std::size_t begin, std::size_t end, int& number) {
            const auto [stop, status] = std::from_chars(text.data() + begin, text.data() + end, number);
            return status == std::errc() && stop == text.data() + end && number >= 0;
        };
        if (reads(head.size(), comma, fault.rank) && reads(comma + middle.size(), text.size(), fault.step)) {
            return fault;
        }
    }
    throw InputError("--inject", "found \"" + text +
                                     "\"; expected nan, kill, kill-checkpoint or hang with rank and step, such as "
                                     "kill:rank=1,step=5");
}

TrainSetup load_train_setup(const Options& options, int ranks) {
    const TrainFlags& train = options.train;
    check_flags(train);
    check_outputs(options);
    if (ranks > 0 && options.ranks > 0 && ranks != options.ranks) {
        throw InputError("-n", "found " + std::to_string(options.ranks) + " where " + std::to_string(ranks) +
                                   " processes were started; expected the same number");
    }
    TrainSetup setup;
    setup.run = load_run(options, ranks > 0 ? ranks : options.ranks);
    RunOptions& run = setup.options;
    run.data = options.data;
    run.steps = train.steps.value_or(0);
    run.checkpoint_folder = train.checkpoint;
    run.checkpoint_every = train.checkpoint_every;
    run.model_every = train.model_every;
    run.resume = train.resume;
    run.weights = train.weights;
    run.export_weights = train.export_weights;
    run.export_gradients = train.export_gradients;
    run.record_routing = train.record_routing;
    run.wants_trace = !options.trace.empty();
    run.probes_cores = train.probes_cores;
    if (!train.inject.empty()) {
        run.fault = parse_fault(train.inject);
        if (run.fault->rank >= setup.run.layout.tiles) {
            throw InputError("--inject", "found rank " + std::to_string(run.fault->rank) + "; expected one of the " +
                                             std::to_string(setup.run.layout.tiles) + " ranks of the run");
        }
        if (run.fault->step >= run.steps) {
            throw InputError("--inject", "found step " + std::to_string(run.fault->step) + "; expected one before " +
                                             std::to_string(run.steps) + ", where --steps ends the run");
        }
    }
    if (!train.weights.empty()) {
        static_cast<void>(open_weights_file(train.weights));
    }
    check_run(setup.run, run, Dataset::open(options.data));
    return setup;
}

}  // namespace auspex
