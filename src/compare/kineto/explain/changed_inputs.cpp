/// @file Constants set, and judged by the loaders.
#include "compare/kineto/explain/changed_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "base/number_text.hpp"

namespace auspex::kineto {

models::Inputs with_constants(const models::Inputs& inputs, const std::vector<ChangedConstant>& changes) {
    models::Inputs changed = inputs;
    for (const ChangedConstant& change : changes) {
        const std::size_t dot = change.path.find('.');
        JsonDocument& document =
            change.path.compare(0, dot, "machine") == 0 ? changed.machine_document : changed.stack_document;
        document.set(change.path.substr(dot + 1), change.dimension == Dimension::kNone
                                                      ? json_number(change.value)
                                                      : exact_quantity(change.value, change.dimension));
    }
    changed.machine = models::load_machine(changed.machine_document);
    changed.stack = models::load_stack(changed.stack_document, changed.machine);
    return changed;
}

const Constant* find_constant(const models::Inputs& inputs, const std::string& path) {
    for (const auto* constants : {&inputs.machine.constants, &inputs.stack.constants}) {
        const auto found = std::find_if(constants->begin(), constants->end(),
                                        [&path](const Constant& constant) { return constant.path == path; });
        if (found != constants->end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace auspex::kineto
