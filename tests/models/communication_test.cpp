/// @file Stacks that leave communication to a library: what they are in full, and what is refused.
#include "models/stack_file/communication.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

const std::string kStacks = std::string(AUSPEX_SOURCE_DIR) + "/stacks/";

JsonDocument open_stack(const std::string& name) { return JsonDocument::load(kStacks + name + ".json"); }

/// A stack whose "communication" is something else, in full.
JsonDocument with_text(const std::string& name, const std::string& communication,
                       OwnCommunication own = OwnCommunication::kRefused) {
    JsonDocument stack = open_stack(name);
    stack.set("communication", communication);
    return with_communication(stack, "", own, open_stack);
}

std::string refusal(const std::string& name, const std::string& communication) {
    try {
        static_cast<void>(with_text(name, communication));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// Checks that the stack in full has the sections of the library that the text names.
void expect_sections_of(const std::string& text, const JsonDocument& stack, std::string_view architecture) {
    const std::size_t slash = text.find('/');
    ASSERT_NE(slash, std::string::npos) << text;
    JsonDocument library = open_stack(text.substr(0, slash));
    library.set("transport.use", text.substr(slash + 1));
    library.set("transport.library", text.substr(0, slash));
    library.set("transport.measured_on", library.root().at("measured_on").as_string());
    const JsonDocument whole = with_communication(stack, architecture);
    for (const char* const section : {"transport", "collectives", "environment"}) {
        const auto expected = library.root().find(section), found = whole.root().find(section);
        ASSERT_EQ(found.has_value(), expected.has_value()) << section;
        EXPECT_TRUE(!found || found->dump() == expected->dump()) << section;
    }
    EXPECT_FALSE(whole.root().find("communication"));
    EXPECT_EQ(whole.root().at("kernels").dump(), stack.root().at("kernels").dump());
    EXPECT_EQ(load_stack(whole).transport_name, text.substr(slash + 1));
}

/// transport but for "use", collectives and environment are the library's, text for text; use is the entry.
TEST(Communication, shipped_stacks_have_the_sections_of_their_library) {
    int left_to_libraries = 0;
    for (const auto& file : std::filesystem::directory_iterator(kStacks)) {
        const JsonDocument stack = JsonDocument::load(file.path().string());
        const auto named = stack.root().find("communication");
        if (!named) {
            EXPECT_EQ(with_communication(stack).dump(), stack.dump());
            continue;
        }
        ++left_to_libraries;
        expect_sections_of(named->is_object() ? named->at("otherwise").as_string() : named->as_string(), stack, "");
        for (const std::string_view architecture : kArchitectures) {
            if (const auto own = named->is_object() ? named->find(architecture) : std::nullopt) {
                expect_sections_of(own->as_string(), stack, architecture);
            }
        }
    }
    EXPECT_GE(left_to_libraries, 10);
}

/// text(architecture) = own text, or otherwise's where there is none or nothing is known of the machine.
TEST(Communication, an_object_has_a_library_for_tiles_of_each_architecture) {
    const auto taken = [](std::string_view architecture) {
        JsonDocument stack = open_stack("x-moe");
        stack.set("communication", R"({"otherwise": "rccl/slingshot", "hopper": "nccl/h100-2024", "cdna3": "rccl"})");
        Machine machine;
        machine.tile.architecture = architecture;
        return communication_name(load_stack(stack, machine));
    };
    EXPECT_EQ(taken(""), "rccl/slingshot");
    EXPECT_EQ(taken("xe-hpc"), "rccl/slingshot");
    EXPECT_EQ(taken("hopper"), "nccl/h100-2024");
    EXPECT_EQ(taken("cdna3"), communication_name(load_stack(open_stack("rccl"))));
    EXPECT_NE(refusal("x-moe", R"({"hopper": "nccl"})").find("otherwise"), std::string::npos);
    EXPECT_NE(refusal("x-moe", R"({"otherwise": "rccl", "hoper": "nccl"})").find("hoper"), std::string::npos);
    EXPECT_NE(refusal("x-moe", R"({"otherwise": "rccl", "hopper": "nccl/"})").find("$.communication.hopper"),
              std::string::npos)
        << "also where it is not the one that is taken";
}

TEST(Communication, machines_without_an_architecture_and_parts_of_releases_are_noted) {
    const JsonDocument core = open_stack("megatron-core");
    Machine machine;
    machine.name = "own";
    EXPECT_NE(architecture_note(machine, load_stack(core, machine)).find("machine own has no tile.architecture"),
              std::string::npos);
    machine.tile.architecture = "hopper";
    EXPECT_NE(architecture_note(machine, load_stack(core, machine)).find("on hopper"), std::string::npos);
    machine.tile.architecture = "ampere";
    EXPECT_EQ(architecture_note(machine, load_stack(core, machine)), "");
    machine.tile.architecture = "";
    machine.cpu.cores = 2;
    EXPECT_EQ(architecture_note(machine, load_stack(core, machine)), "");
}

/// Rates of links are those of the GPUs on which they were measured.
TEST(Communication, shipped_stacks_have_a_library_of_the_machines_gpus) {
    const auto taken = [](const std::string& stack, const std::string& machine) {
        return communication_name(load_stack(
            open_stack(stack),
            load_machine(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/" + machine + ".json"))));
    };
    for (const char* const stack : {"megatron-core", "pytorch-fsdp", "megatron-deepspeed", "x-moe", "deepspeed-moe"}) {
        EXPECT_EQ(taken(stack, "dgx-a100"), "nccl/a100-2021") << stack;
        EXPECT_EQ(taken(stack, "dgx-h100"), "nccl/h100-2024") << stack;
        EXPECT_EQ(taken(stack, "gb200-nvl72"), "nccl/h100-2024") << stack;
        EXPECT_EQ(taken(stack, "lumi"), "rccl/slingshot") << stack;
        EXPECT_EQ(taken(stack, "mi300x"), "rccl-xgmi/mi300-2025") << stack;
        EXPECT_EQ(taken(stack, "mi355x"), "rccl-xgmi/mi300-2025") << stack;
    }
    EXPECT_EQ(taken("megatron-deepspeed", "aurora"), "oneccl/pytorch-2025");
}

TEST(Communication, both_files_are_sources_and_the_name_is_the_stacks) {
    const JsonDocument whole = with_communication(open_stack("x-moe"));
    const std::vector<JsonDocument::Source> sources = whole.sources();
    ASSERT_EQ(sources.size(), 2U);
    EXPECT_EQ(whole.name(), kStacks + "x-moe.json");
    EXPECT_EQ(sources.front().sha256, open_stack("x-moe").sha256());
    EXPECT_EQ(sources.back().name, kStacks + "rccl.json");
    EXPECT_EQ(sources.back().sha256, open_stack("rccl").sha256());
}

TEST(Communication, a_library_alone_means_the_entry_that_it_uses) {
    EXPECT_EQ(load_stack(with_text("x-moe", "nccl")).transport_name, load_stack(open_stack("nccl")).transport_name);
    const Stack other = load_stack(with_text("x-moe", "nccl/a100-2021"));
    EXPECT_EQ(other.transport_name, "a100-2021");
    EXPECT_EQ(other.library, "nccl");
    EXPECT_EQ(other.measured_on, "frontier");
    EXPECT_EQ(other.transport_measured_on, "none");
}

TEST(Communication, own_sections_are_replaced_only_where_that_is_asked_for) {
    EXPECT_NE(refusal("bare", "rccl").find("bare.json: $.transport"), std::string::npos) << refusal("bare", "rccl");
    const Stack replaced = load_stack(with_text("bare", "rccl", OwnCommunication::kReplaced));
    EXPECT_EQ(replaced.name, "bare");
    EXPECT_EQ(replaced.transport_name, load_stack(open_stack("rccl")).transport_name);
    EXPECT_EQ(replaced.scale_out_message_s, load_stack(open_stack("rccl")).scale_out_message_s);
}

TEST(Communication, slips_are_refused_with_what_there_is) {
    for (const char* const text : {"5", "/", "rccl/", "/slingshot", "../stacks/rccl", "a/b/c", "true"}) {
        const std::string message = refusal("x-moe", text);
        EXPECT_NE(message.find("x-moe.json: $.communication"), std::string::npos) << text << " gave: " << message;
    }
    EXPECT_NE(refusal("x-moe", "nccl/2020").find("nccl, nccl/a100-2021, nccl/h100-2024"), std::string::npos)
        << refusal("x-moe", "nccl/2020");
    EXPECT_NE(refusal("x-moe", "tutel").find("leaves to"), std::string::npos) << refusal("x-moe", "tutel");
    EXPECT_NE(refusal("x-moe", "no-such-library").find("no-such-library.json"), std::string::npos);
}

TEST(Communication, what_is_wrong_in_a_library_names_its_file) {
    try {
        static_cast<void>(with_communication(open_stack("x-moe"), "", OwnCommunication::kRefused, [](const auto& name) {
            JsonDocument library = open_stack(name);
            library.set("transport.entries.slingshot.scale_out_message", "1 W");
            return library;
        }));
        FAIL() << "a message costs time";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("rccl.json: $.transport.entries.slingshot"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace auspex::models
