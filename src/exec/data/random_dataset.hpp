#pragma once
/// @file A dataset of random tokens: what is timed does not depend on what they say.
#include <string>

namespace auspex::exec {

/// Writes `rows` rows of sequence_length + 1 tokens below `vocabulary` into a dataset in the folder PATH, by way of a
/// Megatron dataset PATH-tokens. The same for the same arguments.
void make_random_dataset(int vocabulary, int sequence_length, int rows, const std::string& path);

}  // namespace auspex::exec
