#pragma once
/// @file Which operation of the host was running, and inside which others.
#include <cstdint>
#include <vector>

#include "compare/kineto/trace/trace.hpp"
#include "compare/kineto/trace/work.hpp"

namespace auspex::kineto {

/// Host operations of a trace, nested by time on each thread.
class HostCalls {
 public:
    explicit HostCalls(const Trace& trace);

    /// The innermost operation of the thread at that time; kNone: none.
    [[nodiscard]] std::uint32_t innermost(std::uint32_t thread, std::int64_t time) const;
    /// The one that it runs in; kNone: none.
    [[nodiscard]] std::uint32_t parent(std::uint32_t op) const { return parents_[op]; }
    [[nodiscard]] const OpFacts& facts(std::uint32_t op) const { return facts_[trace_.host_ops[op].name]; }

    /// What a kernel that `op` launches is: the operation around it that is one thing as a whole, else the innermost
    /// that is known.
    struct Context {
        std::uint32_t op = kNone;  ///< that told `work`; kNone: none did
        std::optional<Work> work;
        Pass pass = Pass::kUnknown;
        std::uint32_t collective = kNone;  ///< of the innermost operation that has facts of one
    };
    [[nodiscard]] Context context(std::uint32_t op) const;

    /// The whole operation counts as backward if a node of autograd runs it; as recomputed if it is recorded for
    /// autograd itself while a node runs.
    [[nodiscard]] Pass pass_of(std::uint32_t op) const;

 private:
    const Trace& trace_;
    std::vector<OpFacts> facts_;                         ///< by name
    std::vector<std::uint32_t> parents_;                 ///< by operation
    std::vector<std::vector<std::uint32_t>> by_thread_;  ///< operations in the order of their starts
};

/// The product of a matrix multiplication by its operands' sizes, and the largest operand's elements.
[[nodiscard]] Product product_of(const std::string& op, const Operands& operands);
[[nodiscard]] double largest_operand(const Operands& operands);

}  // namespace auspex::kineto
