/// @file Printing programs.
#include "schedule/inspection/text.hpp"

#include "base/number_text.hpp"

namespace auspex::schedule {
namespace {

void append_operation(std::string& out, const Program& program, const Operation& op, std::size_t index) {
    out += "  " + std::to_string(index) + " " + to_string(op.stream) + " " + to_string(op.kind) + "." +
           to_string(op.phase);
    if (op.layer >= 0) {
        out += " layer=" + std::to_string(op.layer);
    }
    double flop = 0, bytes = 0, launches = 0;
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        flop += kernel.flop * kernel.repeat;
        bytes += kernel.bytes * kernel.repeat;
        launches += kernel.launches * kernel.repeat;
    }
    out += flop > 0 ? " flop=" + six_digits(flop) : "";
    out += bytes > 0 ? " bytes=" + six_digits(bytes) + " launches=" + six_digits(launches) : "";
    out += op.host_s > 0 ? " host_s=" + six_digits(op.host_s) : "";
    if (op.comm != CommKind::kNone) {
        out += std::string(" comm=") + to_string(op.comm) + " group=" + to_string(op.group) +
               " bytes=" + six_digits(op.bytes);
        out += op.repeat > 1 ? " x" + std::to_string(op.repeat) : "";
        out += op.carries != Carries::kRunningValue ? std::string(" carries=") + to_string(op.carries) : "";
    }
    out += op.chunk >= 0 ? " chunk=" + std::to_string(op.chunk) : "";
    out += op.message >= 0 ? " message=" + std::to_string(op.message) : "";
    const auto deps = program.dependencies_of(op);
    for (std::size_t d = 0; d < deps.size(); ++d) {
        out += (d == 0 ? " after " : ",") + std::to_string(deps[d]);
    }
    if (op.joins != 0) {
        out += " joins";
        for (std::size_t s = 0; s < kStreamCount; ++s) {
            out += ((op.joins >> s) & 1U) != 0 ? std::string(" ") + to_string(static_cast<Stream>(s)) : "";
        }
    }
    out += "\n";
}

}  // namespace

std::string program_text(const Program& program) {
    std::string out;
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
        const Block& block = program.blocks[b];
        out += "block " + std::to_string(b) + " " + to_string(block.kind) + " chunk=" + std::to_string(block.chunk) +
               (block.last_micro_batch ? " last" : "") + "\n";
        const auto ops = program.operations_of(block);
        for (std::size_t i = 0; i < ops.size(); ++i) {
            append_operation(out, program, ops[i], i);
        }
    }
    for (const Role& role : program.roles) {
        out += "stage " + std::to_string(role.stage) + ":";
        for (const BlockUse& use : role.order) {
            const Block& block = program.blocks[use.block];
            if (block.kind == BlockKind::kOptimizer) {
                out += " optimizer=" + std::to_string(use.block);
            } else {
                out += std::string(" ") + "FBIW"[static_cast<std::size_t>(block.kind)] + std::to_string(block.chunk) +
                       "." + std::to_string(use.micro_batch) + "=" + std::to_string(use.block);
            }
        }
        out += "\n";
    }
    return out;
}

}  // namespace auspex::schedule
