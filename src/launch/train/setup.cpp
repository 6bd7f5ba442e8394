/// @file Inputs and options of a training run, checked.
#include "launch/train/setup.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "exec/blend/blend.hpp"
#include "exec/checkpoint/weights_file.hpp"
#include "exec/run/run_checks.hpp"
#include "launch/input_files.hpp"

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

/// The plan for this many ranks (0: what its dp gives), with what the plan needs in the message where they do not fit.
models::Plan plan_for(const models::Plan& plan, const models::Workload& workload, int ranks) {
    const models::Plan shapes_only = [&] {
        models::Plan one = plan;
        one.etp = plan.etp_given ? plan.etp : plan.tp;
        return one;
    }();
    const std::int64_t replica = tiles_per_replica(shapes_only);
    const std::string grid = "pp " + std::to_string(plan.pp) + " * ep " + std::to_string(plan.ep) + " * etp " +
                             std::to_string(shapes_only.etp) +
                             (plan.cp > 1 ? " (cp and tp lie within a stage's ranks)" : "");
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

exec::RunInputs load_run(const TrainRequest& request, int ranks) {
    require_roles(request.overrides, {"stack", "workload", "plan"});
    exec::RunInputs run;
    run.stack = models::load_stack(load_document("stack", request.stack, request.overrides));
    run.workload = models::load_workload(load_document("workload", request.workload, request.overrides));
    run.plan = plan_for(models::load_plan(load_document("plan", request.plan, request.overrides)), run.workload, ranks);
    run.training = run.workload.training;
    run.layout = rank_grid(run.plan, tiles_of(run.plan));
    run.program = schedule::build_program(run.workload, run.plan, run.stack, run.layout);
    run.last_step = request.steps - 1;
    run.seed = request.seed;
    return run;
}

void require(bool holds, const char* flag, const char* needed) {
    if (!holds) {
        throw InputError(flag, std::string("found without ") + needed + "; expected both");
    }
}

void check_flags(const TrainRequest& request) {
    const bool saves = !request.checkpoint.empty();
    require(saves || !request.resumes, "--resume", "--checkpoint");
    require(saves || request.checkpoint_every == 0, "--checkpoint-every", "--checkpoint");
    require(saves || request.model_every == 0, "--model-every", "--checkpoint");
    require(saves || !request.is_supervised, "--supervise", "--checkpoint");
    require(request.is_supervised || request.buffer_ranks == 0, "--buffer-ranks", "--supervise");
    require(request.is_supervised || request.hang_timeout_s == 0, "--hang-timeout", "--supervise");
    require(request.is_supervised || !request.max_restarts, "--max-restarts", "--supervise");
    if (request.steps == 0 && request.export_weights.empty()) {
        throw InputError("--steps", "found 0 without --export-weights; expected at least one step, or both");
    }
    if (request.steps == 0 && !(request.record_routing + request.export_gradients).empty()) {
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

void check_outputs(const TrainRequest& request) {
    check_output("--trace", request.trace);
    check_output("--plot", request.plot);
    if (!request.plot.empty() && fs::path(request.plot).extension() != ".svg") {
        throw InputError("--plot " + request.plot,
                         "found no name that ends in .svg; expected one: the drawing is an SVG");
    }
    check_output("--export-weights", request.export_weights);
    check_output("--export-gradients", request.export_gradients);
    check_output("--record-routing", request.record_routing);
    std::error_code status;
    if (!request.checkpoint.empty() && fs::exists(request.checkpoint, status) &&
        !fs::is_directory(request.checkpoint, status)) {
        throw InputError("--checkpoint " + request.checkpoint, "found a file; expected a folder, or a new name");
    }
}

}  // namespace

exec::InjectedFault parse_fault(const std::string& text) {
    const std::array<std::pair<const char*, exec::InjectedFault::Kind>, 4> kinds{
        {{"nan", exec::InjectedFault::Kind::kNan},
         {"kill", exec::InjectedFault::Kind::kKill},
         {"kill-checkpoint", exec::InjectedFault::Kind::kKillInCheckpoint},
         {"hang", exec::InjectedFault::Kind::kHang}}};
    for (const auto& [word, kind] : kinds) {
        const std::string head = std::string(word) + ":rank=", middle = ",step=";
        const std::size_t comma = text.find(middle);
        if (!text.starts_with(head) || comma == std::string::npos) {
            continue;
        }
        exec::InjectedFault fault;
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

TrainSetup load_train_setup(const TrainRequest& request, int ranks) {
    check_flags(request);
    check_outputs(request);
    if (ranks > 0 && request.ranks > 0 && ranks != request.ranks) {
        throw InputError("-n", "found " + std::to_string(request.ranks) + " where " + std::to_string(ranks) +
                                   " processes were started; expected the same number");
    }
    TrainSetup setup;
    setup.run = load_run(request, ranks > 0 ? ranks : request.ranks);
    exec::RunOptions& run = setup.options;
    run.data = request.data;
    run.steps = request.steps;
    run.checkpoint_folder = request.checkpoint;
    run.checkpoint_every = request.checkpoint_every;
    run.model_every = request.model_every;
    run.resume = request.resumes;
    run.weights = request.weights;
    run.export_weights = request.export_weights;
    run.export_gradients = request.export_gradients;
    run.record_routing = request.record_routing;
    run.wants_trace = !request.trace.empty();
    run.probes_cores = request.probes_cores;
    if (!request.fault.empty()) {
        run.fault = parse_fault(request.fault);
        if (run.fault->rank >= setup.run.layout.tiles) {
            throw InputError("--inject", "found rank " + std::to_string(run.fault->rank) + "; expected one of the " +
                                             std::to_string(setup.run.layout.tiles) + " ranks of the run");
        }
        if (run.fault->step >= run.steps) {
            throw InputError("--inject", "found step " + std::to_string(run.fault->step) + "; expected one before " +
                                             std::to_string(run.steps) + ", where --steps ends the run");
        }
    }
    if (!request.weights.empty()) {
        static_cast<void>(exec::open_weights_file(request.weights));
    }
    check_run(setup.run, run, *exec::open_training_data(request.data));
    return setup;
}

}  // namespace auspex::launch
