/// @file Prints what packets do on the direct links of two groups, beside the closed forms.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "packets/aurora_pair.hpp"

namespace auspex::packets {
namespace {

constexpr char kHelp[] =
    R"(usage: packet_model [--ranks N] [--packet BYTES] [--bias US] [--window KIB] [--news US] [--seed N]

Plays packets on a dragonfly, one by one, and prints what ranks of one group get that all send to the next group.
The machine has Aurora's shape: 166 groups of 32 switches, 2 links between any two groups, of 20 GB/s (25 less 20 % that
other jobs take): C = 40 GB/s. Routing is adaptive: at the source's switch the better of 2 minimal paths is compared with
the better of 2 random detours by way of a third group; a packet detours if it would wait `bias` longer on the way out of
its group. The switch knows the queues of its own group as they are (or were, --news ago).

  --ranks N       ranks that send, each 6.2 GB/s by itself                              (96)
  --packet BYTES  size of every packet                                                  (4096)
  --bias US       how much longer a packet waits for the direct way, microseconds        (14.8)
  --window KIB    what a rank has on its way at most                                     (240)
  --news US       how often what a switch knows of a queue is renewed; 0: always known   (0)
  --seed N                                                                               (1)

Left out: back pressure (queues have no bound), congestion control, other jobs' bursts, and that headers are ordered.
Delays are beyond what the minimal path takes when it is empty; that of a message is how much later it is complete than
its last packet would be on that path.
)";

struct Options {
    int ranks = 96;
    double packet_bytes = 4096, bias_s = 14.8e-6, window_bytes = 240 * 1024, news_s = 0;
    std::uint64_t seed = 1;
};

constexpr double kRank = 6.2e9, kMicro = 1e6, kGiga = 1e-9, kKibi = 1024;

Experiment experiment_of(const Options& options, int ranks) {
    Experiment experiment = aurora_pair(options.bias_s);
    experiment.timing.packet_bytes = options.packet_bytes;
    experiment.routing.news_s = options.news_s;
    experiment.pattern.ranks = ranks;
    experiment.seed = options.seed;
    return experiment;
}

void print_loads(const Options& options) {
    std::printf(
        "\nOffered load of the pair, random arrivals, messages of 128 KiB. C = 40 GB/s.\n"
        "[formula]: the wait of the direct queue, and how late a message is (closed_forms.hpp)\n"
        "offered  arrived  minimal  share   delay of a packet, us           wait   message late, us\n"
        "   GB/s     GB/s     GB/s      %%      all   direct   detour   [formula]    mean [formula]     max\n");
    for (const double offered : {10e9, 20e9, 30e9, 36e9, 38e9, 42e9, 50e9, 80e9, 160e9, 320e9, 595e9}) {
        Experiment experiment = experiment_of(options, options.ranks);
        experiment.transport = {.bytes_per_s = offered / options.ranks, .is_poisson = true};
        experiment.until_s = experiment.warm_s + (offered < 100e9 ? 5e-3 : 1.5e-3);
        const Outcome seen = run(experiment);
        const FullPair pair = full_pair(experiment);
        std::printf("%7.1f  %7.1f  %7.1f  %5.1f  %7.2f  %7.2f  %7.2f", offered * kGiga,
                    seen.rank_bytes_per_s * options.ranks * kGiga, seen.minimal_bytes_per_s * kGiga,
                    seen.minimal_share * 100, seen.delay_s * kMicro, seen.minimal_delay_s * kMicro,
                    seen.detour_delay_s * kMicro);
        if (offered > pair.direct_bytes_per_s) {
            const double rank = offered / options.ranks;
            const double late_s = message_delay_s(pair, offered, rank, experiment.message_bytes / rank);
            std::printf("     %7.2f  %6.2f   %7.2f  %6.2f\n", standing_wait_s(pair, offered) * kMicro,
                        seen.last_delay_s * kMicro, late_s * kMicro, seen.last_delay_max_s * kMicro);
        } else {
            std::printf("           -  %6.2f         -  %6.2f\n", seen.last_delay_s * kMicro,
                        seen.last_delay_max_s * kMicro);
        }
    }
}

struct Kind {
    const char* name;
    Transport (*transport)(double, double, Return, const Timing&);
    Return by;
};

constexpr Kind kKinds[] = {{"paced, whole", paced, Return::kWhole},
                           {"paced, halves", paced, Return::kHalves},
                           {"paced, in order", paced, Return::kInOrder},
                           {"paced, any order", paced, Return::kAnyOrder},
                           {"latency, whole", latency_bound, Return::kWhole},
                           {"latency, in order", latency_bound, Return::kInOrder},
                           {"latency, any order", latency_bound, Return::kAnyOrder}};

Experiment windowed(const Options& options, int ranks, const Kind& kind, double window_bytes) {
    Experiment experiment = experiment_of(options, ranks);
    experiment.transport = kind.transport(kRank, window_bytes, kind.by, experiment.timing);
    experiment.message_bytes =
        experiment.transport.chunk_bytes > options.packet_bytes ? experiment.transport.chunk_bytes : window_bytes;
    return experiment;
}

void print_windows(const Options& options) {
    std::printf(
        "\nRate of each of %d ranks with a window w in GB/s, bias d: packets, [formula of its kind]; fluid: 1 / (1 / b "
        "+ d / w)\n"
        "b = 6.2 GB/s is a pace, or the window over the round trip; the window is given back whole, in halves, or by "
        "packet\n"
        "w, KiB  d, us  fluid",
        options.ranks);
    for (const Kind& kind : kKinds) {
        std::printf("  %18s", kind.name);
    }
    std::printf("\n");
    for (const double window_bytes : {120 * kKibi, 240 * kKibi, 480 * kKibi}) {
        for (const double bias_s : {5e-6, 14.8e-6, 30e-6}) {
            std::printf("%6.0f  %5.1f  %5.2f", window_bytes / kKibi, bias_s * kMicro,
                        fluid_rate(kRank, window_bytes, bias_s) * kGiga);
            for (const Kind& kind : kKinds) {
                Options changed = options;
                changed.bias_s = bias_s;
                const Experiment experiment = windowed(changed, options.ranks, kind, window_bytes);
                const double formula = windowed_rate(full_pair(experiment), rank_alone(experiment));
                std::printf("      %5.2f [%5.2f]", run(experiment).rank_bytes_per_s * kGiga, formula * kGiga);
            }
            std::printf("\n");
        }
    }
}

void print_ranks(const Options& options) {
    std::printf(
        "\nWindow of %.0f KiB, bias %.1f us, by the number of ranks: GB/s of each, wait of the direct queue and delay "
        "of a message in us\n"
        "ranks    C/n  fluid   paced, whole [formula]   wait   late   latency, in order [formula]   wait\n",
        options.window_bytes / kKibi, options.bias_s * kMicro);
    const double full = 40e9;
    for (const int ranks : {4, 6, 7, 8, 9, 10, 12, 16, 24, 48, 96, 192, 384}) {
        const Experiment whole = windowed(options, ranks, kKinds[0], options.window_bytes);
        const Experiment in_order = windowed(options, ranks, kKinds[5], options.window_bytes);
        const Outcome seen = run(whole), seen_in_order = run(in_order);
        const bool is_full = ranks * kRank > full;
        std::printf(
            "%5d  %5.2f  %5.2f          %5.2f [%5.2f]         %5.2f  %5.2f               %5.2f [%5.2f]         %5.2f\n",
            ranks, full / ranks * kGiga,
            (is_full ? fluid_rate(kRank, options.window_bytes, options.bias_s) : kRank) * kGiga,
            seen.rank_bytes_per_s * kGiga, windowed_rate(full_pair(whole), rank_alone(whole)) * kGiga,
            seen.minimal_delay_s * kMicro, seen.last_delay_s * kMicro, seen_in_order.rank_bytes_per_s * kGiga,
            windowed_rate(full_pair(in_order), rank_alone(in_order)) * kGiga, seen_in_order.minimal_delay_s * kMicro);
    }
}

void print_rounds(const Options& options) {
    std::printf(
        "\nOne round: each of %d ranks sends one message at once, mean of 8 rounds. How late messages are, us:\n"
        "  KiB   drain   fluid    mean  slowest  minimal, %%      (drain: ranks x bytes / C; fluid: min(d, drain))\n",
        options.ranks);
    constexpr int kRounds = 8;
    for (const double kib : {4, 8, 16, 32, 64, 128, 256, 1024}) {
        double mean_s = 0, slowest_s = 0, share = 0;
        Experiment experiment = experiment_of(options, options.ranks);
        experiment.transport = {.bytes_per_s = kRank};
        experiment.message_bytes = kib * kKibi;
        experiment.messages = 1;
        experiment.warm_s = 0;
        for (int round = 0; round < kRounds; ++round) {
            experiment.seed = options.seed + static_cast<std::uint64_t>(round);
            const Outcome seen = run(experiment);
            mean_s += seen.last_delay_s / kRounds;
            slowest_s += seen.last_delay_max_s / kRounds;
            share += seen.minimal_share / kRounds;
        }
        const double drain_s = options.ranks * experiment.message_bytes / 40e9;
        std::printf("%5.0f  %6.1f  %6.2f  %6.2f   %6.2f     %6.1f\n", kib, drain_s * kMicro,
                    (drain_s < options.bias_s ? drain_s : options.bias_s) * kMicro, mean_s * kMicro, slowest_s * kMicro,
                    share * 100);
    }
}

bool read_number(const char* text, double least, double most, double& value) {
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    return error == std::errc{} && stop == end && value >= least && value <= most;
}

/// Whether `argv` is understood.
bool read(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; i += 2) {
        const std::string flag = argv[i];
        double value = 0;
        const auto has = [&](const char* name, double least, double most) {
            return flag == name && i + 1 < argc && read_number(argv[i + 1], least, most, value);
        };
        if (has("--ranks", 1, 512)) {
            options.ranks = static_cast<int>(value);
        } else if (has("--packet", 256, 16384)) {
            options.packet_bytes = value;
        } else if (has("--bias", 0, 1000)) {
            options.bias_s = value / kMicro;
        } else if (has("--window", 32, 16384)) {
            options.window_bytes = value * kKibi;
        } else if (has("--news", 0, 100)) {
            options.news_s = value / kMicro;
        } else if (has("--seed", 0, 1e9)) {
            options.seed = static_cast<std::uint64_t>(value);
        } else {
            std::fprintf(stderr, "packet_model: found %s; --help lists flags and their values\n", argv[i]);
            return false;
        }
    }
    return true;
}

}  // namespace
}  // namespace auspex::packets

int main(int argc, char** argv) {
    using namespace auspex::packets;
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
        std::fputs(kHelp, stdout);
        return EXIT_SUCCESS;
    }
    Options options;
    if (!read(argc, argv, options)) {
        return 2;
    }
    std::printf("%d ranks of 6.2 GB/s, packets of %.0f bytes, bias %.1f us; --help says what this is\n", options.ranks,
                options.packet_bytes, options.bias_s * kMicro);
    print_loads(options);
    print_windows(options);
    print_ranks(options);
    print_rounds(options);
    return EXIT_SUCCESS;
}
