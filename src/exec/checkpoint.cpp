/// @file Two checkpoints in turn: which to overwrite, which to trust, and the steps that keep one of them whole.
#include "exec/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "exec/agreement.hpp"
#include "exec/checkpoint_parts.hpp"
#include "exec/durable_file.hpp"
#include "exec/operations.hpp"
#include "exec/optimizer.hpp"

namespace auspex {
namespace {

std::string checkpoint_name(std::size_t which) { return "checkpoint-" + std::to_string(which); }
std::string manifest_in(const std::string& folder) { return folder + "/" + kManifestName; }

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

[[noreturn]] void refuse_workload(const std::string& folder, const Manifest& manifest, const Workload& workload) {
    throw InputError(manifest_in(folder), "found a checkpoint of workload " + manifest.workload +
                                              " whose tensors are others; expected one of " + workload.name);
}

// Writing

/// The checkpoint to overwrite, as rank 0 finds it.
struct Target {
    std::int64_t which = 0;
    std::int64_t serial = 1;  ///< of the new checkpoint
};

/// One without a manifest that can be read; else one of a later step than this run has reached, which it cannot have
/// come from; else the older.
Target choose_target(const std::string& folder, const Workload& workload, int steps_done) {
    Target target;
    std::array<std::int64_t, 2> order_of_use{};  // the smaller is overwritten
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string own = folder + "/" + checkpoint_name(i);
        std::optional<Manifest> manifest;
        try {
            manifest = load_manifest(manifest_in(own));
        } catch (const InputError&) {
            order_of_use[i] = std::numeric_limits<std::int64_t>::min();
            continue;
        }
        if (manifest->workload_digest != shapes_digest(workload)) {
            refuse_workload(own, *manifest, workload);
        }
        order_of_use[i] = manifest->step >= steps_done ? manifest->serial - std::numeric_limits<std::int64_t>::max()
                                                       : manifest->serial;
        target.serial = std::max(target.serial, manifest->serial + 1);
    }
    target.which = order_of_use[1] < order_of_use[0] ? 1 : 0;
    return target;
}

/// Makes the folder, and ends what was there: first the manifest, then the parts, so that there is space.
void clear_target(const std::string& target) {
    make_folder(target);
    sync_folder(std::filesystem::path(target).parent_path().string());
    remove_file(manifest_in(target));
    sync_folder(target);
    for (const auto& entry : std::filesystem::directory_iterator(target)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("part-") || name.starts_with(kManifestName)) {
            remove_file(entry.path().string());
        }
    }
}

std::string plan_text(const Plan& plan) {
    const auto field = [](const char* name, int value) { return std::string(name) + " " + std::to_string(value); };
    return field("pp", plan.pp) + ", " + field("dp", plan.dp) + ", " + field("ep", plan.ep) + ", " +
           field("tp", plan.tp) + ", optimizer " + to_string(plan.optimizer) + ", " + plan.precision;
}

/// What every rank wrote, known to rank 0.
std::vector<PartFile> collect_parts(Communicator& communicator, const PartFile& own) {
    if (communicator.world_rank() != 0) {
        const std::string text = own.name + " " + std::to_string(own.bytes) + " " + own.sha256;
        communicator.send_bytes(0, std::as_bytes(std::span(text)));
        return {};
    }
    std::vector<PartFile> parts{own};
    for (int other = 1; other < communicator.world_size(); ++other) {
        const std::vector<std::byte> bytes = communicator.receive_bytes(other);
        std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        PartFile part;
        text >> part.name >> part.bytes >> part.sha256;
        parts.push_back(std::move(part));
    }
    return parts;
}

void write_manifest(const std::string& target, const Manifest& manifest) {
    sync_folder(target);
    const std::string partial = manifest_in(target) + ".partial";
    DurableFile output(partial);
    output.write(manifest_text(manifest));
    output.finish();
    move_into_place(partial, manifest_in(target));
}

/// Throws on every rank if any has a problem.
void stop_if_any(Communicator& communicator, const std::string& target, const std::string& own_problem) {
    const std::string problem = first_problem_and_rank(communicator, own_problem);
    if (!problem.empty()) {
        throw CheckpointError(target + " is not written: " + problem + "; the other checkpoint is as it was");
    }
}

/// The same; what this run has put into the target goes first, so that the space comes back.
void clear_and_stop_if_any(Communicator& communicator, const std::string& target, const std::string& own_problem) {
    try {
        stop_if_any(communicator, target, own_problem);
    } catch (const CheckpointError&) {
        const std::string part = target + "/" + part_name(communicator.world_rank());
        static_cast<void>(problem_of([&] { remove_file(part); }));
        if (communicator.world_rank() == 0) {
            static_cast<void>(problem_of([&] { remove_file(manifest_in(target) + ".partial"); }));
        }
        throw;
    }
}

// Finding

/// Why a checkpoint's parts are not what its manifest says; empty if they are.
std::string damage_of(const std::string& folder, const Manifest& manifest) {
    return problem_of([&] {
        for (const PartFile& part : manifest.parts) {
            const std::string file = folder + "/" + part.name;
            std::error_code error;
            const std::uintmax_t bytes = std::filesystem::file_size(file, error);
            if (error) {
                throw FileError(part.name + ": " + error.message());
            }
            if (bytes != part.bytes) {
                throw FileError(part.name + " has " + std::to_string(bytes) + " bytes, its manifest says " +
                                std::to_string(part.bytes));
            }
            if (sha256_of_file(file) != part.sha256) {
                throw FileError(part.name + " has another checksum than its manifest says");
            }
        }
    });
}

struct Candidate {
    std::string name, folder;
    Manifest manifest;
};

/// The checkpoints with manifests that can be read, newest first; `refused` says why others are none. A folder without
/// manifest is no checkpoint, and only noted.
std::vector<Candidate> candidates_in(const std::string& folder, std::vector<std::string>& refused,
                                     std::vector<std::string>& notes) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < 2; ++i) {
        Candidate c{checkpoint_name(i), folder + "/" + checkpoint_name(i), {}};
        if (!is_there(manifest_in(c.folder))) {
            if (is_there(c.folder)) {
                notes.push_back(c.name + " has no manifest: it was not finished, and is not used");
            }
            continue;
        }
        try {
            c.manifest = load_manifest(manifest_in(c.folder));
            found.push_back(std::move(c));
        } catch (const InputError& error) {
            refused.push_back(c.name + ": " + error.what());
        }
    }
    if (found.size() == 2 && found[0].manifest.serial < found[1].manifest.serial) {
        std::swap(found[0], found[1]);
    }
    return found;
}

// Reading

/// One of the ranks that own the same shard reads its elements, and tells the others.
template <class P>
std::string read_shard(Rank<P>& rank, const std::optional<CheckpointReader>& reader, bool experts) {
    const Sharding sharding = sharding_of(rank.plan(), *rank.communicator, rank.table, experts);
    std::string problem;
    for (const TensorPart& part : shard_parts(rank)) {
        if (part.is_expert != experts) {
            continue;
        }
        StateValues values(part.size());
        if (sharding.replica == 0 && problem.empty() && reader) {
            problem = problem_of([&] { values = reader->read(part); });
        }
        if (sharding.replicas > 1) {
            rank.communicator->broadcast(sharding.replica_group, 0, values.numbers.data(),
                                         values.numbers.size() * sizeof(float));
        }
        store_state(rank, StateKind::kWeight, part, values.of_kind(0));
        store_state(rank, StateKind::kFirstMoment, part, values.of_kind(1));
        store_state(rank, StateKind::kSecondMoment, part, values.of_kind(2));
    }
    if (sharding.is_sharded) {
        Buffer<typename P::Value>& weights = experts ? rank.weights.experts : rank.weights.dense;
        rank.communicator->all_gather(sharding.shard_group, weights.data(), sharding.offsets,
                                      element_type<typename P::Value>());
    }
    return problem;
}

}  // namespace

template <class P>
void write_checkpoint(Rank<P>& rank, const std::string& folder, int steps_done) {
    Communicator& communicator = *rank.communicator;
    const bool leads = communicator.world_rank() == 0;
    Target choice;
    std::string problem;
    if (leads) {
        problem = problem_of([&] {
            choice = choose_target(folder, rank.workload(), steps_done);
            clear_target(folder + "/" + checkpoint_name(static_cast<std::size_t>(choice.which)));
        });
    }
    communicator.broadcast(GroupKind::kWorld, 0, &choice, sizeof choice);
    const std::string target = folder + "/" + checkpoint_name(static_cast<std::size_t>(choice.which));
    stop_if_any(communicator, target, problem);
    PartFile own;
    problem = problem_of([&] { own = write_part(rank, target); });
    clear_and_stop_if_any(communicator, target, problem);
    std::vector<PartFile> parts = collect_parts(communicator, own);
    if (leads) {
        const Manifest manifest{choice.serial,
                                steps_done,
                                rank.run->seed,
                                rank.workload().name,
                                shapes_digest(rank.workload()),
                                plan_text(rank.plan()),
                                std::move(parts)};
        problem = problem_of([&] { write_manifest(target, manifest); });
    }
    clear_and_stop_if_any(communicator, target, problem);
}

CheckpointInfo newest_checkpoint(const std::string& folder, const RunInputs& run, std::vector<std::string>& notes) {
    std::vector<std::string> refused;
    CheckpointInfo info;
    for (const Candidate& c : candidates_in(folder, refused, notes)) {
        if (c.manifest.workload_digest != shapes_digest(run.workload)) {
            refuse_workload(c.folder, c.manifest, run.workload);
        }
        const std::string damage = damage_of(c.folder, c.manifest);
        if (damage.empty()) {
            info = {c.manifest.step, c.manifest.seed, c.manifest.workload_digest, c.folder};
            break;
        }
        refused.push_back(c.name + " of step " + std::to_string(c.manifest.step) + ": " + damage);
    }
    if (info.folder.empty() && !refused.empty()) {
        std::string all;
        for (const std::string& reason : refused) {
            all += (all.empty() ? "" : "; ") + reason;
        }
        throw InputError(folder, "found no whole checkpoint (" + all + "); expected one");
    }
    for (const std::string& reason : refused) {
        notes.push_back(reason + "; using " + std::filesystem::path(info.folder).filename().string() + " of step " +
                        std::to_string(info.step));
    }
    return info;
}

template <class P>
void read_checkpoint(Rank<P>& rank, const CheckpointInfo& info) {
    std::optional<CheckpointReader> reader;
    const bool reads = sharding_of(rank.plan(), *rank.communicator, rank.table, false).replica == 0 ||
                       sharding_of(rank.plan(), *rank.communicator, rank.table, true).replica == 0;
    const auto agree = [&](const std::string& own) {
        const std::string problem = first_problem_and_rank(*rank.communicator, own);
        if (!problem.empty()) {
            throw InputError(info.folder, "cannot be read: " + problem);
        }
    };
    agree(problem_of([&] {
        if (reads) {
            reader.emplace(info.folder, load_manifest(manifest_in(info.folder)));
        }
    }));
    const std::string dense = read_shard(rank, reader, false), experts = read_shard(rank, reader, true);
    agree(dense.empty() ? experts : dense);
}

#define AUSPEX_INSTANTIATE(P)                                             \
    template void write_checkpoint<P>(Rank<P>&, const std::string&, int); \
    template void read_checkpoint<P>(Rank<P>&, const CheckpointInfo&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex
