#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace fenceline::testing {

/// One part of a write of several, as a test wants it.
struct FakePart {
  std::optional<backends::WriteIntent> intent = {};
  std::optional<base::Error> fails_with = {};
  bool staged = true;  ///< False: `fails_with` comes from `stage` already.
};

/// A backend that records what the pipeline asks of it. For tests of the pipeline's order only;
/// what a backend must do is tested on the real ones (tests/contract).
class FakeBackend final : public backends::Backend {
 public:
  std::vector<std::string> events;  ///< "stage", "commit", "drop", "read", in order.
  std::optional<base::Stamp> last_stamp;
  std::optional<base::Error> stage_fails_with;  ///< When the body has been read.
  std::optional<base::Error> commit_fails_with;
  int commit_answers = 201;
  std::string sets_cookie;      ///< What the answer to a commit sets; empty: nothing.
  std::vector<FakePart> parts;  ///< Of every write; empty: it is one.
  bool holds_commits = false;   ///< They wait for `release_commit`.
  bool holds_parts = false;     ///< Those of parts do.
  std::optional<backends::WriteIntent> intent;  ///< Of every write.
  /// What `revoke` answers.
  base::Result<backends::Revocation> revokes = backends::Revocation::kUnknown;
  std::function<backends::Revocation(std::string_view data)> revoke_by;  ///< Instead, if it is set.
  backends::Bearing bearing = backends::Bearing::kNone;  ///< Of every write on every older one.
  base::Result<void> resets;                             ///< What `reset_mark` answers.
  backends::Capabilities can{backends::Guarantee::kStrict, ""};

  /// Lets the commit that is held end. False if none is.
  bool release_commit() {
    if (!held_) {
      return false;
    }
    std::exchange(held_, nullptr)(0);
    return true;
  }

  [[nodiscard]] backends::Capabilities capabilities() const override { return can; }

  base::Awaitable<base::Result<backends::Revocation>> revoke(std::string_view data,
                                                             base::TimerWheel&) override {
    events.push_back("revoke " + std::string(data));
    if (revoke_by) {
      return base::Awaitable<base::Result<backends::Revocation>>::ready(revoke_by(data));
    }
    return base::Awaitable<base::Result<backends::Revocation>>::ready(revokes);
  }

  base::Awaitable<base::Result<void>> reset_mark(std::string key, base::Token to) override {
    events.push_back("reset " + key + " to " + to.text());
    return base::Awaitable<base::Result<void>>::ready(resets);
  }

  base::Awaitable<base::Result<base::Reply>> fenced_read(backends::ResourceRequest request,
                                                         base::Stamp stamp) override {
    last_stamp = std::move(stamp);
    if (commit_fails_with) {
      return base::Awaitable<base::Result<base::Reply>>::ready(
          tl::unexpected<base::Error>(*commit_fails_with));
    }
    return read(request);
  }

  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    return head.method == base::Method::kGet || head.method == base::Method::kHead;
  }

  [[nodiscard]] std::string_view allowed_methods() const override {
    return "GET, HEAD, PUT, DELETE";
  }

  base::Awaitable<base::Result<base::Reply>> read(backends::ResourceRequest request) override {
    events.push_back("read " + std::string(request.name));
    base::Reply reply;
    co_return reply;
  }

  base::Awaitable<base::Result<std::unique_ptr<backends::StagedWrite>>> stage(
      backends::ResourceRequest request, base::BodySource& body, base::Stamp stamp) override {
    last_stamp = std::move(stamp);
    for (;;) {
      auto piece = co_await body.read();
      if (!piece) {
        co_return tl::unexpected<base::Error>(std::move(piece.error()));
      }
      if (piece->empty()) {
        break;
      }
    }
    events.push_back("stage " + std::string(request.name));
    if (stage_fails_with) {
      co_return tl::unexpected<base::Error>(*stage_fails_with);
    }
    auto staged = std::make_unique<Staged>(*this);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      staged->add(i, parts[i]);
    }
    std::unique_ptr<backends::StagedWrite> result = std::move(staged);
    co_return result;
  }

  base::Result<std::optional<base::Stamp>> find_stamp(std::string_view) override {
    return last_stamp;
  }

  /// What `last_write` answers.
  backends::LastWrite wrote_last;
  base::Awaitable<base::Result<backends::LastWrite>> last_write(
      backends::ResourceRequest /*request*/) override {
    return base::Awaitable<base::Result<backends::LastWrite>>::ready(wrote_last);
  }

  [[nodiscard]] std::optional<std::string> out_of_service() const override { return std::nullopt; }

 private:
  class Staged final : public backends::StagedWrite {
   public:
    explicit Staged(FakeBackend& backend) : backend_(backend) {}
    ~Staged() override {
      if (!committed_ && parts_.empty()) {
        backend_.events.emplace_back("drop");
      }
    }

    [[nodiscard]] std::optional<backends::WriteIntent> intent() const override {
      return backend_.intent;
    }

    [[nodiscard]] backends::Bearing bearing_on(std::string_view) const override {
      return backend_.bearing;
    }

    base::Awaitable<base::Result<base::Reply>> commit() override {
      committed_ = true;
      if (backend_.holds_commits) {
        const auto hold = [this](base::Done<int> done) { backend_.held_ = std::move(done); };
        co_await base::from_callback<int>(hold);
      }
      backend_.events.emplace_back("commit");
      if (backend_.commit_fails_with) {
        co_return tl::unexpected<base::Error>(*backend_.commit_fails_with);
      }
      base::Reply reply;
      reply.status = backend_.commit_answers;
      if (!backend_.sets_cookie.empty()) {
        reply.add("Set-Cookie", backend_.sets_cookie);
      }
      co_return reply;
    }

    [[nodiscard]] std::span<backends::StagedPart> parts() override { return parts_; }

    void add(std::size_t named, const FakePart& like) {
      auto& part = parts_.emplace_back(backends::StagedPart{.named = named});
      if (like.staged) {
        part.write = std::make_unique<PartWrite>(backend_, named, like);
      } else {
        part.outcome = tl::unexpected<base::Error>(*like.fails_with);
      }
    }

   private:
    FakeBackend& backend_;
    bool committed_ = false;
    std::vector<backends::StagedPart> parts_;
  };

  class PartWrite final : public backends::StagedWrite {
   public:
    PartWrite(FakeBackend& backend, std::size_t named, FakePart part)
        : backend_(backend), named_(named), part_(std::move(part)) {}

    [[nodiscard]] std::optional<backends::WriteIntent> intent() const override {
      return part_.intent;
    }

    base::Awaitable<base::Result<base::Reply>> commit() override {
      if (backend_.holds_parts) {
        const auto hold = [this](base::Done<int> done) { backend_.held_ = std::move(done); };
        co_await base::from_callback<int>(hold);
      }
      backend_.events.push_back("commit " + std::to_string(named_));
      if (part_.fails_with) {
        co_return tl::unexpected<base::Error>(*part_.fails_with);
      }
      base::Reply reply;
      reply.status = 204;
      co_return reply;
    }

   private:
    FakeBackend& backend_;
    std::size_t named_;
    FakePart part_;
  };

  base::Done<int> held_;
};

/// A body that the test feeds: `read` waits until there is a piece or the end.
class FedBody final : public base::BodySource {
 public:
  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return std::nullopt;
  }

  base::Awaitable<base::Result<std::string_view>> read() override {
    asked = true;
    const auto start = [this](base::Done<base::Result<std::string_view>> done) {
      if (!fed_.empty()) {
        given_ = std::exchange(fed_, {});
        done(std::string_view(given_));
      } else if (ended_) {
        done(std::string_view());
      } else {
        waiting_ = std::move(done);
      }
    };
    auto piece = co_await base::from_callback<base::Result<std::string_view>>(start);
    co_return piece;
  }

  /// Gives `bytes`, as one piece with what was not read yet.
  void feed(std::string bytes) {
    fed_ += bytes;
    if (waiting_) {
      given_ = std::exchange(fed_, {});
      std::exchange(waiting_, nullptr)(std::string_view(given_));
    }
  }

  void end() {
    ended_ = true;
    if (waiting_) {
      std::exchange(waiting_, nullptr)(std::string_view());
    }
  }

  bool asked = false;

 private:
  bool ended_ = false;
  std::string fed_;
  std::string given_;
  base::Done<base::Result<std::string_view>> waiting_;
};

}  // namespace fenceline::testing
