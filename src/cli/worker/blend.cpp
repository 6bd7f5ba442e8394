/// @file All ranks in one group; rank 0 has the lock and the last word.
#include "cli/worker/blend.hpp"

#include <iostream>
#include <stdexcept>

#include "cli/blends/blend_answer.hpp"
#include "cli/blends/blend_request.hpp"
#include "exec/mpi/mpi_communicator.hpp"
#include "exec/transport/one_group.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"

namespace auspex::cli {

int run_blend_role(const Options& options, const exec::MpiSession& session, bool is_watched) {
    const exec::BlendRequest request = blend_request(options);
    launch::OutputLocks locks(options.command_line);
    const bool speaks = session.rank() == 0 && !is_watched;
    if (speaks) {
        locks.take_file("--out " + request.file, request.file);
    }
    const auto communicator = exec::make_mpi_communicator(exec::one_group(session.size(), "ranks that blend"));
    launch::ProgressLine line("blocks of rank 0 written");
    const exec::BlendInfo info =
        build_blend(request, *communicator, [&line](std::size_t done, std::size_t all) { line.show(done, all); });
    if (speaks) {
        print_blend(info, request.file, options);
        std::cout.flush();
        if (!std::cout) {
            throw std::runtime_error("the output could not be written");
        }
    }
    return 0;
}

}  // namespace auspex::cli
