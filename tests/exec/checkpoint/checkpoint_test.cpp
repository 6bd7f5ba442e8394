/// @file Checkpoints: round trips over layouts, damage found, failures that leave the other one whole.
#include "exec/checkpoint/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "../state_fixture.hpp"
#include "base/error.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"

namespace auspex::state_fixture {
namespace {

/// Everything that a checkpoint must bring back, as whole tensors.
struct State {
    FloatTensors weights, m, v;
    bool operator==(const State&) const = default;
};

template <class P>
void collect_state(const exec::Rank<P>& rank, State& state) {
    collect(rank, exec::StateKind::kWeight, state.weights);
    collect(rank, exec::StateKind::kFirstMoment, state.m);
    collect(rank, exec::StateKind::kSecondMoment, state.v);
}

/// Writes a checkpoint of a state that depends on the seed, by a run that began from `source`; returns that state.
template <class P>
State write_state(const models::Plan& plan, const std::string& folder, int steps_done, const std::string& source = "",
                  std::uint64_t seed = 1) {
    State state;
    exec::RunInputs run = run_inputs(every_tensor_model(), plan);
    run.seed = seed;
    on_ranks<P>(run, [&](exec::Rank<P>& rank) {
        fill_moments(rank);
        collect_state(rank, state);
        const std::string written = exec::write_checkpoint(
            rank, {folder, source, steps_done, 4 * steps_done, {{"seed", std::to_string(seed)}}});
        EXPECT_NE(written, source);
    });
    return state;
}

exec::CheckpointInfo newest(const std::string& folder, std::vector<std::string>* notes = nullptr,
                            const models::Workload& workload = every_tensor_model()) {
    std::vector<std::string> own;
    return newest_checkpoint(folder, run_inputs(workload, single_plan()), notes == nullptr ? own : *notes);
}

template <class P>
State read_state(const models::Plan& plan, const exec::CheckpointInfo& info) {
    State state;
    exec::RunInputs run = run_inputs(every_tensor_model(), plan);
    run.seed = 999;
    on_ranks<P>(run, [&](exec::Rank<P>& rank) {
        exec::read_checkpoint(rank, info);
        collect_state(rank, state);
        rank.communicator->barrier(models::GroupKind::kWorld);
        int different = 0;  // replicas have the owners' weights
        for_each_element(
            rank.table, [&](bool is_expert, std::size_t flat, std::size_t whole, const exec::Parameter& p) {
                const auto weight = (is_expert ? rank.weights.experts : rank.weights.dense)[flat];
                different +=
                    exec::real(weight) != exec::real(exec::stored<typename P::Value>(state.weights.at(p.name)[whole]));
            });
        EXPECT_EQ(different, 0) << words_of(plan);
    });
    return state;
}

TEST(Checkpoint, every_layout_reads_exactly_what_every_other_wrote) {
    for (const models::Plan& writer : layouts()) {
        const TestFolder folder;
        const State written = write_state<exec::Fp32>(writer, folder.path() + "/run", 40, "", 7);
        const exec::CheckpointInfo info = newest(folder.path() + "/run");
        EXPECT_EQ(info.step, 40);
        EXPECT_EQ(info.manifest.sequences, 160);
        EXPECT_EQ(info.manifest.settings.at("seed"), "7");
        EXPECT_EQ(read_state<exec::Fp32>(writer, info), written) << words_of(writer);
        EXPECT_EQ(read_state<exec::Bf16WithFp32Gradients>(single_plan(), info), written) << words_of(writer);
        for (const models::Plan& reader : {plan_of(1, 2, 2, 2, models::OptimizerSharding::kEpAware),
                                           plan_of(2, 2, 2, 1, models::OptimizerSharding::kSharded),
                                           plan_of(1, 3, 1, 1, models::OptimizerSharding::kReplicated)}) {
            EXPECT_EQ(read_state<exec::Fp32>(reader, info), written) << words_of(writer) << " to " << words_of(reader);
        }
    }
}

TEST(Checkpoint, bf16_masters_come_back_unrounded) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 2, 2, 1, models::OptimizerSharding::kSharded);
    const State written = write_state<exec::Bf16Precision>(plan, folder.path(), 1);
    EXPECT_EQ(read_state<exec::Bf16Precision>(plan, newest(folder.path())), written);
    EXPECT_EQ(read_state<exec::Fp32>(single_plan(), newest(folder.path())), written);
}

TEST(Checkpoint, replicas_share_the_writing) {
    const TestFolder folder;
    static_cast<void>(
        write_state<exec::Fp32>(plan_of(1, 2, 2, 2, models::OptimizerSharding::kReplicated), folder.path(), 1));
    const exec::Manifest manifest = exec::load_manifest(folder.path() + "/checkpoint-0/manifest.json");
    ASSERT_EQ(manifest.parts.size(), 8U);
    const exec::ParameterTable model = exec::whole_model(every_tensor_model());
    std::uint64_t sum = 0;
    for (const exec::PartFile& part : manifest.parts) {
        sum += part.bytes;
    }
    EXPECT_EQ(sum, 12 * (model.dense_size + model.experts_size));  // every element once
}

TEST(Checkpoint, what_a_run_began_from_is_not_overwritten) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded);
    EXPECT_EQ(newest(folder.path() + "/none").folder, "");
    for (const int step : {10, 20, 30}) {
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), step, newest(folder.path()).folder));
        EXPECT_EQ(newest(folder.path()).step, step);
    }
    EXPECT_EQ(newest(folder.path()).folder, folder.path() + "/checkpoint-0");
    EXPECT_EQ(exec::load_manifest(folder.path() + "/checkpoint-1/manifest.json").step, 20);
    // A run that went back to step 20 writes over step 30.
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 25, folder.path() + "/checkpoint-1"));
    EXPECT_EQ(newest(folder.path()).step, 25);
    EXPECT_EQ(exec::load_manifest(folder.path() + "/checkpoint-1/manifest.json").step, 20);
    // Two that it did not begin from: nothing may go.
    on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
        for (const char* source : {"", "elsewhere"}) {
            EXPECT_NE(message_of<exec::CheckpointError>([&] {
                          static_cast<void>(write_checkpoint(rank, {folder.path(), source, 50, 0, {}}));
                      }).find("did not begin from"),
                      std::string::npos);
        }
    });
}

TEST(Checkpoint, a_smaller_world_leaves_no_parts_of_a_larger_one) {
    const TestFolder folder;
    static_cast<void>(
        write_state<exec::Fp32>(plan_of(1, 3, 1, 1, models::OptimizerSharding::kSharded), folder.path(), 1));
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 2, newest(folder.path()).folder));
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 3, newest(folder.path()).folder));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() + "/checkpoint-0"), {}), 2);
}

/// Damages a file of the newer checkpoint, expects the older one and a note, and repairs it.
void expect_older_one(const std::string& folder, const std::string& file, const std::string& damaged,
                      const std::string& reason) {
    const std::string whole = bytes_of(file);
    write_bytes(file, damaged);
    std::vector<std::string> notes;
    EXPECT_EQ(newest(folder, &notes).step, 40) << file;
    ASSERT_EQ(notes.size(), 1U) << file;
    EXPECT_TRUE(notes[0].starts_with("checkpoint-1")) << notes[0];
    EXPECT_NE(notes[0].find(reason), std::string::npos) << notes[0];
    EXPECT_TRUE(notes[0].ends_with("; using checkpoint-0 of step 40")) << notes[0];
    write_bytes(file, whole);
}

TEST(Checkpoint, a_changed_byte_or_a_missing_end_of_any_file_is_found) {
    const TestFolder folder;
    const models::Plan plan = plan_of(2, 2, 1, 1, models::OptimizerSharding::kSharded);
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 40));
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, folder.path() + "/checkpoint-0"));
    const std::string newer = folder.path() + "/checkpoint-1/";
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(newer)) {
        files.push_back(entry.path().filename().string());
    }
    EXPECT_EQ(files.size(), 5U);
    for (const std::string& file : files) {
        const std::string whole = bytes_of(newer + file);
        const bool is_manifest = file == "manifest.json";
        for (const std::size_t at : {std::size_t{0}, whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ 1);
            expect_older_one(folder.path(), newer + file, damaged, is_manifest ? "manifest" : "another checksum");
        }
        expect_older_one(folder.path(), newer + file, whole.substr(0, whole.size() - 7),
                         is_manifest ? "manifest" : "its manifest says");
        EXPECT_EQ(newest(folder.path()).step, 60);
    }
    std::filesystem::remove(newer + "part-00002.bin");
    std::vector<std::string> notes;
    EXPECT_EQ(newest(folder.path(), &notes).step, 40);
    EXPECT_NE(notes.at(0).find("part-00002.bin: No such file"), std::string::npos);
    // Without a whole one there is nothing to go on from, and beginning anew would be a surprise.
    write_bytes(folder.path() + "/checkpoint-0/part-00000.bin", "");
    EXPECT_NE(
        message_of<InputError>([&] { static_cast<void>(newest(folder.path())); }).find("found no whole checkpoint"),
        std::string::npos);
}

TEST(Checkpoint, every_byte_of_a_manifest_counts) {
    const TestFolder folder;
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 40));
    const std::string file = folder.path() + "/checkpoint-0/manifest.json", whole = bytes_of(file);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 2);
        write_bytes(file, damaged);
        EXPECT_THROW(static_cast<void>(exec::load_manifest(file)), InputError) << at;
    }
}

TEST(Checkpoint, one_without_a_manifest_does_not_exist) {
    const TestFolder folder;
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 40));
    std::filesystem::remove(folder.path() + "/checkpoint-0/manifest.json");
    std::vector<std::string> notes;
    EXPECT_EQ(newest(folder.path(), &notes).folder, "");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0], "checkpoint-0 has no manifest: it was not finished, and is not used");
}

TEST(Checkpoint, another_workloads_are_neither_read_nor_overwritten) {
    const TestFolder folder;
    const State state = write_state<exec::Fp32>(single_plan(), folder.path(), 40);
    EXPECT_NE(
        message_of<InputError>([&] {
            static_cast<void>(newest(folder.path(), nullptr, dense_model()));
        }).find("found a checkpoint of another model (tiny-moe: expert_size 6, now 0; first_dense_layers 1, now 0; "),
        std::string::npos);
    on_ranks<exec::Fp32>(run_inputs(dense_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded)),
                         [&](exec::Rank<exec::Fp32>& rank) {
                             EXPECT_NE(message_of<exec::CheckpointError>([&] {
                                           static_cast<void>(write_checkpoint(rank, {folder.path(), "", 50, 0, {}}));
                                       }).find("found a checkpoint of another model"),
                                       std::string::npos);
                         });
    EXPECT_EQ(read_state<exec::Fp32>(single_plan(), newest(folder.path())), state);
}

/// Files cannot grow beyond this, as on a full disk, while it lives.
class FileLimit {
 public:
    explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

 private:
    void (*handler_)(int);
    rlimit before_{};
};

TEST(Checkpoint, a_failure_on_one_rank_is_told_by_all_and_leaves_the_other_checkpoint) {
    const TestFolder folder;
    const models::Plan plan = plan_of(2, 1, 1, 1, models::OptimizerSharding::kSharded);
    const State state = write_state<exec::Fp32>(plan, folder.path(), 40);
    const std::string source = folder.path() + "/checkpoint-0";
    const exec::Manifest manifest = exec::load_manifest(source + "/manifest.json");
    const std::uint64_t sizes[] = {manifest.parts.at(0).bytes, manifest.parts.at(1).bytes};
    ASSERT_NE(sizes[0], sizes[1]);
    const std::string failing = sizes[0] > sizes[1] ? "part-00000.bin" : "part-00001.bin";
    {
        const FileLimit limit((sizes[0] + sizes[1]) / 2);  // room for the smaller part only
        on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
            const std::string message = message_of<exec::CheckpointError>([&] {
                static_cast<void>(write_checkpoint(rank, {folder.path(), source, 60, 0, {}}));
            });
            EXPECT_NE(message.find(failing + ": File too large"), std::string::npos) << message;
            EXPECT_NE(message.find("rank " + failing.substr(9, 1)), std::string::npos) << message;
        });
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/checkpoint-1"));  // the space is back
    std::vector<std::string> notes;
    EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path(), &notes)), state);
    EXPECT_EQ(newest(folder.path()).step, 40);
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, source));  // and the next attempt succeeds
    EXPECT_EQ(newest(folder.path()).step, 60);
}

void flip_byte(const std::string& file) {
    std::string bytes = bytes_of(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_bytes(file, bytes);
}

/// As a run that was killed while it wrote leaves it.
void write_half(const std::string& checkpoint) {
    std::filesystem::remove(checkpoint + "/manifest.json");
    std::filesystem::resize_file(checkpoint + "/part-00000.bin", 100);
}

TEST(Checkpoint, one_is_whole_though_the_newer_was_damaged_and_the_next_write_fails_or_is_killed) {
    for (const char* damaged : {"part-00000.bin", "manifest.json"}) {
        const TestFolder folder;
        const models::Plan plan = plan_of(2, 1, 1, 1, models::OptimizerSharding::kSharded);
        const State state = write_state<exec::Fp32>(plan, folder.path(), 40);
        const std::string good = folder.path() + "/checkpoint-0", newer = folder.path() + "/checkpoint-1";
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, good));
        flip_byte(newer + "/" + damaged);
        const exec::CheckpointInfo source = newest(folder.path());
        EXPECT_EQ(source.folder, good);
        {
            const FileLimit limit(100);
            on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
                EXPECT_THROW(static_cast<void>(write_checkpoint(rank, {folder.path(), source.folder, 50, 0, {}})),
                             exec::CheckpointError);
            });
        }
        EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path())), state) << damaged;
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 50, source.folder));
        EXPECT_EQ(newest(folder.path()).folder, newer);
        write_half(newer);
        EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path())), state) << damaged;
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 50, newest(folder.path()).folder));
        EXPECT_EQ(newest(folder.path()).step, 50);
        EXPECT_EQ(newest(folder.path()).folder, newer);
    }
}

TEST(Checkpoint, a_folder_that_cannot_be_made_is_told) {
    const TestFolder folder;
    write_bytes(folder.path() + "/file", "x");
    on_ranks<exec::Fp32>(run_inputs(dense_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded)),
                         [&](exec::Rank<exec::Fp32>& rank) {
                             EXPECT_NE(
                                 message_of<exec::CheckpointError>([&] {
                                     static_cast<void>(write_checkpoint(rank, {folder.path() + "/file", "", 1, 0, {}}));
                                 }).find("Not a directory"),
                                 std::string::npos);
                         });
}

TEST(Checkpoint, another_function_of_the_same_tensors_is_refused_by_name) {
    const TestFolder folder;
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 1));
    const auto refusal = [&](const std::function<void(exec::RunInputs&)>& change) {
        exec::RunInputs run = run_inputs(every_tensor_model(), single_plan());
        change(run);
        std::vector<std::string> notes;
        return message_of<InputError>([&] { static_cast<void>(newest_checkpoint(folder.path(), run, notes)); });
    };
    EXPECT_NE(refusal([](exec::RunInputs& run) { run.workload.top_k = 1; }).find("top_k 2, now 1)"), std::string::npos);
    EXPECT_NE(refusal([](exec::RunInputs& run) { run.training.rope_theta = 5e5; }).find(": rope_theta 10000"),
              std::string::npos);
    EXPECT_NE(refusal([](exec::RunInputs& run) {
                  run.training.normalize_top_k = true, run.training.norm_epsilon = 1e-6;
              }).find(": norm_epsilon 1e-05, now 1e-06; normalize_top_k false, now true)"),
              std::string::npos);
}

TEST(Checkpoint, all_ranks_together_find_what_one_finds) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 3, 1, 1, models::OptimizerSharding::kSharded);
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 40));
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, folder.path() + "/checkpoint-0"));
    const exec::RunInputs run =
        run_inputs(every_tensor_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded));
    const auto on_all = [&](const std::function<void(exec::Communicator&, std::vector<std::string>&)>& body) {
        exec::run_in_process(run.layout, [&](exec::Communicator& communicator) {
            std::vector<std::string> notes;
            body(communicator, notes);
        });
    };
    flip_byte(folder.path() + "/checkpoint-1/part-00001.bin");
    on_all([&](exec::Communicator& communicator, std::vector<std::string>& notes) {
        const exec::CheckpointInfo info = newest_checkpoint(communicator, folder.path(), run, notes);
        EXPECT_EQ(info.step, 40);
        EXPECT_EQ(info.folder, folder.path() + "/checkpoint-0");
        EXPECT_EQ(info.manifest.parts.size(), 3U);
        EXPECT_EQ(notes.size(), communicator.world_rank() == 0 ? 1U : 0U);
    });
    flip_byte(folder.path() + "/checkpoint-0/part-00002.bin");
    on_all([&](exec::Communicator& communicator, std::vector<std::string>& notes) {
        EXPECT_NE(message_of<InputError>([&] {
                      static_cast<void>(newest_checkpoint(communicator, folder.path(), run, notes));
                  }).find("found no whole checkpoint"),
                  std::string::npos);
        EXPECT_EQ(newest_checkpoint(communicator, folder.path() + "/none", run, notes).folder, "");
    });
}

/// What reading the checkpoint says after the manifest's entries were changed and its digests put right.
std::string refusal_of_entries(const std::function<void(std::vector<exec::StoredPart>&)>& change) {
    const TestFolder folder;
    static_cast<void>(write_state<exec::Fp32>(single_plan(), folder.path(), 1));
    const std::string file = folder.path() + "/checkpoint-0/manifest.json";
    exec::Manifest manifest = exec::load_manifest(file);
    change(manifest.parts.at(0).tensors);
    write_bytes(file, manifest_text(manifest));
    std::string message;
    on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), single_plan()), [&](exec::Rank<exec::Fp32>& rank) {
        message = message_of<InputError>([&] { read_checkpoint(rank, newest(folder.path())); });
    });
    return message;
}

TEST(Checkpoint, entries_that_are_no_slices_of_their_tensor_are_refused) {
    const std::string no_slice = "expected a slice of that tensor", embedding = "model.embed_tokens.weight";
    const auto refusal = [&](const std::function<void(exec::StoredPart&)>& change) {
        return refusal_of_entries([&](std::vector<exec::StoredPart>& tensors) {
            ASSERT_EQ(tensors.at(0).tensor, embedding);  // [20, 8]
            change(tensors[0]);
        });
    };
    const auto is_found = [](const std::string& message, const std::string& part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    is_found(refusal([](exec::StoredPart& p) { p.split_dimension = 0, p.parts = 1000; }),
             no_slice);  // a chunk of nothing
    is_found(refusal([](exec::StoredPart& p) { p.split_dimension = 0, p.parts = 3; }), no_slice);
    is_found(refusal([](exec::StoredPart& p) { p.split_dimension = 2; }), no_slice);
    is_found(refusal([](exec::StoredPart& p) { p.parts = 2; }), no_slice);
    is_found(refusal([](exec::StoredPart& p) { p.begin += 1, p.end += 1; }), no_slice);
    is_found(refusal([](exec::StoredPart& p) { p.split_dimension = 1, p.parts = 2, p.part = 1; }), no_slice);
    is_found(refusal([](exec::StoredPart& p) { p.tensor = "x"; }), "found no numbers of " + embedding);
    is_found(refusal([](exec::StoredPart& p) { p.begin = 0, p.end = std::size_t{1} << 53; }),
             "found tensors of more than");
    is_found(refusal([](exec::StoredPart& p) { p.end -= 1; }), "found tensors of");
}

TEST(Checkpoint, entries_with_an_element_twice_and_another_missing_are_refused) {
    const std::string message = refusal_of_entries([](std::vector<exec::StoredPart>& tensors) {
        exec::StoredPart first = tensors[0], second = tensors[0];  // the first half twice
        first.end = second.end = tensors[0].end / 2;
        tensors[0] = first;
        tensors.insert(tensors.begin(), second);
    });
    EXPECT_NE(message.find("found two numbers for element 0 of a slice of model.embed_tokens.weight"),
              std::string::npos)
        << message;
}

TEST(Checkpoint, parts_that_lack_elements_are_refused_on_every_rank) {
    const TestFolder folder;
    const models::Plan plan = plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded);
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 1));
    const std::string file = folder.path() + "/checkpoint-0/manifest.json";
    exec::Manifest manifest = exec::load_manifest(file);
    manifest.parts.pop_back();
    write_bytes(file, manifest_text(manifest));
    const exec::CheckpointInfo info = newest(folder.path());
    on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
        EXPECT_NE(message_of<InputError>([&] { read_checkpoint(rank, info); }).find("found no numbers "),
                  std::string::npos);
    });
}

}  // namespace
}  // namespace auspex::state_fixture
