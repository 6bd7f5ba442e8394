#pragma once
/// @file What is published of a job, among the files that came with the program.
#include "compare/evaluate/published_training.hpp"
#include "models/inputs.hpp"
#include "report/scaling/scale_points.hpp"

namespace auspex::cli {

/// Of all files of machines/published/training/. Throws InputError for a broken one.
[[nodiscard]] evaluate::PublishedTraining load_published_training();

/// The series of this machine, stack, workload and batch that has most of the report's tiles, as efficiencies over its
/// first point; nothing where no series has that point. Fills published and published_source.
void add_published_points(report::ScalingReport& report, const models::Inputs& inputs,
                          const evaluate::PublishedTraining& published);

}  // namespace auspex::cli
