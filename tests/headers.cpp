/// @file Nothing: the target that has the precompiled headers of all tests needs a source.
