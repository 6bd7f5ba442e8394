/// @file Numbers and words that have to be the workload's.
#include "interop/model_check.hpp"

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostOfModel = 1'000'000'000;

}  // namespace

void ModelCheck::refuse(const std::string& name, const std::string& found, const std::string& own,
                        const std::string& field) const {
    in_.refuse(name, found, own + ", workload." + field + " of " + workload_.name);
}

void ModelCheck::number(const std::string& name, std::int64_t own, const std::string& field) {
    if (!in_.has(name)) {
        return;
    }
    if (in_.word(name, "") == "0" && own == 0) {
        return;
    }
    if (const std::int64_t found = in_.whole(name, own, kMostOfModel); found != own) {
        refuse(name, std::to_string(found), std::to_string(own), field);
    }
}

void ModelCheck::word(const std::string& name, const std::string& own, const std::string& field) {
    if (const std::string found = in_.word(name, own); found != own) {
        refuse(name, found, own, field);
    }
}

void ModelCheck::only_if(const std::string& name, bool own, const std::string& field) {
    if (in_.has(name) && !own) {
        refuse(name, "it", "no such switch", field);
    }
}

void ModelCheck::required(const std::string& name, std::int64_t own, const std::string& field) {
    if (!in_.has(name)) {
        refuse(name, "no such argument", std::to_string(own), field);
    }
}

void ModelCheck::vocabulary(const std::string& name, std::int64_t step) {
    if (in_.has(name)) {
        const std::int64_t found = in_.whole(name, 1, kMostOfModel), padded = (found + step - 1) / step * step;
        if (found != workload_.vocab_size && padded != workload_.vocab_size) {
            refuse(name, std::to_string(found), std::to_string(workload_.vocab_size), "vocab_size");
        }
    }
}

}  // namespace auspex::interop
