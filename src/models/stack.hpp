#pragma once
/// @file The software between plan and machine: what it fuses, launches, waits for, and how its transport uses the
/// wires.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"
#include "models/startup/startup.hpp"
#include "models/transport/collective_rules.hpp"

namespace auspex::models {

/// How a collective that leaves the node gets at data on the device, where NICs hang on the host.
enum class Staging {
    kPipelined,  ///< copies to and from the host run beside the messages; both cross the node's PCIe links
    kWhole,  ///< every rank's whole buffer is copied to the host first and back last; messages run from host to host,
             ///< and over two and three levels the ranks of a node meet in its memory
};
enum class Reduction { kFlat, kBucketed };
/// What hands out memory of the device where it is played allocation by allocation (schedule::reserved_memory), with
/// fsdp: PyTorch's caching allocator with segments of its usual sizes, or with segments that grow.
enum class Allocator { kNone, kCaching, kExpandable };

/// Kernels launched by one named operation when it is not fused into one. Each is also one pass over its data.
struct KernelCounts {
    int norm = 1;
    int rms_norm = 0;  ///< in place of `norm` and `qk_norm` of workloads whose norm is "rms"; 0: these count
    int qk_norm = 1, rope = 1, residual = 1, activation = 1, router_topk = 1, cross_entropy = 1, embedding = 1;
    int gradient_accumulation = 1;  ///< passes that add a fresh weight gradient to the stored one; 0: inside the GEMM
    int attention = 1;  ///< 1: flash attention; more: scores are written to memory, this many passes over them. With
                        ///< Stack::attention_kernels those of "unfused" alone; another kernel in use makes it 1
    int optimizer = 1;  ///< passes of the AdamW update over its shard
};

struct Machine;

struct Stack {
    std::string name, file;
    std::string measured_on;  ///< name of the machine on which its constants were measured or fitted; "none": nowhere
    /// What the software has, in the plan's words; a plan that asks for more is a what-if, and the prediction says so.
    std::vector<std::string> offers_expert_kernels, offers_optimizers, offers_dispatches, offers_schedules, offers_fp8;
    /// Its word of `auspex emit --format`, which knows what its settings can say; may be empty.
    std::string emit_format;
    // kernels
    double launch_s =
        0;  ///< host time to issue one kernel that the device cannot hide (added to machine's kernel_launch_s)
    double issue_s = 0;        ///< host time to issue one kernel, ahead of the device: a pass takes at least its sum
    double plain_issue_s = 0;  ///< the same for one that is Kernel::plain
    bool issues_each_expert = false;  ///< products of grouped experts, and casts of what they multiply, are a kernel an
                                      ///< expert to issue; on several streams the device runs them as one
    double host_sync_s = 0;           ///< one blocking read of a device value by the host
    double backward_launch_ratio =
        1;  ///< automatic differentiation issues this many kernels per forward kernel of a non-GEMM operation
    KernelCounts kernels;
    bool keeps_rotated = false;  ///< rotation is out of place: queries and keys stay beside the projections
    Allocator allocator = Allocator::kNone;
    int cross_entropy_copies = 0;     ///< fp32 copies of the logits beside the first, while cross entropy is computed
    bool products_by_expert = false;  ///< products of grouped experts are run one expert after another
    bool biases_by_expert = false;    ///< biases of experts' outputs are added expert by expert, in fp32
    bool weights_in_activation = false;  ///< experts' activations are weighted, so that returned rows are not kept
    bool keeps_activation = false;       ///< SwiGLU in several kernels: the activated gate stays beside the product
    bool keeps_unread_products = false;  ///< plan.recompute "alternate_products": those that are not repeated are kept,
                                         ///< whether anything reads them or not
    bool dispatches_by_masks = false;    ///< all-to-all dispatch: products with one-hot masks [tokens, rows] form the
                                         ///< rows of experts and sum them up (einsum of GShard and DeepSpeed-MoE)
    double accumulation_exposed = 0;     ///< gradient_accumulation 0: of the time at HBM's rate of what a product that
                                         ///< adds weight gradients to the stored ones moves beyond 4 bytes a weight,
                                         ///< the part that its multiplications do not hide
    double gemm_efficiency = 1;  ///< stack's GEMMs over the machine's in-situ ones (layout copies, unfused bias)
    std::vector<std::string> attention_kernels;  ///< names, the preferred one first; empty: it does not say
    double attention_efficiency = 1;  ///< stack's attention over the rate that the machine has for its kernel
    double step_host_s = 0;           ///< host work once a step that nothing hides (data, scheduler, logging)
    // pipeline
    bool blocking_sends = false;   ///< a stage's compute waits until its message has left
    bool sync_after_pass = false;  ///< the host waits for the device after each pass of a micro-batch
    bool router_logits_travel =
        false;  ///< router logits of all earlier layers go with every pipeline message, and their gradients come back
    bool scatters_messages = false;  ///< what all tp ranks of a stage hold alike leaves in slices, each rank's own, and
                                     ///< is gathered where it arrives (arXiv:2104.04473, section 4.1)
    // optimizer
    Reduction reduction = Reduction::kBucketed;
    double bucket_bytes = 0;              ///< kBucketed: least size of one reduction
    int barriers_per_step = 0;            ///< global barriers, each with a host synchronisation
    int world_all_reduces_per_step = 0;   ///< all-reduces over every rank, gradient norm apart: one of the loss, each
                                          ///< other of a vector of NaN flags, 4 bytes for every rank
    int loss_terms = 1;                   ///< fp32 numbers in the all-reduce of the loss
    bool check_gradients = false;         ///< every rank checks its gradients, and one of the vectors of flags goes
                                          ///< round, before gradients meet and weights change
    bool reduce_scatter_overlaps = true;  ///< else plan.overlap's "dp" hides all-reduces only: sharded optimizers sum
                                          ///< gradients behind the last pass
    bool gathers_in_forward = false;      ///< sharded optimizers with plan.overlap's "dp": updated weights are gathered
                                          ///< in buckets beside the forward pass of a chunk's first micro-batch, not
                                          ///< behind the update
    bool gradient_buckets = false;  ///< gradients as computed stay in buckets beside the accumulated ones, where there
                                    ///< are several replicas
    // of fully sharded weights (plan.optimizer "fsdp")
    bool casts_shards = false;     ///< ranks hold shards in fp32 only, and cast what they gather
    bool frees_gradients = false;  ///< behind the update, until the next backward pass makes new ones
    bool keeps_last_unit = false;  ///< final norm and LM head stay gathered from the forward to the backward pass
    bool root_has_ends = false;    ///< embedding, final norm and LM head are one unit, the root's, which is gathered in
                                   ///< front of a forward pass and summed behind the backward pass; in what the
                                   ///< allocator is asked for only. The last layer stays gathered, too
    bool shards_by_expert = false;  ///< without ep, shards of experts are whole experts, as many for every rank
    double fragmentation = 0;       ///< share of what comes and goes in a step that the allocator holds beside it
    bool per_parameter_ep_all_reduce =
        false;            ///< optimizer "sharded" with ep > 1: one all-reduce over ep per replicated tensor
    std::string release;  ///< the entry of "releases" that is in use; empty: the file has none
    std::vector<std::string> releases;  ///< names of all entries
    std::string release_on;  ///< the architecture whose part of the release is in use; empty: the release itself is
    // transport: the entry that is in use
    std::string library;                ///< to whose file the stack leaves communication; empty: it has its own
    std::string transport_measured_on;  ///< as measured_on, of the transport
    std::string transport_name, transport_date;  ///< "2025-04": when it was measured
    std::vector<std::string> transport_names;    ///< of all entries
    Staging staging = Staging::kPipelined;
    double rank_bytes_per_s =
        0;  ///< most that one rank moves between nodes, one direction, where NICs hang on the host: staging
            ///< through host memory, reduction by cores; no limit where they hang on the device
    double rank_window_bytes = std::numeric_limits<double>::infinity();  ///< what one rank sends between nodes before
                                                                         ///< it waits until all of it has come
    double scale_up_efficiency = 1;   ///< fraction of node links that its collectives use
    double scale_out_efficiency = 1;  ///< fraction of NIC and fabric links that its transport uses
    double shard_efficiency = 1;  ///< reduce-scatters and all-gathers of gradients and parameters between nodes, over
                                  ///< what scale_out_efficiency leaves
    std::optional<double> compute_share;  ///< of compute, that a collective takes from its tile while it runs; none:
                                          ///< Tile::collective_compute_share
    double scale_up_message_s = 0;        ///< software cost of one collective step inside a node
    double scale_out_message_s = 0;  ///< software cost of one message between nodes; a rank issues one after another
    std::optional<double> next_message_s;  ///< of each further one of more than eager_bytes that a rank issues at once;
                                           ///< none: as the first
    double eager_message_s = 0;            ///< of one of at most eager_bytes, when a rank issues several at once
    double eager_bytes = 0;
    std::vector<MessageRule> messages;     ///< of those that cost something else; the first that holds counts
    std::vector<NodePathRule> node_paths;  ///< the first that holds counts; none: the node's own links
    double tree_chunk_bytes = 512 * 1024;  ///< pieces in which double trees pass on what comes
    double reduction_bytes_per_s = 0;  ///< of memory, that one rank reads and writes while it adds up what one round
                                       ///< brought; 0: what the machine's memory gives
    double reduction_step_s = 0;       ///< start and end of adding up what one round between nodes brought
    double host_reduction_bytes = 0;   ///< messages up to this size are added up at once, without reduction_step_s;
                                       ///< those of twice this size with it, between the two with a share that grows
    double collective_launch_s = 0;    ///< start of any collective on one rank
    double collective_issue_s = 0;     ///< host time to issue a collective, ahead of the device, as issue_s
    double collective_check_s = 0;     ///< likewise, for each rank of the group, where a job spans nodes: all have come
                                       ///< with the same call; not of calls that carry many tensors at once
    std::vector<AlgorithmRule> all_reduce, reduce_scatter, all_gather, all_to_all, broadcast;
    // processes: ranks that are processes on CPU cores (models/cpu/cpu_model.hpp)
    bool has_processes = false;     ///< the file has this section; without it the defaults below mean nothing
    bool waits_by_yielding = true;  ///< a rank that waits for a message gives its core to others; false: it spins
    bool binds_ranks = true;        ///< each rank stays on one core; false: on whichever is free
    double gathered_all_reduce_bytes = 0;  ///< all-reduces up to this size send all data to all members, and each sums
                                           ///< for itself; longer ones are a reduce-scatter and a gather of its results
    double eager_intra_node_bytes = 0, eager_inter_node_bytes = 0;  ///< messages up to these are sent without their
                                                                    ///< receivers; `auspex calibrate` takes them over
    double buffered_intra_node_bytes = 0;                           ///< up to here their senders go on at once
    /// Streams that this software can run beside compute; plan.overlap must be a subset.
    bool tp_beside_products = false;  ///< tp that overlaps runs beside the product that it feeds or comes from, too
    bool can_overlap_tp = false, can_overlap_ep = false, can_overlap_dp = false, can_overlap_pp = false;
    std::optional<StackStartup> startup;  ///< none: the file does not say
    std::vector<Constant> constants;      ///< paths begin with "stack."
};

/// As it is where nothing is said of the machine. A library that "communication" names is looked for beside the
/// document's file.
[[nodiscard]] Stack load_stack(const JsonDocument& document);
/// The same as it runs on a machine, whose architecture decides what its release is there, and whose kernels decide how
/// often scores go through memory.
[[nodiscard]] Stack load_stack(const JsonDocument& document, const Machine& machine);
/// Where the release in use, as it is on tiles of an architecture (Tile::architecture), has what `path`
/// ("kernels.counts.norm") names in the rest of the file, and is read instead:
/// "stack.releases.entries.NAME.kernels.counts.norm"; empty: nowhere.
[[nodiscard]] std::string shadowing_path(const JsonDocument& document, std::string_view path,
                                         std::string_view architecture);

}  // namespace auspex::models
