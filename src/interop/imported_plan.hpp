#pragma once
/// @file A plan that comes from another project's file.
#include <cstdint>
#include <string>
#include <vector>

#include "interop/argument_reader.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

struct ImportedPlan {
    models::Plan plan;               ///< as load_plan gives one, its dp filled in; of a workload nothing is checked
    std::vector<std::string> notes;  ///< what was taken where the file does not say, or says more than a plan can
    void add_notes(const std::vector<std::string>& more) { notes.insert(notes.end(), more.begin(), more.end()); }
};

/// What a plan is read from.
struct PlanText {
    std::string text, name;                      ///< of the file
    std::string arguments, arguments_name;       ///< of a second one, where a framework takes its settings from two
    std::string configuration;                   ///< which of several configurations in the text; empty: the only one
    int ranks = 0;                               ///< of the job; 0: as the text says
    const models::Workload* workload = nullptr;  ///< where it is known: layers and sequence
};

/// The product, or models::kMaxTiles + 1 where it is more than kMaxTiles. Requires factors of at most 2^31.
[[nodiscard]] std::int64_t capped_product(std::int64_t a, std::int64_t b, std::int64_t c);

/// Sets dp from the ranks of the job, and returns the data-parallel ranks of the dense part. Throws InputError, under
/// "ranks", unless ranks are a multiple of pp ep etp and of pp tp cp.
int deal_ranks(models::Plan& plan, int ranks, const ArgumentReader& reader);

/// Sets micro_batches to sequences / (micro_batch_size data_parallel). Throws InputError, under `name`, unless that is
/// whole. Sets nothing else.
void deal_sequences(models::Plan& plan, std::int64_t sequences, int data_parallel, const ArgumentReader& reader,
                    const std::string& name);

/// The plan's precision and the bytes that follow from it.
void set_precision(models::Plan& plan, bool is_bf16, bool has_bf16_gradients);
/// Notes dropout, --attention-dropout and --hidden-dropout, which nothing here models; where an argument is missing,
/// `otherwise` counts, the framework's own.
void note_dropout(ArgumentReader& reader, double otherwise, std::vector<std::string>& notes);
/// Whole layers, or nothing.
void set_recompute_all(models::Plan& plan, bool all);

}  // namespace auspex::interop
