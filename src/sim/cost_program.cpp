/// @file Costing of operations and folding of blocks into pieces.
#include "sim/cost_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.hpp"

namespace auspex {
namespace {

/// Time of a compute operation by cause.
struct ComputeTime {
    double nominal_s = 0, imbalance_s = 0, straggler_s = 0;
};

ComputeTime compute_time(const Program& program, const Operation& op, const Machine& machine, const Stack& stack,
                         const CostOptions& options, int stage) {
    ComputeTime time;
    time.nominal_s = op.host_s;
    double rate_bound_s = 0;
    for (const Kernel& kernel : program.kernels_of(op)) {
        const KernelTime even = kernel_time(kernel, machine, stack);
        time.nominal_s += even.rate_bound_s + even.overhead_s;
        rate_bound_s += even.rate_bound_s;
        if (kernel.routed && options.load.heaviest_rank > 1) {
            const KernelTime heavy = kernel_time(kernel, machine, stack, options.load.heaviest_rank);
            time.imbalance_s += std::max(0.0, heavy.rate_bound_s - even.rate_bound_s);
        }
    }
    time.straggler_s = (rate_bound_s + time.imbalance_s) * (options.slowdown[static_cast<std::size_t>(stage)] - 1);
    return time;
}

Loss loss_of_compute(const Operation& op) {
    if (op.kind == OpKind::kHostSync || op.kind == OpKind::kStepHost) {
        return Loss::kWaiting;
    }
    return op.phase == Phase::kRecompute   ? Loss::kRecompute
           : op.phase == Phase::kOptimizer ? Loss::kOptimizer
                                           : Loss::kUsefulCompute;
}

Loss loss_of_stream(Stream stream) {
    switch (stream) {
        case Stream::kTp: return Loss::kExposedTp;
        case Stream::kEp: return Loss::kExposedEp;
        case Stream::kDp: return Loss::kExposedDp;
        case Stream::kPp: return Loss::kExposedPp;
        case Stream::kCp: return Loss::kExposedCp;
        case Stream::kCompute: break;
    }
    return Loss::kWaiting;
}

bool is_world(const Operation& op) { return op.comm != CommKind::kNone && op.group == GroupKind::kWorld; }

class Coster {
 public:
    Coster(const Program& program, const Machine& machine, const Stack& stack, const Layout& layout, Network& network,
           const CostOptions& options)
        : program_(program), machine_(machine), stack_(stack), layout_(layout), network_(network), options_(options) {}

    CostedProgram run() {
        out_.program = &program_;
        out_.collective_compute_share = machine_.tile.collective_compute_share;
        out_.blocks.resize(program_.blocks.size());
        serial_ = !program_.overlap_tp && !program_.overlap_ep && !program_.overlap_dp;
        fold_ = options_.fold && serial_;
        if (program_.roles.size() > 1) {
            collect_patterns();
        }
        emit_all();
        return std::move(out_);
    }

 private:
    void emit_all() {
        std::vector<std::uint8_t> seen(program_.blocks.size(), 0);
        for (const Role& role : program_.roles) {
            for (const BlockUse& use : role.order) {
                if (seen[use.block] == 0) {
                    seen[use.block] = 1;
                    cost_block(program_.blocks[use.block], out_.blocks[use.block], role.stage);
                }
            }
        }
    }

    const Transfer& transfer_of(const Operation& op, int stage) {
        const double scale = op.routed ? options_.load.heaviest_rank : 1;
        const auto key = std::make_tuple(op.comm, op.group, stage, op.bytes, scale);
        const auto found = transfers_.find(key);
        return found != transfers_.end()
                   ? found->second
                   : transfers_.emplace(key, network_.unroll(op.comm, op.group, stage, op.bytes, scale)).first->second;
    }

    /// Which patterns each stage uses, to know which of them nobody else touches.
    void collect_patterns() {
        by_stage_.resize(program_.roles.size());
        std::vector<std::uint8_t> seen(program_.blocks.size(), 0);
        for (const Role& role : program_.roles) {
            for (const BlockUse& use : role.order) {
                if (seen[use.block]++ != 0) {
                    continue;
                }
                for (const Operation& op : program_.operations_of(program_.blocks[use.block])) {
                    if (op.comm == CommKind::kNone || op.comm == CommKind::kReceive || is_world(op)) {
                        continue;
                    }
                    auto& list = by_stage_[static_cast<std::size_t>(role.stage)];
                    for (const TransferPhase& phase : transfer_of(op, role.stage).phases) {
                        if (std::find(list.begin(), list.end(), phase.pattern) == list.end()) {
                            list.push_back(phase.pattern);
                        }
                    }
                }
            }
        }
    }

    /// No other stage, and with asynchronous messages not even this one, uses a link of the transfer while it goes on.
    bool is_private(const Operation& op, const Transfer& transfer, int stage) {
        if (program_.roles.size() == 1) {
            return serial_;
        }
        for (const TransferPhase& phase : transfer.phases) {
            const auto key = std::make_pair(stage, phase.pattern);
            auto found = private_.find(key);
            if (found == private_.end()) {
                found = private_.emplace(key, disjoint(phase.pattern, stage)).first;
            }
            if (!found->second) {
                return false;
            }
        }
        return op.stream != Stream::kPp;
    }

    bool disjoint(PatternId pattern, int stage) const {
        for (std::size_t other = 0; other < by_stage_.size(); ++other) {
            const bool own = static_cast<int>(other) == stage;
            if (own && serial_ && !program_.overlap_pp) {
                continue;  // a stage that blocks does one thing at a time
            }
            if (!network_.is_disjoint(pattern, by_stage_[other])) {
                return false;
            }
        }
        return true;
    }

    void cost_block(const Block& block, CostedBlock& costed, int stage) {
        costed.kind = block.kind;
        costed.piece_begin = static_cast<std::uint32_t>(out_.pieces.size());
        const auto ops = program_.operations_of(block);
        piece_of_op_.assign(ops.size(), 0);
        compute_since_sync_s_ = 0;
        bool open = false;
        for (std::uint32_t i = 0; i < ops.size(); ++i) {
            Piece piece = piece_for(ops[i], i, stage);
            const bool simple = fold_ && (piece.type == Piece::Type::kCompute ||
                                          (piece.type == Piece::Type::kTransfer && !piece.shares && piece.message < 0));
            if (open && simple && follows(ops, i)) {
                extend(out_.pieces.back(), piece, ops[i]);
            } else {
                add_dependencies(piece, ops[i]);
                if (simple) {
                    as_stretch(piece, ops[i]);
                }
                out_.pieces.push_back(piece);
                open = simple;
            }
            piece_of_op_[i] = static_cast<std::uint32_t>(out_.pieces.size()) - 1 - costed.piece_begin;
        }
        costed.piece_end = static_cast<std::uint32_t>(out_.pieces.size());
    }

    /// True if operation i cannot start before, and starts as soon as, operation i - 1 has ended.
    bool follows(std::span<const Operation> ops, std::uint32_t i) const {
        if (ops[i].joins != 0) {
            return false;
        }
        const auto deps = program_.dependencies_of(ops[i]);
        const bool waits = std::find(deps.begin(), deps.end(), i - 1) != deps.end();
        return waits || (ops[i].stream == Stream::kCompute && ops[i - 1].stream == Stream::kCompute);
    }

    /// Turns a private transfer into a stretch on the compute stream, its time booked by loss.
    void as_stretch(Piece& piece, const Operation& op) {
        if (piece.type == Piece::Type::kTransfer) {
            piece.type = Piece::Type::kCompute;
            piece.parts[static_cast<std::size_t>(Loss::kJitter)] += piece.jitter;
            piece.parts[static_cast<std::size_t>(Loss::kImbalance)] += piece.imbalance;
            piece.parts[static_cast<std::size_t>(piece.loss)] += piece.duration - piece.jitter - piece.imbalance;
            piece.joins = static_cast<std::uint8_t>(piece.joins | (1U << static_cast<unsigned>(op.stream)));
            piece.stream = Stream::kCompute;
        }
    }

    void extend(Piece& stretch, Piece piece, const Operation& op) {
        as_stretch(piece, op);
        stretch.duration += piece.duration;
        for (std::size_t loss = 0; loss < kLossCount; ++loss) {
            stretch.parts[loss] += piece.parts[loss];
        }
        stretch.op_end = piece.op_end;
    }

    void add_dependencies(Piece& piece, const Operation& op) {
        piece.dep_begin = static_cast<std::uint32_t>(out_.dependencies.size());
        for (const std::uint32_t dep : program_.dependencies_of(op)) {
            out_.dependencies.push_back(piece_of_op_[dep]);
        }
        piece.dep_end = static_cast<std::uint32_t>(out_.dependencies.size());
    }

    Piece piece_for(const Operation& op, std::uint32_t index, int stage) {
        Piece piece;
        piece.stream = op.stream;
        piece.joins = op.joins;
        piece.op_begin = index;
        piece.op_end = index + 1;
        piece.message = op.message;
        piece.backward_message = op.kind == OpKind::kSendBackward || op.kind == OpKind::kReceiveBackward;
        if (op.comm == CommKind::kReceive) {
            piece.type = Piece::Type::kReceive;
        } else if (op.comm == CommKind::kNone) {
            const ComputeTime time = compute_time(program_, op, machine_, stack_, options_, stage);
            compute_since_sync_s_ += time.nominal_s + time.imbalance_s + time.straggler_s;
            piece.loss = loss_of_compute(op);
            piece.parts[static_cast<std::size_t>(piece.loss)] = to_picoseconds(time.nominal_s);
            piece.parts[static_cast<std::size_t>(Loss::kImbalance)] = to_picoseconds(time.imbalance_s);
            piece.parts[static_cast<std::size_t>(Loss::kJitter)] = to_picoseconds(time.straggler_s);
            for (const Picoseconds part : piece.parts) {
                piece.duration += part;
            }
        } else {
            cost_communication(piece, op, stage);
        }
        return piece;
    }

    void cost_communication(Piece& piece, const Operation& op, int stage) {
        const Transfer& transfer = transfer_of(op, stage);
        const double jitter_s = noise_s(op, transfer);
        piece.loss = is_world(op) ? Loss::kWaiting : loss_of_stream(op.stream);
        piece.type = is_world(op) ? Piece::Type::kWorld : Piece::Type::kTransfer;
        piece.jitter = to_picoseconds(jitter_s);
        piece.shares = !is_world(op) && !transfer.phases.empty() && !is_private(op, transfer, stage);
        piece.duration = to_picoseconds(op.repeat * network_.solo_time_s(transfer)) + piece.jitter;
        if (op.routed && options_.load.heaviest_rank > 1) {
            const Transfer even = network_.unroll(op.comm, op.group, stage, op.bytes);
            piece.imbalance = piece.duration - piece.jitter - to_picoseconds(op.repeat * network_.solo_time_s(even));
        }
        if (!piece.shares) {
            return;
        }
        Transfer copy = transfer;
        for (TransferPhase& phase : copy.phases) {
            phase.latency_s *= op.repeat;
            phase.bytes *= op.repeat;
        }
        copy.phases.front().latency_s += to_seconds(piece.jitter);
        piece.transfer = static_cast<std::uint32_t>(out_.transfers.size());
        out_.transfers.push_back(std::move(copy));
    }

    double noise_s(const Operation& op, const Transfer& transfer) {
        const Noise& noise = machine_.noise;
        const double ranks = op.comm == CommKind::kSend ? 1 : group_size(layout_, op.group);
        double jitter_s = noise.os_event_s * (1 - std::exp(-noise.os_events_per_s * ranks * compute_since_sync_s_));
        compute_since_sync_s_ = 0;
        if (transfer.leaves_node && transfer.rounds > 0) {
            const double spread = noise.network_jitter * expected_normal_maximum(ranks) / std::sqrt(transfer.rounds);
            jitter_s += op.repeat * network_.solo_time_s(transfer) * spread;
        }
        return jitter_s;
    }

    const Program& program_;
    const Machine& machine_;
    const Stack& stack_;
    const Layout& layout_;
    Network& network_;
    const CostOptions& options_;
    CostedProgram out_;
    bool serial_ = false;  ///< no collective runs beside compute, nor beside another of the same stage
    bool fold_ = false;
    double compute_since_sync_s_ = 0;
    std::vector<std::uint32_t> piece_of_op_;
    std::map<std::tuple<CommKind, GroupKind, int, double, double>, Transfer> transfers_;
    std::vector<std::vector<PatternId>> by_stage_;
    std::map<std::pair<int, PatternId>, bool> private_;
};

}  // namespace

CostedProgram cost_program(const Program& program, const Machine& machine, const Stack& stack, const Layout& layout,
                           Network& network, const CostOptions& options) {
    AUSPEX_CHECK(options.slowdown.size() == program.roles.size(), "one slowdown a stage");
    return Coster(program, machine, stack, layout, network, options).run();
}

OperationTimes time_by_operation(const Program& program, const Machine& machine, const Stack& stack, Network& network,
                                 const CostOptions& options) {
    OperationTimes times;
    times.seconds.assign(kOperationNames, 0);
    times.count.assign(times.seconds.size(), 0);
    for (const Role& role : program.roles) {
        std::map<std::uint32_t, std::uint64_t> uses;
        for (const BlockUse& use : role.order) {
            ++uses[use.block];
        }
        for (const auto& [block, count] : uses) {
            for (const Operation& op : program.operations_of(program.blocks[block])) {
                const std::size_t name = operation_name_index(op.kind, op.phase);
                double seconds = 0;
                if (op.comm == CommKind::kNone) {
                    const ComputeTime time = compute_time(program, op, machine, stack, options, role.stage);
                    seconds = time.nominal_s + time.imbalance_s + time.straggler_s;
                } else if (op.comm != CommKind::kReceive) {
                    const double scale = op.routed ? options.load.heaviest_rank : 1;
                    seconds =
                        op.repeat * network.solo_time_s(network.unroll(op.comm, op.group, role.stage, op.bytes, scale));
                }
                times.seconds[name] += seconds * static_cast<double>(count) / static_cast<double>(program.roles.size());
                times.count[name] += static_cast<double>(count) / static_cast<double>(program.roles.size());
            }
        }
    }
    return times;
}

}  // namespace auspex
