/// @file The calling thread's record of calls.
#include "exec/kernels/call_record.hpp"

namespace auspex::exec {

void append_call(std::string_view kernel, const std::array<std::size_t, 4>& sizes) {
    call_record->calls.push_back({kernel, sizes, call_record->depth});
}

}  // namespace auspex::exec
