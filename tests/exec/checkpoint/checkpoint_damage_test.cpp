/// @file Damaged checkpoints: every change is found, and the older one is used.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "checkpoint_fixture.hpp"

namespace auspex::state_fixture {
namespace {

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
