#pragma once
/// @file The event loop of both lenses: tasks start when their stream, dependencies, messages and group allow.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "schedule/step_length.hpp"
#include "schedule/timeline.hpp"
#include "sim/engine/noise_model.hpp"
#include "sim/engine/play_result.hpp"
#include "sim/engine/player_losses.hpp"
#include "sim/engine/player_state.hpp"
#include "sim/engine/recording.hpp"

namespace auspex::engine {

/// Plays a costed program by its actors. `Sharing` gives rates to the transfers that flow at a time:
///   start(pattern) -> number of the flow; stop(number); update_rates() -> numbers whose rates have changed;
///   rate(number).
///
/// An actor that does one thing at a time, messages apart, walks on its own clock, ahead of the events, through compute
/// and, in a serial program, through communication on links that no other actor can use at the time; what shares links
/// or crosses stages goes through the events, in order of time. An actor that would outrun the start of a message, or
/// of a collective beside compute, waits for the events (kWake). Both ways give the same times.
template <class Sharing>
class Player {
 public:
    /// `noise_model`: unfolded only; nullptr: all actors are equal. `recording`: nullptr: nothing is kept.
    Player(const CostedProgram& costed, Sharing& sharing, NoiseModel* noise_model, const Recording* recording)
        : costed_(costed),
          program_(*costed.program),
          sharing_(sharing),
          noise_model_(noise_model),
          recording_(recording) {}

    /// Ends where the step turns out to be longer than `most`.
    PlayResult run(Picoseconds most = kLongestTime) {
        prepare();
        for (std::uint32_t a = 0; a < actors_.size(); ++a) {
            runnable_.push_back(a);
            advance_all();
        }
        for (drop_stale(); !events_.empty(); drop_stale()) {
            AUSPEX_CHECK(events_.front().time >= now_, "time runs forward");
            now_ = events_.front().time;
            if (now_ > most) {
                PlayResult part;
                part.is_longer = true;
                return part;
            }
            while (!events_.empty() && events_.front().time == now_) {
                const Event event = pop();
                if (!is_stale(event)) {
                    handle(event);
                    advance_all();
                }
            }
            update_rates();
        }
        PlayResult result = finish();
        result.is_longer = result.step > most;
        return result;
    }

 private:
    static constexpr auto kPp = static_cast<std::size_t>(schedule::Stream::kPp);

    void prepare();
    void handle(const Event& event);
    PlayResult finish();
    void push(Picoseconds time, Event::Type type, std::uint32_t subject, std::uint32_t generation = 0) {
        events_.push_back({time, ++sequence_, type, subject, generation});
        std::push_heap(events_.begin(), events_.end());
    }
    Event pop() {
        std::pop_heap(events_.begin(), events_.end());
        const Event event = events_.back();
        events_.pop_back();
        return event;
    }
    /// True for an end that was reckoned from a pace which has changed since: it happens at another time.
    [[nodiscard]] bool is_stale(const Event& event) const {
        switch (event.type) {
            case Event::Type::kTransferStep: return shared_transfers_[event.subject].generation != event.generation;
            case Event::Type::kComputeEnd: return actors_[event.subject].compute_generation != event.generation;
            case Event::Type::kWorldEnd:
            case Event::Type::kWake: break;
        }
        return false;
    }
    /// Time does not run on to what never happens: a transfer's end at a low rate may lie behind the step's.
    void drop_stale() {
        while (!events_.empty() && is_stale(events_.front())) {
            pop();
        }
    }

    // streams
    [[nodiscard]] const CostedBlock& block_of(const ActorState& actor, std::uint32_t use) const {
        return costed_.blocks[actor.role->order[use].block];
    }
    [[nodiscard]] const Task& task_of(const ActorState& actor, const StreamState& state) const {
        return costed_.tasks[block_of(actor, state.block_use).task_begin + state.task];
    }
    void find_task(const ActorState& actor, std::size_t stream, StreamState& state) const;
    [[nodiscard]] bool is_ready(const ActorState& actor, const StreamState& state) const;
    [[nodiscard]] bool can_start(const ActorState& actor, std::size_t stream) const {
        const StreamState& state = actor.streams[stream];
        return state.index_in_role != kNone && state.in_flight == kNone && is_ready(actor, state);
    }
    void advance_all();
    void advance(std::uint32_t a);
    bool start_next(std::uint32_t a);
    bool must_wait_for_events(std::uint32_t a);
    void wait_for_events(std::uint32_t a);
    [[nodiscard]] bool needs_events(const ActorState& actor, std::size_t stream) const;
    [[nodiscard]] bool runs_alone(const ActorState& actor) const;
    [[nodiscard]] bool waits_for_message(const ActorState& actor, const StreamState& state) const;
    void start(std::uint32_t a, std::size_t stream, Picoseconds at);
    void start_compute(std::uint32_t a, const Task& task, Picoseconds at);
    void end_task(std::uint32_t a, std::size_t stream, Picoseconds at);
    void resume(std::uint32_t a, std::size_t stream, Picoseconds at);
    /// Sender and receiver have the same index in their stages.
    [[nodiscard]] std::size_t message_index(const ActorState& actor, std::uint32_t use, const Task& task) const {
        const std::size_t boundaries = program_.roles.size() * static_cast<std::size_t>(program_.chunks);
        const std::size_t boundary = (task.backward_message ? boundaries : 0) + static_cast<std::size_t>(task.message);
        const auto micro_batch = static_cast<std::size_t>(actor.role->order[use].micro_batch_of(task.second));
        return (boundary * static_cast<std::size_t>(program_.micro_batches) + micro_batch) * costed_.actors_per_stage +
               actor.index_in_stage;
    }
    [[nodiscard]] Message& message_of(const ActorState& actor, std::uint32_t use, const Task& task) {
        return messages_[message_index(actor, use, task)];
    }

    // compute beside collectives and copies to and from the host, each of which slows it by a share of its own
    [[nodiscard]] double compute_rate(const ActorState& actor) const {
        return (actor.collectives > 0 ? 1 - costed_.collective_compute_share : 1) *
               (actor.host_copies > 0 ? 1 - costed_.host_copy_compute_share : 1);
    }
    void schedule_compute_end(std::uint32_t a);
    void work_until_now(ActorState& actor) const;
    void end_compute(std::uint32_t a);
    void change_collectives(std::uint32_t a, const Task& task, int by);

    // transfers
    void arrive(std::uint32_t a, std::size_t stream, const Task& task, Picoseconds at);
    bool join_group(GroupSync& sync, std::uint32_t a, std::size_t size, Picoseconds at) const;
    void begin(TransferInFlight what, const Task& task);
    void begin_phase(std::uint32_t index, Picoseconds at);
    void step(const Event& event);
    void end(const TransferInFlight& what, Picoseconds at);
    void end_transfer_task(std::uint32_t a, std::size_t stream, const TransferInFlight& what, Picoseconds at);
    void update_rates();
    void arrive_world(std::uint32_t a, const Task& task, Picoseconds at);
    void end_world(const WorldOperation& world);
    void attribute_wait(const TransferInFlight& what, GroupSync& sync, std::uint32_t number);
    /// Books time on a link that is slow by request; does nothing where there is none.
    void attribute_to_slow_link(std::uint32_t link, Picoseconds time) {
        if (time > 0) {
            slow_link_[link] += static_cast<double>(time);
        }
    }
    [[nodiscard]] Picoseconds added_by_slow_links(const TransferInFlight& what, Picoseconds at) const;
    [[nodiscard]] const CostedTransfer::Member& member_of(const TransferInFlight& what) const {
        return costed_.transfers[what.transfer].members[what.member];
    }
    /// Calls visit(actor) for all who take part.
    template <class Visit>
    void for_each_member(const TransferInFlight& what, Visit&& visit) {
        if (what.actor_groups == kNone) {
            visit(what.actor);
            return;
        }
        if (what.actor_groups == kEveryone) {
            for (std::uint32_t a = 0; a < actors_.size(); ++a) {
                visit(a);
            }
            return;
        }
        const ActorGroups& groups = costed_.actor_groups[what.actor_groups];
        const std::uint32_t first = actors_[what.actor].stage * costed_.actors_per_stage;
        for (std::uint32_t i = groups.begin[what.member]; i < groups.begin[what.member + 1]; ++i) {
            visit(first + groups.actors[i]);
        }
    }
    [[nodiscard]] std::uint32_t group_sync_index(const ActorState& actor, std::uint32_t actor_groups) const {
        return first_group_sync_[actor_groups * program_.roles.size() + actor.stage] +
               costed_.actor_groups[actor_groups].group_of[actor.index_in_stage];
    }

    // losses
    void account_transfer(ActorState& actor, const Task& task, const TransferInFlight& what, Picoseconds at);
    [[nodiscard]] bool is_at_receive(const ActorState& actor) const;
    [[nodiscard]] bool waits_for_other_than_message(const ActorState& actor) const;
    void record(const ActorState& actor, const StreamState& state, const Task& task, Picoseconds at);

    const CostedProgram& costed_;
    const schedule::Program& program_;
    Sharing& sharing_;
    NoiseModel* noise_model_;
    const Recording* recording_;
    std::vector<ActorState> actors_;
    std::vector<std::vector<std::uint32_t>> use_offset_;  ///< by stage: number of the first task of each block use
    std::vector<Message> messages_;
    std::vector<GroupSync> group_syncs_;
    std::vector<std::uint32_t> first_group_sync_;  ///< [actor groups * stages + stage]
    std::vector<WorldOperation> world_operations_;
    std::vector<SharedTransfer> shared_transfers_;
    std::vector<std::uint32_t> free_, transfer_of_flow_;
    std::vector<Event> events_;
    std::vector<std::uint32_t> runnable_;  ///< actors that may be able to go on
    // sums over actors, in ticks: whole numbers, and more of them than the clock holds
    std::vector<double> shared_link_excess_ = std::vector<double>(schedule::kOperationNames, 0);
    std::vector<double> waited_for_;  ///< by actor: how long others in its groups have waited for it
    std::map<std::uint32_t, double> slow_link_;
    std::uint64_t sequence_ = 0, tasks_ahead_ = 0;
    bool flows_changed_ = false;
    Picoseconds now_ = 0, forward_backward_ = 0;
};

}  // namespace auspex::engine
