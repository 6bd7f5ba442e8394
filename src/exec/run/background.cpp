/// @file Calls begun, asked on and waited for.
#include "exec/run/background.hpp"

namespace auspex::exec {

template <class P>
void BackgroundOperations<P>::wait_for(const schedule::Operation& op) {
    for (std::size_t left = queue_.ahead_of(rank_.run->program, op); left > 0; --left) {
        static_cast<void>(go_on(true));
        end_first();
    }
}

template <class P>
void BackgroundOperations<P>::begin(const CurrentOperation& current) {
    queue_.push(rank_.run->program, current.op);
    begun_.push_back({current, step_collectives(rank_, current), 0, nullptr, {}});
}

template <class P>
void BackgroundOperations<P>::advance() {
    while (!begun_.empty() && go_on(false)) {
        end_first();
    }
}

template <class P>
bool BackgroundOperations<P>::go_on(bool waits) {
    Begun& first = begun_.front();
    for (; first.next < first.calls.size(); ++first.next) {
        if (!first.under_way) {
            first.start = first.next == 0 ? StepRecord<P>::Clock::now() : first.start;
            record_.count(first.current.op, first.next > 0,
                          [&] { first.under_way = first.calls[first.next].begin(*rank_.communicator); });
        }
        if (waits) {
            first.under_way->finish();
        } else if (!first.under_way->advance()) {
            return false;
        }
        first.under_way.reset();
    }
    return true;
}

template <class P>
void BackgroundOperations<P>::end_first() {
    record_.add_span(begun_.front().current, begun_.front().start, StepRecord<P>::Clock::now());
    begun_.pop_front();
    queue_.pop();
}

template class BackgroundOperations<Fp32>;
template class BackgroundOperations<Fp64>;
template class BackgroundOperations<Bf16Precision>;
template class BackgroundOperations<Bf16WithFp32Gradients>;

}  // namespace auspex::exec
