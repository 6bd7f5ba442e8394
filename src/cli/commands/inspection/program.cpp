/// @file auspex program: the operations of one step, as text or JSON.
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/output_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/input_names.hpp"
#include "launch/output_locks.hpp"
#include "models/layout.hpp"
#include "report/parts/text.hpp"
#include "schedule/bindings/bindings.hpp"
#include "schedule/inspection/text.hpp"
#include "schedule/orders/order_csv.hpp"
#include "schedule/orders/orders.hpp"
#include "schedule/program/program.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kLegend =
    "# A block is a list of operations; a stage runs blocks in the order of its line at the end.\n"
    "# Operation: INDEX STREAM KIND.PHASE, then what it has of: layer, flop, bytes, launches, host_s (host seconds),\n"
    "# comm and group (a communication of `bytes`, xN: N times in a row), carries (what, where KIND does not tell),\n"
    "# message (the boundary between stages that it crosses), after (operations of the block that must have ended),\n"
    "# joins (streams that must have run dry).\n"
    "# Stage: F or B (forward, backward) CHUNK.MICRO_BATCH=BLOCK; optimizer=BLOCK. More: docs/program.md.\n";

void write_operation(JsonWriter& json, const schedule::Program& program, const schedule::Operation& op) {
    double flop = 0, bytes = 0, launches = 0;
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        flop += kernel.flop * kernel.repeat;
        bytes += kernel.bytes * kernel.repeat;
        launches += kernel.launches * kernel.repeat;
    }
    json.begin_object().member("kind", to_string(op.kind)).member("phase", to_string(op.phase));
    json.member("stream", to_string(op.stream)).member("layer", static_cast<int>(op.layer));
    json.member("flop", flop).member("kernel_bytes", whole(bytes)).member("launches", launches);
    json.member("host_s", op.host_s);
    if (op.comm != schedule::CommKind::kNone) {
        json.member("comm", to_string(op.comm)).member("group", schedule::to_string(op.group));
        json.member("comm_bytes", whole(op.bytes)).member("repeat", static_cast<int>(op.repeat));
        json.member("routed", op.routed);
        if (op.carries != schedule::Carries::kRunningValue) {
            json.member("carries", to_string(op.carries));
        }
    }
    if (op.message >= 0) {
        json.member("message", static_cast<int>(op.message));
    }
    json.key("after").begin_array();
    for (const std::uint32_t dependency : program.dependencies_of(op)) {
        json.value(std::uint64_t{dependency});
    }
    json.end_array().key("joins").begin_array();
    for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
        if (((op.joins >> stream) & 1U) != 0) {
            json.value(to_string(static_cast<schedule::Stream>(stream)));
        }
    }
    json.end_array().end_object();
}

void write_blocks(JsonWriter& json, const schedule::Program& program) {
    json.key("blocks").begin_array();
    for (const schedule::Block& block : program.blocks) {
        json.begin_object().member("kind", to_string(block.kind)).member("chunk", block.chunk);
        json.member("last_micro_batch", block.last_micro_batch).key("operations").begin_array();
        for (const schedule::Operation& op : program.operations_of(block)) {
            write_operation(json, program, op);
        }
        json.end_array().end_object();
    }
    json.end_array();
}

void write_roles(JsonWriter& json, const schedule::Program& program) {
    json.key("roles").begin_array();
    for (const schedule::Role& role : program.roles) {
        json.begin_object().member("stage", role.stage).key("order").begin_array();
        for (const schedule::BlockUse& use : role.order) {
            json.begin_object().member("block", std::uint64_t{use.block}).member("micro_batch", use.micro_batch);
            json.end_object();
        }
        json.end_array().end_object();
    }
    json.end_array();
}

/// Says whether the trainer could run the program. Throws std::runtime_error, after that, where it could not.
void check_executor(const models::Inputs& inputs, const models::Plan& plan, const schedule::Program& program,
                    const Options& options) {
    const std::vector<std::string> unbound = unbound_operations(inputs.workload, plan, inputs.stack, program);
    const std::vector<std::string> refused = schedule::refused_settings(inputs.workload, plan, inputs.stack);
    const auto write_lines = [](JsonWriter& json, const char* key, const std::vector<std::string>& lines) {
        json.key(key).begin_array();
        for (const std::string& line : lines) {
            json.value(line);
        }
        json.end_array();
    };
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object();
        write_names(json, inputs, options);
        json.member("bound", unbound.empty());
        write_lines(json, "unbound", unbound);
        write_lines(json, "refused", refused);
        json.end_object();
    } else {
        for (const std::string& line : unbound) {
            std::cout << line << "\n";
        }
        std::cout << (unbound.empty()
                          ? "every operation of this program is bound: the trainer has a kernel or a call for it\n"
                          : "");
        for (const std::string& line : refused) {
            std::cout << "a run would refuse: " << line << "\n";
        }
    }
    if (!unbound.empty()) {
        throw std::runtime_error("the trainer cannot run " + inputs.workload.name + " with " + plan.name + ": " +
                                 counted(static_cast<double>(unbound.size()), "finding"));
    }
}

void write_pipeline_csv(const models::Inputs& inputs, const models::Plan& plan, const Options& options) {
    if (options.check_executor) {
        throw InputError("--pipeline-csv", "found with --check-executor; expected one of them");
    }
    const std::string& file = options.traces.pipeline_csv;
    launch::OutputLocks locks(options.command_line);
    locks.take_file("--pipeline-csv " + file, file);
    const schedule::PipelineOrder order = schedule::order_of_plan(plan);
    write_file(file, schedule::order_csv(order));
    std::size_t passes = 0;
    for (const auto& rank : order.ranks) {
        passes = std::max(passes, rank.size());
    }
    if (options.json) {
        JsonWriter json(answer_stream(options));
        json.begin_object();
        write_names(json, inputs, options);
        json.member("pipeline_csv", file).member("ranks", plan.pp).member("stages", order.stages);
        json.member("passes_per_rank", std::uint64_t{passes}).end_object();
        return;
    }
    std::cout << "written to " << file << ": " << counted(plan.pp, "pipeline rank") << ", "
              << counted(order.stages, "stage") << ", " << counted(static_cast<int>(passes), "pass", "es")
              << " each at most; for torch.distributed.pipelining, format compute_only\n";
}

}  // namespace

void run_program(const Options& options) {
    const models::Inputs inputs = load_all(options);
    const int wanted = options.tiles.empty() ? 0 : options.tiles.front();
    const models::Plan plan = resolve_plan(inputs.plan, inputs.workload, wanted);
    const models::Layout layout = make_layout(plan, inputs.machine, tiles_of(plan));
    const schedule::Program program = schedule::build_program(inputs.workload, plan, inputs.stack, layout);
    check_program(program);
    if (!options.traces.pipeline_csv.empty()) {
        write_pipeline_csv(inputs, plan, options);
        return;
    }
    if (options.check_executor) {
        check_executor(inputs, plan, program, options);
        return;
    }
    if (!options.json) {
        std::cout << kLegend << program_text(program);
        return;
    }
    JsonWriter json(answer_stream(options));
    json.begin_object();
    write_names(json, inputs, options);
    json.member("micro_batches", program.micro_batches).member("chunks", program.chunks);
    write_blocks(json, program);
    write_roles(json, program);
    json.end_object();
}

}  // namespace auspex::cli
