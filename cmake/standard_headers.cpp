/// @file Nothing: the target that has the precompiled headers of all rooms needs a source.
