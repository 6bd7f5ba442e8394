/// @file Ranks of a graph: what can begin, and what has ended.
#include "sim/graph/player.hpp"

#include "base/error.hpp"
#include "schedule/step_length.hpp"

namespace auspex::graph {
namespace {

/// So many sends and collectives of a rank are under way at most, and so many rates are found: far more than any
/// framework needs, and what a small file may cost.
constexpr int kMostIssued = 256;
constexpr std::uint64_t kMostSolved = 30'000'000, kMostSolvedOfNode = 10;

std::vector<double> capacities_of(const network::Fabric& fabric) {
    std::vector<double> capacities(fabric.link_count());
    for (std::uint32_t link = 0; link < capacities.size(); ++link) {
        capacities[link] = fabric.capacity_bytes_per_s(link);
    }
    return capacities;
}

}  // namespace

GraphPlayer::GraphPlayer(const GraphJob& job, GraphCosts& costs, const models::Machine& machine,
                         const PlayOptions& options)
    : job_(job),
      costs_(costs),
      noise_(machine.noise),
      compute_rate_beside_(costs.compute_rate_beside()),
      most_issued_(options.one_communication ? 1 : kMostIssued),
      most_solved_(kMostSolved + kMostSolvedOfNode * count_nodes(job)),
      sharing_(capacities_of(costs.network().fabric())),
      ranks_(job.ranks.size()),
      recorder_(job, options.recorded) {}

GraphResult GraphPlayer::run() {
    prepare();
    start_what_can();
    while (!events_.empty()) {
        now_ = events_.front().time;
        if (now_ >= kLongestTime) {
            schedule::refuse_long_step("its nodes");
        }
        while (!events_.empty() && events_.front().time == now_) {
            std::pop_heap(events_.begin(), events_.end());
            const Event event = events_.back();
            events_.pop_back();
            handle(event);
            start_what_can();
        }
        update_rates();
    }
    return finish();
}

void GraphPlayer::prepare() {
    for (const RankProgram& program : job_.programs) {
        std::vector<std::vector<std::uint32_t>>& by_place = collectives_.emplace_back();
        for (std::uint32_t n = 0; n < program.nodes.size(); ++n) {
            if (program.nodes[n].kind == NodeKind::kCollective) {
                const std::uint32_t place = program.nodes[n].place;
                by_place.resize(std::max<std::size_t>(by_place.size(), place + std::size_t{1}));
                by_place[place].push_back(n);
            }
        }
    }
    members_.resize(job_.groups.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        const RankPlace& place = job_.ranks[rank];
        for (std::uint32_t p = 0; p < place.groups.size(); ++p) {
            members_[place.groups[p]].emplace_back(rank, p);
        }
        RankState& state = ranks_[rank];
        const RankProgram& program = program_of(rank);
        state.left = program.nodes.size();
        state.pending.reserve(program.nodes.size());
        for (std::uint32_t n = 0; n < program.nodes.size(); ++n) {
            state.pending.push_back(program.nodes[n].dependencies);
            if (program.nodes[n].dependencies == 0) {
                ready_.emplace_back(rank, n);
            }
        }
    }
    std::reverse(ready_.begin(), ready_.end());
}

void GraphPlayer::start_what_can() {
    while (!ready_.empty() || !touched_.empty()) {
        while (!ready_.empty()) {
            const auto [rank, node] = ready_.back();
            ready_.pop_back();
            make_ready(rank, node);
        }
        while (!touched_.empty() && ready_.empty()) {
            const std::uint32_t rank = touched_.back();
            touched_.pop_back();
            ranks_[rank].is_touched = false;
            start_next(rank);
        }
    }
}

void GraphPlayer::touch(std::uint32_t rank) {
    if (!ranks_[rank].is_touched) {
        ranks_[rank].is_touched = true;
        touched_.push_back(rank);
    }
}

void GraphPlayer::make_ready(std::uint32_t rank, std::uint32_t n) {
    const GraphNode& node = node_of(rank, n);
    RankState& state = ranks_[rank];
    switch (node.kind) {
        case NodeKind::kNothing: complete(rank, n); return;
        case NodeKind::kReceive: receive(rank, n); return;
        case NodeKind::kCompute: state.compute.push(n); break;
        case NodeKind::kHost: state.host.push(n); break;
        case NodeKind::kSend:
        case NodeKind::kCollective: state.communications.push(n); break;
    }
    touch(rank);
}

void GraphPlayer::start_next(std::uint32_t rank) {
    RankState& state = ranks_[rank];
    while (!state.communications.empty() && state.issued < most_issued_) {
        const std::uint32_t n = state.communications.top();
        state.communications.pop();
        ++state.issued;
        node_of(rank, n).kind == NodeKind::kSend ? send(rank, n) : arrive(rank, n);
    }
    if (state.computing == kNone && !state.compute.empty()) {
        account(rank);
        state.computing = state.compute.top();
        state.compute.pop();
        state.work_left = static_cast<double>(to_picoseconds(node_of(rank, state.computing).seconds));
        state.work_since = state.compute_began = now_;
        schedule_compute_end(rank);
    }
    if (state.hosting == kNone && !state.host.empty()) {
        state.hosting = state.host.top();
        state.host.pop();
        state.host_began = now_;
        push(now_ + to_picoseconds(node_of(rank, state.hosting).seconds), Event::Type::kHostEnd, rank);
    }
}

void GraphPlayer::complete(std::uint32_t rank, std::uint32_t n) {
    RankState& state = ranks_[rank];
    --state.left;
    last_ended_ = now_;
    const RankProgram& program = program_of(rank);
    const GraphNode& node = program.nodes[n];
    for (std::uint32_t c = node.child_begin; c < node.child_end; ++c) {
        if (--state.pending[program.children[c]] == 0) {
            ready_.emplace_back(rank, program.children[c]);
        }
    }
    touch(rank);
}

void GraphPlayer::account(std::uint32_t rank) {
    RankState& state = ranks_[rank];
    Picoseconds& doing = state.computing != kNone ? state.times.compute
                         : state.transfers > 0    ? state.times.communication
                                                  : state.times.idle;
    doing += now_ - state.accounted;
    state.accounted = now_;
}

void GraphPlayer::schedule_compute_end(std::uint32_t rank) {
    RankState& state = ranks_[rank];
    const double rate = state.collectives > 0 ? compute_rate_beside_ : 1;
    push(now_ + whole_ticks_up(state.work_left / rate), Event::Type::kComputeEnd, rank, ++state.generation);
}

void GraphPlayer::change_collectives(std::uint32_t rank, int by) {
    RankState& state = ranks_[rank];
    const bool before = state.collectives > 0;
    const double rate = before ? compute_rate_beside_ : 1;
    state.collectives += by;
    if (before == (state.collectives > 0) || state.computing == kNone || compute_rate_beside_ == 1) {
        return;
    }
    state.work_left = std::max(0.0, state.work_left - static_cast<double>(now_ - state.work_since) * rate);
    state.work_since = now_;
    schedule_compute_end(rank);
}

void GraphPlayer::handle(const Event& event) {
    if (event.type == Event::Type::kTransferStep) {
        step(event);
        return;
    }
    RankState& state = ranks_[event.subject];
    if (event.type == Event::Type::kHostEnd) {
        recorder_.add_host(event.subject, state.hosting, state.host_began, now_);
        complete(event.subject, std::exchange(state.hosting, kNone));
    } else if (event.generation == state.generation) {
        account(event.subject);
        state.compute_since_sync_s += node_of(event.subject, state.computing).seconds;
        recorder_.add_compute(event.subject, state.computing, state.compute_began, now_);
        complete(event.subject, std::exchange(state.computing, kNone));
    }
}

GraphResult GraphPlayer::finish() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (ranks_[rank].left > 0) {
            refuse_endless_wait(rank);
        }
    }
    GraphResult result;
    result.step = now_ = last_ended_;  // events after it were void
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        account(rank);
        result.ranks.push_back(ranks_[rank].times);
    }
    if (result.step > 0) {
        result.link_use = network::link_use(moved_, costs_.network(), to_seconds(result.step));
    }
    result.events = sequence_;
    result.timeline = recorder_.take();
    return result;
}

bool GraphPlayer::waits_for_message(std::uint32_t rank, std::uint32_t n) const {
    const GraphNode& node = node_of(rank, n);
    const auto queue = messages_.find({job_.ranks[rank].peers[node.place], static_cast<int>(rank), node.tag});
    return queue != messages_.end() && queue->second.has_waiting() && queue->second.waiting[queue->second.served] == n;
}

bool GraphPlayer::waits_for_group(std::uint32_t rank, const GraphNode& node) const {
    return syncs_.contains(std::uint64_t{job_.ranks[rank].groups[node.place]} << 32U | node.number);
}

void GraphPlayer::refuse_endless_wait(std::uint32_t rank) const {
    const RankProgram& program = program_of(rank);
    std::string why = "found ranks that wait for one another forever";
    for (std::uint32_t n = 0; n < program.nodes.size(); ++n) {
        const GraphNode& node = program.nodes[n];
        const bool is_receive =
            node.kind == NodeKind::kReceive && ranks_[rank].pending[n] == 0 && waits_for_message(rank, n);
        if (is_receive) {
            why += ": node id " + std::to_string(node.id) + " for a message of rank " +
                   std::to_string(job_.ranks[rank].peers[node.place]) + " with tag " + std::to_string(node.tag);
            break;
        }
        if (node.kind == NodeKind::kCollective && ranks_[rank].pending[n] == 0 && waits_for_group(rank, node)) {
            why += ": node id " + std::to_string(node.id) + ", collective number " + std::to_string(node.number) +
                   " of group \"" + job_.group_names[job_.ranks[rank].groups[node.place]] +
                   "\", for members that are not there";
            break;
        }
    }
    throw InputError(program.file, why + "; expected an order in which all can end");
}

GraphResult play(const GraphJob& job, GraphCosts& costs, const models::Machine& machine, const PlayOptions& options) {
    return GraphPlayer(job, costs, machine, options).run();
}

}  // namespace auspex::graph
