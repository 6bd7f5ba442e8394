#pragma once
/// @file What published runs mean here: the machine file and stack of the hardware and framework that they name.
#include <optional>
#include <string>
#include <vector>

#include "base/json_forward.hpp"
#include "compare/evaluate/published/published_run.hpp"
#include "compare/evaluate/words/software_version.hpp"

namespace auspex::evaluate {

/// machines/published/runs.json. docs/validation.md has the keys.
struct RunNames {
    /// Sizes in GB that a text may give.
    struct SizeRange {
        double least = 0, most = 0;
    };
    /// A GPU in a node: the first whose texts all fit. Case, blanks, hyphens and makers' names do not count.
    struct Hardware {
        /// What shares NVLink, or its like, on the machine, and the NICs of it.
        struct Node {
            int gpus = 0, nics = 0;
            double gbit_s = 0;        ///< of a NIC, as it is sold
            double payload = 1;       ///< of that, what the machine's NICs carry
            int gpus_per_socket = 1;  ///< of the host
            int whole_rack = 0;       ///< GPUs that a job has of each that fills racks; 0: `gpus`
        };
        std::vector<std::string> gpu;     ///< one of which the case's words begin with
        std::optional<SizeRange> memory;  ///< of a case that says how much; nothing: any
        std::string system;               ///< what the case's has in it, in any case
        std::string machine;              ///< name of a file
        std::vector<std::string> set;     ///< ROLE.PATH=VALUE
        std::optional<Node> node;         ///< nothing: that of one system, which cases do not change
        bool host_is_near = false;        ///< GPUs reach the memory of their CPUs over links of their own (NVLink-C2C)
        std::string note, note_unstated;  ///< of each case that has it, or has it and does not say how much memory
    };
    /// How runs of a framework go: stack, and what the plan has that cases do not say.
    struct Framework {
        std::vector<std::string> notes;  ///< of each case that has it
        std::string fp8 = "tensorwise";  ///< what "FP8" is where the case says no more, in the plan's words
        std::string stack;               ///< name of a file
        std::string gradient_dtype;      ///< of sums
        std::string expert_kernels, dispatch;
        std::string expert_kernels_dropping;            ///< of runs that drop tokens; empty: expert_kernels
        std::string dispatch_between_nodes;             ///< where experts lie on several nodes; empty: dispatch
        std::vector<std::string> overlap;               ///< streams that run beside compute where the plan has them
        std::vector<std::string> overlap_sharded;       ///< the same where weights are sharded (FSDP, ZeRO-3)
        std::vector<std::string> overlap_stated;        ///< further ones, where the case says so
        std::string optimizer_unstated = "replicated";  ///< the plan's, where the case does not say what is sharded
        std::string sharded_with_experts = "ep-aware";  ///< the optimizer of ZeRO stage 1 where ep is above 1
        std::string sharded_with_stages;  ///< in place of fsdp and zero-2 where pp is above 1; empty: these
        bool offloads = false;  ///< it can keep activations of dense layers in host memory where there are no stages
        bool micro_batch_per_stage = false;  ///< unstated: as many micro-batches as stages, not the fastest size
        bool pads_to_capacity = false;       ///< of runs with a capacity: every expert has as many rows as it may get
        bool sequence_parallel_unstated = false;      ///< with tp, where the case does not say
        bool experts_need_sequence_parallel = false;  ///< mixtures with tp run with it or not at all
        double capacity_unstated = 0;  ///< the workload's capacity_factor, where the case does not say; 0: none
        int most_virtual_stages = 1;   ///< a rank has at most, where the case does not say how many
        std::vector<std::string> selective{"core_attention"};  ///< what it recomputes, in the plan's words
        std::string recompute_unstated;  ///< what it recomputes where the case does not say: none, selective, full
        /// In place of "none" what it may recompute where the case does not say, in the plan's words, the cheapest
        /// first: the first that fits is taken.
        std::vector<std::vector<std::string>> recompute_choices{{}, {"core_attention"}, {"layer"}};
        std::vector<std::string> fp8_weights_only;   ///< recipes (plan.fp8) whose weights are in 8 bits only
        std::vector<std::string> set, set_compiled;  ///< the second where the case has `compile`, behind the first
    };
    /// From a version on, and before another; nothing: no bound.
    struct VersionRange {
        std::optional<SoftwareVersion> from, before;
    };
    /// What a framework is in some of its versions, or on some GPUs.
    struct Release {
        std::optional<VersionRange> numbers, dates;  ///< neither: of any version, and of none
        bool is_unstated = false;                    ///< with a range: also of cases that say no version
        bool is_of_sharded_weights = false;          ///< only of cases that say that all ranks share weights
        std::vector<std::string> gpu;                ///< one of which the case's words begin with; empty: any
        std::vector<std::string> source;             ///< one of which is somewhere in the case's; empty: any
        /// One of which the case says, in any letters, in its source, framework, overlap or notes; empty: any.
        std::vector<std::string> words;
        std::string release, release_compiled;  ///< of the stack; empty: the stack's default, and `release`
        Framework framework;

        [[nodiscard]] bool has_versions() const { return numbers || dates; }
    };
    struct NamedFramework {
        std::string name;
        std::vector<std::string> texts;        ///< spellings
        std::vector<std::string> over;         ///< names of those on which it runs: with both in a text it is this one
        std::vector<std::string> versions_of;  ///< other names whose versions are its
        bool is_dated_by_source = false;       ///< a date in the case's source is a version of it
        std::string sharded_only;              ///< why cases are not mapped that do not shard weights; empty: they are
        Framework framework;                   ///< whatever the version
        std::vector<Release> releases;         ///< the first that fits; one at least
    };
    /// What some stacks are otherwise on some GPUs.
    struct OnGpus {
        std::vector<std::string> stacks;
        std::vector<std::string> gpu;     ///< one of which the case's words begin with
        std::vector<std::string> words;   ///< as those of releases; or
        std::vector<std::string> denied;  ///< one of which the case denies, and nowhere says
        std::vector<std::string> set;     ///< in front of those of the framework
        std::string why;                  ///< which the case's note says
    };
    /// Frameworks that no stack, and GPUs that no machine stands for.
    struct Unmapped {
        std::vector<std::string> text, gpu;  ///< one of which the case's words begin with
        std::vector<std::string> cards;      ///< one of which a word of its GPU ends with, and none is an SXM part;
                                             ///< two of the three lists are empty
        std::optional<SizeRange> memory;     ///< of GPUs with so much alone
        std::string why;
    };
    /// What cases say that their own measurements contradict, or leave out that these tell: of those with one of the
    /// ids and one of the texts somewhere in their source, as far as there are any.
    struct Correction {
        std::vector<std::string> id, source;
        std::vector<std::string> set;  ///< ROLE.PATH=VALUE, behind those of hardware and framework
        std::string why;
        int micro_batch = 0;  ///< sequences, in place of the case's, with as many micro-batches a step; 0: the case's
    };
    /// Cases that gave constants: of one of the ids, if there are any, and with everything else that is named here.
    struct Fitted {
        std::vector<std::string> id;
        std::string source_key, framework, source;  ///< source: somewhere in the case's
        std::string what;                           ///< the constants
        std::string stack{}, machine{};             ///< which has them; empty: the entry does not say
        std::vector<std::string> without{};         ///< PATH=VALUE of each: how it would be if no run had told
    };
    /// Why cases are predicted wrongly, as people have found out: of those with everything that is named here.
    struct Reason {
        std::string id, source_key, framework, source;
        std::string why;
    };
    std::vector<Hardware> hardware;
    std::vector<NamedFramework> frameworks;
    std::vector<OnGpus> on_gpus;  ///< all that fit
    std::vector<Unmapped> unmapped;
    std::vector<Correction> corrections;
    std::vector<Fitted> fitted;
    std::vector<Reason> reasons;
};

[[nodiscard]] RunNames load_run_names(const JsonDocument& document);

/// The hardware of a case, and what was assumed of it. Nothing where no entry fits, for GPUs of RunNames::unmapped, and
/// where the case names a system here that has other GPUs.
[[nodiscard]] std::optional<RunNames::Hardware> hardware_of(const RunNames& names, const PublishedRun& run);
/// The framework that the case names, as it is in the version that the case says: of several the first, unless another
/// runs on it. Its version stands beside its name, or beside that of what it runs on, in the case's framework, source
/// or notes, the first of these that says one; in its framework a date may stand alone, too. The last of the notes has
/// stack, release and why. Nothing where the case names none, or one of RunNames::unmapped, and for a case whose
/// weights are not sharded of one with sharded_only.
[[nodiscard]] std::optional<RunNames::Framework> framework_of(const RunNames& names, const PublishedRun& run);
/// Throws InputError: the GPU or framework of the case that framework_of or hardware_of does not find, why where
/// RunNames::unmapped says so, and what is known.
[[noreturn]] void refuse_hardware(const RunNames& names, const PublishedRun& run);
[[noreturn]] void refuse_framework(const RunNames& names, const PublishedRun& run);
[[nodiscard]] std::vector<const RunNames::Correction*> corrections_of(const RunNames& names, const PublishedRun& run);
/// With the micro-batches of its corrections.
[[nodiscard]] PublishedRun corrected(const RunNames& names, PublishedRun run);
[[nodiscard]] bool is_fitted(const RunNames& names, const PublishedRun& run);
/// The first that fits; empty: nobody has found one.
[[nodiscard]] std::string reason_of(const RunNames& names, const PublishedRun& run);

}  // namespace auspex::evaluate
