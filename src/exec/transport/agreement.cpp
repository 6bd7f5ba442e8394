/// @file The lowest rank with a problem tells it to all.
#include "exec/transport/agreement.hpp"

#include <algorithm>
#include <exception>

#include "base/error.hpp"

namespace auspex::exec {

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
    communicator.all_reduce(models::GroupKind::kWorld, &distance, 1, ElementType::kInt64, ReduceOp::kMax);
    if (distance == 0) {
        return {};
    }
    return shared_text(communicator, size - static_cast<int>(distance), own);
}

std::string first_problem_and_rank(Communicator& communicator, const std::string& own) {
    return first_problem(communicator,
                         own.empty() ? own : "rank " + std::to_string(communicator.world_rank()) + ": " + own);
}

void agree_on_input(Communicator& communicator, const std::string& own) {
    const std::string problem = first_problem(communicator, own);
    if (!problem.empty()) {
        const std::size_t colon = std::min(problem.find(": "), problem.size());  // InputError puts it back
        throw InputError(problem.substr(0, colon), problem.substr(std::min(colon + 2, problem.size())));
    }
}

std::string shared_text(Communicator& communicator, int root, const std::string& own) {
    std::uint64_t length = own.size();
    communicator.broadcast(models::GroupKind::kWorld, root, &length, sizeof length);
    std::string text = communicator.world_rank() == root ? own : std::string(length, ' ');
    communicator.broadcast(models::GroupKind::kWorld, root, text.data(), text.size());
    return text;
}

}  // namespace auspex::exec
