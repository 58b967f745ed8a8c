#pragma once

// Drives an S3 backend the way the pipeline does, without its sockets and without signatures of
// clients.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/s3/s3_backend.h"
#include "tests/backends/http/http_driver.h"

namespace fenceline::testing {

/// A body whose declarations were checked by somebody else.
class CheckedBody final : public base::aws::VerifiedBody {
 public:
  /// `checksum`: as if it came in a trailer, so known only at the end.
  CheckedBody(std::vector<std::string> pieces, bool declares,
              std::optional<base::aws::Checksum> checksum = {}, std::optional<base::Error> end = {})
      : source_(std::move(pieces), declares, std::move(end)), checksum_(std::move(checksum)) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return source_.declared_bytes();
  }
  base::Awaitable<base::Result<std::string_view>> read() override;
  [[nodiscard]] std::optional<base::aws::Checksum> checksum() const override;
  [[nodiscard]] std::optional<base::aws::ChecksumKind> trailer() const override;
  [[nodiscard]] std::optional<std::string> md5() const override { return std::nullopt; }

 private:
  PieceSource source_;
  std::optional<base::aws::Checksum> checksum_;
  bool ended_ = false;
};

/// One S3 request; owns its text.
struct S3Call {
  std::string operation;  ///< As in the table of operations.
  std::string key = {};
  std::string query = {};
  Fields fields = {};
  std::string content = {};
  bool declares = true;       ///< False: nobody says how long the content is.
  std::string document = {};  ///< Of DeleteObjects.
  std::string bucket = "media";
  std::int64_t token = 1;
  std::string request_id = "request-1";
  std::optional<base::aws::Checksum> trailer = {};
  std::optional<base::Error> end = {};  ///< Instead of the end of the content.
  bool wraps = false;  ///< The content is in `aws-chunked`, and is checked by the real thing.
};

/// The same call as a client sends it that has a CRC32 behind its content: `crc32`, or the right
/// one.
S3Call with_trailer(S3Call call, std::optional<std::string> crc32 = {});

/// A request between the front and the backend.
class S3InFlight {
 public:
  explicit S3InFlight(S3Call call);
  S3InFlight(const S3InFlight&) = delete;
  S3InFlight& operator=(const S3InFlight&) = delete;

  [[nodiscard]] backends::ResourceRequest resource(base::TimerWheel* timers) const;
  base::aws::VerifiedBody& body() { return *body_; }
  [[nodiscard]] const S3Call& call() const { return call_; }

 private:
  S3Call call_;
  std::string name_;
  base::RequestHead head_;
  PieceSource raw_;
  std::unique_ptr<base::aws::VerifiedBody> body_;
  backends::s3::S3Request s3_;
};

class S3Driver;

/// A write between stage and commit.
class S3Staged {
 public:
  S3Staged(S3Driver& driver, std::unique_ptr<S3InFlight> request,
           base::Result<std::unique_ptr<backends::StagedWrite>> write);
  ~S3Staged();
  S3Staged(S3Staged&&) = default;

  [[nodiscard]] bool staged() const { return write_.has_value(); }
  [[nodiscard]] const base::Error& error() const { return write_.error(); }
  [[nodiscard]] std::optional<backends::WriteIntent> intent() const { return (*write_)->intent(); }
  [[nodiscard]] backends::Bearing bearing_on(const std::string& data) const {
    return (*write_)->bearing_on(data);
  }
  Answer commit();

  /// The parts of a write that has some; commits them one after the other.
  [[nodiscard]] std::span<backends::StagedPart> parts() const { return (*write_)->parts(); }
  std::vector<Answer> commit_parts();

 private:
  S3Driver* driver_;
  std::unique_ptr<S3InFlight> request_;
  base::Result<std::unique_ptr<backends::StagedWrite>> write_;
};

/// One backend and the core that it is used on.
class S3Driver {
 public:
  /// Opens the backend; throws if that fails.
  explicit S3Driver(backends::s3::S3Options options);
  ~S3Driver();

  backends::Backend& backend() { return *backend_; }
  TestCore& core() { return core_; }

  Answer read(S3Call call);
  S3Staged stage(S3Call call);
  Answer write(S3Call call) { return stage(std::move(call)).commit(); }

  Answer put(const std::string& key, const std::string& content, Fields fields = {},
             std::int64_t token = 1);
  Answer get(const std::string& key, Fields fields = {});
  Answer head(const std::string& key, Fields fields = {});
  Answer remove(const std::string& key, Fields fields = {});
  base::Result<backends::Revocation> revoke(const std::string& data);

  /// Reads an answer to its end.
  Answer whole(base::Result<base::Reply> reply);

  /// What the backend says about one operation; throws if it says nothing.
  backends::OperationGuarantee guarantee_of(const std::string& operation);

 private:
  TestCore core_;
  std::unique_ptr<backends::Backend> backend_;
};

/// Options for an S3 server on this machine, with short time-outs: bucket `media`, which is called
/// `store` there, unsigned and not probed.
backends::s3::S3Options s3_options_for(std::uint16_t port);

}  // namespace fenceline::testing
