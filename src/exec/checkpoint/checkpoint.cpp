/// @file Two alternating checkpoints: which to overwrite, which to trust, and the steps that keep one of them whole.
#include "exec/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "exec/checkpoint/checkpoint_parts.hpp"
#include "exec/checkpoint/durable_file.hpp"
#include "exec/operations/mirror_exchange.hpp"
#include "exec/operations/operations.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/router_balance.hpp"
#include "exec/transport/agreement.hpp"

namespace auspex::exec {
namespace {

std::string checkpoint_name(std::size_t which) { return "checkpoint-" + std::to_string(which); }
std::string manifest_in(const std::string& folder) { return folder + "/" + kManifestName; }

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Throws InputError for a checkpoint of another model.
void check_model(const std::string& folder, const Manifest& manifest, const RunInputs& run) {
    const std::string different = changes(manifest.model, model_settings(run.workload, run.training));
    if (!different.empty()) {
        throw InputError(manifest_in(folder), "found a checkpoint of another model (" + manifest.workload + ": " +
                                                  different + "); expected one of " + run.workload.name +
                                                  " as this run has it");
    }
}

// Writing

/// The checkpoint to overwrite, as rank 0 finds it.
struct Target {
    std::uint64_t which = 0;
    std::int64_t serial = 1;  ///< of the new checkpoint
};

/// Not the source; without a source, one that has no manifest.
Target choose_target(const Saving& saving, const RunInputs& run) {
    Target target;
    std::array<bool, 2> is_kept{};
    for (std::size_t i = 0; i < is_kept.size(); ++i) {
        const std::string own = saving.folder + "/" + checkpoint_name(i);
        is_kept[i] = saving.source.empty() ? is_there(manifest_in(own)) : saving.source == own;
        std::optional<Manifest> manifest;
        try {
            manifest = load_manifest(manifest_in(own));
        } catch (const InputError&) {
            continue;  // none, or a damaged one
        }
        check_model(own, *manifest, run);
        target.serial = std::max(target.serial, manifest->serial + 1);
    }
    if (is_kept[0] == is_kept[1] && (is_kept[0] || !saving.source.empty())) {
        throw FileError(saving.folder + ": has checkpoints that this run did not begin from");
    }
    target.which = is_kept[0] ? 1 : 0;
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

std::string plan_text(const models::Plan& plan) {
    const auto field = [](const char* name, int value) { return std::string(name) + " " + std::to_string(value); };
    return field("pp", plan.pp) + ", " + field("dp", plan.dp) + ", " + field("ep", plan.ep) + ", " +
           field("tp", plan.tp) + ", optimizer " + to_string(plan.optimizer) + ", " + plan.precision;
}

/// What every rank wrote, known to rank 0.
std::vector<PartFile> collect_parts(Communicator& communicator, const PartFile& own) {
    if (communicator.world_rank() != 0) {
        const std::string text = part_text(own);
        communicator.send_bytes(0, std::as_bytes(std::span(text)));
        return {};
    }
    std::vector<PartFile> parts{own};
    for (int other = 1; other < communicator.world_size(); ++other) {
        const std::vector<std::byte> bytes = communicator.receive_bytes(other);
        parts.push_back(parse_part({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
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

void check_part(const std::string& folder, const PartFile& part) {
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

/// Why parts first, first + stride, … of a checkpoint are not what its manifest says; empty if they are.
std::string damage_of(const std::string& folder, const Manifest& manifest, std::size_t first, std::size_t stride) {
    return problem_of([&] {
        for (std::size_t i = first; i < manifest.parts.size(); i += stride) {
            check_part(folder, manifest.parts[i]);
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

/// Says what is wrong with a checkpoint's parts.
using FindDamage = std::function<std::string(const std::string& folder, const Manifest& manifest)>;

CheckpointInfo newest_whole(const std::string& folder, const RunInputs& run, std::vector<std::string>& notes,
                            const FindDamage& find_damage) {
    std::vector<std::string> refused;
    const std::vector<Candidate> candidates = candidates_in(folder, refused, notes);
    for (const Candidate& c : candidates) {
        check_model(c.folder, c.manifest, run);
    }
    CheckpointInfo info;
    for (const Candidate& c : candidates) {
        const std::string damage = find_damage(c.folder, c.manifest);
        if (damage.empty()) {
            info = {c.manifest.step, c.folder, c.manifest};
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

// Reading

/// One of the ranks that own the same shard reads its elements, and tells the others.
template <class P>
std::string read_shard(Rank<P>& rank, const std::optional<CheckpointReader>& reader, bool experts) {
    const Sharding sharding = sharding_of(rank, experts);
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
    return problem;
}

/// Weights that others have read.
template <class P>
void gather_weights(Rank<P>& rank, bool experts) {
    const Sharding sharding = sharding_of(rank, experts);
    if (sharding.is_sharded && !(experts ? rank.weights.sharded.experts : rank.weights.sharded.dense)) {
        Buffer<typename P::Value>& weights = experts ? rank.weights.experts : rank.weights.dense;
        for (const std::vector<std::size_t>& offsets : sharding.parts) {
            rank.communicator->all_gather(sharding.shard_group, weights.data(), offsets,
                                          element_type<typename P::Value>());
        }
    }
}

/// Whole on every rank: one of those with the same dense parameters reads, and tells the others.
template <class P>
std::string read_balance(Rank<P>& rank, const std::optional<CheckpointReader>& reader) {
    std::string problem;
    for (const TensorPart& part : balance_parts(rank, false)) {
        StateValues values(part.size());
        if (rank.communicator->group_rank(models::GroupKind::kDenseDp) == 0 && problem.empty() && reader) {
            problem = problem_of([&] { values = reader->read(part); });
        }
        rank.communicator->broadcast(models::GroupKind::kDenseDp, 0, values.numbers.data(),
                                     values.numbers.size() * sizeof(float));
        store_state(rank, StateKind::kWeight, part, values.of_kind(0));
    }
    return problem;
}

}  // namespace

template <class P>
std::string write_checkpoint(Rank<P>& rank, const Saving& saving) {
    Communicator& communicator = *rank.communicator;
    const bool leads = communicator.world_rank() == 0;
    Target choice;
    std::string problem;
    if (leads) {
        problem = problem_of([&] {
            choice = choose_target(saving, *rank.run);
            clear_target(saving.folder + "/" + checkpoint_name(choice.which));
        });
    }
    communicator.broadcast(models::GroupKind::kWorld, 0, &choice, sizeof choice);
    const std::string target = saving.folder + "/" + checkpoint_name(choice.which);
    stop_if_any(communicator, target, problem);
    PartFile own;
    problem = problem_of([&] { own = write_part(rank, target); });
    clear_and_stop_if_any(communicator, target, problem);
    std::vector<PartFile> parts = collect_parts(communicator, own);
    if (leads) {
        const Manifest manifest{choice.serial,          saving.step,
                                saving.sequences,       rank.workload().name,
                                plan_text(rank.plan()), model_settings(rank.workload(), rank.training()),
                                saving.settings,        std::move(parts)};
        problem = problem_of([&] { write_manifest(target, manifest); });
    }
    clear_and_stop_if_any(communicator, target, problem);
    return target;
}

CheckpointInfo newest_checkpoint(const std::string& folder, const RunInputs& run, std::vector<std::string>& notes) {
    return newest_whole(folder, run, notes, [](const std::string& checkpoint, const Manifest& manifest) {
        return damage_of(checkpoint, manifest, 0, 1);
    });
}

CheckpointInfo newest_checkpoint(Communicator& communicator, const std::string& folder, const RunInputs& run,
                                 std::vector<std::string>& notes) {
    // Rank 0 shows the others one checkpoint after another; an empty name ends it.
    const auto show = [&](const std::string& checkpoint, const Manifest& manifest) {
        CheckpointInfo shown;
        shown.folder = shared_text(communicator, 0, checkpoint);
        if (!shown.folder.empty()) {
            const std::string text = communicator.world_rank() == 0 ? manifest_text(manifest) : "";
            shown.manifest = parse_manifest(shared_text(communicator, 0, text), manifest_in(shown.folder));
            shown.step = shown.manifest.step;
        }
        return shown;
    };
    const auto shared_damage = [&](const CheckpointInfo& shown) {
        return first_problem(
            communicator, damage_of(shown.folder, shown.manifest, static_cast<std::size_t>(communicator.world_rank()),
                                    static_cast<std::size_t>(communicator.world_size())));
    };
    CheckpointInfo info;
    std::string problem;
    if (communicator.world_rank() == 0) {
        problem = problem_of([&] {
            info = newest_whole(folder, run, notes, [&](const std::string& checkpoint, const Manifest& manifest) {
                return shared_damage(show(checkpoint, manifest));
            });
        });
        static_cast<void>(show("", {}));
    } else {
        for (CheckpointInfo shown = show("", {}); !shown.folder.empty(); shown = show("", {})) {
            info = shared_damage(shown).empty() ? shown : CheckpointInfo();
        }
    }
    agree_on_input(communicator, problem);
    return info;
}

template <class P>
void read_checkpoint(Rank<P>& rank, const CheckpointInfo& info) {
    std::optional<CheckpointReader> reader;
    const bool reads = sharding_of(rank, false).replica == 0 || sharding_of(rank, true).replica == 0 ||
                       rank.communicator->group_rank(models::GroupKind::kDenseDp) == 0;
    const auto agree = [&](const std::string& own) {
        const std::string problem = first_problem_and_rank(*rank.communicator, own);
        if (!problem.empty()) {
            throw InputError(info.folder, "cannot be read: " + problem);
        }
    };
    agree(problem_of([&] {
        if (reads) {
            reader.emplace(info.folder, info.manifest);
        }
    }));
    const std::string dense = read_shard(rank, reader, false), experts = read_shard(rank, reader, true),
                      balance = read_balance(rank, reader);
    if (has_stages_twice(rank.plan().schedule)) {
        exchange_parameters_with_mirror(rank);
    }
    gather_weights(rank, false);
    gather_weights(rank, true);
    agree(!dense.empty() ? dense : !experts.empty() ? experts : balance);
}

#define AUSPEX_INSTANTIATE(P)                                          \
    template std::string write_checkpoint<P>(Rank<P>&, const Saving&); \
    template void read_checkpoint<P>(Rank<P>&, const CheckpointInfo&);
AUSPEX_INSTANTIATE(Fp32)
AUSPEX_INSTANTIATE(Fp64)
AUSPEX_INSTANTIATE(Bf16Precision)
AUSPEX_INSTANTIATE(Bf16WithFp32Gradients)
#undef AUSPEX_INSTANTIATE

}  // namespace auspex::exec
