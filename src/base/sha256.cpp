/// @file SHA-256 through the EVP interface of OpenSSL.
#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/error.hpp"

namespace auspex {

struct Sha256::Context {
    EVP_MD_CTX* digest = EVP_MD_CTX_new();
};

void Sha256::Free::operator()(Context* context) const {
    EVP_MD_CTX_free(context->digest);
    delete context;
}

Sha256::Sha256() : context_(new Context) {
    AUSPEX_CHECK(context_->digest != nullptr && EVP_DigestInit_ex(context_->digest, EVP_sha256(), nullptr) == 1,
                 "OpenSSL has SHA-256");
}

void Sha256::add(std::string_view bytes) {
    AUSPEX_CHECK(EVP_DigestUpdate(context_->digest, bytes.data(), bytes.size()) == 1, "a digest takes any bytes");
}

std::string Sha256::hex() const {
    const std::unique_ptr<Context, Free> copy(new Context);  // finishing ends a context
    std::array<unsigned char, 32> digest{};
    AUSPEX_CHECK(copy->digest != nullptr && EVP_MD_CTX_copy_ex(copy->digest, context_->digest) == 1 &&
                     EVP_DigestFinal_ex(copy->digest, digest.data(), nullptr) == 1,
                 "a digest can be finished");
    std::string text;
    for (const unsigned char byte : digest) {
        text += "0123456789abcdef"[byte >> 4U];
        text += "0123456789abcdef"[byte & 0xfU];
    }
    return text;
}

}  // namespace auspex
