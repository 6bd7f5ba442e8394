/// @file Stages of torchtitan.
#include "interop/torchtitan/torchtitan.hpp"

namespace auspex::interop {

std::vector<int> torchtitan_layers(int layers, int stages, int embedding, int head) {
    if (stages == 1) {
        return {layers};
    }
    const int counted = layers + embedding + head, each = counted / stages, rest = counted % stages;
    if (each == 0 || embedding > each || head > each) {
        return {};
    }
    std::vector<int> dealt;
    for (int stage = 0; stage < stages; ++stage) {
        dealt.push_back(each + (stage < rest ? 1 : 0));
    }
    dealt.front() -= embedding;
    dealt.back() -= head;
    return dealt;
}

}  // namespace auspex::interop
