/// @file Collectives and messages over Open MPI, with the sums of exec/transport/reduction.hpp.
#include "exec/mpi/mpi_communicator.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <utility>

#include "base/error.hpp"
#include "exec/mpi/kept_memory.hpp"
#include "exec/transport/reduction.hpp"

namespace auspex {
namespace {

constexpr std::size_t kGroupKinds = static_cast<std::size_t>(GroupKind::kPreviousStage) + 1;

std::size_t index_of(GroupKind kind) { return static_cast<std::size_t>(kind); }

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
        std::vector<MPI_Status> statuses(requests_.size());
        check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data()));
        for (const auto& [request, length] : expected_) {
            int came = 0;
            check(MPI_Get_count(&statuses[request], MPI_BYTE, &came));
            if (came != length) {
                throw CommunicationError("a message of " + std::to_string(came) + " bytes came where " +
                                         std::to_string(length) + " were expected");
            }
        }
    }
    [[nodiscard]] bool have_ended() {
        int ended = 0;
        check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &ended, MPI_STATUSES_IGNORE));
        return ended != 0;
    }

 private:
    template <typename Piece>
    void for_pieces(std::size_t bytes, Piece piece) const {
        for (std::size_t at = 0; at < bytes; at += longest_) {
            piece(at, static_cast<int>(std::min(longest_, bytes - at)));
        }
    }

    MPI_Comm comm_;
    std::size_t longest_;
    std::vector<MPI_Request> requests_;
    std::vector<std::pair<std::size_t, int>> expected_;  ///< (request, bytes) of what is received
};

/// A message that has not left yet.
struct Outgoing {
    std::vector<std::byte> data;
    Transfers transfers;
};

struct GroupComm {
    MPI_Comm comm = MPI_COMM_NULL;
    int size = 1, place = 0;
};

class MpiCommunicator : public Communicator {
 public:
    MpiCommunicator(const Layout& layout, const MpiTransport& transport)
        : longest_(transport.longest_message), small_all_reduce_(transport.gathered_all_reduce_bytes) {
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
    [[nodiscard]] int size(GroupKind kind) const override { return group(kind).size; }
    [[nodiscard]] int place(GroupKind kind) const override { return group(kind).place; }

    void all_reduce(GroupKind kind, void* data, std::size_t count, ElementType type, ReduceOp op) override {
        const std::size_t n = members(kind), bytes = count * element_bytes(type);
        if (n == 1 || count == 0) {
            return;
        }
        if (bytes <= small_all_reduce_) {
            reduce_everything(kind, data, count, type, op);
            return;
        }
        const std::size_t together = elements_together(op);
        std::vector<std::size_t> offsets;
        for (std::size_t i = 0; i <= n; ++i) {
            offsets.push_back(shard_begin(count / together, i, n) * together);
        }
        reduce_segments(kind, data, offsets, type, op);
        gather_directly(kind, data, offsets, element_bytes(type));
    }

    void reduce_scatter(GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) override {
        if (members(kind) > 1) {
            reduce_segments(kind, data, offsets, type, ReduceOp::kSum);
        }
    }

    /// A ring: round j passes on to the next member the part that came from the previous one in round j - 1.
    void all_gather(GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type) override {
        const std::size_t n = members(kind), own = mine(kind), element = element_bytes(type);
        for (std::size_t round = 0; round + 1 < n; ++round) {
            Transfers transfers(group(kind).comm, longest_);
            const auto [arriving, arriving_bytes] = part(data, offsets, (own + n - round - 1) % n, element);
            const auto [leaving, leaving_bytes] = part(data, offsets, (own + n - round) % n, element);
            transfers.receive(arriving, arriving_bytes, static_cast<int>((own + n - 1) % n));
            transfers.send(leaving, leaving_bytes, static_cast<int>((own + 1) % n));
            transfers.wait();
        }
    }

    void all_to_all(GroupKind kind, const void* send, std::span<const std::size_t> send_bytes, void* receive,
                    std::span<const std::size_t> receive_bytes) override {
        Transfers transfers(group(kind).comm, longest_);
        std::size_t at = 0;
        for (std::size_t i = 0; i < members(kind); at += receive_bytes[i], ++i) {
            if (i != mine(kind)) {
                transfers.receive(byte_at(receive, at), receive_bytes[i], static_cast<int>(i));
            }
        }
        const auto [own, own_bytes] = send_parts(kind, send, send_bytes, transfers, send_whole);
        AUSPEX_CHECK(own_bytes == receive_bytes[mine(kind)], "an all-to-all brings what its receiver expects");
        std::size_t own_at = 0;
        for (std::size_t i = 0; i < mine(kind); ++i) {
            own_at += receive_bytes[i];
        }
        copy(byte_at(receive, own_at), own, own_bytes);
        transfers.wait();
    }

    /// Every part goes in full pieces and one that is not full, so that receivers know where it ends.
    std::vector<std::size_t> all_to_all_begin(GroupKind kind, const void* send,
                                              std::span<const std::size_t> send_bytes) override {
        Transfers transfers(group(kind).comm, longest_);
        const auto [own, own_bytes] = send_parts(kind, send, send_bytes, transfers, send_ended);
        std::vector<std::byte> received;
        std::vector<std::size_t> sizes;
        for (std::size_t i = 0; i < members(kind); ++i) {
            const std::size_t before = received.size();
            if (i == mine(kind)) {
                received.insert(received.end(), own, own + own_bytes);
            } else {
                while (append_piece(received, static_cast<int>(i), group(kind).comm) == longest_) {
                }
            }
            sizes.push_back(received.size() - before);
        }
        transfers.wait();
        hold(received.size());
        received_.push_back(std::move(received));
        return sizes;
    }

    void take_received(void* receive) override {
        AUSPEX_CHECK(!received_.empty(), "all_to_all_begin comes before take_received");
        copy(static_cast<std::byte*>(receive), received_.front().data(), received_.front().size());
        held_ -= received_.front().size();
        received_.pop_front();
    }

    void broadcast(GroupKind kind, int root_place, void* data, std::size_t bytes) override {
        if (members(kind) == 1) {
            return;
        }
        for (std::size_t at = 0; at < bytes; at += longest_) {
            check(MPI_Bcast(byte_at(data, at), static_cast<int>(std::min(longest_, bytes - at)), MPI_BYTE, root_place,
                            group(kind).comm));
        }
    }

    void barrier(GroupKind kind) override {
        if (members(kind) > 1) {
            check(MPI_Barrier(group(kind).comm));
        }
    }

    void send(GroupKind direction, std::span<const std::span<const std::byte>> parts, int tag) override {
        std::vector<std::byte> message;
        for (const std::span<const std::byte> part : parts) {
            message.insert(message.end(), part.begin(), part.end());
        }
        const bool forward = direction == GroupKind::kNextStage;
        post(messages_, std::move(message), forward ? next_ : previous_, directed(tag, forward));
    }

    void receive(GroupKind direction, std::span<std::byte> data, int tag) override {
        forget_sent();
        const bool forward = direction == GroupKind::kPreviousStage;
        Transfers transfers(messages_, longest_);
        transfers.receive(data.data(), data.size(), forward ? previous_ : next_, directed(tag, forward));
        transfers.wait();
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

 private:
    [[nodiscard]] const GroupComm& group(GroupKind kind) const { return groups_[index_of(kind)]; }
    [[nodiscard]] std::size_t members(GroupKind kind) const { return static_cast<std::size_t>(group(kind).size); }
    [[nodiscard]] std::size_t mine(GroupKind kind) const { return static_cast<std::size_t>(group(kind).place); }

    void make_groups(const Layout& layout) {
        MPI_Group world = MPI_GROUP_NULL;
        check(MPI_Comm_group(MPI_COMM_WORLD, &world));
        for (std::size_t index = 0; index <= index_of(GroupKind::kWorld); ++index) {
            const auto kind = static_cast<GroupKind>(index);
            for (int stage = 0; stage < (kind == GroupKind::kWorld ? 1 : layout.pp); ++stage) {
                for (const std::vector<int>& ranks : groups_of(layout, kind, stage)) {
                    const auto place = std::find(ranks.begin(), ranks.end(), rank_);
                    if (place == ranks.end()) {
                        continue;
                    }
                    GroupComm& own = groups_[index];
                    own.size = static_cast<int>(ranks.size());
                    own.place = static_cast<int>(place - ranks.begin());
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

    /// Everyone's data goes to everyone, who joins all of it in rank order.
    void reduce_everything(GroupKind kind, void* data, std::size_t count, ElementType type, ReduceOp op) {
        Transfers transfers(group(kind).comm, longest_);
        const std::size_t bytes = count * element_bytes(type);
        const std::vector<const void*> parts = receive_parts(kind, byte_at(data, 0), bytes, transfers);
        for (const std::size_t to : others_in_turn(kind)) {
            transfers.send(byte_at(data, 0), bytes, static_cast<int>(to));
        }
        transfers.wait();
        reduce_parts(parts, data, count, type, op);
    }

    /// Every segment goes straight to its owner, who joins what came in rank order.
    void reduce_segments(GroupKind kind, void* data, std::span<const std::size_t> offsets, ElementType type,
                         ReduceOp op) {
        const std::size_t own = mine(kind), element = element_bytes(type);
        Transfers transfers(group(kind).comm, longest_);
        const auto [own_data, own_bytes] = part(data, offsets, own, element);
        const std::vector<const void*> parts = receive_parts(kind, own_data, own_bytes, transfers);
        for (const std::size_t to : others_in_turn(kind)) {
            const auto [segment, bytes] = part(data, offsets, to, element);
            transfers.send(segment, bytes, static_cast<int>(to));
        }
        transfers.wait();
        reduce_parts(parts, own_data, offsets[own + 1] - offsets[own], type, op);
    }

    /// Every member sends its segment straight to all others.
    void gather_directly(GroupKind kind, void* data, std::span<const std::size_t> offsets, std::size_t element) {
        Transfers transfers(group(kind).comm, longest_);
        const auto [own_data, own_bytes] = part(data, offsets, mine(kind), element);
        for (std::size_t i = 0; i < members(kind); ++i) {
            if (i != mine(kind)) {
                const auto [segment, bytes] = part(data, offsets, i, element);
                transfers.receive(segment, bytes, static_cast<int>(i));
            }
        }
        for (const std::size_t to : others_in_turn(kind)) {
            transfers.send(own_data, own_bytes, static_cast<int>(to));
        }
        transfers.wait();
    }

    /// Begins to receive `bytes` from every other member, beside this rank's own: where all of them will be, in rank
    /// order.
    std::vector<const void*> receive_parts(GroupKind kind, std::byte* own, std::size_t bytes, Transfers& transfers) {
        std::byte* other = scratch((members(kind) - 1) * bytes);
        std::vector<const void*> parts;
        for (std::size_t i = 0; i < members(kind); ++i) {
            if (i == mine(kind)) {
                parts.push_back(own);
                continue;
            }
            parts.push_back(other);
            transfers.receive(other, bytes, static_cast<int>(i));
            other += bytes;
        }
        return parts;
    }

    /// The other members, from the one behind this rank on, so that not all send to the same one at once.
    [[nodiscard]] std::vector<std::size_t> others_in_turn(GroupKind kind) const {
        std::vector<std::size_t> others;
        for (std::size_t step = 1; step < members(kind); ++step) {
            others.push_back((mine(kind) + step) % members(kind));
        }
        return others;
    }

    using SendPart = void (*)(Transfers& transfers, const std::byte* data, std::size_t bytes, int to,
                              std::size_t longest);
    static void send_whole(Transfers& transfers, const std::byte* data, std::size_t bytes, int to, std::size_t) {
        transfers.send(data, bytes, to);
    }
    static void send_ended(Transfers& transfers, const std::byte* data, std::size_t bytes, int to,
                           std::size_t longest) {
        transfers.send(data, bytes, to);
        if (bytes % longest == 0) {
            transfers.send_empty(to);
        }
    }
    /// Begins to send every part but this rank's own, which is returned.
    std::pair<const std::byte*, std::size_t> send_parts(GroupKind kind, const void* send,
                                                        std::span<const std::size_t> bytes, Transfers& transfers,
                                                        SendPart send_part) const {
        std::pair<const std::byte*, std::size_t> own;
        const auto* data = static_cast<const std::byte*>(send);
        for (std::size_t i = 0; i < members(kind); data += bytes[i], ++i) {
            if (i == mine(kind)) {
                own = {data, bytes[i]};
            } else {
                send_part(transfers, data, bytes[i], static_cast<int>(i), longest_);
            }
        }
        return own;
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
                held_ -= outgoing->data.size();
                outgoing = outgoing_.erase(outgoing);
            } else {
                ++outgoing;
            }
        }
    }

    static std::byte* byte_at(void* data, std::size_t offset) { return static_cast<std::byte*>(data) + offset; }
    /// Elements [offsets[i], offsets[i + 1]).
    static std::pair<std::byte*, std::size_t> part(void* data, std::span<const std::size_t> offsets, std::size_t i,
                                                   std::size_t element) {
        return {byte_at(data, offsets[i] * element), (offsets[i + 1] - offsets[i]) * element};
    }
    static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
        if (bytes > 0) {
            std::memcpy(to, from, bytes);
        }
    }
    std::byte* scratch(std::size_t bytes) {
        std::byte* const data = scratch_.of(bytes);
        hold(0);
        return data;
    }
    void hold(std::size_t bytes) {
        held_ += bytes;
        peak_ = std::max(peak_, held_ + scratch_.size());
    }

    std::size_t longest_, small_all_reduce_;
    int rank_ = 0, ranks_ = 1;
    int next_ = 0, previous_ = 0;
    bool is_one_node_ = false;
    MPI_Comm messages_ = MPI_COMM_NULL, plain_ = MPI_COMM_NULL;
    std::array<GroupComm, kGroupKinds> groups_{};
    std::list<Outgoing> outgoing_;
    std::deque<std::vector<std::byte>> received_;  ///< between all_to_all_begin and take_received
    KeptMemory scratch_;
    std::size_t held_ = 0, peak_ = 0;
};

}  // namespace

MpiTransport transport_of(const Stack& stack) {
    MpiTransport transport;
    if (stack.has_processes) {
        transport.gathered_all_reduce_bytes = static_cast<std::size_t>(stack.gathered_all_reduce_bytes);
    }
    return transport;
}

std::unique_ptr<Communicator> make_mpi_communicator(const Layout& layout, const MpiTransport& transport) {
    return std::make_unique<MpiCommunicator>(layout, transport);
}

}  // namespace auspex
