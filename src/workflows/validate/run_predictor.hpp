#pragma once
/// @file One published run: from its names to a machine, a stack, a workload and a plan, and their prediction.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/runs/run_judgement.hpp"
#include "models/inputs.hpp"
#include "sim/predict/options.hpp"

namespace auspex::workflows {

/// A machine or stack, from the folder where one is given.
[[nodiscard]] std::string place_of(const std::string& name, const std::string& folder);

class RunPredictor {
 public:
    /// `machines`, `stacks`: folders of files in place of the shipped ones; `overrides`: ROLE.PATH=VALUE. All must live
    /// as long. Throws InputError for folders that are none.
    RunPredictor(const evaluate::RunNames& names, const std::string& machines, const std::string& stacks,
                 const std::vector<std::string>& overrides);

    /// The step of a predicted run with more settings.
    [[nodiscard]] double step_with(const evaluate::ValidatedRun& one, const std::vector<std::string>& settings) const;

    /// Loads the machine and the stack of every run with the overrides. What is wrong with files is an error, and so is
    /// what no run's files take of --set; where some take it, the others' cases are not mapped.
    void check_files(const std::vector<evaluate::PublishedRun>& runs) const;

    [[nodiscard]] evaluate::ValidatedRun validated(evaluate::PublishedRun run) const;

 private:
    void predict_run(evaluate::ValidatedRun& one) const;

    /// Of the machine file, in 16 bits; 0 for runs in others.
    [[nodiscard]] double peak_tflops_of(const evaluate::PublishedRun& run, const evaluate::RunNames::Hardware& hardware,
                                        const evaluate::RunNames::Framework& framework) const;

    /// Of what the run leaves open, what is predicted to be fastest of all that fits; where nothing fits, the usual.
    /// The run then has it, with a note.
    [[nodiscard]] models::Inputs fastest_inputs(evaluate::ValidatedRun& one,
                                                const evaluate::RunNames::Hardware& hardware,
                                                const evaluate::RunNames::Framework& framework,
                                                const predict::PredictOptions& options) const;

    [[nodiscard]] std::vector<std::string> settings_of(const evaluate::RunNames::Hardware& hardware,
                                                       const evaluate::RunNames::Framework& framework,
                                                       bool is_compiled) const;

    /// Fills in what the case is as files: texts, settings, notes.
    [[nodiscard]] models::Inputs inputs_of(evaluate::ValidatedRun& one, const evaluate::RunNames::Hardware& hardware,
                                           const evaluate::RunNames::Framework& framework,
                                           const std::vector<std::string>& more) const;

    const evaluate::RunNames& names_;
    const std::string& machines_;
    const std::string& stacks_;
    const std::vector<std::string>& overrides_;
};

}  // namespace auspex::workflows
