#include "client/redis/peer.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "client/redis/command.h"
#include "client/redis/failures.h"
#include "client/redis/lookup.h"
#include "client/redis/reply_parser.h"

namespace fenceline::client::redis {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Result;
using What = Moved::What;

class PeerOfSocket final : public Peer {
 public:
  explicit PeerOfSocket(PeerOptions options)
      : options_(std::move(options)),
        name_(fmt::format(
            fmt::runtime(options_.host.find(':') == std::string::npos ? "{}:{}" : "[{}]:{}"),
            options_.host, options_.port)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  void start(std::string command) override {
    if (state_ != State::kIdle && state_ != State::kOpen) {
      close();
    }
    command_ = std::move(command);
    answer_.reset();
    touched_ = false;
    if (state_ == State::kOpen && wire_->quiet()) {
      begin(command_);
    } else {
      connect();
    }
    go_on();
  }

  [[nodiscard]] std::optional<pollfd> wanted() const override {
    switch (state_) {
      case State::kIdle:
      case State::kOpen:
        return std::nullopt;
      case State::kResolving:
        return pollfd{.fd = lookup_->fd(), .events = POLLIN, .revents = 0};
      case State::kConnecting:
        return pollfd{.fd = connecting_.get(), .events = POLLOUT, .revents = 0};
      default:
        return pollfd{.fd = wire_->fd(), .events = events_, .revents = 0};
    }
  }

  void go_on() override {
    while (step()) {
    }
  }

  std::optional<Result<Reply>> take_answer() override { return std::exchange(answer_, {}); }

  [[nodiscard]] bool touched() const override { return touched_; }

  void give_up(std::string_view last_words) override {
    // Behind half a command they would be a part of it.
    const bool between = state_ == State::kOpen || (state_ == State::kReceiving && !signing_in());
    if (between && !last_words.empty()) {
      wire_->write(last_words);
    }
    close();
  }

 private:
  enum class State : std::uint8_t {
    kIdle,        ///< No connection.
    kResolving,   ///< The name.
    kConnecting,  ///< TCP.
    kSecuring,    ///< TLS.
    kSending,
    kReceiving,
    kOpen,  ///< Signed in, nothing asked.
  };
  /// What is being asked.
  enum class Stage : std::uint8_t { kAuth, kSelect, kCommand };

  [[nodiscard]] bool signing_in() const { return stage_ != Stage::kCommand; }

  void close() {
    wire_.reset();
    connecting_.reset();
    lookup_.reset();
    state_ = State::kIdle;
  }

  void connect() {
    close();
    parser_ = {};
    next_address_ = 0;
    connect_error_.clear();
    lookup_.emplace(options_.host, options_.port);
    state_ = State::kResolving;
  }

  void fail(ErrorKind kind, std::string detail) {
    close();
    answer_ = base::fail(kind, std::move(detail), touched_ ? Applied::kUnknown : Applied::kNo);
  }

  void fail_upstream(std::string_view reason) {
    fail(ErrorKind::kUpstreamFailed, fmt::format("Redis at {}: {}.", name_, reason));
  }

  /// One step; true if there may be another one at once.
  bool step() {
    switch (state_) {
      case State::kIdle:
      case State::kOpen:
        return false;
      case State::kResolving:
        return resolve();
      case State::kConnecting:
        return finish_connect();
      case State::kSecuring:
        return secure();
      case State::kSending:
        return send();
      case State::kReceiving:
        return receive();
    }
    return false;
  }

  bool resolve() {
    auto found = lookup_->result();
    if (!found) {
      return false;
    }
    if (!*found) {
      fail((*found).error().kind, std::move((*found).error().detail));
      return false;
    }
    addresses_ = *std::move(*found);
    lookup_.reset();
    return try_next_address();
  }

  bool try_next_address() {
    while (next_address_ < addresses_.size()) {
      const Address& address = addresses_[next_address_++];
      base::UniqueFd fd(::socket(address.bytes.ss_family,
                                 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
      const int on = 1;
      if (fd.valid()) {
        ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      }
      if (fd.valid() && (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes),
                                   address.size) == 0 ||
                         errno == EINPROGRESS)) {
        connecting_ = std::move(fd);
        state_ = State::kConnecting;
        return true;
      }
      connect_error_ = std::generic_category().message(errno);
    }
    fail_upstream("cannot connect: " + connect_error_);
    return false;
  }

  bool finish_connect() {
    pollfd entry{.fd = connecting_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&entry, 1, 0) == 0) {
      return false;
    }
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      connect_error_ = std::generic_category().message(error);
      return try_next_address();
    }
    wire_ = options_.tls == nullptr
                ? make_plain_wire(std::move(connecting_))
                : options_.tls->make_wire(std::move(connecting_), options_.host);
    if (wire_ == nullptr) {
      fail_upstream("no memory for TLS");
      return false;
    }
    state_ = State::kSecuring;
    return true;
  }

  bool secure() {
    const Moved moved = wire_->secure();
    if (moved.what == What::kDone) {
      begin_session();
      return true;
    }
    return blocked(moved);
  }

  /// False, and what to wait for; or the end of the connection.
  bool blocked(const Moved& moved) {
    switch (moved.what) {
      case What::kMustRead:
        events_ = POLLIN;
        return false;
      case What::kMustWrite:
        events_ = POLLOUT;
        return false;
      case What::kEnded:
        fail_upstream("it closed the connection");
        return true;
      default:
        fail_upstream(moved.reason);
        return true;
    }
  }

  void begin_session() {
    if (options_.password) {
      stage_ = Stage::kAuth;
      begin(options_.user.empty() ? command({"AUTH", *options_.password})
                                  : command({"AUTH", options_.user, *options_.password}));
    } else {
      signed_in();
    }
  }

  void signed_in() {
    if (options_.database != 0) {
      stage_ = Stage::kSelect;
      begin(command({"SELECT", std::to_string(options_.database)}));
    } else {
      selected();
    }
  }

  void selected() {
    stage_ = Stage::kCommand;
    begin(command_);
  }

  void begin(std::string bytes) {
    outgoing_ = std::move(bytes);
    sent_ = 0;
    state_ = State::kSending;
  }

  bool send() {
    touched_ = touched_ || !signing_in();
    const Moved moved = wire_->write(std::string_view(outgoing_).substr(sent_));
    if (moved.what != What::kDone) {
      return blocked(moved);
    }
    sent_ += moved.bytes;
    if (sent_ == outgoing_.size()) {
      state_ = State::kReceiving;
      events_ = POLLIN;
    }
    return true;
  }

  bool receive() {
    std::array<char, 4096> buffer;  // NOLINT: as far as the read says.
    const Moved moved = wire_->read(buffer);
    if (moved.what != What::kDone) {
      return blocked(moved);
    }
    std::string_view bytes(buffer.data(), moved.bytes);
    auto reply = parser_.take(bytes);
    if (!reply) {
      fail(reply.error().kind, std::move(reply.error().detail));
      return false;
    }
    if (!*reply) {
      return true;
    }
    if (!bytes.empty()) {
      fail_upstream("it said more than it was asked");
      return false;
    }
    answered(*std::move(*reply));
    return true;
  }

  void answered(Reply reply) {
    if (!signing_in()) {
      state_ = State::kOpen;
      answer_ = std::move(reply);
      return;
    }
    if (reply.is_error()) {
      base::Error error = error_of(reply, name_);
      fail(error.kind, std::move(error.detail));
    } else if (stage_ == Stage::kAuth) {
      signed_in();
    } else {
      selected();
    }
  }

  PeerOptions options_;
  std::string name_;
  State state_ = State::kIdle;
  Stage stage_ = Stage::kCommand;
  std::optional<Lookup> lookup_;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  std::string connect_error_;
  base::UniqueFd connecting_;
  std::unique_ptr<Wire> wire_;
  short events_ = 0;
  ReplyParser parser_;
  std::string command_;
  std::string outgoing_;
  std::size_t sent_ = 0;
  bool touched_ = false;  ///< A byte of the command may have been sent.
  std::optional<Result<Reply>> answer_;
};

}  // namespace

std::unique_ptr<Peer> make_peer(PeerOptions options) {
  return std::make_unique<PeerOfSocket>(std::move(options));
}

}  // namespace fenceline::client::redis
