/// @file The lowest rank with a problem tells it to all.
#include "exec/agreement.hpp"

#include <exception>

namespace auspex {

std::string problem_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

std::string first_problem(Communicator& communicator, const std::string& own) {
    const int size = communicator.world_size();
    // The largest distance from the end is the lowest rank.
    std::int64_t distance = own.empty() ? 0 : size - communicator.world_rank();
    communicator.all_reduce(GroupKind::kWorld, &distance, 1, ElementType::kInt64, ReduceOp::kMax);
    if (distance == 0) {
        return {};
    }
    const int teller = size - static_cast<int>(distance);
    std::uint64_t length = own.size();
    communicator.broadcast(GroupKind::kWorld, teller, &length, sizeof length);
    std::string text = communicator.world_rank() == teller ? own : std::string(length, ' ');
    communicator.broadcast(GroupKind::kWorld, teller, text.data(), text.size());
    return text;
}

std::string first_problem_and_rank(Communicator& communicator, const std::string& own) {
    return first_problem(communicator,
                         own.empty() ? own : "rank " + std::to_string(communicator.world_rank()) + ": " + own);
}

}  // namespace auspex
