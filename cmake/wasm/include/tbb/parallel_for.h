#pragma once
/// @file One thread, one after another: what tbb::parallel_for is in a page.

namespace tbb {

template <typename Index, typename Body>
void parallel_for(Index first, Index last, const Body& body) {
    for (; first < last; ++first) {
        body(first);
    }
}

}  // namespace tbb
