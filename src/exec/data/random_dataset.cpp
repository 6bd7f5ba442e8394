/// @file Rows of random tokens, prepared as those of a user are.
#include "exec/data/random_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "exec/data/megatron.hpp"
#include "exec/data/prepare.hpp"

namespace auspex::exec {

void make_random_dataset(int vocabulary, int sequence_length, int rows, const std::string& path) {
    constexpr int kShort = 65'536;
    const std::string tokens = path + "-tokens";
    MegatronWriter writer(tokens, vocabulary <= kShort ? 2 : 4);
    Rng rng(1);
    for (int row = 0; row < rows; ++row) {
        std::vector<std::int32_t> sequence(static_cast<std::size_t>(sequence_length) + 1);
        for (std::int32_t& token : sequence) {
            token = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(vocabulary)));
        }
        writer.add_sequence(sequence);
    }
    writer.commit();
    PrepareRequest request;
    request.megatron = tokens;
    request.vocabulary = vocabulary;
    request.sequence_length = sequence_length;
    request.folder = path;
    static_cast<void>(prepare_dataset(request, [](const char*, std::size_t, std::size_t) {}));
}

}  // namespace auspex::exec
