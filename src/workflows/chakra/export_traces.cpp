/// @file Sizes first, then files.
#include "workflows/chakra/export_traces.hpp"

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/output_file.hpp"
#include "base/units.hpp"
#include "interop/chakra/chakra_folder.hpp"
#include "interop/chakra/chakra_writer.hpp"
#include "models/kernel_cost.hpp"
#include "sim/predict/simulate.hpp"
#include "workflows/chakra/role_trace.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;
using interop::ChakraNode, interop::ChakraNodeType;

void require_no_traces(const std::string& folder) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".et") || name.ends_with(".et.gz") || name == interop::kChakraRolesFile) {
            throw InputError("--chakra " + folder,
                             "found " + name +
                                 " there; expected a folder without traces, for those of two plans must "
                                 "not mix");
        }
    }
}

std::string file_of(const std::string& folder, int rank) {
    return (fs::path(folder) / (std::string(interop::kChakraPrefix) + "." + std::to_string(rank) + ".et")).string();
}

std::string microseconds_note() {
    return "durations are whole microseconds: what is cut off one is added to the next of the same rank";
}

std::vector<std::string> notes_of(const models::Inputs& inputs, const predict::SimulatedStep& step) {
    if (step.program.overlap_cp) {
        throw InputError(inputs.plan.file + ": $.context_parallel",
                         std::string("found \"") + to_string(inputs.plan.context) +
                             "\"; expected \"all-gather\" or \"all-to-all\": a trace has no word for shifts in a ring");
    }
    std::vector<std::string> notes{microseconds_note()};
    bool has_barrier = false, has_broadcast = false, has_rows = false;
    for (const schedule::Operation& op : step.program.operations) {
        has_barrier = has_barrier || op.comm == schedule::CommKind::kBarrier;
        has_broadcast = has_broadcast || op.comm == schedule::CommKind::kBroadcast;
        has_rows = has_rows || op.comm == schedule::CommKind::kRowsToNodes;
    }
    if (step.load.heaviest_rank > 1) {
        notes.push_back("uneven all-to-alls cannot be written: each has the mean bytes, while the busiest rank gets " +
                        fixed(step.load.heaviest_rank, 2) + " times the mean; durations are those of the busiest");
    }
    if (has_barrier) {
        notes.push_back("barriers are all-reduces of " + fixed(kBarrierBytes, 0) +
                        " bytes with auspex_stands_for = barrier: ASTRA-sim has no barrier");
    }
    if (has_rows) {
        notes.emplace_back(
            "rows that go once to each node are all-to-alls of what reaches each rank: what plays them sends more "
            "between "
            "nodes");
    }
    if (has_broadcast) {
        notes.emplace_back("ASTRA-sim takes a broadcast as a delay only");
    }
    if (step.program.overlap_tp || step.program.overlap_ep || step.program.overlap_dp) {
        notes.emplace_back(
            "communications run beside compute: so that a simulator with one collective a rank at a time does not wait "
            "forever, each waits for the one before it (auspex_order_dep); auspex import chakra leaves that out");
    }
    if (models::collective_compute_share(inputs.machine, inputs.stack) > 0) {
        notes.emplace_back("durations are those of compute with no collective beside it");
    }
    notes.emplace_back(
        "algorithms, noise and shared links are not in a trace: they are those of the network that plays it");
    return notes;
}

interop::ChakraMetadata metadata_of(const models::Inputs& inputs, const predict::SimulatedStep& step,
                                    const ChakraExport& request, int stage, const std::vector<std::string>& notes) {
    interop::ChakraMetadata metadata;
    metadata.texts = {{"generator", request.generator},
                      {"workload", inputs.workload.name},
                      {"plan", inputs.plan.name},
                      {"machine", inputs.machine.name},
                      {"stack", inputs.stack.name},
                      {"tiles", std::to_string(step.layout.tiles)},
                      {"pipeline_stage", std::to_string(stage)},
                      {"prediction", "duration_micros of COMP nodes is predicted, not measured"}};
    for (std::size_t i = 0; i < notes.size(); ++i) {
        metadata.texts.emplace_back("note_" + std::to_string(i + 1), notes[i]);
    }
    return metadata;
}

class Exporter {
 public:
    Exporter(const models::Inputs& inputs, const ChakraExport& request)
        : inputs_(inputs),
          request_(request),
          step_(predict::simulate_step(inputs, {.tiles = request.tiles, .trace_details = true}, false)),
          groups_(step_) {
        exported_.ranks = step_.layout.tiles;
        exported_.groups = groups_.ranks().size();
        exported_.notes = notes_of(inputs, step_);
    }

    ChakraExported run() {
        require_room();
        const int of_stage = request_.by_role ? 1 : step_.layout.stage_ranks;
        const std::size_t files = static_cast<std::size_t>(of_stage) * step_.program.roles.size();
        std::vector<interop::ChakraRole> roles;
        for (int stage = 0; stage < step_.plan.pp; ++stage) {
            for (int n = 0; n < of_stage; ++n) {
                write_rank(stage, n);
                if (request_.progress) {
                    request_.progress(++exported_.files, files);
                }
            }
            if (request_.by_role) {
                roles.push_back(role_of(stage));
            }
        }
        exported_.files = files;
        write_file((fs::path(request_.folder) / interop::kChakraGroupsFile).string(),
                   interop::chakra_groups_text(groups_.ranks()));
        if (request_.by_role) {
            write_file((fs::path(request_.folder) / interop::kChakraRolesFile).string(),
                       interop::chakra_roles_text(roles));
        }
        return exported_;
    }

 private:
    /// Of the traces of one rank of each stage, and all of them.
    void require_room() {
        double bytes = 0;
        for (int stage = 0; stage < step_.plan.pp; ++stage) {
            interop::ChakraEncoder encoder;
            double of_rank = 0;
            std::uint64_t nodes = 0;
            visit_role(step_, groups_, stage, step_.layout.stage_ranks - 1, [&](const ChakraNode& node) {
                encoder.add(node);
                of_rank += static_cast<double>(encoder.bytes.size());
                encoder.bytes.clear();
                ++nodes;
            });
            bytes += of_rank * (request_.by_role ? 1 : step_.layout.stage_ranks);
            exported_.nodes += nodes * static_cast<std::uint64_t>(step_.layout.stage_ranks);
        }
        if (bytes > request_.most_bytes) {
            throw InputError("--chakra " + request_.folder,
                             "found traces of " + format_quantity(bytes, Dimension::kBytes) + " in " +
                                 thousands(step_.layout.tiles) + " files; expected at most " +
                                 format_quantity(request_.most_bytes, Dimension::kBytes) +
                                 ": give --chakra-limit a larger size, or --chakra-roles for one file a pipeline "
                                 "stage");
        }
    }

    void write_rank(int stage, int n) {
        constexpr std::size_t kPortion = std::size_t{1} << 20U;
        OutputFile out(file_of(request_.folder, step_.layout.rank(stage, n)));
        interop::ChakraEncoder encoder;
        encoder.add(metadata_of(inputs_, step_, request_, stage, exported_.notes));
        const auto flush = [&] {
            exported_.bytes += static_cast<double>(encoder.bytes.size());
            out.write(encoder.bytes);
            encoder.bytes.clear();
        };
        visit_role(step_, groups_, stage, n, [&](const ChakraNode& node) {
            encoder.add(node);
            if (encoder.bytes.size() > kPortion) {
                flush();
            }
        });
        flush();
        out.commit();
    }

    /// Who else has what the first rank of the stage has.
    [[nodiscard]] interop::ChakraRole role_of(int stage) const {
        interop::ChakraRole role;
        role.file = file_of(request_.folder, step_.layout.rank(stage, 0));
        for (int n = 0; n < step_.layout.stage_ranks; ++n) {
            role.ranks.push_back(step_.layout.rank(stage, n));
        }
        const int pp = step_.plan.pp;
        for (const schedule::BlockUse& use : step_.program.roles[static_cast<std::size_t>(stage)].order) {
            for (const schedule::Operation& op : step_.program.operations_of(step_.program.blocks[use.block])) {
                const bool is_message = op.comm == schedule::CommKind::kSend || op.comm == schedule::CommKind::kReceive;
                if (op.comm == schedule::CommKind::kNone || is_message || is_world(op) ||
                    groups_.size_of(op.group) == 1) {
                    continue;
                }
                std::vector<std::string>& column = role.groups[groups_.name_of(op.group, stage, 0)];
                for (int n = static_cast<int>(column.size()); n < step_.layout.stage_ranks; ++n) {
                    column.push_back(groups_.name_of(op.group, stage, n));
                }
            }
        }
        std::vector<int> peers{(stage + 1) % pp, (stage + pp - 1) % pp};
        if (has_stages_twice(step_.plan.schedule)) {
            peers.push_back(pp - 1 - stage);
        }
        for (const int peer : peers) {
            std::vector<int>& column = role.peers[step_.layout.rank(peer, 0)];
            for (int n = static_cast<int>(column.size()); n < step_.layout.stage_ranks && pp > 1; ++n) {
                column.push_back(step_.layout.rank(peer, n));
            }
        }
        if (pp == 1) {
            role.peers.clear();
        }
        return role;
    }

    const models::Inputs& inputs_;
    const ChakraExport& request_;
    predict::SimulatedStep step_;
    ProcessGroups groups_;
    ChakraExported exported_;
};

}  // namespace

ChakraExported export_chakra(const models::Inputs& inputs, const ChakraExport& request) {
    if (inputs.machine.cpu.cores > 0) {
        throw InputError("--chakra", "found machine " + inputs.machine.name +
                                         ", whose ranks are processes on CPU cores; expected a machine of "
                                         "accelerators");
    }
    if (inputs.plan.offload_layers > 0) {
        throw InputError(inputs.plan.file + ": $.offload_layers",
                         "found " + std::to_string(inputs.plan.offload_layers) +
                             "; expected 0 for --chakra: its traces have no copies between a tile and its host");
    }
    require_no_traces(request.folder);
    return Exporter(inputs, request).run();
}

}  // namespace auspex::workflows
