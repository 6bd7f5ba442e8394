#pragma once
/// @file Values by link where few of many links have one.
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace auspex::network {

/// An array over all links of which only the blocks that were used are allocated. All values begin as T().
template <class T>
class SparseLinks {
 public:
    explicit SparseLinks(std::size_t links) : block_of_(links / kBlock + 1, nullptr) {}

    /// Makes the value if it is not there.
    [[nodiscard]] T& operator[](std::uint32_t link) {
        Block*& block = block_of_[link / kBlock];
        if (block == nullptr) {
            block = new_block();
        }
        block->there |= std::uint64_t{1} << (link % kBlock);
        return block->values[link % kBlock];
    }
    /// The value, T() if it is not there.
    [[nodiscard]] T at(std::uint32_t link) const {
        const Block* const block = block_of_[link / kBlock];
        return block != nullptr ? block->values[link % kBlock] : T();
    }

    /// Calls visit(link, value) for every value that is there, by rising link; none is there afterwards. The memory
    /// stays for the next ones.
    template <class Visit>
    void drain(Visit&& visit) {
        for (std::size_t b = 0; b < block_of_.size() && used_ > 0; ++b) {
            Block* const block = block_of_[b];
            if (block == nullptr) {
                continue;
            }
            for (std::uint64_t left = block->there; left != 0; left &= left - 1) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
                visit(static_cast<std::uint32_t>(b * kBlock) + bit, block->values[bit]);
            }
            *block = Block();
            block_of_[b] = nullptr;
        }
        used_ = 0;
    }

 private:
    static constexpr std::size_t kBlock = 64;
    struct Block {
        std::uint64_t there = 0;  ///< a bit for each link
        std::array<T, kBlock> values{};
    };
    Block* new_block() {
        if (used_ == blocks_.size()) {
            blocks_.push_back(std::make_unique<Block>());
        }
        return blocks_[used_++].get();
    }

    std::vector<Block*> block_of_;  ///< null: none of its links has a value
    std::vector<std::unique_ptr<Block>> blocks_;
    std::size_t used_ = 0;  ///< of blocks_, from the first on
};

}  // namespace auspex::network
