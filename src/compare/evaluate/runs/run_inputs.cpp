/// @file Words of a case's plan, as keys of a plan; both texts of a run.
#include "compare/evaluate/runs/run_inputs.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/text/text_list.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "compare/evaluate/runs/run_schedule.hpp"
#include "compare/evaluate/runs/run_sharding.hpp"
#include "compare/evaluate/runs/run_workload.hpp"
#include "compare/evaluate/words/overlap_words.hpp"
#include "compare/evaluate/words/precision_words.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {

namespace {

/// Of gradients as they are summed, by Composer's name of FSDP's mixed precision where the case has it: PURE is that of
/// the weights, DEFAULT fp32. FULL, which gathers in fp32, too, no plan has a word for.
std::string gradient_dtype_of(const PublishedRun& run, const RunNames::Framework& framework, const std::string& weights,
                              std::vector<std::string>& notes) {
    const std::vector<std::string> mode = words_in(run.plan.mixed_precision);
    const bool is_known = mode.size() == 1 && is_one_of(mode[0], {"pure", "default"});
    if (!is_known && !is_unstated(run.plan.mixed_precision)) {
        notes.push_back("mp_mode " + json_quote(run.plan.mixed_precision) +
                        " is passed over; PURE and DEFAULT are known");
    }
    const std::string stated = !is_known ? framework.gradient_dtype : mode[0] == "pure" ? weights : "fp32";
    return weights == "fp32" ? weights : stated;
}

StatedPrecision precision_of(const PublishedRun& run, const RunNames::Framework& framework) {
    StatedPrecision precision = precision_in(run.precision, framework.fp8);
    if (!precision.refused.empty()) {
        refuse(run.id, "precision " + json_quote(run.precision), precision.refused);
    }
    return precision;
}

/// Micro-batches of a step; a last one that is smaller counts as a whole one.
int micro_batches_of(const PublishedRun& run, int data_parallel, int micro_batch, std::vector<std::string>& notes) {
    constexpr double kMostTokens = 1e9;  // the largest batches published are of 60 M
    if (1.0 * run.plan.global_batch * run.model.sequence > kMostTokens) {
        refuse(run.id, "global_batch " + std::to_string(run.plan.global_batch), "sequences of a step, not its tokens");
    }
    const int sequences = run.plan.global_batch / data_parallel;
    if (sequences < 1 || run.plan.global_batch % data_parallel != 0) {
        refuse(run.id, "global_batch " + std::to_string(run.plan.global_batch),
               "a multiple of the " + std::to_string(data_parallel) + " data-parallel ranks");
    }
    const int whole = (sequences + micro_batch - 1) / micro_batch;
    if (whole * micro_batch != sequences) {
        notes.push_back("the last micro-batch is smaller: it is taken as whole, " +
                        std::to_string(whole * micro_batch * data_parallel) + " sequences a step for " +
                        std::to_string(run.plan.global_batch));
    }
    return whole;
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).begin_array();
    for (const std::string& text : texts) {
        json.value(text);
    }
    json.end_array();
}

/// Streams that there are, tp, pp and ep only with ranks of their own, and run beside compute by what the case says or,
/// where it says nothing of them, as the framework is used.
std::vector<std::string> overlap_of(const PublishedRun& run, const RunNames::Framework& framework,
                                    const std::string& optimizer, std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    const OverlapSaid said = is_unstated(plan.overlap) ? OverlapSaid{} : overlap_said(plan.overlap);
    const std::vector<std::string>& usual = optimizer == "fsdp" ? framework.overlap_sharded : framework.overlap;
    const auto has = [](const std::vector<std::string>& list, const char* stream) {
        return std::ranges::find(list, stream) != list.end();
    };
    std::vector<std::string> streams, left_out;
    for (const auto& [stream, is_there] :
         {std::pair("dp", true), {"tp", plan.tp > 1}, {"pp", plan.pp > 1}, {"ep", plan.ep > 1}}) {
        const bool is_usual = has(usual, stream), is_possible = is_usual || has(framework.overlap_stated, stream);
        const bool is_wanted = has(said.named, stream) || (is_usual && !said.is_list && !has(said.without, stream));
        if (is_there && is_wanted && !said.is_none) {
            (is_possible ? streams : left_out).emplace_back(stream);
        }
    }
    const std::string taken = streams.empty() ? "nothing" : joined(streams, ", ");
    if (is_unstated(plan.overlap)) {
        notes.push_back("overlap of " + taken + " is assumed, as the framework is used");
    } else if (!said.is_none && said.named.empty() && said.without.empty()) {
        notes.push_back("overlap " + json_quote(plan.overlap) + " names no stream: of " + taken +
                        " is assumed, as the framework is used");
    }
    if (!left_out.empty()) {
        notes.push_back("overlap of " + joined(left_out, ", ") + ", which the case names, is not taken: stack " +
                        framework.stack + " has it not, or not as it is used here");
    }
    return streams;
}

std::string dispatch_of(const PublishedRun& run, const RunNames::Framework& framework, int etp) {
    const bool is_between_nodes = run.scale_up_gpus > 0 && run.plan.ep * etp > run.scale_up_gpus;
    return is_between_nodes && !framework.dispatch_between_nodes.empty() ? framework.dispatch_between_nodes
                                                                         : framework.dispatch;
}

const std::string& expert_kernels_of(const PublishedRun& run, const RunNames::Framework& framework,
                                     std::vector<std::string>& notes) {
    if (run.model.experts == 0 || framework.expert_kernels_dropping.empty() || !drops_tokens(run)) {
        return framework.expert_kernels;
    }
    notes.push_back("expert kernels " + framework.expert_kernels_dropping + " are assumed: tokens are dropped");
    return framework.expert_kernels_dropping;
}

void append(std::vector<std::string>& notes, std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(notes));
}

void write_schedule(JsonWriter& json, const RunSchedule& schedule) {
    json.member("schedule", schedule.word);
    if (schedule.virtual_stages > 1) {
        json.member("virtual_stages", schedule.virtual_stages);
    }
    if (!schedule.stages.empty()) {
        json.member("stages", schedule.stages);
    }
}

void write_recompute(JsonWriter& json, const RunRecompute& recompute) {
    write_texts(json, "recompute", recompute.words);
    if (recompute.layers > 0) {
        json.member("recompute_layers", recompute.layers);
    }
}

void write_sharding(JsonWriter& json, const RunSharding& sharding) {
    json.member("optimizer", sharding.optimizer);
    if (sharding.replicas > 1) {
        json.member("shard_replicas", sharding.replicas);
    }
    if (sharding.reshard_ranks > 0) {
        json.member("reshard_after_forward", sharding.reshard_ranks);
    } else if (sharding.keeps_weights) {
        json.member("reshard_after_forward", false);
    }
}

/// As the case says, or as the framework is used. Megatron-Core refuses to train mixtures on tensor-parallel ranks
/// without (megatron/core/transformer/moe/moe_layer.py: MoELayer.forward).
bool has_sequence_parallel(const PublishedRun& run, const RunNames::Framework& framework,
                           std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    if (plan.tp == 1) {
        return false;
    }
    const bool is_had = plan.sequence_parallel.value_or(framework.sequence_parallel_unstated);
    const bool is_needed = framework.experts_need_sequence_parallel && run.model.experts > 0;
    if (is_needed && !plan.sequence_parallel.value_or(false)) {
        notes.push_back(std::string("sequence parallelism is assumed, ") +
                        (plan.sequence_parallel ? "though the case denies it" : "which the case does not state") +
                        ": mixtures with tp above 1 do not run without in this framework");
    } else if (!plan.sequence_parallel) {
        notes.emplace_back(is_had ? "sequence parallelism is assumed" : "no sequence parallelism is assumed");
    }
    return is_had || is_needed;
}

std::string plan_of(const PublishedRun& run, const RunNames::Framework& framework, std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    const int etp = plan.etp > 0 ? plan.etp : plan.ep > 1 ? 1 : plan.tp;
    if (plan.etp == 0 && plan.ep > 1 && plan.tp > 1) {
        notes.emplace_back("etp 1 is assumed");
    }
    const int replica = plan.pp * plan.ep * etp, dense_replica = plan.pp * plan.tp * plan.cp;
    if (run.gpus % replica != 0 || run.gpus % dense_replica != 0) {
        refuse(run.id, std::to_string(run.gpus) + " GPUs",
               "a multiple of pp ep etp, " + std::to_string(replica) + ", and of pp tp cp, " +
                   std::to_string(dense_replica));
    }
    const int data_parallel = run.gpus / dense_replica, micro_batch = plan.micro_batch > 0 ? plan.micro_batch : 1;
    if (plan.data_parallel > 0 && plan.data_parallel != data_parallel && plan.data_parallel != run.gpus / replica) {
        notes.push_back("dp " + std::to_string(plan.data_parallel) + " is passed over: " + std::to_string(run.gpus) +
                        " GPUs make " + std::to_string(data_parallel));
    }
    const RunSharding sharding = sharding_of(run, framework, {data_parallel, run.gpus / replica});
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source).member("dp", run.gpus / replica);
        json.member("tp", plan.tp).member("pp", plan.pp).member("cp", plan.cp).member("ep", plan.ep);
        json.member("etp", etp).member("sequence_parallel", has_sequence_parallel(run, framework, notes));
        json.member("micro_batch_size", micro_batch);
        const int micro_batches = micro_batches_of(run, data_parallel, micro_batch, notes);
        json.member("micro_batches", micro_batches);
        const RunSchedule schedule = schedule_of(run, framework, micro_batches);
        append(notes, schedule.notes);
        write_schedule(json, schedule);
        const RunRecompute recompute = recompute_of(run, framework, schedule.virtual_stages);
        append(notes, recompute.notes);
        write_recompute(json, recompute);
        if (plan.offloaded_layers > 0) {
            json.member("offload_layers", plan.offloaded_layers);
        }
        const StatedPrecision precision = precision_of(run, framework);
        append(notes, precision.notes);
        json.member("precision", precision.weights);
        json.member("gradient_dtype", gradient_dtype_of(run, framework, precision.weights, notes));
        append(notes, sharding.notes);
        json.member("fp8", precision.fp8);
        write_sharding(json, sharding);
        const bool is_sharded = sharding.optimizer == "fsdp";  // cast as they are gathered
        if (!is_sharded &&
            std::ranges::find(framework.fp8_weights_only, precision.fp8) != framework.fp8_weights_only.end()) {
            json.member("fp8_weights", "only");
        }
        json.member("dispatch", dispatch_of(run, framework, etp));
        json.member("expert_kernels", expert_kernels_of(run, framework, notes));
        json.member("routing", "uniform");
        write_texts(json, "overlap", overlap_of(run, framework, sharding.optimizer, notes));
        write_texts(json, "rank_order", {"pp", "dp", "ep", "tp"});
        json.member("placement", "contiguous").end_object();
    }
    return out.str();
}

}  // namespace

RunInputTexts run_inputs(const PublishedRun& run, const RunNames::Framework& framework) {
    RunInputTexts texts;
    texts.workload = workload_text(run, framework, texts.notes);
    texts.plan = plan_of(run, framework, texts.notes);
    return texts;
}

}  // namespace auspex::evaluate
