/// @file Alignment of kernels with slots, and of collectives with messages.
#include "compare/kineto/match/match_step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "compare/kineto/match/align.hpp"
#include "compare/kineto/match/fit_scores.hpp"

namespace auspex::kineto {
namespace {

constexpr double kMostItems = 16;  // of a slot, one by one

using ShapeKey = std::tuple<double, double, double, double>;

ShapeKey key_of(const Product& product) { return {product.m, product.n, product.k, product.groups}; }

/// Numbers of distinct items.
template <class Key>
class Classes {
 public:
    std::uint32_t of(const Key& key, std::uint32_t example) {
        const auto [place, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(examples.size()));
        if (is_new) {
            examples.push_back(example);
        }
        return place->second;
    }
    std::vector<std::uint32_t> examples;  ///< by class: an item of it

 private:
    std::map<Key, std::uint32_t> numbers_;
};

/// Fills problem.scores from one example of each class.
template <class Fit>
void fill_scores(AlignProblem& problem, const std::vector<std::uint32_t>& measured,
                 const std::vector<std::uint32_t>& expected, const Fit& fit) {
    problem.expected_classes = static_cast<std::uint32_t>(expected.size());
    problem.scores.reserve(measured.size() * expected.size());
    for (const std::uint32_t m : measured) {
        for (const std::uint32_t e : expected) {
            problem.scores.push_back(fit(m, e));
        }
    }
}

class Matcher {
 public:
    Matcher(const MeasuredStep& step, const PredictedRank& rank, const models::Workload& workload)
        : step_(step), rank_(rank), workload_(workload) {
        match_.slot.assign(step.kernels.size(), kNone);
        match_.message.assign(step.kernels.size(), kNone);
        match_.by_sum.assign(step.kernels.size(), 0);
        is_message_taken_.assign(rank.messages.size(), false);
    }

    StepMatch match() && {
        match_compute();
        match_left_products();
        match_left_kernels();
        match_continuations();
        match_messages();
        return std::move(match_);
    }

 private:
    [[nodiscard]] std::int16_t fit(std::uint32_t kernel, std::uint32_t slot) const {
        const MeasuredKernel& measured = step_.kernels[kernel];
        return fit_of(measured, rank_.slots[slot], is_attention_product(measured.product, workload_));
    }

    void match_compute() {
        std::vector<std::uint32_t> kernels;
        for (std::size_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            if (kernel.work != Work::kCommunication && !kernel.continues) {
                kernels.push_back(static_cast<std::uint32_t>(i));
            }
        }
        AlignProblem problem;
        Classes<std::tuple<Work, Pass, ShapeKey>> measured;
        for (const std::uint32_t i : kernels) {
            const MeasuredKernel& kernel = step_.kernels[i];
            problem.measured.push_back(measured.of({kernel.work, kernel.pass, key_of(kernel.product)}, i));
        }
        Classes<std::tuple<schedule::OpKind, models::KernelType, Pass, ShapeKey, bool, bool>> expected;
        std::vector<std::uint32_t> slot_of;  // by item
        const auto add_item = [&](std::uint32_t j, bool is_rest) {
            const Slot& slot = rank_.slots[j];
            problem.expected.push_back(
                expected.of({slot.kind, slot.type, slot.pass, key_of(slot.product), slot.is_routed_depth, is_rest}, j));
            problem.takes_many.push_back(is_rest ? 1 : 0);
            if (expected.examples.size() > is_rest_class_.size()) {
                is_rest_class_.push_back(is_rest);
            }
            slot_of.push_back(j);
        };
        for (std::uint32_t j = 0; j < rank_.slots.size(); ++j) {
            const Slot& slot = rank_.slots[j];
            const double launches = slot.is_product() ? 1 : std::clamp(std::round(slot.launches), 1.0, kMostItems);
            for (int i = 0; i < static_cast<int>(launches); ++i) {
                add_item(j, false);
            }
            if (!slot.is_product()) {
                add_item(j, true);
            }
        }
        fill_scores(problem, measured.examples, expected.examples,
                    [this](std::uint32_t kernel, std::uint32_t slot) { return fit(kernel, slot); });
        lower_rests(problem);
        const std::vector<std::uint32_t> aligned = align(problem);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            match_.slot[kernels[i]] = aligned[i] == kNone ? kNone : slot_of[aligned[i]];
        }
    }

    /// More kernels than the stack file has for an operation fit a quarter as well: first each gets those that it has,
    /// and none gains by taking those of the layers behind it.
    void lower_rests(AlignProblem& problem) const {
        for (std::size_t i = 0; i < problem.scores.size(); ++i) {
            if (is_rest_class_[i % problem.expected_classes] && problem.scores[i] > 0) {
                problem.scores[i] = std::max<std::int16_t>(1, problem.scores[i] / 4);
            }
        }
    }

    /// By shape, among the slots of the layers between which a kernel ran.
    void match_left_products() {
        std::vector<std::uint8_t> is_taken(rank_.slots.size(), 0);
        for (const std::uint32_t slot : match_.slot) {
            if (slot != kNone) {
                is_taken[slot] = 1;
            }
        }
        using Place = std::tuple<std::uint32_t, int>;  // pass, layer
        std::map<Place, std::vector<std::uint32_t>> left;
        for (std::size_t j = 0; j < rank_.slots.size(); ++j) {
            if (is_taken[j] == 0 && rank_.slots[j].is_product()) {
                left[{rank_.slots[j].use, rank_.slots[j].layer}].push_back(static_cast<std::uint32_t>(j));
            }
        }
        const auto take_from = [&](std::uint32_t kernel, std::uint32_t near) {
            const auto place = near == kNone ? left.end() : left.find({rank_.slots[near].use, rank_.slots[near].layer});
            if (place == left.end()) {
                return false;
            }
            const auto found = std::find_if(place->second.begin(), place->second.end(),
                                            [&](std::uint32_t slot) { return fit(kernel, slot) >= kSameShape; });
            if (found == place->second.end()) {
                return false;
            }
            match_.slot[kernel] = *found;
            place->second.erase(found);
            return true;
        };
        const std::vector<std::uint32_t> after = next_matched();
        std::uint32_t before = kNone;
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            const std::uint32_t known = match_.slot[i];
            if (known == kNone && kernel.work == Work::kGemm && !kernel.continues && kernel.product.is_known()) {
                take_from(i, before) || take_from(i, after[i]);
            }
            before = known != kNone ? known : before;
        }
    }

    /// What is certain of its kind (an activation, a norm), among the slots of the layers between which it ran:
    /// software may take another order there, such as gate, activation, up.
    void match_left_kernels() {
        constexpr std::int16_t kCertain = 5;
        using Place = std::tuple<std::uint32_t, int>;
        std::map<Place, std::vector<std::uint32_t>> places;
        for (std::uint32_t j = 0; j < rank_.slots.size(); ++j) {
            if (!rank_.slots[j].is_product()) {
                places[{rank_.slots[j].use, rank_.slots[j].layer}].push_back(j);
            }
        }
        const std::vector<std::uint32_t> after = next_matched();
        std::uint32_t before = kNone;
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            const std::uint32_t known = match_.slot[i];
            const bool is_left = known == kNone && says_its_kind(kernel.work);
            std::int16_t best = kCertain - 1;
            for (const std::uint32_t near : {before, after[i]}) {
                const auto place = !is_left || near == kNone
                                       ? places.end()
                                       : places.find({rank_.slots[near].use, rank_.slots[near].layer});
                for (std::size_t at = 0; place != places.end() && at < place->second.size(); ++at) {
                    const std::uint32_t slot = place->second[at];
                    if (const std::int16_t score = fit(i, slot); score > best) {
                        best = score;
                        match_.slot[i] = slot;
                    }
                }
            }
            before = known != kNone ? known : before;
        }
    }

    /// Not what any operation may be made of.
    static bool says_its_kind(Work work) {
        return work != Work::kCommunication && work != Work::kGemm && work != Work::kAccumulate && work != Work::kAdd &&
               work != Work::kElementwise && work != Work::kReduction && work != Work::kCopy;
    }

    /// By kernel: the slot of the next one that has one.
    [[nodiscard]] std::vector<std::uint32_t> next_matched() const {
        std::vector<std::uint32_t> next(match_.slot.size(), kNone);
        std::uint32_t known = kNone;
        for (std::size_t i = match_.slot.size(); i-- > 0;) {
            next[i] = known;
            known = match_.slot[i] != kNone ? match_.slot[i] : known;
        }
        return next;
    }

    void match_continuations() {
        std::map<std::uint32_t, std::uint32_t> last;  // by stream: the kernel before
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            const auto before = last.find(kernel.stream);
            if (kernel.continues && before != last.end()) {
                match_.slot[i] = match_.slot[before->second];
            }
            last[kernel.stream] = i;
        }
    }

    /// Collectives that could be one another's: of one kind and group. Messages of each direction by themselves.
    struct MessageGroup {
        std::vector<std::uint32_t> kernels, messages;
    };

    void match_messages() {
        using schedule::CommKind;
        const auto is_message = [](CommKind kind) { return kind == CommKind::kSend || kind == CommKind::kReceive; };
        std::map<std::pair<CommKind, int>, MessageGroup> groups;
        for (std::uint32_t j = 0; j < rank_.messages.size(); ++j) {
            const ExpectedMessage& message = rank_.messages[j];
            groups[{message.comm, is_message(message.comm) ? 0 : message.group_size}].messages.push_back(j);
        }
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) {
            const MeasuredKernel& kernel = step_.kernels[i];
            if (kernel.work != Work::kCommunication) {
                continue;
            }
            for (auto& [key, group] : groups) {
                const bool fits =
                    kernel.is_message
                        ? is_message(key.first) && (kernel.comm == CommKind::kNone || kernel.comm == key.first)
                        : kernel.comm == key.first && (kernel.group_size == 0 || kernel.group_size == key.second);
                if (fits) {
                    group.kernels.push_back(i);
                }
            }
        }
        for (auto& [key, group] : groups) {
            align_messages(group, kSameShape);
            share_out(group);
            align_messages(group, 1);
        }
    }

    /// Those that are left of both, with fits of `least` and more.
    void align_messages(MessageGroup& group, std::int16_t least) {
        std::erase_if(group.kernels, [this](std::uint32_t kernel) { return match_.message[kernel] != kNone; });
        std::erase_if(group.messages, [this](std::uint32_t message) { return is_message_taken_[message]; });
        AlignProblem problem;
        Classes<std::tuple<schedule::CommKind, bool, int, double>> measured;
        for (const std::uint32_t i : group.kernels) {
            const MeasuredKernel& kernel = step_.kernels[i];
            problem.measured.push_back(
                measured.of({kernel.comm, kernel.is_message, kernel.group_size, kernel.bytes}, i));
        }
        Classes<std::tuple<schedule::CommKind, models::GroupKind, double>> expected;
        for (const std::uint32_t j : group.messages) {
            const ExpectedMessage& message = rank_.messages[j];
            problem.expected.push_back(expected.of({message.comm, message.group, message.bytes}, j));
        }
        problem.takes_many.assign(group.messages.size(), 0);
        fill_scores(problem, measured.examples, expected.examples, [&](std::uint32_t kernel, std::uint32_t message) {
            const std::int16_t score = fit_of(step_.kernels[kernel], rank_.messages[message]);
            return score >= least ? score : std::int16_t{0};
        });
        const std::vector<std::uint32_t> aligned = align(problem);
        for (std::size_t i = 0; i < aligned.size(); ++i) {
            if (aligned[i] != kNone) {
                match_.message[group.kernels[i]] = group.messages[aligned[i]];
                is_message_taken_[group.messages[aligned[i]]] = true;
            }
        }
    }

    /// What is left of both, where it is as many bytes: each kernel to the message in which the middle of its bytes
    /// lies.
    void share_out(const MessageGroup& group) {
        constexpr double kTolerance = 0.15;
        std::vector<std::uint32_t> kernels, messages;
        double measured = 0, expected = 0;
        for (const std::uint32_t i : group.kernels) {
            if (match_.message[i] == kNone && step_.kernels[i].bytes > 0) {
                kernels.push_back(i);
                measured += step_.kernels[i].bytes;
            }
        }
        for (const std::uint32_t j : group.messages) {
            if (!is_message_taken_[j]) {
                messages.push_back(j);
                expected += rank_.messages[j].bytes;
            }
        }
        if (kernels.empty() || messages.empty() || expected <= 0 ||
            std::max(measured, expected) > (1 + kTolerance) * std::min(measured, expected)) {
            return;
        }
        double sent = 0, reached = 0;
        auto message = messages.begin();
        for (const std::uint32_t i : kernels) {
            const double middle = (sent + step_.kernels[i].bytes / 2) / measured * expected;
            sent += step_.kernels[i].bytes;
            while (message + 1 != messages.end() && middle > reached + rank_.messages[*message].bytes) {
                reached += rank_.messages[*message].bytes;
                ++message;
            }
            match_.message[i] = *message;
            match_.by_sum[i] = 1;
            is_message_taken_[*message] = true;
        }
    }

    const MeasuredStep& step_;
    const PredictedRank& rank_;
    const models::Workload& workload_;
    StepMatch match_;
    std::vector<bool> is_message_taken_;
    std::vector<bool> is_rest_class_;  ///< by class of expected items: any number beyond the stack's
};

}  // namespace

StepMatch match_step(const MeasuredStep& step, const PredictedRank& rank, const models::Workload& workload) {
    return Matcher(step, rank, workload).match();
}

}  // namespace auspex::kineto
