#pragma once
/// @file A framework's arguments of the model beside the workload that they are said to train.
#include <cstdint>
#include <string>

#include "interop/argument_reader.hpp"
#include "models/workload.hpp"

namespace auspex::interop {

/// Compares what is there, and leaves alone what is not. Throws InputError as "FILE: NAME: found X; expected Y,
/// workload.FIELD of NAME".
class ModelCheck {
 public:
    ModelCheck(ArgumentReader& in, const models::Workload& workload) : in_(in), workload_(workload) {}

    void number(const std::string& name, std::int64_t own, const std::string& field);
    /// Another spelling of `own`, as a word.
    void word(const std::string& name, const std::string& own, const std::string& field);
    /// A switch that may not be there unless the workload has what it switches on.
    void only_if(const std::string& name, bool own, const std::string& field);
    /// An argument that has to be there: without it a framework takes another number than `own`.
    void required(const std::string& name, std::int64_t own, const std::string& field);
    /// As it is, or rounded up to a multiple of `step`.
    void vocabulary(const std::string& name, std::int64_t step);

    [[noreturn]] void refuse(const std::string& name, const std::string& found, const std::string& own,
                             const std::string& field) const;

 private:
    ArgumentReader& in_;
    const models::Workload& workload_;
};

}  // namespace auspex::interop
