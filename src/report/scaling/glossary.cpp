/// @file The words of the reports, explained.
#include "report/scaling/story.hpp"

namespace auspex::report {

const std::vector<std::pair<std::string, std::string>>& glossary() {
    static const std::vector<std::pair<std::string, std::string>> kWords{
        {"tile", "One accelerator as a training process sees it; a node (one computer of the machine) holds several."},
        {"token",
         "A word or piece of a word: what a language model reads and learns from. A sequence is a fixed number of "
         "tokens."},
        {"step", "One update of the model: read a global batch, compute, exchange gradients, change the weights."},
        {"global batch",
         "All sequences that one step reads, over all tiles: micro-batch size x micro-batches x data_parallel."},
        {"micro-batch", "The part of a batch that travels through the pipeline at one time."},
        {"mixture of experts",
         "A model whose layers hold many alternative blocks (experts), of which each token uses a few."},
        {"dp", "Number of copies of each expert: tiles = pp x dp x ep x etp."},
        {"data_parallel",
         "Number of copies of the part of the model that is not experts; each copy reads its own sequences."},
        {"ep, etp",
         "Expert parallelism: over how many tiles the experts of a layer are spread; etp: over how many one expert is "
         "cut."},
        {"tp, cp", "Tensor and context parallelism: over how many tiles one layer, or one long sequence, is cut."},
        {"pp, stage", "Pipeline parallelism: the layers are cut into pp consecutive stages, each on its own tiles."},
        {"bubble", "Time in which a pipeline stage is idle because the pipeline is filling or draining."},
        {"exposed communication", "Communication that no computation hides, so that the tile waits for it."},
        {"efficiency",
         "Weak scaling: throughput per tile over that of the first point. Strong scaling: speed-up over the ideal "
         "speed-up. 100 % means that nothing is lost by using more tiles."},
        {"MFU",
         "Model FLOP utilisation: the arithmetic that the model needs, per second, over the tile's peak. Work done "
         "twice "
         "(recompute) does not count; with it, the share is called HFU."},
        {"TFLOP/s", "10^12 floating-point operations a second."},
        {"detour delay",
         "How long packets wait on full direct links between two groups before the network sends the next ones by way "
         "of a third."},
        {"background load", "Traffic of other jobs on the same network."},
        {"straggler", "A tile that is slower than the others, so that they wait for it."},
        {"elasticity", "By how many percent the step time changes when a constant changes by one percent."},
        {"interval",
         "The range that holds the true value in about 9 of 10 cases as far as the constants are uncertain; what a "
         "mechanism that is left out would add is not in it."},
        {"GB", "10^9 bytes."}};
    return kWords;
}

}  // namespace auspex::report
