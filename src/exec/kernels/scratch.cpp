/// @file Grow-only blocks of a thread.
#include "exec/kernels/scratch.hpp"

#include <array>
#include <memory>
#include <new>

namespace auspex::exec {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
    void operator()(void* block) const { ::operator delete(block, kAlignment); }
};
struct Block {
    std::unique_ptr<void, Free> data;
    std::size_t bytes = 0;
};

std::array<Block, static_cast<std::size_t>(Scratch::kCount)>& blocks() {
    thread_local std::array<Block, static_cast<std::size_t>(Scratch::kCount)> of_thread;
    return of_thread;
}

}  // namespace

void* scratch_bytes(Scratch use, std::size_t bytes) {
    Block& block = blocks()[static_cast<std::size_t>(use)];
    if (block.bytes < bytes) {
        block = {};
        block.data.reset(::operator new(bytes, kAlignment));
        block.bytes = bytes;
    }
    return block.data.get();
}

std::size_t scratch_held() {
    std::size_t held = 0;
    for (const Block& block : blocks()) {
        held += block.bytes;
    }
    return held;
}

}  // namespace auspex::exec
