/// @file Draws sizes, grids and choices.
#include "workflows/compare/random_layouts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/rng.hpp"
#include "models/pipeline/schedule_kind.hpp"

namespace auspex::workflows {
namespace {

/// A model goes with its fourth layout at the latest; one that takes none within so many tries is drawn again.
constexpr int kTriesOfALayout = 400, kTriesOfAModel = 50;
/// A number of ranks is kept so long: few grids of many ranks divide a model, and layouts of one rank would be the
/// most.
constexpr int kTriesOfRanks = 50;
constexpr int kLargeOneOf = 4;

class Draws {
 public:
    explicit Draws(std::uint64_t seed) : rng_(seed) {}

    int of(std::span<const int> values) { return values[rng_.below(values.size())]; }
    const char* of(std::span<const char* const> values) { return values[rng_.below(values.size())]; }
    models::ScheduleKind of(std::span<const models::ScheduleKind> values) { return values[rng_.below(values.size())]; }
    bool one_of(double share) { return rng_.uniform() < share; }
    /// Uniform by its logarithm, a multiple of `step`.
    int within(int least, int most, int step) {
        const double value = least * std::pow(static_cast<double>(most) / least, rng_.uniform());
        return std::clamp(static_cast<int>(std::lround(value / step)) * step, least, most);
    }
    int between(int least, int most) {
        return least + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
    }

 private:
    Rng rng_;
};

struct Model {
    bool is_large = false;
    int layers = 1, heads = 1, kv_heads = 1, head_size = 1, experts = 0, top_k = 0, expert_size = 0, dense = 0,
        dense_first = 0, words = 0, tokens = 0;
    bool qk_norm = false;
    [[nodiscard]] int hidden() const { return heads * head_size; }
};

Model draw_small(Draws& draws) {
    constexpr std::array kHeads{2, 3, 4, 5, 6, 8, 10, 12};
    constexpr std::array kHeadSizes{16, 24, 32, 40, 48, 64};
    constexpr int kLeastHidden = 64, kMostHidden = 512;
    Model m;
    do {
        m.heads = draws.of(kHeads);
        m.head_size = draws.of(kHeadSizes);
    } while (m.hidden() < kLeastHidden || m.hidden() > kMostHidden);
    m.layers = draws.between(2, 8);
    m.tokens = draws.within(64, 384, 8);
    m.words = draws.within(300, 8000, 4);
    if (draws.one_of(0.7)) {
        constexpr std::array kExperts{4, 5, 6, 8, 9, 10, 12, 16, 20, 24};
        m.experts = draws.of(kExperts);
        m.top_k = draws.between(1, std::min(4, m.experts / 2));
        m.expert_size = draws.within(32, 384, 8);
        m.dense_first = draws.one_of(0.2) ? 1 : 0;
    }
    return m;
}

Model draw_large(Draws& draws) {
    constexpr std::array kHeads{8, 12, 16, 24, 32};
    constexpr std::array kHeadSizes{64, 128};
    constexpr std::array kTokens{512, 1024, 2048}, kExpertSizes{512, 768, 1024}, kExperts{4, 8, 16};
    constexpr int kLeastHidden = 1024, kMostHidden = 2048;
    Model m;
    m.is_large = true;
    do {
        m.heads = draws.of(kHeads);
        m.head_size = draws.of(kHeadSizes);
    } while (m.hidden() < kLeastHidden || m.hidden() > kMostHidden);
    m.layers = draws.between(1, 3);
    m.tokens = draws.of(kTokens);
    m.words = 50'304;
    if (draws.one_of(0.7)) {
        m.experts = draws.of(kExperts);
        m.top_k = draws.between(1, std::min(4, m.experts / 2));
        m.expert_size = draws.of(kExpertSizes);
    }
    return m;
}

Model draw_model(Draws& draws, bool is_large) {
    Model m = is_large ? draw_large(draws) : draw_small(draws);
    constexpr int kStep = 8;
    if (m.experts == 0 || m.dense_first > 0) {
        m.dense = draws.within(m.hidden() * 3 / 2 / kStep * kStep, m.hidden() * 4, kStep);
    }
    m.kv_heads = m.heads;
    if (draws.one_of(0.3)) {
        do {
            m.kv_heads = draws.between(1, m.heads);
        } while (m.heads % m.kv_heads != 0);
    }
    m.qk_norm = draws.one_of(0.5);
    return m;
}

/// One object on a line, filled by `members`.
template <class Members>
std::string object_text(Members&& members) {
    std::ostringstream text;
    {
        JsonWriter json(text, JsonLayout::kOneLine);
        json.begin_object();
        members(json);
        json.end_object();
    }
    return text.str();
}

std::string workload_text(const Model& m) {
    return object_text([&](JsonWriter& json) {
        json.member("source", "drawn at random").member("attention", "multi-head").member("norm", "rms");
        json.member("feed_forward", "swiglu").member("biases", false).member("tied_embeddings", false);
        json.member("learned_positions", false).member("qk_norm", m.qk_norm).member("layers", m.layers);
        json.member("hidden_size", m.hidden()).member("heads", m.heads).member("kv_heads", m.kv_heads);
        json.member("head_size", m.head_size).member("vocab_size", m.words).member("sequence_length", m.tokens);
        if (m.dense > 0) {
            json.member("intermediate_size", m.dense);
        }
        if (m.experts > 0) {
            json.member("num_experts", m.experts).member("top_k", m.top_k).member("expert_size", m.expert_size);
            json.member("shared_experts", 0).member("first_dense_layers", m.dense_first);
            json.member("global_aux_loss", false);
        }
    });
}

/// dp, ep, tp, pp: every prime factor of the ranks goes to one of them.
std::array<int, 4> draw_grid(Draws& draws, int ranks) {
    std::array<int, 4> grid{1, 1, 1, 1};
    for (int factor = 2; ranks > 1; ++factor) {
        for (; ranks % factor == 0; ranks /= factor) {
            grid.at(static_cast<std::size_t>(draws.between(0, 3))) *= factor;
        }
    }
    return grid;
}

int draw_ranks(Draws& draws, int max_ranks) {
    constexpr std::array kRanks{1, 2, 3, 4, 6, 8, 12, 16};
    int ranks = 0;
    do {
        ranks = draws.of(kRanks);
    } while (ranks > max_ranks);
    return ranks;
}

/// Sets the plan's name and text.
void draw_plan(Draws& draws, int ranks, DrawnLayout& layout) {
    static constexpr std::array kMicroBatches{1, 2, 3, 4, 6, 8};
    static constexpr std::array<const char*, 3> kOptimizers{"replicated", "sharded", "ep-aware"};
    static constexpr std::array<const char*, 2> kDispatches{"alltoall", "allgather-reducescatter"};
    static constexpr std::array<const char*, 3> kKernels{"loop", "grouped", "fused"};
    const auto [dp, ep, tp, pp] = draw_grid(draws, ranks);
    // Without the last, dualpipe, so that seeds give the layouts that reports name.
    constexpr std::span kKinds = std::span(models::kScheduleKinds).first<models::kScheduleKinds.size() - 1>();
    const models::ScheduleKind kind = pp > 1 ? draws.of(kKinds) : models::ScheduleKind::k1f1b;
    const std::string_view schedule = to_string(kind);
    const bool is_bf16 = draws.one_of(0.25);
    for (const auto& [key, value] : {std::pair("dp", dp), {"ep", ep}, {"tp", tp}, {"pp", pp}}) {
        layout.plan_name += value > 1 ? std::string("-") + key + std::to_string(value) : "";
    }
    layout.plan_name +=
        (ranks == 1 ? "-one" : "") + (pp > 1 ? "-" + std::string(schedule) : "") + (is_bf16 ? "-bf16" : "");
    layout.plan = object_text([&, dp = dp, ep = ep, tp = tp, pp = pp](JsonWriter& json) {
        json.member("dp", dp).member("ep", ep).member("tp", tp).member("pp", pp);
        json.member("micro_batch_size", draws.between(1, 4)).member("micro_batches", draws.of(kMicroBatches));
        json.member("virtual_stages", least_chunks(kind)).member("schedule", schedule);
        json.member("precision", is_bf16 ? "bf16" : "fp32");
        json.member("gradient_dtype", is_bf16 && draws.one_of(0.5) ? "bf16" : "fp32");
        json.member("optimizer", draws.of(kOptimizers)).member("dispatch", draws.of(kDispatches));
        json.member("expert_kernels", draws.of(kKernels)).member("routing", "uniform");
        json.member("sequence_parallel", tp > 1 && draws.one_of(0.5)).key("recompute").begin_array();
        for (const char* what : {"norm", "attention", "expert"}) {
            if (draws.one_of(0.2)) {
                json.value(what);
            }
        }
        json.end_array();
    });
}

/// "07".
std::string numbered(std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

/// Adds up to `wanted` layouts of a model; none where it takes none.
void add_model(Draws& draws, std::size_t number, std::size_t wanted, int max_ranks,
               const std::function<bool(const DrawnLayout&)>& takes, std::vector<DrawnLayout>& drawn) {
    const Model model = draw_model(draws, number % kLargeOneOf == kLargeOneOf - 1);
    const std::string workload_name = numbered(number + 1) + (model.is_large ? "-large" : "") +
                                      (model.experts > 0 ? "-moe" : "-dense") + "-h" + std::to_string(model.hidden()) +
                                      "-s" + std::to_string(model.tokens);
    const std::size_t before = drawn.size();
    int ranks = 0;
    for (int tries = 0, since = kTriesOfRanks; tries < kTriesOfALayout && drawn.size() < before + wanted; ++tries) {
        if (++since > kTriesOfRanks) {
            ranks = draw_ranks(draws, max_ranks), since = 0;
        }
        DrawnLayout layout{numbered(drawn.size() + 1), "", workload_name, workload_text(model)};
        draw_plan(draws, ranks, layout);
        const bool is_new = std::none_of(drawn.begin() + static_cast<std::ptrdiff_t>(before), drawn.end(),
                                         [&](const DrawnLayout& one) { return one.plan == layout.plan; });
        if (is_new && takes(layout)) {
            drawn.push_back(std::move(layout));
            tries = 0, since = kTriesOfRanks;
        }
    }
}

}  // namespace

std::vector<DrawnLayout> draw_layouts(const RandomDraw& draw, int max_ranks,
                                      const std::function<bool(const DrawnLayout&)>& takes) {
    Draws draws(draw.seed);
    std::vector<DrawnLayout> drawn;
    std::size_t models = 0;
    int in_vain = 0;
    const auto count = static_cast<std::size_t>(draw.layouts);
    while (drawn.size() < count) {
        const std::size_t before = drawn.size();
        add_model(draws, models, std::min(static_cast<std::size_t>(kLayoutsOfAModel), count - before), max_ranks, takes,
                  drawn);
        models += drawn.size() > before ? 1U : 0U;
        in_vain = drawn.size() > before ? 0 : in_vain + 1;
        if (in_vain == kTriesOfAModel) {
            throw InputError("--random " + std::to_string(draw.layouts),
                             "found no layout for " + std::to_string(kTriesOfAModel) +
                                 " models in a row that this machine can run and its file can predict; expected a "
                                 "machine file with more ranks or memory");
        }
    }
    return drawn;
}

}  // namespace auspex::workflows
