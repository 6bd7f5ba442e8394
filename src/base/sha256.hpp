#pragma once
/// @file SHA-256, for naming inputs by their content and for checksums of files; computed by OpenSSL.
#include <memory>
#include <string>
#include <string_view>

namespace auspex {

/// The digest of bytes that are added part by part.
class Sha256 {
 public:
    Sha256();
    void add(std::string_view bytes);
    /// The digest of everything added so far, as 64 lower-case hexadecimal digits.
    [[nodiscard]] std::string hex() const;

 private:
    struct Context;
    struct Free {
        void operator()(Context* context) const;
    };
    std::unique_ptr<Context, Free> context_;
};

/// The digest as 64 lower-case hexadecimal digits.
[[nodiscard]] inline std::string sha256_hex(std::string_view bytes) {
    Sha256 digest;
    digest.add(bytes);
    return digest.hex();
}

}  // namespace auspex
