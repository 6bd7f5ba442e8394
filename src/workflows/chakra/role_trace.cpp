/// @file Operations to nodes: streams and dependencies become ids.
#include "workflows/chakra/role_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/json_writer.hpp"

namespace auspex::workflows {

using interop::ChakraCollective, interop::ChakraNode, interop::ChakraNodeType;

namespace {

bool goes_backward(const schedule::Operation& op) {
    return op.kind == schedule::OpKind::kSendBackward || op.kind == schedule::OpKind::kReceiveBackward;
}

}  // namespace

ProcessGroups::ProcessGroups(const predict::SimulatedStep& step) : layout_(step.layout) {
    std::map<int, int> n_of_rank;
    for (const schedule::Role& role : step.program.roles) {
        for (const schedule::BlockUse& use : role.order) {
            for (const schedule::Operation& op : step.program.operations_of(step.program.blocks[use.block])) {
                const bool is_message = op.comm == schedule::CommKind::kSend || op.comm == schedule::CommKind::kReceive;
                if (op.comm == schedule::CommKind::kSend && op.message >= 0) {
                    message_bytes_[{goes_backward(op), op.message}] = op.bytes;
                } else if (op.comm == schedule::CommKind::kSend) {
                    exchanged_bytes_[{op.kind, role.stage}] = op.bytes;
                }
                if (op.comm == schedule::CommKind::kNone || is_message || is_world(op) || size_of(op.group) == 1 ||
                    names_.contains({op.group, role.stage})) {
                    continue;
                }
                n_of_rank.clear();
                for (int n = 0; n < layout_.stage_ranks; ++n) {
                    n_of_rank[layout_.rank(role.stage, n)] = n;
                }
                std::vector<std::string>& names = names_[{op.group, role.stage}];
                names.resize(static_cast<std::size_t>(layout_.stage_ranks));
                for (std::vector<int>& group : groups_of(layout_, op.group, role.stage)) {
                    const std::string name = std::to_string(ranks_.size() + 1);
                    for (const int rank : group) {
                        if (const auto own = n_of_rank.find(rank); own != n_of_rank.end()) {
                            names[static_cast<std::size_t>(own->second)] = name;
                        }
                    }
                    ranks_.emplace(name, std::move(group));
                }
            }
        }
    }
}

const std::string& ProcessGroups::name_of(models::GroupKind kind, int stage, int n) const {
    return kind == models::GroupKind::kWorld ? world_ : names_.at({kind, stage})[static_cast<std::size_t>(n)];
}

namespace {

ChakraCollective collective_type(schedule::CommKind comm) {
    switch (comm) {
        case schedule::CommKind::kReduceScatter: return ChakraCollective::kReduceScatter;
        case schedule::CommKind::kAllGather: return ChakraCollective::kAllGather;
        case schedule::CommKind::kRowsToNodes:
        case schedule::CommKind::kRowsFromNodes:
        case schedule::CommKind::kAllToAll: return ChakraCollective::kAllToAll;
        case schedule::CommKind::kBroadcast: return ChakraCollective::kBroadcast;
        default: return ChakraCollective::kAllReduce;
    }
}

class RoleTrace {
 public:
    RoleTrace(const predict::SimulatedStep& step, const ProcessGroups& groups, int stage, int n,
              const std::function<void(const ChakraNode&)>& visit)
        : step_(step),
          program_(step.program),
          groups_(groups),
          stage_(stage),
          n_(n),
          visit_(visit),
          orders_collectives_(program_.overlap_tp || program_.overlap_ep || program_.overlap_dp) {
        last_of_stream_.fill(0);
    }

    void run() {
        for (const schedule::BlockUse& use : program_.roles[static_cast<std::size_t>(stage_)].order) {
            const auto ops = program_.operations_of(program_.blocks[use.block]);
            id_of_op_.assign(ops.size(), 0);
            for (std::size_t i = 0; i < ops.size(); ++i) {
                add(ops[i], i, use.micro_batch);
            }
        }
    }

 private:
    void add(const schedule::Operation& op, std::size_t index, int micro_batch) {
        ChakraNode node;
        node.name = schedule::operation_name(schedule::operation_name_index(op.kind, op.phase)) +
                    (op.layer >= 0 ? " layer " + std::to_string(op.layer) : "") +
                    (micro_batch >= 0 ? " micro-batch " + std::to_string(micro_batch) : "");
        for (const std::uint32_t on : program_.dependencies_of(op)) {
            add_dep(node.data_deps, node, id_of_op_[on]);
        }
        add_dep(node.ctrl_deps, node, last_of_stream_[static_cast<std::size_t>(op.stream)]);
        for (std::size_t s = 0; s < schedule::kStreamCount; ++s) {
            if (((op.joins >> s) & 1U) != 0) {
                add_dep(node.ctrl_deps, node, last_of_stream_[s]);
            }
        }
        fill(node, op, micro_batch);
        const bool is_collective = node.type == ChakraNodeType::kCollective;
        if (is_collective && orders_collectives_ && last_collective_ != 0 && !has(node, last_collective_)) {
            node.ctrl_deps.push_back(last_collective_);
            node.order_dep = last_collective_;
        }
        const int times = op.comm == schedule::CommKind::kNone ? 1 : op.repeat;
        for (int i = 0; i < times; ++i) {
            node.id = ++last_id_;
            visit_(node);
            node.ctrl_deps.clear();
            node.order_dep.reset();
            node.data_deps = {node.id};
        }
        if (op.comm == schedule::CommKind::kSend && op.message < 0) {
            add_answer(node, groups_.exchanged_bytes(op.kind, step_.layout.other_stage(op.group, stage_)));
        }
        id_of_op_[index] = last_id_;
        last_of_stream_[static_cast<std::size_t>(op.stream)] = last_id_;
        last_collective_ = is_collective ? last_id_ : last_collective_;
    }

    /// The other stage's message, behind the own one.
    void add_answer(ChakraNode node, double bytes) {
        node.comm_size = whole(bytes);
        node.type = ChakraNodeType::kReceive;
        std::swap(node.comm_src, node.comm_dst);
        node.id = ++last_id_;
        visit_(node);
    }

    static bool has(const ChakraNode& node, std::uint64_t id) {
        return std::find(node.data_deps.begin(), node.data_deps.end(), id) != node.data_deps.end() ||
               std::find(node.ctrl_deps.begin(), node.ctrl_deps.end(), id) != node.ctrl_deps.end();
    }
    static void add_dep(std::vector<std::uint64_t>& list, const ChakraNode& node, std::uint64_t id) {
        if (id != 0 && !has(node, id)) {
            list.push_back(id);
        }
    }

    void fill(ChakraNode& node, const schedule::Operation& op, int micro_batch) {
        switch (op.comm) {
            case schedule::CommKind::kNone: fill_compute(node, op); return;
            case schedule::CommKind::kSend:
            case schedule::CommKind::kReceive: fill_message(node, op, micro_batch); return;
            default: fill_collective(node, op);
        }
    }

    void fill_compute(ChakraNode& node, const schedule::Operation& op) {
        const engine::OperationFacts& facts = step_.facts[program_.index_of(op)];
        node.type = ChakraNodeType::kCompute;
        // A roofline divides one by the other: neither is 0.
        node.num_ops = std::max<std::int64_t>(1, whole(facts.flop));
        node.tensor_size = static_cast<std::uint64_t>(std::max<std::int64_t>(1, whole(facts.memory_bytes)));
        const double micros = facts.seconds * 1e6 + cut_off_micros_;
        node.duration_micros = static_cast<std::uint64_t>(std::floor(micros));
        cut_off_micros_ = micros - std::floor(micros);
    }

    void fill_collective(ChakraNode& node, const schedule::Operation& op) const {
        const int ranks = groups_.size_of(op.group);
        if (ranks == 1) {  // takes no time, and no simulator expects it
            node.type = ChakraNodeType::kCompute;
            node.num_ops = 1;
            node.tensor_size = 1;
            return;
        }
        node.type = ChakraNodeType::kCollective;
        node.comm_type = collective_type(op.comm);
        node.pg_name = groups_.name_of(op.group, stage_, n_);
        if (op.comm == schedule::CommKind::kBarrier) {
            node.comm_size = whole(kBarrierBytes);
            node.stands_for = "barrier";
            return;
        }
        const double bytes = op.comm == schedule::CommKind::kAllGather ? op.bytes / ranks : op.bytes;
        node.comm_size = whole(std::ceil(bytes));
        node.stands_for = engine::is_shard(op) ? "shard" : "";
    }

    void fill_message(ChakraNode& node, const schedule::Operation& op, int micro_batch) const {
        const bool sends = op.comm == schedule::CommKind::kSend, backward = goes_backward(op);
        const int pp = static_cast<int>(program_.roles.size()), boundaries = pp * program_.chunks;
        const int peer_stage = step_.layout.other_stage(op.group, stage_);
        const int own = step_.layout.rank(stage_, n_), peer = step_.layout.rank(peer_stage, n_);
        node.type = sends ? ChakraNodeType::kSend : ChakraNodeType::kReceive;
        node.comm_src = sends ? own : peer;
        node.comm_dst = sends ? peer : own;
        node.comm_size = whole(op.message < 0 ? op.bytes : groups_.message_bytes(backward, op.message));
        const int boundary = op.message < 0 ? 2 * boundaries : op.message + (backward ? boundaries : 0);
        node.comm_tag = std::int64_t{boundary} * program_.micro_batches + std::max(micro_batch, 0);
    }

    const predict::SimulatedStep& step_;
    const schedule::Program& program_;
    const ProcessGroups& groups_;
    int stage_, n_;
    const std::function<void(const ChakraNode&)>& visit_;
    bool orders_collectives_;
    std::vector<std::uint64_t> id_of_op_;                                 ///< of the block in hand
    std::array<std::uint64_t, schedule::kStreamCount> last_of_stream_{};  ///< 0: none
    std::uint64_t last_id_ = 0, last_collective_ = 0;
    double cut_off_micros_ = 0;
};

}  // namespace

void visit_role(const predict::SimulatedStep& step, const ProcessGroups& groups, int stage, int n,
                const std::function<void(const ChakraNode&)>& visit) {
    AUSPEX_CHECK(step.facts.size() == step.program.operations.size(), "a trace needs what operations take");
    RoleTrace(step, groups, stage, n, visit).run();
}

}  // namespace auspex::workflows
