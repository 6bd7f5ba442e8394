/// @file auspex data blend, or a rank of it where a launcher has started this process.
#include "cli/blends/blend_answer.hpp"
#include "cli/blends/blend_request.hpp"
#include "cli/commands/commands.hpp"
#include "launch/mpirun.hpp"
#include "launch/progress_line.hpp"
#include "workflows/blend/blend_job.hpp"

namespace auspex::cli {

void run_data_blend(const Options& options) {
    workflows::BlendJob job;
    job.rank_arguments = {launch::kBlendRole};
    job.rank_arguments.insert(job.rank_arguments.end(), options.arguments.begin(), options.arguments.end());
    if (launch::rank_of_launcher(options.ranks)) {
        launch::become_rank(job.rank_arguments);
    }
    job.blend = blend_request(options);
    job.ranks = options.ranks > 0 ? options.ranks : job.ranks;
    job.hostfile = options.train.hostfile;
    job.mpirun_flags = options.train.mpirun;
    job.command_line = options.command_line;
    launch::ProgressLine line("blocks written");
    const exec::BlendInfo info =
        run_blend_job(job, [&line](std::size_t done, std::size_t all) { line.show(done, all); });
    print_blend(info, options.out, options);
}

}  // namespace auspex::cli
