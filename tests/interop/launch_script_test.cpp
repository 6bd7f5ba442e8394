/// @file Shell text without running it.
#include "interop/launch_script.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "interop/shell_words.hpp"

namespace auspex::interop {
namespace {

TEST(ShellWords, here_documents_are_kept_as_they_stand) {
    const ShellText shell = shell_words(
        "cat >a.json <<'END' # comment\n{\"a\": \"it's\"}\nEND\n"
        "python <<-EOF b.py\n\t\tprint(1)\n\tEOF\necho $((1 << 3)) <<< word\n",
        "job.sh");
    ASSERT_EQ(shell.documents.size(), 2U);
    EXPECT_EQ(shell.documents[0], "{\"a\": \"it's\"}\n");
    EXPECT_EQ(shell.documents[1], "print(1)\n");
    ASSERT_EQ(shell.commands.size(), 3U);
    EXPECT_EQ(shell.commands[0], (Words{"cat", ">a.json"}));
    EXPECT_EQ(shell.commands[1], (Words{"python", "b.py"}));
    EXPECT_THROW(static_cast<void>(shell_words("cat <<END\nno end\n", "job.sh")), InputError);
    EXPECT_THROW(static_cast<void>(shell_words("cat <<END", "job.sh")), InputError);
}

TEST(LaunchScript, a_module_behind_python_is_the_program) {
    const LaunchScript script =
        read_launch_script("srun -m block -n 8 python3 -u -m torchtitan.train --a.b 1\nOTHER=(--a.c 2)\n", "job.sh");
    EXPECT_EQ(script.arguments.size(), 1U);
    EXPECT_EQ(script.arguments.at("--a.b"), "1");
    EXPECT_EQ(script.ranks, 8);
    const LaunchScript torchrun = read_launch_script(
        "python -m torch.distributed.run --nproc-per-node 4 --nnodes 2 -m torchtitan.train --a.b=1", "job.sh");
    EXPECT_EQ(torchrun.arguments.size(), 1U);
    EXPECT_EQ(torchrun.ranks, 8);
}

TEST(LaunchScript, arrays_within_arrays_end_somewhere) {
    std::string text = "python p.py ${A0[@]}\n";
    for (int i = 0; i < 200'000; ++i) {
        text += "A" + std::to_string(i) + "=(${A" + std::to_string(i + 1) + "[@]})\n";
    }
    text += "A200000=(--a 1)\n";
    EXPECT_THROW(static_cast<void>(read_launch_script(text, "job.sh")), InputError);
    EXPECT_EQ(read_launch_script("A=(${B[@]})\nB=(${A[@]} --a 1)\npython p.py ${A[@]}", "job.sh").arguments.size(), 1U);
}

TEST(LaunchScript, variables_have_their_one_value) {
    ShellValues variables = script_values(
        "export A=1 B='x y'\nA=1\nC=2\nC=3\nD=$A\nE=$C\nF=$NOWHERE\nG=$H\nH=$G\nMODEL=a/b--c\ncd \"$E\"\n", "job.sh");
    EXPECT_EQ(variables.value("A"), "1");
    EXPECT_EQ(variables.value("B"), "x y");
    EXPECT_EQ(variables.value("D"), "1");
    for (const char* unknown : {"C", "E", "F", "G", "NOWHERE"}) {
        EXPECT_EQ(variables.value(unknown), std::nullopt) << unknown;
    }
    EXPECT_EQ(variables.value("MODEL"), "a/b--c");
    EXPECT_TRUE(variables.notes().empty());
    EXPECT_TRUE(read_launch_script("MODEL=a/b--c\npython p.py --f $MODEL", "job.sh").arguments.contains("--f"));
}

// PP_SIZE and NNODES come from the surroundings, or are what stands behind ":-"; 2 x (3 + 1) = 8.
TEST(LaunchScript, defaults_and_sums_are_written_out) {
    const LaunchScript script = read_launch_script(
        "PP=${PP_SIZE:-4}\nNNODES=${NNODES:-\"4\"}\nGPUS=\"${GPUS:-\"8\"}\"\nTP=2\nTP=${TP:-16}\n"
        ": \"${EP:=$TP}\"\nBATCH=$((TP * (3 + 1)))\nEMPTY=\nNAME=\"${NAME:-\"a b\"}\"\n"
        "torchrun --nnodes $NNODES --nproc_per_node ${GPUS} p.py --pp $PP --tp ${TP} --ep $EP --batch $BATCH "
        "--cp ${EMPTY:-1} --vp ${CHUNKS-3} --twice $(( 2*$BATCH )) --dir /a/${PP}/b --name \"$NAME\" "
        "--none ${EMPTY-1} --other ${TP%x} --zero $((1 / 0)) --big $((9999999 * 9999999 * 9999999))\n",
        "job.sh");
    EXPECT_EQ(script.ranks, 32);
    const std::pair<const char*, const char*> expected[] = {{"--pp", "4"},
                                                            {"--tp", "2"},
                                                            {"--ep", "2"},
                                                            {"--batch", "8"},
                                                            {"--cp", "1"},
                                                            {"--vp", "3"},
                                                            {"--none", ""},
                                                            {"--twice", "16"},
                                                            {"--dir", "/a/4/b"},
                                                            {"--name", "a b"},
                                                            {"--other", "${TP%x}"},
                                                            {"--zero", "$((1 / 0))"},
                                                            {"--big", "$((9999999 * 9999999 * 9999999))"}};
    for (const auto& [argument, value] : expected) {
        EXPECT_EQ(script.arguments.at(argument), value) << argument;
    }
    ASSERT_EQ(script.notes.size(), 1U);
    EXPECT_EQ(script.notes[0],
              "variables that the script leaves to its surroundings have its defaults: CHUNKS 3, EP 2, GPUS 8, NAME a "
              "b, NNODES 4, PP_SIZE 4");
    EXPECT_EQ(read_launch_script("N=${N:-4}\nsrun -n $((N * 8)) python p.py --a 1", "job.sh").ranks, 32);
}

TEST(LaunchScript, variables_within_variables_end_somewhere) {
    std::string chain, doubled = "V0=x\n";
    for (int i = 0; i < 200'000; ++i) {
        chain += "A" + std::to_string(i) + "=$A" + std::to_string(i + 1) + "\n";
    }
    for (int i = 0; i < 90; ++i) {
        doubled += "V" + std::to_string(i + 1) + "=$V" + std::to_string(i) + "$V" + std::to_string(i) + "\n";
    }
    EXPECT_EQ(script_values(chain + "A200000=1\n", "job.sh").value("A0"), std::nullopt);
    EXPECT_EQ(script_values(doubled, "job.sh").value("V3"), "xxxxxxxx");
    EXPECT_EQ(script_values(doubled, "job.sh").value("V90"), std::nullopt);
    const std::string brackets = "A=$((" + std::string(100'000, '(') + "\nB=" + std::string(50'000, '$') + "\n";
    EXPECT_EQ(script_values(brackets, "job.sh").value("B"), std::nullopt);
    std::string nested = "A=";
    for (int i = 0; i < 50'000; ++i) {
        nested += "${X:-";
    }
    EXPECT_EQ(script_values(nested + "1" + std::string(50'000, '}'), "job.sh").value("A"), std::nullopt);
}

}  // namespace
}  // namespace auspex::interop
