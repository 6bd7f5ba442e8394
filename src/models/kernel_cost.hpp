#pragma once
/// @file Time of a kernel on one tile: roofline with a GEMM efficiency curve, plus launches and host waits.
#include <cstdint>

#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {

enum class KernelType : std::uint8_t { kGemm, kAttention, kMemory };
/// Of a product or attention; 8 bits with one scale a tensor, or one a block.
enum class Operands : std::uint8_t { kBf16, kFp32, kFp8, kFp8Blocks, kNvfp4 };

/// Of products with the weights that 8 bits are for; kBf16 of kNone.
enum class Fp8;
[[nodiscard]] Operands operands_of(Fp8 fp8);

/// Work of one or more equal kernels of one operation on one tile. For kGemm: `groups` products [m, k] x [k, n] in one
/// launch. For kAttention: m tokens of a causal sequence of as many keys each, k the mean size of a head's keys and
/// values.
struct Kernel {
    KernelType type = KernelType::kMemory;
    double m = 0, n = 0, k = 0;
    double groups = 1;  ///< products of a GEMM that run as one, or those whose operands a kernel casts
    double flop = 0;    ///< model FLOP: what the closed form counts
    double work_flop =
        0;             ///< FLOP executed; more than `flop` where a kernel recomputes inside (flash attention backward)
    double bytes = 0;  ///< moved to and from HBM
    double launches = 1;    ///< kernel launches
    double host_syncs = 0;  ///< times the host waits for a value of the device
    double repeat = 1;      ///< the same kernel this many times in succession (a loop over experts); flop, bytes and
                            ///< launches are of one
    bool routed = false;    ///< grows with the tokens routed to the rank: m, flop and bytes scale with its load
    bool routed_depth = false;  ///< the routed rows are k, not m (a weight gradient)
    bool plain = false;         ///< an operation of the framework itself, with no module around it
    Operands operands = Operands::kBf16;
    bool operator==(const Kernel&) const = default;
};

/// [groups x (m, k)] x (k, n): FLOP 2 m n k, bytes each operand once.
[[nodiscard]] Kernel gemm_kernel(double m, double n, double k, double element_bytes, double groups = 1);
/// Element-wise or index work that moves `bytes` in `launches` kernels.
[[nodiscard]] Kernel memory_kernel(double bytes, double launches);

/// Fraction of the in-situ rate that a GEMM shape reaches:
///   eff = k / (k + half_depth) * max over block sizes b in {1, 1/2, 1/4} of small_block^(log2 1/b) * filled(b)
///   filled = groups m n / (waves * cores * block), waves = ceil(groups ceil(m/bm) ceil(n/bn) / cores): wave
///   quantization.
/// `depth_scale`: of half_depth, where the start and end of a block take as long and the products between go faster.
/// Ignores: split-k, cache effects between blocks.
[[nodiscard]] double gemm_efficiency(const Tile& tile, double m, double n, double k, double groups,
                                     double depth_scale = 1);
/// Fraction of the sustained rate that attention over `sequence` causal tokens with heads of `head_size` reaches:
///   efficiency * S / (S + half_sequence) * min(1, d (128 + h) / (128 (d + h))), h half_head
/// The first loses by blocks on the diagonal, of which half is masked, and by its start and end; the second by the
/// exponentials of scores, of which a smaller head has as many for fewer products.
[[nodiscard]] double attention_efficiency(const AttentionKernel& kernel, double sequence, double head_size);
/// FLOP/s of large products; 0 where the machine file has none for 8 bits.
[[nodiscard]] double gemm_rate(const Tile& tile, Operands operands);

/// Seconds of a kernel by parts. `rate_bound_s` is what takes longer on a slower tile; launches and host waits do not.
struct KernelTime {
    double rate_bound_s = 0;  ///< max(flop / rate, bytes / bandwidth)
    double overhead_s = 0;    ///< launches and host waits
};
/// `load`: routed tokens over their mean; applies to routed kernels only.
[[nodiscard]] KernelTime kernel_time(const Kernel& kernel, const Machine& machine, const Stack& stack, double load = 1);

/// Share of compute that an active collective takes from its tile: the stack's, else the machine's.
[[nodiscard]] double collective_compute_share(const Machine& machine, const Stack& stack);

/// Expected largest of n standard normal draws (Blom: Phi^-1((n - 0.375) / (n + 0.25))); 0 for n <= 1.
[[nodiscard]] double expected_normal_maximum(double n);

}  // namespace auspex::models
