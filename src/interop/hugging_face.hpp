#pragma once
/// @file A workload from the config.json of Hugging Face transformers.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

/// Whether it is such a configuration: an object with a "model_type".
[[nodiscard]] bool is_hugging_face(const JsonDocument& document);

struct ImportedWorkload {
    JsonDocument
        document;  ///< a workload file's content (docs/formats-workload-plan.md), name and checksum of the config
    std::vector<std::string> notes;  ///< what it leaves out, of little cost each; they are its "comment", too
};

/// Active parameters of a token without the table that it is looked up in: what some count as active. A tied table is
/// the head, too, and counts.
[[nodiscard]] double active_without_embedding(const models::Workload& workload);

/// The shapes of a language model of a known family (hugging_face_families.hpp); of a model with more parts
/// ("text_config") the language model. The length of training sequences is no key of such a file
/// (max_position_embeddings is what a model can take): "sequence_length" has to be added. Throws InputError for an
/// unknown family or key, and for what changes the cost of a step and is not modelled: attention over a window shorter
/// than the sequence, experts in every n-th layer, dense layers that are not the first ones, layers that predict more
/// tokens. A key that is null is as if it was not there.
[[nodiscard]] ImportedWorkload import_hugging_face(const JsonDocument& config);

}  // namespace auspex::interop
