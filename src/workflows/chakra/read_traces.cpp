/// @file Chakra nodes to a graph: groups and peers get places, equal programs become one.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/mix64.hpp"
#include "base/number_text.hpp"
#include "interop/chakra/chakra_folder.hpp"
#include "interop/chakra/chakra_reader.hpp"
#include "models/kernel_cost.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex::workflows {
namespace {

using graph::GraphNode, graph::NodeKind;
using interop::ChakraCollective, interop::ChakraNode, interop::ChakraNodeType;

schedule::CommKind comm_of(const ChakraNode& node, const std::string& place) {
    switch (*node.comm_type) {
        case ChakraCollective::kAllReduce: return schedule::CommKind::kAllReduce;
        case ChakraCollective::kAllGather: return schedule::CommKind::kAllGather;
        case ChakraCollective::kBroadcast: return schedule::CommKind::kBroadcast;
        case ChakraCollective::kAllToAll: return schedule::CommKind::kAllToAll;
        case ChakraCollective::kReduceScatter:
        case ChakraCollective::kReduceScatterBlock: return schedule::CommKind::kReduceScatter;
        case ChakraCollective::kBarrier: return schedule::CommKind::kBarrier;
        default: break;
    }
    throw InputError(place, std::string("comm_type: found ") + to_string(*node.comm_type) +
                                "; expected ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, "
                                "REDUCE_SCATTER_BLOCK or BARRIER");
}

/// All ranks, unless the file of groups says otherwise; "" is the same.
const std::string kWorld = "0";

/// One file on its way into a program.
struct FileReader {
    graph::RankProgram program;
    std::vector<std::vector<std::uint64_t>> before;  ///< ids
    std::unordered_map<std::uint64_t, std::uint32_t> index_of_id;
    std::vector<std::string> groups;  ///< by place: pg_name in the file
    std::vector<int> peers;           ///< by place: rank in the file
    std::map<std::string, std::uint32_t> place_of_group;
    std::map<int, std::uint32_t> place_of_peer;
    std::uint64_t dependencies = 0;
};

constexpr std::size_t kMostUnread = 64;  ///< names of attributes, for a note

class Reader {
 public:
    Reader(const ChakraImport& request, const models::Machine& machine, const models::Stack& stack)
        : request_(request),
          machine_(machine),
          stack_(stack),
          folder_(interop::open_chakra_folder(request.folder, request.groups_file)) {}

    ReadTraces run() {
        out_.job.ranks.resize(static_cast<std::size_t>(folder_.ranks));
        for (const interop::ChakraRole& role : folder_.roles) {
            read_role(role);
        }
        add_notes();
        check_job(out_.job);
        return std::move(out_);
    }

 private:
    void read_role(const interop::ChakraRole& role) {
        FileReader file;
        file.program.file = role.file;
        interop::read_chakra_file(
            role.file,
            [&](const interop::ChakraMetadata& metadata) {
                out_.version = out_.version.empty() ? metadata.version : out_.version;
                versions_.insert(printable(metadata.version));
            },
            [&](ChakraNode& node) { add(node, role.ranks.front(), file); });
        std::vector<std::vector<std::uint32_t>> before(file.before.size());
        for (std::size_t n = 0; n < before.size(); ++n) {
            for (const std::uint64_t id : file.before[n]) {
                const auto found = file.index_of_id.find(id);
                if (found == file.index_of_id.end()) {
                    throw InputError(place_of(file, file.program.nodes[n].id),
                                     "found a dependency on id " + std::to_string(id) +
                                         "; expected the id of a node of the same file");
                }
                before[n].push_back(found->second);
            }
        }
        connect(file.program, before);
        const std::uint32_t program = keep(std::move(file.program));
        for (std::size_t i = 0; i < role.ranks.size(); ++i) {
            place(role, i, file, program);
        }
        out_.nodes += out_.job.programs[program].nodes.size() * role.ranks.size();
        if (out_.nodes > kMostPlayedNodes) {
            throw InputError(request_.folder, "found more than " + thousands(double{kMostPlayedNodes}) +
                                                  " nodes on all ranks; expected fewer");
        }
    }

    static std::string place_of(const FileReader& file, std::uint64_t id) {
        return file.program.file + ": node id " + std::to_string(id);
    }

    void add(ChakraNode& from, int rank, FileReader& file) {
        if (!file.index_of_id.emplace(from.id, static_cast<std::uint32_t>(file.program.nodes.size())).second) {
            throw InputError(place_of(file, from.id),
                             "found the id twice; expected ids that name one node of the file");
        }
        if (stored_ + file.program.nodes.size() >= kMostStoredNodes) {
            throw InputError(file.program.file, "found more than " + thousands(double{kMostStoredNodes}) +
                                                    " nodes in files that differ; expected fewer");
        }
        std::vector<std::uint64_t>& before = file.before.emplace_back(std::move(from.data_deps));
        for (const std::uint64_t id : from.ctrl_deps) {
            if (request_.one_communication || from.order_dep != id) {
                before.push_back(id);
            }
        }
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        file.dependencies += before.size();
        if (file.dependencies > kMostDependencies) {
            throw InputError(place_of(file, from.id), "found more than " + thousands(double{kMostDependencies}) +
                                                          " dependencies in the file; expected fewer");
        }
        GraphNode node;
        node.id = from.id;
        node.name = number_of_name(from.name);
        fill(node, from, rank, file);
        file.program.nodes.push_back(node);
        if (unread_.size() < kMostUnread) {
            unread_.insert(from.unread.begin(), from.unread.end());
        }
    }

    /// Names are for timelines: cut where they are long, and one for all beyond a million.
    std::uint32_t number_of_name(const std::string& given) {
        constexpr std::size_t kLongest = 200, kMostNames = 1'000'000;
        const std::string& name = given.size() <= kLongest ? given : printable(given, kLongest);
        if (const auto known = number_of_name_.find(name); known != number_of_name_.end()) {
            return known->second;
        }
        if (out_.job.names.size() > kMostNames) {
            return kMostNames;
        }
        out_.job.names.push_back(out_.job.names.size() < kMostNames ? name : "a node with another name");
        return number_of_name_.emplace(name, static_cast<std::uint32_t>(out_.job.names.size() - 1)).first->second;
    }

    void fill(GraphNode& node, const ChakraNode& from, int rank, FileReader& file) {
        switch (from.type) {
            case ChakraNodeType::kMetadata:
            case ChakraNodeType::kInvalid: return;
            case ChakraNodeType::kCompute:
            case ChakraNodeType::kMemoryLoad:
            case ChakraNodeType::kMemoryStore:
                node.kind = from.is_cpu_op ? NodeKind::kHost : NodeKind::kCompute;
                node.seconds = seconds_of(from);
                return;
            case ChakraNodeType::kSend:
            case ChakraNodeType::kReceive: fill_message(node, from, rank, place_of(file, from.id), file); return;
            case ChakraNodeType::kCollective: fill_collective(node, from, place_of(file, from.id), file); return;
        }
    }

    double seconds_of(const ChakraNode& from) {
        const bool has_work = from.num_ops.value_or(0) > 0 || from.tensor_size.value_or(0) > 0;
        const bool computes = from.type == ChakraNodeType::kCompute && !from.is_cpu_op;
        if (computes) {
            recorded_micros_ += from.duration_micros;
            has_work_ = has_work_ || has_work;
        }
        const bool is_memory = from.type != ChakraNodeType::kCompute && from.duration_micros == 0;
        if (has_work && (is_memory || (computes && request_.durations == TraceDurations::kRoofline))) {
            models::Kernel kernel;  // of a shape that is not known: at the ceiling of products
            kernel.type = is_memory ? models::KernelType::kMemory : models::KernelType::kGemm;
            kernel.work_flop = static_cast<double>(from.num_ops.value_or(0));
            kernel.bytes = static_cast<double>(from.tensor_size.value_or(0));
            const models::KernelTime time = kernel_time(kernel, machine_, stack_);
            return time.rate_bound_s + time.overhead_s;
        }
        return static_cast<double>(from.duration_micros) * 1e-6;
    }

    void fill_message(GraphNode& node, const ChakraNode& from, int rank, const std::string& place, FileReader& file) {
        const bool sends = from.type == ChakraNodeType::kSend;
        const std::int64_t peer = sends ? *from.comm_dst : *from.comm_src;
        const std::int64_t own = (sends ? from.comm_src : from.comm_dst).value_or(rank);
        if (peer >= folder_.ranks || peer == rank) {
            throw InputError(place, std::string(sends ? "comm_dst" : "comm_src") + ": found " + std::to_string(peer) +
                                        "; expected another rank than " + std::to_string(rank) + ", below " +
                                        std::to_string(folder_.ranks));
        }
        if (own != rank) {
            throw InputError(place, std::string(sends ? "comm_src" : "comm_dst") + ": found " + std::to_string(own) +
                                        "; expected " + std::to_string(rank) + ", whose file it is in");
        }
        node.kind = sends ? NodeKind::kSend : NodeKind::kReceive;
        node.bytes = static_cast<double>(*from.comm_size);
        node.tag = from.comm_tag;
        const auto [found, is_new] =
            file.place_of_peer.try_emplace(static_cast<int>(peer), static_cast<std::uint32_t>(file.peers.size()));
        if (is_new) {
            file.peers.push_back(static_cast<int>(peer));
        }
        node.place = found->second;
    }

    void fill_collective(GraphNode& node, const ChakraNode& from, const std::string& place, FileReader& file) {
        const bool is_barrier = from.stands_for == "barrier";
        node.comm = is_barrier ? schedule::CommKind::kBarrier : comm_of(from, place);
        const std::string name = from.pg_name.empty() ? kWorld : from.pg_name;
        const std::uint32_t group = group_of(name, place);
        const std::size_t ranks = out_.job.groups[group].size();
        if (ranks == 1) {
            return;
        }
        node.kind = NodeKind::kCollective;
        node.is_shard = from.stands_for == "shard";
        const bool is_gather = node.comm == schedule::CommKind::kAllGather;
        node.bytes = node.comm == schedule::CommKind::kBarrier
                         ? 0
                         : static_cast<double>(*from.comm_size) * (is_gather ? static_cast<double>(ranks) : 1);
        const auto [found, is_new] =
            file.place_of_group.try_emplace(name, static_cast<std::uint32_t>(file.groups.size()));
        if (is_new) {
            file.groups.push_back(name);
        }
        node.place = found->second;
    }

    std::uint32_t group_of(const std::string& name, const std::string& place) {
        const auto known = number_of_group_.find(name);
        if (known != number_of_group_.end()) {
            return known->second;
        }
        std::vector<int> ranks;
        if (const auto listed = folder_.groups.find(name); listed != folder_.groups.end()) {
            ranks = listed->second;
        } else if (name == kWorld) {
            for (int rank = 0; rank < folder_.ranks; ++rank) {
                ranks.push_back(rank);
            }
        } else {
            throw InputError(place, "pg_name: found \"" + printable(name) + "\"; expected one of the " +
                                        counted(static_cast<double>(folder_.groups.size()), "group") +
                                        " of the file of groups, or \"0\" for all ranks");
        }
        const auto number = static_cast<std::uint32_t>(out_.job.groups.size());
        out_.job.groups.push_back(std::move(ranks));
        out_.job.group_names.push_back(printable(name));
        number_of_group_.emplace(name, number);
        return number;
    }

    static std::uint64_t hash_of(const graph::RankProgram& program) {
        std::uint64_t hash = program.children.size();
        for (const GraphNode& node : program.nodes) {
            hash = mix64(hash ^ mix64(node.id * 31 + node.place) ^ static_cast<std::uint64_t>(node.bytes) ^
                         mix64(static_cast<std::uint64_t>(node.seconds * 1e9) + static_cast<std::uint64_t>(node.kind)));
        }
        return hash;
    }

    /// Number of the program, of one that is the same if there is one.
    std::uint32_t keep(graph::RankProgram program) {
        std::vector<std::uint32_t>& alike = programs_by_hash_[hash_of(program)];
        for (const std::uint32_t known : alike) {
            if (out_.job.programs[known].nodes == program.nodes &&
                out_.job.programs[known].children == program.children) {
                return known;
            }
        }
        stored_ += program.nodes.size();
        alike.push_back(static_cast<std::uint32_t>(out_.job.programs.size()));
        out_.job.programs.push_back(std::move(program));
        return alike.back();
    }

    template <class Value, class Column>
    Value own(const std::map<Value, Column>& columns, const Value& in_file, std::size_t i,
              const interop::ChakraRole& role, const std::string& what) const {
        const auto column = columns.find(in_file);
        if (column != columns.end()) {
            return column->second[i];
        }
        if (i > 0) {
            throw InputError(request_.folder + "/" + interop::kChakraRolesFile,
                             "found no " + what + " of the ranks that " + role.file + " is of; expected them");
        }
        return in_file;
    }

    void place(const interop::ChakraRole& role, std::size_t i, const FileReader& file, std::uint32_t program) {
        graph::RankPlace& to = out_.job.ranks[static_cast<std::size_t>(role.ranks[i])];
        to.program = program;
        for (const std::string& name : file.groups) {
            const bool is_all = name == kWorld && !role.groups.contains(name);
            const std::string mine =
                is_all ? name : own(role.groups, name, i, role, "group \"" + printable(name) + "\"");
            to.groups.push_back(group_of(mine, role.file));
        }
        for (const int peer : file.peers) {
            const int mine = own(role.peers, peer, i, role, "peer " + std::to_string(peer));
            if (mine >= folder_.ranks || mine == role.ranks[i]) {
                throw InputError(request_.folder + "/" + interop::kChakraRolesFile,
                                 "found peer " + std::to_string(mine) + " of rank " + std::to_string(role.ranks[i]) +
                                     "; expected another rank below " + std::to_string(folder_.ranks));
            }
            to.peers.push_back(mine);
        }
    }

    void add_notes() {
        static const std::set<std::string> kKnown{"0.0.4", "1.0.0"};
        for (const std::string& version : versions_) {
            if (!kKnown.contains(version)) {
                out_.notes.push_back("schema version \"" + version + "\" is read as 1.0.0 is");
            }
        }
        if (recorded_micros_ == 0 && has_work_ && request_.durations == TraceDurations::kRecorded) {
            out_.notes.emplace_back(
                "no COMP node has a duration: --durations roofline makes them from num_ops and tensor_size");
        }
        if (!unread_.empty()) {
            constexpr std::size_t kShown = 8;
            std::string names;
            std::size_t shown = 0;
            for (const std::string& name : unread_) {
                names += ++shown <= kShown ? (shown > 1 ? ", " : "") + printable(name) : "";
            }
            out_.notes.push_back("nothing is done with these attributes: " + names + (shown > kShown ? ", …" : ""));
        }
        const std::size_t ranks = out_.job.ranks.size(), alike = ranks - out_.job.programs.size();
        if (alike > 0) {
            out_.notes.push_back(thousands(static_cast<double>(alike)) + " of the " +
                                 thousands(static_cast<double>(ranks)) +
                                 " ranks do the same as others, but for groups and peers");
        }
    }

    const ChakraImport& request_;
    const models::Machine& machine_;
    const models::Stack& stack_;
    interop::ChakraFolder folder_;
    ReadTraces out_;
    std::set<std::string> versions_, unread_;
    std::unordered_map<std::string, std::uint32_t> number_of_name_;
    std::map<std::string, std::uint32_t> number_of_group_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> programs_by_hash_;
    std::uint64_t stored_ = 0, recorded_micros_ = 0;
    bool has_work_ = false;
};

}  // namespace

ReadTraces read_traces(const ChakraImport& request, const models::Machine& machine, const models::Stack& stack) {
    return Reader(request, machine, stack).run();
}

}  // namespace auspex::workflows
