#pragma once
/// @file Names of json.hpp, for headers whose functions take what it reads.

namespace auspex {

class JsonValue;
class JsonDocument;

}  // namespace auspex
