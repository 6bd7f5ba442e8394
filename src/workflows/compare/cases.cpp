/// @file Loads what is asked for, and draws.
#include "workflows/compare/cases.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/sha256.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/cores.hpp"
#include "launch/input_files.hpp"
#include "launch/installation.hpp"
#include "launch/train/slots.hpp"
#include "report/parts/text.hpp"
#include "schedule/bindings/bindings.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/program/program.hpp"
#include "workflows/compare/calibrated_shapes.hpp"
#include "workflows/compare/wanted_layouts.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

/// Ranks of each node, where nodes have so many slots: the first ones are filled first. Fewer than `ranks` in all
/// where there are too few slots.
std::vector<int> ranks_by_node(const std::vector<int>& slots, int ranks) {
    std::vector<int> nodes;
    for (std::size_t i = 0; i < slots.size() && ranks > 0; ++i) {
        nodes.push_back(std::min(slots[i], ranks));
        ranks -= nodes.back();
    }
    return nodes;
}

/// "1 node", "2 nodes (2 + 1 ranks)".
std::string nodes_text(const std::vector<int>& nodes) {
    std::string ranks;
    for (const int count : nodes) {
        ranks += (ranks.empty() ? "" : " + ") + std::to_string(count);
    }
    return counted(static_cast<double>(nodes.size()), "node") + (nodes.size() > 1 ? " (" + ranks + " ranks)" : "");
}

/// Throws InputError where the layout is predicted on other nodes than those it runs on: without a hostfile, this
/// computer is one.
void require_nodes(const CompareRequest& request, const std::vector<int>& slots, const CompareCase& one) {
    const int tiles = one.inputs.machine.node.tiles;
    const std::vector<int> all(static_cast<std::size_t>((one.ranks - 1) / tiles + 1), tiles);
    const std::vector<int> predicted = ranks_by_node(all, one.ranks);
    const std::vector<int> run = ranks_by_node(slots.empty() ? std::vector{one.ranks} : slots, one.ranks);
    if (predicted == run) {
        return;
    }
    const std::string& hostfile = request.hostfile;
    const bool is_of_one_node = one.inputs.machine.fabric.max_nodes == 1;
    const std::string why_and_how = !hostfile.empty()
                                        ? "as in " + hostfile + ": auspex calibrate --hostfile " + hostfile
                                        : "as without --hostfile all are on this computer: auspex calibrate" +
                                              (is_of_one_node ? " --max-ranks " + std::to_string(one.ranks) : "");
    throw InputError(one.inputs.machine_document.name(),
                     "found nodes of " + counted(tiles, "rank") + ", on which the " + counted(one.ranks, "rank") +
                         " of " + one.plan + " on " + one.workload + " would be " + nodes_text(predicted) +
                         "; expected " + nodes_text(run) + ", " + why_and_how +
                         " writes such a machine file, or name another --machine");
}

double fullest_rank(const models::Inputs& inputs, const models::Plan& plan, const models::Layout& layout,
                    const schedule::Program& program) {
    std::uint64_t most = 0;
    for (int rank = 0; rank < layout.tiles; ++rank) {
        most = std::max(
            most, rank_memory(inputs.workload, plan, inputs.stack, layout, program, rank, plan.routing.record.get())
                      .peak_bytes);
    }
    return static_cast<double>(most);
}

/// Throws InputError where the plan does not fit the workload, or the trainer does not run its program.
CompareCase load_case(const CompareRequest& request, const WantedLayout& wanted) {
    const std::string plan_file = launch::find_input("plan", wanted.plan, wanted.plan_from);
    const std::string workload_file = launch::find_input("workload", wanted.workload, wanted.workload_from);
    auto [machine, stack] = launch::load_machine_and_stack(request.machine, request.stack, request.overrides);
    CompareCase one{models::load_inputs(std::move(machine), std::move(stack),
                                        launch::load_document("workload", workload_file, request.overrides),
                                        launch::load_document("plan", plan_file, request.overrides))};
    if (one.inputs.machine.cpu.cores == 0) {
        throw InputError(one.inputs.machine_document.name(),
                         "found a machine without a host section; expected one with a host section (auspex calibrate "
                         "without --from writes it)");
    }
    one.plan_file = plan_file;
    one.workload_file = workload_file;
    one.plan = name_of(one.plan_file);
    one.workload = name_of(one.workload_file);
    require_short_name(one.plan, wanted.plan_from);
    require_short_name(one.workload, wanted.workload_from);
    one.asked_ranks = one.inputs.plan.dp == 0 ? request.ranks : 0;
    const models::Plan plan = resolve_plan(one.inputs.plan, one.inputs.workload, one.asked_ranks);
    const models::Layout layout = rank_grid(plan, tiles_of(plan));
    const schedule::Program program = schedule::build_program(one.inputs.workload, plan, one.inputs.stack, layout);
    if (!unbound_operations(one.inputs.workload, plan, one.inputs.stack, program).empty() ||
        !schedule::refused_settings(one.inputs.workload, plan, one.inputs.stack).empty()) {
        throw InputError(one.plan_file,
                         "found a plan that the trainer does not run on " + one.workload +
                             "; expected one of which auspex program --check-executor says that it does");
    }
    one.ranks = layout.tiles;
    one.predicted_memory_bytes = fullest_rank(one.inputs, plan, layout, program);
    return one;
}

/// A step that is neither so short that its clock ticks count nor so long that nobody waits for it; and memory for it.
bool is_worth_a_run(const CompareCase& one) {
    constexpr double kFlopsOfACore = 1e11, kShortest_s = 5e-4, kLongest_s = 12, kMemoryShare = 0.5;
    const models::Plan plan = resolve_plan(one.inputs.plan, one.inputs.workload, one.ranks);
    const double tokens = static_cast<double>(rank_grid(plan, one.ranks).global_batch) *
                          static_cast<double>(one.inputs.workload.sequence_length);
    const int cores = std::min(one.ranks, one.inputs.machine.cpu.cores);
    const double step_s = models::count_token_flop(one.inputs.workload).training() * tokens / (kFlopsOfACore * cores);
    return step_s >= kShortest_s && step_s <= kLongest_s &&
           one.predicted_memory_bytes * one.ranks <= kMemoryShare * exec::this_computer().memory_bytes;
}

/// Files for each drawn layout and its model, in SCRATCH/random.
void add_random(const CompareRequest& request, const std::vector<int>& slots, const std::string& scratch,
                std::vector<WantedLayout>& wanted) {
    const models::Machine machine =
        models::load_machine(launch::load_document("machine", request.machine, request.overrides));
    const int max_ranks = slots.empty() ? machine.node.tiles : std::accumulate(slots.begin(), slots.end(), 0);
    const std::string from = "--random " + std::to_string(request.random.layouts);
    const auto write = [&](const DrawnLayout& drawn) {
        const fs::path folder = fs::path(scratch) / "random";
        std::error_code status;
        fs::create_directories(folder / drawn.workload_name, status);
        const std::string workload = (folder / (drawn.workload_name + ".json")).string();
        const std::string plan = (folder / drawn.workload_name / (drawn.plan_name + ".json")).string();
        write_file(workload, drawn.workload);
        write_file(plan, drawn.plan);
        return WantedLayout{plan, workload, from, from, true};
    };
    const auto takes = [&](const DrawnLayout& drawn) {
        try {
            const WantedLayout files = write(drawn);
            const CompareCase one = load_case(request, files);
            require_nodes(request, slots, one);
            if (is_worth_a_run(one) && !has_calibrated_shape(one.inputs)) {
                wanted.push_back(files);
                return true;
            }
            return false;
        } catch (const InputError&) {
            return false;
        }
    };
    draw_layouts(request.random, max_ranks, takes);
}

/// The first half of a SHA-256: enough to distinguish inputs that no adversary makes collide.
std::string short_digest(std::string_view text) {
    constexpr std::size_t kDigits = 32;
    return sha256_hex(text).substr(0, kDigits);
}

/// Digest of a file of any size. `expected` says what it should be.
std::string digest_of_file(const fs::path& file, const std::string& expected) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw InputError(file.string(), "found no file that can be read; expected " + expected);
    }
    Sha256 sum;
    constexpr std::size_t kPiece = 1U << 16U;
    for (std::string piece(kPiece, '\0'); stream.read(piece.data(), kPiece) || stream.gcount() > 0;) {
        sum.add(std::string_view(piece).substr(0, static_cast<std::size_t>(stream.gcount())));
    }
    return short_digest(sum.hex());
}

/// What all runs of a comparison depend on, whichever layout they are of. The trainer is known by its bytes: versions
/// stay the same while it is being worked on.
RunOrigin common_origin(const CompareRequest& request) {
    RunOrigin origin;
    origin["computer"] =
        short_digest(exec::this_computer().model + ", " + std::to_string(exec::allowed_cores().size()) + " cores");
    origin["trainer"] = short_digest(AUSPEX_VERSION + digest_of_file(launch::mpi_program(), "the trainer's program"));
    origin["steps"] = std::to_string(request.steps);
    origin["mpirun flags"] = short_digest(request.mpirun_flags);
    origin["data"] = request.data.empty() ? "random"
                                          : digest_of_file(fs::path(request.data) / "dataset.json",
                                                           "the folder of a dataset that auspex data prepare has made");
    origin["hostfile"] = request.hostfile.empty() ? "none" : digest_of_file(request.hostfile, "a list of hosts");
    return origin;
}

void take_origin(const RunOrigin& common, CompareCase& one) {
    one.origin = common;
    one.origin["probe"] = json_number(one.inputs.machine.cpu.probe_s);
    one.origin["stack"] = short_digest(one.inputs.stack_document.dump());
    one.origin["workload"] = short_digest(one.inputs.workload_document.dump());
    one.origin["plan"] = short_digest(one.inputs.plan_document.dump());
    one.origin["number of ranks"] = std::to_string(one.ranks);
}

}  // namespace

launch::TrainRequest CompareCase::train_request(const CompareRequest& request) const {
    launch::TrainRequest run;
    run.workload = workload_file;
    run.plan = plan_file;
    run.stack = request.stack;
    std::ranges::copy_if(request.overrides, std::back_inserter(run.overrides),
                         [](const std::string& text) { return !text.starts_with("machine."); });
    run.ranks = asked_ranks;
    run.hostfile = request.hostfile;
    run.mpirun_flags = request.mpirun_flags;
    return run;
}

std::vector<CompareCase> compare_cases(const CompareRequest& request, const std::string& scratch,
                                       std::vector<std::string>& left_out) {
    launch::require_roles(request.overrides, {"machine", "stack", "workload", "plan"});
    std::vector<WantedLayout> wanted = wanted_layouts(request, scratch);
    const std::string& hostfile = request.hostfile;
    const std::vector<int> slots = hostfile.empty() ? std::vector<int>{} : launch::slots_by_host(hostfile);
    if (request.random.layouts > 0) {
        add_random(request, slots, scratch, wanted);
    }
    if (wanted.empty()) {
        throw InputError("auspex compare", "found no layout; expected --plans with --workload, --layouts, or --random");
    }
    const int slots_there = std::accumulate(slots.begin(), slots.end(), 0);
    std::vector<CompareCase> cases;
    std::set<std::pair<std::string, std::string>> names;
    std::optional<InputError> last_error;
    for (const WantedLayout& one : wanted) {
        try {
            CompareCase loaded = load_case(request, one);
            if (!slots.empty() && loaded.ranks > slots_there) {
                last_error = InputError("--hostfile " + hostfile,
                                        "found " + counted(slots_there, "slot") + "; expected at least " +
                                            std::to_string(loaded.ranks) + ", a line for every rank");
                left_out.push_back(loaded.plan + " on " + loaded.workload + " is left out: " + last_error->what());
                continue;
            }
            require_nodes(request, slots, loaded);
            cases.push_back(std::move(loaded));
        } catch (const InputError& error) {
            if (one.is_sure) {
                throw;
            }
            last_error = error;
            left_out.push_back(one.plan + " on " + one.workload + " is left out: " + error.what());
            continue;
        }
        if (const CompareCase& added = cases.back(); !names.emplace(added.plan, added.workload).second) {
            throw InputError("auspex compare", "found " + added.plan + " on " + added.workload +
                                                   " twice; expected each layout of a workload once, by name");
        }
    }
    if (cases.empty()) {
        throw *last_error;
    }
    const RunOrigin common = common_origin(request);
    for (CompareCase& one : cases) {
        take_origin(common, one);
    }
    return cases;
}

}  // namespace auspex::workflows
