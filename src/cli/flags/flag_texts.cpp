/// @file Flags as help shows them.
#include "cli/flags/flag_texts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cli/flags/campaign_flags.hpp"
#include "cli/flags/schedule_flags.hpp"
#include "cli/flags/trace_flags.hpp"
#include "exec/data/prepare.hpp"
#include "sim/search/plan_search.hpp"
#include "workflows/verify/request.hpp"

namespace auspex::cli {
namespace {

/// Several values behind one flag, as a shell's pattern gives them.
bool takes_many(Flag flag) {
    return flag == Flag::kInput || flag == Flag::kBlendSource || flag == Flag::kPlans || flag == Flag::kWorkloads ||
           flag == Flag::kListed || flag == Flag::kCases;
}

/// Of the flag as this command takes it.
FlagText text_for(const Command& command, Flag flag) {
    FlagText text = text_of(flag);
    const auto own = std::find_if(command.meanings.begin(), command.meanings.end(),
                                  [flag](const FlagMeaning& meaning) { return meaning.flag == flag; });
    text.meaning = own == command.meanings.end() ? text.meaning : own->meaning;
    return text;
}

/// Of what a job is.
FlagText input_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kMachine: return {"machine", "FILE", "machine file, or the name of one in machines/", "machine"};
        case Flag::kStack: return {"stack", "FILE", "software stack file, or the name of one in stacks/", "stack"};
        case Flag::kWorkload:
            return {"workload", "FILE", "workload (model) file, or the name of one in workloads/", "workload"};
        case Flag::kPlan: return {"plan", "FILE", "parallel plan file, or the name of one in plans/", "plan"};
        case Flag::kSet:
            return {"set", "ROLE.PATH=VALUE",
                    "override a field; ROLE is machine, stack, workload or plan; may be repeated, or hold several with "
                    "blanks "
                    "between them"};
        case Flag::kTiles:
            return {"tiles", "N", "tiles (accelerators) of the job; without it what the plan's dp gives"};
        case Flag::kTilesList:
            return {"tiles", "N,N,...", "numbers of tiles, smallest first; the first is the reference"};
        case Flag::kTilesRange:
            return {"tiles", "N | N,N,... | A..B",
                    "tiles (accelerators) of the job, or ranks on CPU cores (--ranks is the same); several: the best "
                    "plan of each "
                    "size; A..B: A, 2A, 4A up to B, and B"};
        case Flag::kNodes: return {"nodes", "N", "instead of --tiles: whole nodes of the machine"};
        case Flag::kNodesList: return {"nodes", "N,N,...", "instead of --tiles: whole nodes of the machine"};
        case Flag::kNodesRange:
            return {"nodes", "N | N,N,... | A..B", "instead of --tiles: whole nodes of the machine"};
        case Flag::kScenario:
            return {"scenario", "FILE",
                    "file that holds the inputs, as auspex scenario writes them; flags beside it go first"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

/// Of what is asked about it.
FlagText prediction_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kPlacements:
            return {"placements", "WORD,WORD,...",
                    "contiguous, scattered, random[:SEED], scheduled[:FREE[:SEED]]; the first is what the others are "
                    "compared with"};
        case Flag::kMode:
            return {"mode", "weak|strong", "weak: the batch grows with the tiles (default); strong: the batch is kept"};
        case Flag::kOut:
            return {"out", "DIR", "write the report there: index.html, report.md, points.csv, efficiency.svg"};
        case Flag::kTrace:
            return {
                "trace", "FILE",
                "write the step's timeline, for ui.perfetto.dev: NAME.pftrace with bytes, groups, memory, links and "
                "arrows, other names as Chrome's JSON"};
        case Flag::kTokens:
            return {"tokens", "COUNT", "length of the training run, such as 100B: adds its time and node-hours"};
        case Flag::kJobBatch:
            return {"global-batch", "N",
                    "sequences of a step over all replicas (of the first size): micro_batches follow; without it those "
                    "of the plan"};
        case Flag::kNoSensitivity:
            return {"no-sensitivity", nullptr,
                    "leave out the interval, the constants that the step leans on, and notes of what changes nothing: "
                    "one replay each"};
        case Flag::kAdvice:
            return {"advice", "N",
                    "list at most N changes that would help" + by_default(kDefaultAdvice) +
                        "; 0: look for none; not with --no-sensitivity, unless it is given"};
        case Flag::kLens:
            return {"lens", "folded|unfolded",
                    "folded (default): one actor a pipeline stage; unfolded: every tile, NIC and link"};
        case Flag::kSeed: return {"seed", "N", "unfolded: number of the first draw of tiles and noise (default 1)"};
        case Flag::kSamples: return {"samples", "N", "unfolded: draws to play" + by_default(kDefaultSamples)};
        case Flag::kSlow:
            return {"slow", "NAME=FACTOR",
                    "unfolded: a slow part, \"tile 84=0.8\" or a link, \"node 3 NIC 2=0.5\"; factors from 0.001 to 1; "
                    "may be repeated"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

/// Of `auspex collective`.
FlagText collective_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kKind:
            return {"kind", "WORD", "all-reduce, reduce-scatter, all-gather, all-to-all, broadcast or barrier"};
        case Flag::kBytes:
            return {"bytes", "SIZE",
                    "buffer of a rank (all-gather: the output), such as \"1 GiB\"; several: 8,64KiB; all powers of two "
                    "between: 8:1GiB"};
        case Flag::kRanks: return {"ranks", "N", "ranks (tiles) of the job"};
        case Flag::kAlgorithm:
            return {"algorithm", "WORD", "ring, direct, ...; auto: the fastest; without it what the stack's rules say"};
        case Flag::kLevels:
            return {"levels", "1|2|3", "1: the whole group; 2: nodes, then between them; 3: also groups of nodes"};
        case Flag::kGroupsOf: return {"groups-of", "K", "groups of K ranks, all at once; without it one of all ranks"};
        case Flag::kStride: return {"stride", "S", "members of a group are S ranks apart (default 1)"};
        case Flag::kAlone: return {"alone", nullptr, "only the first of the groups acts"};
        case Flag::kZipf:
            return {"zipf", "S", "all-to-all: place i of a group receives a share that falls as (i + 1)^-S"};
        case Flag::kPlacement:
            return {"placement", "WORD", "contiguous (default), scattered, random or scheduled; or nodes: 0-31,64-95"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

/// Of `auspex data`.
FlagText data_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kInput: return {"input", "FILE...", "text files; a file is a document"};
        case Flag::kMegatron:
            return {"megatron", "PREFIX", "instead of text: PREFIX.bin and PREFIX.idx, tokens taken as they are"};
        case Flag::kDocumentSeparator:
            return {"document-separator", "TEXT",
                    "a document ends wherever this stands, not only at the end of a file"};
        case Flag::kTokenizer:
            return {"tokenizer", "bytes|bpe|FILE",
                    "bpe: merges learned from the files; FILE: those of another dataset; default: bytes"};
        case Flag::kVocabSize: return {"vocab-size", "N", "tokens to learn with bpe, or those of the Megatron dataset"};
        case Flag::kSequenceLength:
            return {"sequence-length", "S",
                    "a row has S + 1 tokens" + by_default(exec::PrepareRequest().sequence_length)};
        case Flag::kShardRows:
            return {"shard-rows", "N", "rows of a shard" + by_default(exec::PrepareRequest().shard_rows)};
        case Flag::kRowSeed: return {"seed", "N", "of the order of rows" + by_default(exec::PrepareRequest().seed)};
        case Flag::kData:
            return {"data", "DIR", "dataset of \"auspex data prepare\", or FILE of \"auspex data blend\""};
        case Flag::kDatasetOut: return {"out", "DIR", "folder of the new dataset"};
        case Flag::kMegatronOut: return {"out", "PREFIX", "writes PREFIX.bin and PREFIX.idx"};
        case Flag::kBlendSource:
            return {"source", "DIR=WEIGHT...", "datasets and their weights, which need not sum to 1"};
        case Flag::kBlendSequences:
            return {"sequences", "N", "instead of --tokens: sequences of the blend, such as 500M"};
        case Flag::kBlendOut: return {"out", "FILE", "the new blend"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

/// Of `auspex verify` and `auspex endure`.
FlagText verify_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kMaxRanks:
            return {"max-ranks", "N",
                    "leave out layouts of more ranks" + by_default(workflows::VerifyRequest().max_ranks)};
        case Flag::kLayouts: return {"layouts", "N", "only the first N of the layouts"};
        case Flag::kKills:
            return {"kills", "K",
                    "runs in which a rank is killed" + by_default(workflows::VerifyRequest().kills) + "; 0: none"};
        case Flag::kIntervals:
            return {"intervals", "N,...", "steps between checkpoints, one setting each (default 4,16,48,128)"};
        case Flag::kKillTimes:
            return {"mtbf", "TIME,...", "mean times between kills, each with every interval (default 2s,4s)"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

/// Of `auspex plan`.
FlagText search_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kGlobalBatch:
            return {"global-batch", "N",
                    "sequences of a step, over all replicas; default: one a tile (of the last size)"};
        case Flag::kWhere:
            return {"where", "FIELD<=N,...",
                    "only plans whose dp, ep, etp, tp, cp, pp, virtual_stages, micro_batch_size or "
                    "micro_batches are so: <=, <, >=, >, =; stages=WORD: with layers dealt so (even, by-cost, "
                    "even-with-embedding, even-with-head, even-with-both)"};
        case Flag::kTop: return {"top", "N", "plans to show" + by_default(search::SearchOptions().top)};
        case Flag::kExhaustive: return {"exhaustive", nullptr, "simulate every plan that fits, whatever its bound"};
        case Flag::kTimeLimit:
            return {
                "time-limit", "TIME",
                "end the search after so long, such as 2min, with the best so far and what no plan takes less than"};
        case Flag::kWhatIf:
            return {"what-if", nullptr, "optimizers, dispatches and expert kernels that the stack does not offer, too"};
        case Flag::kVary:
            return {"vary", "ROLE.PATH=VALUE,...",
                    "search once for each value of a field, as --set has it: where does the best plan change?"};
        case Flag::kDeadline:
            return {"deadline", "TIME",
                    "with --tokens: the smallest of the --tiles that trains them in this time, such as 14d; A..B: of "
                    "all whole nodes between"};
        case Flag::kObjective:
            return {
                "objective", "step-time|tokens-per-node-hour|finish-by",
                "which layout, and which of several --tiles: the fastest (default), the one that costs least (for one "
                "size the same), or with --tokens the one whose run is over first, with failures, checkpoints and "
                "queue"};
        case Flag::kAgainst:
            return {
                "against", "FILE",
                "instead of a search: predict every run of a measured sweep of layouts, and judge choice, order and "
                "memory by what was measured; machine and stack default to hf-h100 and nanotron"};
        case Flag::kSearchCheckpoint:
            return {"checkpoint", "FILE",
                    "keep what is known there, every few seconds and at the end, for --resume; a file that is there "
                    "already is refused"};
        case Flag::kSearchResume:
            return {"resume", "FILE",
                    "go on with the search that was keeping this file, and keep it on; the other flags must be the "
                    "same"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

}  // namespace

FlagText text_of(Flag flag) {
    if (flag <= Flag::kScenario) {
        return input_flag_text(flag);
    }
    if (flag <= Flag::kSlow) {
        return prediction_flag_text(flag);
    }
    if (flag <= Flag::kPlacement) {
        return collective_flag_text(flag);
    }
    if (flag <= Flag::kBlendOut) {
        return data_flag_text(flag);
    }
    if (flag >= Flag::kMaxRanks && flag <= Flag::kKillTimes) {
        return verify_flag_text(flag);
    }
    if (flag >= Flag::kPlans && flag <= Flag::kRepeat) {
        return compare_flag_text(flag);
    }
    if (flag >= Flag::kGlobalBatch && flag <= Flag::kSearchResume) {
        return search_flag_text(flag);
    }
    switch (flag) {
        case Flag::kCases: return {"cases", "FILE...", "JSON files of published training runs, or folders of them"};
        case Flag::kMachinesFolder:
            return {"machines", "DIR", "take the machine files that cases need from there (default machines/)"};
        case Flag::kStacksFolder:
            return {"stacks", "DIR", "take the stack files that cases need from there (default stacks/)"};
        case Flag::kWriteSpread:
            return {"write-spread", "FILE",
                    "write how far these cases are off beyond their constants, by stack and machine; predict, plan and "
                    "scale read machines/published/spread.json"};
        case Flag::kRole:
            return {"role", "ROLE",
                    "machine, stack, workload, plan, layouts, measurements, published-names or published-training"};
        case Flag::kListed:
            return {"of", "WORD...",
                    "machines, stacks, workloads, plans, or several of them; the flag's name may be left out; default: "
                    "all"};
        case Flag::kManualOut: return {"out", "DIR", "folder of the pages"};
        case Flag::kConfig: return {"config", "FILE", "config.json of a model; the flag's name may be left out"};
        case Flag::kBefore:
            return {
                "before", "FILE",
                "a plan, machine, stack or workload by file or name, or what auspex predict --json printed; in front "
                "of a trace: the plan of its run"};
        case Flag::kAfter:
            return {"after", "FILE|DIR",
                    "another of that kind; or a trace of torch.profiler (JSON, plain or gzip), or a folder with one of "
                    "each rank; both may stand without the flags' names, in this order"};
        case Flag::kTraceStep: return {"step", "N", "of a trace: ProfilerStep#N; without it the step of median length"};
        case Flag::kTraceRank:
            return {"rank", "N", "of a single trace: its rank in the plan's grid; without it what the trace says"};
        case Flag::kFormat:
            return {"format", "WORD",
                    "the framework that the plan is written for: megatron-lm, optimus, torchtitan or deepspeed"};
        case Flag::kJob:
            return {"job", "pbs|slurm",
                    "write a script to submit, with the time that --steps take as predicted; needs machine and stack"};
        case Flag::kTrainingLength:
            return {"sequence-length", "N", "tokens of a training sequence, which the file does not say"};
        case Flag::kArguments:
            return {"args", "FILE",
                    "script or arguments of Megatron-DeepSpeed, for pp, tp and ep, which the JSON lacks"};
        case Flag::kFunction: return {"function", "NAME", "the configuration to take, where a Python file has several"};
        case Flag::kLink:
            return {"link", "WORD",
                    "what messages between two ranks cross: pair, mesh, switch, pcie, socket_out, socket_in, "
                    "host_memory, nic or rank, as auspex calibrate --from has them"};
        case Flag::kNodesOfRows: return {"nodes", "N", "nodes of the job, where the text does not say"};
        case Flag::kMinBytes: return {"min-bytes", "SIZE", "leave out rows of less, such as \"64 KiB\""};
        case Flag::kMachineText:
            return {"machine", "TEXT",
                    "with --library: the machine, by its file or as machines/published/collectives.json has it"};
        case Flag::kLibrary:
            return {
                "library", "TEXT",
                "write rows for auspex collective --against instead, of this library on --machine: RCCL, oneCCL, ... "
                "or a stack"};
        case Flag::kWorkloadOut: return {"out", "FILE", "workload file to write; without it, it is printed"};
        case Flag::kCheckExecutor:
            return {"check-executor", nullptr,
                    "instead of the program: what of it the trainer cannot run; exit code 1 if anything"};
        case Flag::kPort: return {"port", "N", "port on 127.0.0.1 to listen on; 0, the default: any that is free"};
        case Flag::kOpen: return {"open", nullptr, "show the page in the desktop's browser (xdg-open)"};
        case Flag::kCsv:
            return {"csv", "FILE", "write every number of the answer there, too, one a row, with what it is of"};
        case Flag::kJson: return {"json", nullptr, "print JSON"};
        default:
            return is_trace_flag(flag)       ? trace_flag_text(flag)
                   : is_schedule_flag(flag)  ? schedule_flag_text(flag)
                   : is_campaign_flag(flag)  ? campaign_flag_text(flag)
                   : is_calibrate_flag(flag) ? calibrate_flag_text(flag)
                                             : train_flag_text(flag);
    }
}

std::vector<CommandFlag> flags_of(const Command& command) {
    std::vector<CommandFlag> flags;
    const auto add = [&](Flag flag, bool is_required) {
        flags.push_back(
            {flag, text_for(command, flag), is_required, takes_many(flag), flag == Flag::kSet || flag == Flag::kSlow});
    };
    std::for_each(command.required.begin(), command.required.end(), [&](Flag flag) { add(flag, true); });
    std::for_each(command.optional.begin(), command.optional.end(), [&](Flag flag) { add(flag, false); });
    return flags;
}

}  // namespace auspex::cli
