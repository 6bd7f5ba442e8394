#pragma once
/// @file What the runs of a layout say beside those of one rank. Runs nothing.
#include <string>
#include <vector>

#include "launch/train/train_result.hpp"
#include "report/training/executor_report.hpp"
#include "workflows/verify/layouts.hpp"

namespace auspex::workflows {

/// Losses and gradients' norms where every rank is told which experts to choose.
void judge_forced(const launch::TrainResult& run, const launch::TrainResult& single, report::LayoutCheck& check);

/// Losses before the first choice that differs, which is noted; of all steps where the runs differ in their number.
void judge_learned(const launch::TrainResult& run, const models::RoutingRecord& record, const launch::TrainResult& single,
                   const models::RoutingRecord& single_record, report::LayoutCheck& check);

/// Losses with the choices of the single rank.
void judge_replayed(const launch::TrainResult& run, const launch::TrainResult& single, report::LayoutCheck& check);

/// Peaks of memory and counts beside what is predicted with this routing (null: uniform). What was found first stays,
/// with the mode in which it was: "forced".
void judge_bytes(const exec::RunInputs& inputs, const launch::TrainResult& run, const models::RoutingRecord* routing,
                 const char* mode, report::LayoutCheck& check);

struct ShardedLayout {
    VerifyLayout layout;
    report::OptimizerCheck check;
};
/// Of the two layouts that differ in nothing but plain and EP-aware sharding, if there are such.
[[nodiscard]] std::vector<report::OptimizerCheck> plain_and_ep_aware(const std::vector<ShardedLayout>& layouts);

}  // namespace auspex::workflows
