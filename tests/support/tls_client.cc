#include "tests/support/tls_client.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstdio>
#include <vector>

namespace fenceline::testing {
namespace {

template <typename T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freer<SSL, SSL_free>>;
struct FileCloser {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, FileCloser>;

[[noreturn]] void fail_with_openssl(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  throw ClientError(what + ": " + (reason == nullptr ? "unknown" : reason));
}

void require(bool done, const std::string& what) {
  if (!done) {
    fail_with_openssl(what);
  }
}

class TlsWire final : public Wire {
 public:
  TlsWire(std::unique_ptr<Wire> tcp, const std::string& certificate,
          const TlsClientOptions& options)
      : tcp_(std::move(tcp)), context_(SSL_CTX_new(TLS_client_method())) {
    require(context_ != nullptr, "SSL_CTX_new");
    require(SSL_CTX_load_verify_file(context_.get(), certificate.c_str()) == 1,
            "trust " + certificate);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    if (options.max_version != 0) {
      // Old versions also need what OpenSSL's default security level forbids.
      SSL_CTX_set_security_level(context_.get(), 0);
      SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
      SSL_CTX_set_max_proto_version(context_.get(), options.max_version);
    }
    if (!options.alpn.empty()) {
      std::string offer(1, static_cast<char>(options.alpn.size()));
      offer += options.alpn;
      SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                              static_cast<unsigned>(offer.size()));
    }
    const timeval timeout{.tv_sec = kTimeout.count(), .tv_usec = 0};
    ::setsockopt(tcp_->fd(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    ::setsockopt(tcp_->fd(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    ssl_.reset(SSL_new(context_.get()));
    require(ssl_ != nullptr && SSL_set_fd(ssl_.get(), tcp_->fd()) == 1, "SSL_set_fd");
    require(SSL_connect(ssl_.get()) == 1, "TLS handshake");
  }

  std::optional<std::size_t> send_some(std::string_view bytes) override {
    std::size_t sent = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) != 1) {
      ERR_clear_error();
      return std::nullopt;
    }
    return sent;
  }

  std::string receive_some() override {
    std::array<char, 16 * 1024> bytes{};
    std::size_t got = 0;
    const int outcome = SSL_read_ex(ssl_.get(), bytes.data(), bytes.size(), &got);
    if (outcome == 1) {
      return {bytes.data(), got};
    }
    if (SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_ZERO_RETURN) {
      return {};
    }
    fail_with_openssl("TLS receive");
  }

  void shutdown_write() override { SSL_shutdown(ssl_.get()); }
  [[nodiscard]] int fd() const override { return tcp_->fd(); }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }

 private:
  std::unique_ptr<Wire> tcp_;
  Context context_;
  Ssl ssl_;
};

}  // namespace

TestCertificate make_self_signed(const std::filesystem::path& folder, const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "make a key");
  const Certificate certificate(X509_new());
  require(certificate != nullptr, "X509_new");
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600L * 24);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  require(X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0, "sign");

  TestCertificate files{.certificate = folder / (name + ".pem"), .key = folder / (name + ".key")};
  const File certificate_file(std::fopen(files.certificate.c_str(), "w"));
  const File key_file(std::fopen(files.key.c_str(), "w"));
  require(certificate_file != nullptr && key_file != nullptr &&
              PEM_write_X509(certificate_file.get(), certificate.get()) == 1 &&
              PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                   nullptr) == 1,
          "write the certificate");
  return files;
}

std::unique_ptr<Wire> connect_tls(std::uint16_t port, const std::string& certificate,
                                  const TlsClientOptions& options) {
  return std::make_unique<TlsWire>(connect_tcp(port, options.receive_buffer_bytes), certificate,
                                   options);
}

std::string alpn_of(const Wire& wire) {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(dynamic_cast<const TlsWire&>(wire).ssl(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

}  // namespace fenceline::testing
