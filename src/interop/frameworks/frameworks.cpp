/// @file The table of frameworks.
#include "interop/frameworks/frameworks.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/text/closest_word.hpp"
#include "interop/deepspeed/deepspeed.hpp"
#include "interop/megatron/megatron.hpp"
#include "interop/optimus/optimus.hpp"
#include "interop/settings_writer.hpp"
#include "interop/torchtitan/torchtitan.hpp"

namespace auspex::interop {

namespace {

/// No framework here trains on images, or by preferences.
template <Emission (*emit)(const EmitRequest&)>
Emission of_next_tokens(const EmitRequest& request) {
    const models::Workload& workload = request.workload;
    if (workload.image.is_given()) {
        throw InputError(workload.file + ": $.image",
                         "found an image; expected a model of text: no framework here has it");
    }
    if (workload.objective != models::Objective::kNextToken) {
        throw InputError(workload.file + ": $.objective",
                         "found \"dpo\"; expected \"next-token\": no framework here has it");
    }
    return emit(request);
}

/// `rank_order ["dp", "pp", "ep", "tp"]`
std::string field_and_found(const InputError& error) {
    const std::string where = error.where();
    const std::size_t dollar = where.find("$.");
    const std::string found = error.found().substr(0, error.found().find("; expected"));
    const std::string before = "found ";
    return (dollar == std::string::npos ? where : where.substr(dollar + 2)) + " " +
           (found.starts_with(before) ? found.substr(before.size()) : found);
}

}  // namespace

const std::vector<Framework>& frameworks() {
    static const std::vector<Framework> all{
        {"megatron-lm", "Megatron-LM", of_next_tokens<megatron_emission>, plan_of_megatron},
        {"optimus", "Optimus-LM", of_next_tokens<optimus_emission>, plan_of_optimus},
        {"torchtitan", "torchtitan", of_next_tokens<torchtitan_emission>, plan_of_torchtitan},
        {"deepspeed", "DeepSpeed", of_next_tokens<deepspeed_emission>, plan_of_deepspeed}};
    return all;
}

const Framework& framework_named(const std::string& word, const std::string& flag) {
    const auto known = std::ranges::find_if(frameworks(), [&](const Framework& one) { return one.word == word; });
    if (known != frameworks().end()) {
        return *known;
    }
    std::string list;
    std::vector<std::string> words;
    for (const Framework& one : frameworks()) {
        list += (list.empty() ? "" : ", ") + std::string(one.word);
        words.emplace_back(one.word);
    }
    throw InputError(flag, "found \"" + printable(word) + "\"; expected one of " + list + did_you_mean(word, words));
}

std::vector<std::string> refused_by(const Framework& framework, const models::Workload& workload,
                                    const models::Plan& plan, int tiles_of_node) {
    std::vector<std::string> refused;
    try {
        static_cast<void>(framework.emit({workload, plan, tiles_of_node, 0, ""}));
    } catch (const PlanRefusal& refusal) {
        std::ranges::transform(refusal.faults(), std::back_inserter(refused), field_and_found);
    } catch (const InputError& of_workload) {
        refused.push_back(field_and_found(of_workload));
    }
    return refused;
}

}  // namespace auspex::interop
