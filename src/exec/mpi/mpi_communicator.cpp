/// @file Rounds of collectives, and messages, over Open MPI.
#include "exec/mpi/mpi_communicator.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <utility>

#include "base/error.hpp"
#include "exec/kernels/call_record.hpp"

namespace auspex::exec {
namespace {

std::size_t index_of(models::GroupKind kind) { return static_cast<std::size_t>(kind); }

/// What MPI returns where it does not end the program.
void check(int code) {
    if (code != MPI_SUCCESS) {
        std::array<char, MPI_MAX_ERROR_STRING> text{};
        int length = 0;
        MPI_Error_string(code, text.data(), &length);
        throw CommunicationError("MPI: " + std::string(text.data(), static_cast<std::size_t>(length)));
    }
}

/// Transfers under way between this rank and others of one communicator, cut into pieces that MPI can count. Pieces
/// between two ranks stay in order.
class Transfers {
 public:
    Transfers(MPI_Comm comm, std::size_t longest) : comm_(comm), longest_(longest) {}

    void send(const std::byte* data, std::size_t bytes, int to, int tag = 0) {
        for_pieces(bytes, [&](std::size_t at, int length) {
            check(MPI_Isend(data + at, length, MPI_BYTE, to, tag, comm_, &requests_.emplace_back()));
        });
    }
    void send_empty(int to) { check(MPI_Isend(nullptr, 0, MPI_BYTE, to, 0, comm_, &requests_.emplace_back())); }
    void receive(std::byte* data, std::size_t bytes, int from, int tag = 0) {
        for_pieces(bytes, [&](std::size_t at, int length) {
            check(MPI_Irecv(data + at, length, MPI_BYTE, from, tag, comm_, &requests_.emplace_back()));
            expected_.emplace_back(requests_.size() - 1, length);
        });
    }
    /// Waits for all; what came must have the length that was expected.
    void wait() {
        if (have_ended_) {
            return;
        }
        statuses_.resize(requests_.size());
        check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses_.data()));
        have_ended_ = true;
        check_lengths();
    }
    /// The same, where it need not wait.
    [[nodiscard]] bool have_ended() {
        if (have_ended_) {
            return true;
        }
        int ended = 0;
        statuses_.resize(requests_.size());
        check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &ended, statuses_.data()));
        have_ended_ = ended != 0;
        if (have_ended_) {
            check_lengths();
        }
        return have_ended_;
    }

 private:
    void check_lengths() const {
        for (const auto& [request, length] : expected_) {
            int came = 0;
            check(MPI_Get_count(&statuses_[request], MPI_BYTE, &came));
            if (came != length) {
                throw CommunicationError("a message of " + std::to_string(came) + " bytes came where " +
                                         std::to_string(length) + " were expected");
            }
        }
    }

    template <typename Piece>
    void for_pieces(std::size_t bytes, Piece piece) const {
        for (std::size_t at = 0; at < bytes; at += longest_) {
            piece(at, static_cast<int>(std::min(longest_, bytes - at)));
        }
    }

    MPI_Comm comm_;
    std::size_t longest_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    bool have_ended_ = false;
    std::vector<std::pair<std::size_t, int>> expected_;  ///< (request, bytes) of what is received
};

struct TransfersOfRound final : PendingExchange {
    TransfersOfRound(MPI_Comm comm, std::size_t longest) : transfers(comm, longest) {}
    [[nodiscard]] bool has_ended() override { return transfers.have_ended(); }
    void wait() override { transfers.wait(); }
    Transfers transfers;
};

/// A message that has not left yet.
struct Outgoing {
    std::vector<std::byte> data;
    Transfers transfers;
};

/// A message that will be asked for.
struct ExpectedMessage {
    models::GroupKind direction;
    int tag;
    std::vector<std::byte> data;
    Transfers transfers;
};

struct GroupComm {
    MPI_Comm comm = MPI_COMM_NULL;
    int size = 1, group_rank = 0;
};

class MpiCommunicator : public RoundCommunicator {
 public:
    MpiCommunicator(const models::Layout& layout, const MpiTransport& transport)
        : RoundCommunicator(transport.gathered_all_reduce_bytes), longest_(transport.longest_message) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        AUSPEX_CHECK(layout.tiles == ranks_, "a process for every rank of the layout");
        check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_));
        check(MPI_Comm_dup(MPI_COMM_WORLD, &plain_));
        is_one_node_ = ranks_of_node() == ranks_;
        make_groups(layout);
        for (int stage = 0; stage < layout.pp; ++stage) {
            for (int n = 0; n < layout.stage_ranks; ++n) {
                if (layout.rank(stage, n) == rank_) {
                    next_ = layout.rank(layout.next_stage(stage), n);
                    previous_ = layout.rank(layout.previous_stage(stage), n);
                    mirror_ = layout.rank(layout.other_stage(models::GroupKind::kMirrorStage, stage), n);
                }
            }
        }
    }

    /// Waits until everything that was sent has left.
    ~MpiCommunicator() override {
        try {
            for (Outgoing& outgoing : outgoing_) {
                outgoing.transfers.wait();
            }
        } catch (const CommunicationError&) {
            MpiSession::abort(EXIT_FAILURE);
        }
    }

    [[nodiscard]] int world_rank() const override { return rank_; }
    [[nodiscard]] int world_size() const override { return ranks_; }
    [[nodiscard]] int size(models::GroupKind kind) const override { return group(kind).size; }
    [[nodiscard]] int group_rank(models::GroupKind kind) const override { return group(kind).group_rank; }

    void broadcast(models::GroupKind kind, int root, void* data, std::size_t bytes) override {
        if (size(kind) == 1) {
            return;
        }
        for (std::size_t at = 0; at < bytes; at += longest_) {
            check(MPI_Bcast(static_cast<std::byte*>(data) + at, static_cast<int>(std::min(longest_, bytes - at)),
                            MPI_BYTE, root, group(kind).comm));
        }
    }

    void barrier(models::GroupKind kind) override {
        if (size(kind) > 1) {
            check(MPI_Barrier(group(kind).comm));
        }
    }

    void send(models::GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) override {
        const bool forward = direction == models::GroupKind::kNextStage;
        post(messages_, joined(parts), counterpart(direction), directed(tag, forward));
    }

    void receive(models::GroupKind direction, std::span<std::byte> data, int tag) override {
        forget_sent();
        const auto expected = std::ranges::find_if(expected_, [&](const ExpectedMessage& message) {
            return message.direction == direction && message.tag == tag;
        });
        if (expected == expected_.end()) {
            Transfers transfers(messages_, longest_);
            receive_from(direction, data, tag, transfers);
            transfers.wait();
            return;
        }
        AUSPEX_CHECK(expected->data.size() == data.size(), "a message is as long as it was expected");
        expected->transfers.wait();
        record_call("copy", 1, data.size());
        std::ranges::copy(expected->data, data.begin());
        release(data.size());
        expected_.erase(expected);
    }

    void expect(models::GroupKind direction, std::size_t bytes, int tag) override {
        hold(bytes);
        ExpectedMessage& message = expected_.emplace_back(
            ExpectedMessage{direction, tag, std::vector<std::byte>(bytes), Transfers(messages_, longest_)});
        receive_from(direction, message.data, tag, message.transfers);
    }

    void advance_expected() override {
        for (ExpectedMessage& message : expected_) {
            static_cast<void>(message.transfers.have_ended());
        }
    }

    void send_bytes(int rank, std::span<const std::byte> data) override {
        const std::uint64_t length = data.size();
        const auto* const head = reinterpret_cast<const std::byte*>(&length);
        post(plain_, {head, head + sizeof(length)}, rank, 0);
        post(plain_, {data.begin(), data.end()}, rank, 0);
    }

    std::vector<std::byte> receive_bytes(int rank) override {
        std::uint64_t length = 0;
        Transfers head(plain_, longest_);
        head.receive(reinterpret_cast<std::byte*>(&length), sizeof(length), rank);
        head.wait();
        std::vector<std::byte> data(length);
        Transfers body(plain_, longest_);
        body.receive(data.data(), data.size(), rank);
        body.wait();
        return data;
    }

    [[nodiscard]] std::size_t peak_transport_bytes() const override { return peak_; }

 protected:
    std::unique_ptr<PendingExchange> begin_exchange(models::GroupKind kind, Channel channel,
                                                    const RoundExchange& round) override {
        auto messages = std::make_unique<TransfersOfRound>(group(kind).comm, longest_);
        const int tag = static_cast<int>(channel);
        for (const RoundExchange::Incoming& message : round.receives) {
            messages->transfers.receive(message.data, message.bytes, static_cast<int>(message.from), tag);
        }
        for (const RoundExchange::Outgoing& message : round.sends) {
            messages->transfers.send(message.data, message.bytes, static_cast<int>(message.to), tag);
        }
        copy_own_part(round);
        return messages;
    }

    /// Every part goes in full pieces and one that is not full, so that receivers know where it ends.
    std::vector<std::size_t> exchange_unsized(models::GroupKind kind, const RoundExchange& round,
                                              std::vector<std::byte>& received) override {
        Transfers transfers(group(kind).comm, longest_);
        for (const RoundExchange::Outgoing& message : round.sends) {
            transfers.send(message.data, message.bytes, static_cast<int>(message.to));
            if (message.bytes % longest_ == 0) {
                transfers.send_empty(static_cast<int>(message.to));
            }
        }
        std::vector<std::size_t> sizes;
        for (int from = 0; from < size(kind); ++from) {
            const std::size_t before = received.size();
            if (from == group_rank(kind)) {
                received.insert(received.end(), round.own.begin(), round.own.end());
            } else {
                while (append_piece(received, from, group(kind).comm) == longest_) {
                }
            }
            sizes.push_back(received.size() - before);
        }
        transfers.wait();
        return sizes;
    }

    void hold(std::size_t bytes) override {
        held_ += bytes;
        peak_ = std::max(peak_, held_);
    }
    void release(std::size_t bytes) override { held_ -= bytes; }

 private:
    [[nodiscard]] const GroupComm& group(models::GroupKind kind) const { return groups_[index_of(kind)]; }

    void make_groups(const models::Layout& layout) {
        MPI_Group world = MPI_GROUP_NULL;
        check(MPI_Comm_group(MPI_COMM_WORLD, &world));
        for (std::size_t index = 0; index <= index_of(models::GroupKind::kWorld); ++index) {
            const auto kind = static_cast<models::GroupKind>(index);
            for (int stage = 0; stage < (kind == models::GroupKind::kWorld ? 1 : layout.pp); ++stage) {
                for (const std::vector<int>& ranks : groups_of(layout, kind, stage)) {
                    const auto found = std::find(ranks.begin(), ranks.end(), rank_);
                    if (found == ranks.end()) {
                        continue;
                    }
                    GroupComm& own = groups_[index];
                    own.size = static_cast<int>(ranks.size());
                    own.group_rank = static_cast<int>(found - ranks.begin());
                    if (own.size == 1) {
                        continue;
                    }
                    MPI_Group group = MPI_GROUP_NULL;
                    check(MPI_Group_incl(world, own.size, ranks.data(), &group));
                    check(MPI_Comm_create_group(MPI_COMM_WORLD, group, static_cast<int>(index), &own.comm));
                    check(MPI_Group_free(&group));
                }
            }
        }
        check(MPI_Group_free(&world));
    }

    /// Length of the piece.
    static std::size_t append_piece(std::vector<std::byte>& received, int from, MPI_Comm comm) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        int length = 0;
        check(MPI_Mprobe(from, 0, comm, &message, &status));
        check(MPI_Get_count(&status, MPI_BYTE, &length));
        const std::size_t at = received.size();
        received.resize(at + static_cast<std::size_t>(length));
        check(MPI_Mrecv(received.data() + at, length, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        return static_cast<std::size_t>(length);
    }

    static int ranks_of_node() {
        MPI_Comm node = MPI_COMM_NULL;
        check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
        int ranks = 0;
        check(MPI_Comm_size(node, &ranks));
        check(MPI_Comm_free(&node));
        return ranks;
    }

    void receive_from(models::GroupKind direction, std::span<std::byte> data, int tag, Transfers& transfers) const {
        const bool forward = direction == models::GroupKind::kPreviousStage;
        transfers.receive(data.data(), data.size(), counterpart(direction), directed(tag, forward));
    }

    [[nodiscard]] int counterpart(models::GroupKind direction) const {
        return direction == models::GroupKind::kNextStage       ? next_
               : direction == models::GroupKind::kPreviousStage ? previous_
                                                                : mirror_;
    }

    static int directed(int tag, bool forward) { return 2 * tag + (forward ? 1 : 0); }

    void post(MPI_Comm comm, std::vector<std::byte> message, int to, int tag) {
        forget_sent();
        hold(message.size());
        Outgoing& outgoing = outgoing_.emplace_back(std::move(message), Transfers(comm, longest_));
        outgoing.transfers.send(outgoing.data.data(), outgoing.data.size(), to, tag);
    }
    /// Lets go of messages that have left. To ask for one that has not gives the core away where waiting ranks yield:
    /// within a node, where messages leave without their sender, only many are worth that.
    void forget_sent() {
        constexpr std::size_t kMany = 16;
        if (is_one_node_ && outgoing_.size() < kMany) {
            return;
        }
        for (auto outgoing = outgoing_.begin(); outgoing != outgoing_.end();) {
            if (outgoing->transfers.have_ended()) {
                release(outgoing->data.size());
                outgoing = outgoing_.erase(outgoing);
            } else {
                ++outgoing;
            }
        }
    }

    std::size_t longest_;
    int rank_ = 0, ranks_ = 1;
    int next_ = 0, previous_ = 0, mirror_ = 0;
    bool is_one_node_ = false;
    MPI_Comm messages_ = MPI_COMM_NULL, plain_ = MPI_COMM_NULL;
    std::array<GroupComm, models::kGroupKinds> groups_{};
    std::list<Outgoing> outgoing_;
    std::list<ExpectedMessage> expected_;
    std::size_t held_ = 0, peak_ = 0;
};

}  // namespace

MpiTransport transport_of(const models::Stack& stack) {
    MpiTransport transport;
    if (stack.has_processes) {
        transport.gathered_all_reduce_bytes = static_cast<std::size_t>(stack.gathered_all_reduce_bytes);
    }
    return transport;
}

std::unique_ptr<Communicator> make_mpi_communicator(const models::Layout& layout, const MpiTransport& transport) {
    return std::make_unique<MpiCommunicator>(layout, transport);
}

}  // namespace auspex::exec
