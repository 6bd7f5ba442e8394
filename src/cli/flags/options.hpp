#pragma once
/// @file Flags, the commands that take them, and what was given.
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/campaign_options.hpp"
#include "cli/flags/flag.hpp"
#include "models/plan.hpp"

namespace auspex::cli {

/// Draws that the unfolded lens plays where --samples does not say.
inline constexpr int kDefaultSamples = 5;

/// "contiguous", "random:7", "scheduled:0.3:7": a placement with its seed, and the share of nodes that are free.
struct PlacementArgument {
    std::string text;
    models::PlacementKind kind = models::PlacementKind::kContiguous;
    std::uint64_t seed = 1;
    double free = 0.5;
};

/// A flag as help shows it.
struct FlagText {
    const char* name;
    const char* value;  ///< nullptr: takes none
    std::string meaning;
    const char* role = nullptr;  ///< of the input files that it names (launch/input_files.hpp)
};

/// What `auspex train` alone takes.
struct TrainFlags {
    std::optional<int> steps;
    bool resume = false;
    bool probes_cores = false;
    std::string checkpoint, weights, export_weights, export_gradients, record_routing, plot;
    int checkpoint_every = 0, model_every = 0;
    bool supervise = false;
    int buffer_ranks = 0;
    double hang_timeout_s = 0;
    std::optional<int> max_restarts;
    std::string inject, hostfile, mpirun;
};

/// What `auspex compare` alone takes.
struct CompareFlags {
    std::vector<std::string> plans, workloads;
    std::string layouts;
    int random = 0;
    int repeat = 0;
    bool mechanisms = false;
};

/// What `auspex calibrate` alone takes.
struct CalibrateFlags {
    std::string measurements, precision, report, from;
    bool fresh = false;
    double budget_s = 0;
    std::vector<std::string> fit;  ///< ROLE.PATH of constants
    std::string hold_back;         ///< half, halves, sources or none; empty: half
};

/// What `auspex validate` alone takes.
struct ValidateFlags {
    std::vector<std::string> cases;  ///< files or folders
    std::string machines, stacks;    ///< folders
    std::string spread;              ///< file to write
};

/// What `auspex plan` alone takes.
struct SearchFlags {
    int top = 0;
    std::string where, vary;
    std::string against;  ///< file of measured rows; `auspex collective` takes it, too
    bool exhaustive = false, what_if = false;
    bool is_tiles_range = false;         ///< Options::tiles was given as A..B
    std::string tiles_flag = "--tiles";  ///< as it was written: --tiles, --nodes, --ranks or -n
    double time_limit_s = 0, deadline_s = 0;
    std::string objective;
    std::string checkpoint, resume;  ///< files
};

/// Changes that `auspex predict` lists where --advice does not say how many.
inline constexpr int kDefaultAdvice = 5;

/// What `auspex predict` alone takes.
struct PredictFlags {
    std::string lens;
    int samples = 0;
    std::vector<std::string> slow;  ///< NAME=FACTOR, in order
    std::optional<int> advice;      ///< how many changes; `auspex scale` takes it, too
};

/// What `auspex collective` alone takes.
struct CollectiveFlags {
    std::string kind, bytes, algorithm, placement;
    int levels = 0, groups_of = 0, stride = 0;
    double zipf = 0;
    bool alone = false;
};

/// What the commands of datasets take.
struct DatasetFlags {
    std::vector<std::string> inputs, sources;  ///< sources: DIR=WEIGHT
    std::string megatron, tokenizer, document_separator;
    int vocab_size = 0, sequence_length = 0, shard_rows = 0;
    double sequences = 0;
};

/// What `auspex emit` alone takes.
struct EmitFlags {
    std::string format, job;
};

/// What the imports take by themselves.
struct ImportFlags {
    std::string arguments;  ///< a second file
    std::string function, link, machine, library;
    int nodes = 0;
    double min_bytes = -1;  ///< below 0: not given
};

/// What writes traces, and what plays them.
struct TraceFlags {
    std::vector<int> ranks;
    bool slowest = false, all = false;  ///< instead of `ranks`
    std::string chakra, pipeline_csv;
    bool by_role = false;
    double most_bytes = 0;
    std::string folder, groups;
    bool roofline = false, one_communication = false;
};

/// Seconds of --times and --overlap; below 0: not given.
struct PassTimeFlags {
    double forward_s = -1, input_s = -1, weight_s = -1, send_s = -1, pair_s = -1;
};

/// What `auspex schedule` alone takes.
struct ScheduleFlags {
    std::string order, svg;
    int ranks = 0, micro_batches = 0, virtual_stages = 0;
    int in_flight = 0;            ///< zb-auto: micro-batches that a rank may hold; 0: twice the ranks
    double kept_for_weights = 1;  ///< zb-auto
    PassTimeFlags times;
};

/// What `auspex explore` alone takes.
struct ExploreFlags {
    int port = 0;
    bool open = false;
};

/// What `auspex diff` alone takes: files, and which step and rank of a trace.
struct DiffFlags {
    std::string before, after;
    std::optional<int> step, rank;
};

/// What `auspex verify` alone takes.
struct VerifyFlags {
    int layouts = 0;
    std::optional<int> kills;
};

/// What `auspex endure` alone takes.
struct EndureFlags {
    std::vector<int> intervals;
    std::vector<double> mtbfs_s;
};

/// What was given: what several commands take, and what each takes by itself. An empty string, list or zero: not given.
struct Options {
    std::string machine, stack, workload, plan;
    std::vector<std::string> overrides;  ///< ROLE.PATH=VALUE, in order
    std::vector<int> tiles;
    std::vector<int> nodes;  ///< instead of tiles
    int global_batch = 0;
    std::vector<PlacementArgument> placements;
    std::string mode, out, trace;
    std::string csv;       ///< file of a tidy table
    std::string scenario;  ///< file whose values stand in the other fields
    double tokens = 0;
    bool no_sensitivity = false;
    std::optional<std::uint64_t> seed;
    int ranks = 0, max_ranks = 0;
    std::string data, role, config;
    std::vector<std::string> listed;  ///< kinds of input files
    int sequence_length = 0;
    bool check_executor = false;
    PredictFlags predict;
    CollectiveFlags collective;
    DatasetFlags dataset;
    TrainFlags train;
    VerifyFlags verify;
    EndureFlags endure;
    CompareFlags compare;
    CalibrateFlags calibrate;
    SearchFlags search;
    EmitFlags emit;
    ImportFlags import;
    DiffFlags diff;
    ExploreFlags explore;
    ValidateFlags validate;
    ScheduleFlags schedule;
    TraceFlags traces;
    CampaignFlags campaign;
    bool json = false;
    std::ostream* answers = nullptr;     ///< where --json goes, for callers of answer_of; null: standard output
    std::vector<std::string> arguments;  ///< behind the command's name, as they were given
    std::string command_line;            ///< that repeats this run, quoted for a shell
};

/// Where the JSON of --json is to be written.
[[nodiscard]] std::ostream& answer_stream(const Options& options);

/// What a flag means to one command, where that is not what it means to most.
struct FlagMeaning {
    Flag flag;
    std::string meaning;
};

/// A row of the table of commands: name, help, flags and function.
struct Command {
    const char* name;  ///< one word, or two: "data prepare"
    const char* summary;
    const char* example;  ///< others on lines of their own, two spaces in front
    std::vector<Flag> required, optional;
    void (*run)(const Options& options);
    std::vector<FlagMeaning> meanings = {};
    std::optional<Flag> alone = {};   ///< with this one none is required: another job of the same command
    std::vector<Flag> operands = {};  ///< whose values may stand without their names, in this order
};

}  // namespace auspex::cli
