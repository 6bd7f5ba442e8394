#pragma once
/// @file Saving a run and going on from it: two alternating full checkpoints, and whole models to keep.
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/checkpoint/checkpoint_manifest.hpp"
#include "exec/checkpoint/weights_file.hpp"
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// Something could not be written; thrown on every rank.
class CheckpointError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A checkpoint that was found.
struct CheckpointInfo {
    int step = 0;        ///< steps done; the next one to run
    std::string folder;  ///< where it lies; empty: there is none
    Manifest manifest;
};

/// What is to be saved, and where.
struct Saving {
    std::string folder;          ///< of both checkpoints
    std::string source;          ///< the one that the run began from, or wrote last; empty: neither yet
    int step = 0;                ///< steps done
    std::int64_t sequences = 0;  ///< of the dataset, trained on in these steps
    Settings settings;           ///< training_settings
};

/// DIR/checkpoint-0 and DIR/checkpoint-1. Every rank writes the parts of the state (fp32 weights, both moments) that it
/// owns; where several ranks own the same, each writes its share of it. Never `source` is overwritten, but the other,
/// whatever it is: first its manifest goes, then the parts are written and fsynced, then, when all ranks have said that
/// theirs are whole, rank 0 writes the manifest (part files, sizes, SHA-256) beside it and renames it into place. A
/// checkpoint without manifest does not exist. Returns the folder of the new checkpoint, the run's next `source`.
/// Collective over the world. Throws CheckpointError (std::runtime_error, on every rank) when any rank could not write,
/// if what would be overwritten is of another model, and if both are there and neither is the source.
template <class P>
[[nodiscard]] std::string write_checkpoint(Rank<P>& rank, const Saving& saving);

/// The newest of the two whose manifest is whole and whose parts have the right sizes and checksums; says on `notes`
/// which others were found and why they are not used. Reads every part. Throws InputError if there are checkpoints but
/// none is whole, or if one has other model_settings than the run, naming each with both values; folder without any:
/// step 0 and folder "".
[[nodiscard]] CheckpointInfo newest_checkpoint(const std::string& folder, const RunInputs& run,
                                               std::vector<std::string>& notes);
/// The same on every rank, collective over the world: rank 0 searches, and all share the reading of the parts. Only
/// rank 0 has notes.
[[nodiscard]] CheckpointInfo newest_checkpoint(Communicator& communicator, const std::string& folder,
                                               const RunInputs& run, std::vector<std::string>& notes);
/// Collective: in each group of replicas one rank reads, and broadcasts. Any plan may read what any other wrote. Throws
/// InputError, on every rank.
template <class P>
void read_checkpoint(Rank<P>& rank, const CheckpointInfo& info);

/// The whole model, fp32, as one WeightsFile, written atomically by rank 0 with what others send it. Collective.
template <class P>
void write_model(Rank<P>& rank, const std::string& file);
/// The gradients of this moment, likewise (before clipping, summed over the batch): for checks against other
/// frameworks.
template <class P>
void write_gradients(Rank<P>& rank, const std::string& file);
/// Weights from a file; optimizer states begin anew. Collective: one rank of each group of replicas reads and
/// broadcasts. Throws InputError (on every rank) for a missing tensor or another shape.
template <class P>
void read_model(Rank<P>& rank, const std::string& file);

}  // namespace auspex::exec
