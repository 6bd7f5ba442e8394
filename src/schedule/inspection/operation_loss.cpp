/// @file Phase and stream to loss.
#include "schedule/inspection/operation_loss.hpp"

namespace auspex::schedule {
namespace {

Loss loss_of_compute(const Operation& op) {
    if (op.kind == OpKind::kHostIssue) {
        return Loss::kHostBound;
    }
    if (op.kind == OpKind::kHostSync || op.kind == OpKind::kStepHost) {
        return Loss::kWaiting;
    }
    return op.phase == Phase::kRecompute   ? Loss::kRecompute
           : op.phase == Phase::kOptimizer ? Loss::kOptimizer
                                           : Loss::kUsefulCompute;
}

Loss loss_of_stream(Stream stream) {
    switch (stream) {
        case Stream::kTp: return Loss::kExposedTp;
        case Stream::kEp: return Loss::kExposedEp;
        case Stream::kDp: return Loss::kExposedDp;
        case Stream::kPp: return Loss::kExposedPp;
        case Stream::kCp: return Loss::kExposedCp;
        case Stream::kToHost:
        case Stream::kFromHost: return Loss::kExposedHost;
        case Stream::kCompute: break;
    }
    return Loss::kWaiting;
}

}  // namespace

Loss loss_of(const Operation& op) {
    if (op.comm == CommKind::kNone) {
        return loss_of_compute(op);
    }
    return is_world(op) ? Loss::kWaiting : loss_of_stream(op.stream);
}

}  // namespace auspex::schedule
