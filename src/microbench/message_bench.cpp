/// @file Messages between two ranks and collectives of groups, timed through the calls that a step makes.
#include "microbench/message_bench.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "microbench/group_timing.hpp"
#include "models/plan.hpp"
#include "schedule/program/communication.hpp"

namespace auspex::microbench {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr int kTag = 1;

std::vector<std::size_t> sizes_up_to(std::size_t most, std::vector<std::size_t> more) {
    for (std::size_t bytes = 8; bytes <= most; bytes *= 4) {
        more.push_back(bytes);
    }
    more.push_back(most);
    std::sort(more.begin(), more.end());
    more.erase(std::unique(more.begin(), more.end()), more.end());
    return more;
}

/// A grid of groups of neighbouring ranks: kEp and kDenseDp are both such a group.
models::Layout groups_of_neighbours(int ranks, int group) {
    models::Plan plan;
    plan.name = plan.file = "groups of ranks";
    plan.pp = ranks / group, plan.dp = 1, plan.ep = group;
    return rank_grid(plan, ranks);
}

/// Rank 0 and `other`, which is the same rank of the next stage, or of the previous one too where there are two.
struct Pair {
    exec::Communicator* stages = nullptr;
    int other = 1;
    [[nodiscard]] bool is_first() const { return stages->world_rank() == 0; }
    [[nodiscard]] bool is_in() const { return is_first() || stages->world_rank() == other; }

    void to_other(std::span<const std::byte> data) const { send(models::GroupKind::kNextStage, data); }
    void from_first(std::span<std::byte> data) const { stages->receive(models::GroupKind::kPreviousStage, data, kTag); }
    void to_first(std::span<const std::byte> data) const { send(models::GroupKind::kPreviousStage, data); }
    void from_other(std::span<std::byte> data) const { stages->receive(models::GroupKind::kNextStage, data, kTag); }

 private:
    void send(models::GroupKind direction, std::span<const std::byte> data) const {
        const std::array<std::span<const std::byte>, 1> parts{data};
        stages->send(direction, parts, kTag);
    }
};

/// Half a round trip.
double ping_pong(const Pair& pair, std::vector<std::byte>& data, int calls) {
    const double begin = steady_seconds();
    for (int i = 0; i < calls; ++i) {
        if (pair.is_first()) {
            pair.to_other(data);
            pair.from_other(data);
        } else {
            pair.from_first(data);
            pair.to_first(data);
        }
    }
    return (steady_seconds() - begin) / (2.0 * calls);
}

/// The first rank's time to hand over a message; the next one goes when this one has arrived.
double send_only(const Pair& pair, std::vector<std::byte>& data, int calls) {
    std::array<std::byte, 1> answer{};
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
        if (pair.is_first()) {
            const double begin = steady_seconds();
            pair.to_other(data);
            seconds += steady_seconds() - begin;
            pair.from_other(answer);
        } else {
            pair.from_first(data);
            pair.to_first(answer);
        }
    }
    return pair.is_first() ? seconds / calls : -1;
}

/// Several messages in succession one way, an answer to the last: time per message.
double stream(const Pair& pair, std::vector<std::byte>& data, int calls) {
    constexpr std::size_t kHeld = 128 * kMiB, kMin = 4, kMax = 16;
    const std::size_t messages = std::clamp(kHeld / data.size(), kMin, kMax);
    std::array<std::byte, 1> answer{};
    const double begin = steady_seconds();
    for (int i = 0; i < calls; ++i) {
        for (std::size_t message = 0; message < messages; ++message) {
            if (pair.is_first()) {
                pair.to_other(data);
            } else {
                pair.from_first(data);
            }
        }
        if (pair.is_first()) {
            pair.from_other(answer);
        } else {
            pair.to_first(answer);
        }
    }
    return pair.is_first() ? (steady_seconds() - begin) / calls / static_cast<double>(messages) : -1;
}

/// Waits until both are here.
void meet(const Pair& pair) {
    std::array<std::byte, 1> token{};
    if (pair.is_first()) {
        pair.to_other(token);
        pair.from_other(token);
    } else {
        pair.from_first(token);
        pair.to_first(token);
    }
}

using PairCall = double (*)(const Pair&, std::vector<std::byte>&, int);

TimedTask pair_task(const std::string& name, const std::string& where, PairCall call, const Pair& pair,
                    std::size_t bytes) {
    TimedTask task;
    task.measurement.kind = "message";
    task.measurement.name = name;
    task.measurement.where = where;
    task.measurement.ranks = 2;
    task.measurement.nodes = where == "far" ? 2 : 1;
    task.measurement.bytes = static_cast<double>(bytes);
    task.prepare = [call, pair, bytes] {
        TimedPart part;
        part.takes_part = pair.is_in();
        if (part.takes_part) {
            part.synchronize = [pair] { meet(pair); };
            part.run = [call, pair, data = std::vector<std::byte>(bytes)](int calls) mutable {
                return call(pair, data, calls);
            };
        }
        return part;
    };
    return task;
}

class Bench {
 public:
    explicit Bench(const BenchSetup& bench)
        : bench_(bench), ranks_(bench.communicator.world_size()), cores_(cores_of_ranks(bench.communicator)) {}

    void run() {
        const auto on_other_core = [this](int rank) { return core(rank) != core(0) || core(0) < 0; };
        const auto is_intra_node = [this](int rank) { return node(rank) == node(0); };
        const auto intra_node = first_rank([&](int rank) { return is_intra_node(rank) && on_other_core(rank); });
        add_pair(intra_node ? "near" : "shared", intra_node ? intra_node : first_rank(is_intra_node));
        auto inter_node = first_rank([&](int rank) { return !is_intra_node(rank) && on_other_core(rank); });
        inter_node = inter_node ? inter_node : first_rank([&](int rank) { return !is_intra_node(rank); });
        add_pair("far", inter_node);
        for (int group = 2; group <= ranks_; group *= 2) {
            if (ranks_ % group == 0) {
                add_group(group);
            }
        }
        run_timed_tasks(bench_, std::move(tasks_));
    }

 private:
    [[nodiscard]] int core(int rank) const { return cores_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int node(int rank) const {
        return bench_.node_of_rank.empty() ? 0 : bench_.node_of_rank[static_cast<std::size_t>(rank)];
    }
    exec::Communicator* made(const models::Layout& layout) {
        return communicators_.emplace_back(bench_.make_communicator(layout)).get();
    }

    /// The first of the ranks that can be rank 0's counterpart in another stage.
    template <typename Fits>
    [[nodiscard]] std::optional<int> first_rank(const Fits& fits) const {
        for (int rank = 1; rank < ranks_; ++rank) {
            if (ranks_ % rank == 0 && fits(rank)) {
                return rank;
            }
        }
        return std::nullopt;
    }

    void add_pair(const std::string& where, std::optional<int> other) {
        if (!other) {
            return;
        }
        const Pair pair{made(stages_apart(ranks_, *other)), *other};
        const std::array<std::pair<const char*, PairCall>, 3> calls{
            {{"ping_pong", ping_pong}, {"send", send_only}, {"stream", stream}}};
        for (const auto& [name, call] : calls) {
            // Beside powers of 4, the neighbours of the sizes where MPI begins to ask the receiver first.
            for (const std::size_t bytes : sizes_up_to(64 * kMiB, {4 * kKiB, 64 * kKiB})) {
                tasks_.push_back(pair_task(name, where, call, pair, bytes));
            }
        }
    }

    void add_group(int group) {
        constexpr int kFew = 8;
        exec::Communicator* const groups = made(groups_of_neighbours(ranks_, group));
        const std::vector<std::size_t> sizes = sizes_up_to((ranks_ > kFew ? 16 : 64) * kMiB, {});
        for (const schedule::CommKind comm : {schedule::CommKind::kAllReduce, schedule::CommKind::kReduceScatter,
                                              schedule::CommKind::kAllGather, schedule::CommKind::kAllToAll}) {
            for (const std::size_t bytes : sizes) {
                const bool has_parts = bytes >= sizeof(float) * static_cast<std::size_t>(group);
                if (has_parts || comm == schedule::CommKind::kAllReduce) {
                    add_collective(*groups, comm, group, bytes, group);
                }
                if ((has_parts || comm == schedule::CommKind::kAllReduce) && group < ranks_) {
                    add_collective(*groups, comm, group, bytes, ranks_);
                }
            }
        }
    }
    void add_collective(exec::Communicator& groups, schedule::CommKind comm, int group, std::size_t bytes, int active);

    const BenchSetup& bench_;
    int ranks_;
    std::vector<int> cores_;
    std::vector<std::unique_ptr<exec::Communicator>> communicators_;
    std::vector<TimedTask> tasks_;
};

const char* name_of(schedule::CommKind comm) {
    switch (comm) {
        case schedule::CommKind::kAllReduce: return "all_reduce";
        case schedule::CommKind::kReduceScatter: return "reduce_scatter";
        case schedule::CommKind::kAllGather: return "all_gather";
        default: return "all_to_all";
    }
}

/// Arrays of one rank for a collective of `bytes` in its group.
struct Collective {
    exec::Communicator* groups;
    schedule::CommKind comm;
    std::vector<float> data, received;
    std::vector<std::size_t> offsets;        ///< of parts, in elements
    std::vector<std::size_t> leave, arrive;  ///< bytes by member

    Collective(exec::Communicator& communicator, schedule::CommKind kind, std::size_t bytes)
        : groups(&communicator), comm(kind), data(bytes / sizeof(float)) {
        const auto members = static_cast<std::size_t>(communicator.size(models::GroupKind::kEp));
        for (std::size_t i = 0; i <= members; ++i) {
            offsets.push_back(models::shard_begin(data.size(), i, members));
        }
        const auto own = static_cast<std::size_t>(communicator.group_rank(models::GroupKind::kEp));
        for (std::size_t i = 0; i < members; ++i) {
            leave.push_back((offsets[i + 1] - offsets[i]) * sizeof(float));
        }
        arrive.assign(members, leave[own]);
        received.resize(comm == schedule::CommKind::kAllToAll ? members * (offsets[own + 1] - offsets[own]) : 0);
    }

    void call() {
        switch (comm) {
            case schedule::CommKind::kAllReduce:
                groups->all_reduce(models::GroupKind::kEp, data.data(), data.size(), exec::ElementType::kFloat,
                                   exec::ReduceOp::kSum);
                return;
            case schedule::CommKind::kReduceScatter:
                groups->reduce_scatter(models::GroupKind::kEp, data.data(), offsets, exec::ElementType::kFloat);
                return;
            case schedule::CommKind::kAllGather:
                groups->all_gather(models::GroupKind::kEp, data.data(), offsets, exec::ElementType::kFloat);
                return;
            default: groups->all_to_all(models::GroupKind::kEp, data.data(), leave, received.data(), arrive); return;
        }
    }
};

void Bench::add_collective(exec::Communicator& groups, schedule::CommKind comm, int group, std::size_t bytes,
                           int active) {
    TimedTask task;
    task.measurement.kind = "collective";
    task.measurement.name = name_of(comm);
    task.measurement.precision = "fp32";
    task.measurement.active = active;
    task.measurement.ranks = group;
    task.measurement.nodes = nodes_of(bench_, group);
    task.measurement.bytes = static_cast<double>(bytes);
    task.prepare = [&groups, comm, bytes, active, is_alone = active == group] {
        TimedPart part;
        part.takes_part = groups.world_rank() < active;
        if (part.takes_part) {
            part.synchronize = [&groups, is_alone] {
                groups.barrier(is_alone ? models::GroupKind::kEp : models::GroupKind::kWorld);
            };
            part.run = [collective = Collective(groups, comm, bytes)](int calls) mutable {
                const double begin = steady_seconds();
                for (int i = 0; i < calls; ++i) {
                    collective.call();
                }
                return (steady_seconds() - begin) / calls;
            };
        }
        return part;
    };
    tasks_.push_back(std::move(task));
}

}  // namespace

void run_message_bench(const BenchSetup& bench) {
    if (bench.communicator.world_size() > 1) {
        Bench(bench).run();
    }
}

}  // namespace auspex::microbench
