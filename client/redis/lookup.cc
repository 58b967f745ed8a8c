#include "client/redis/lookup.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/eventfd.h>

#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/unique_fd.h"

namespace fenceline::client::redis {
namespace {

using Addresses = base::Result<std::vector<Address>>;

Addresses look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return base::fail(base::ErrorKind::kUpstreamFailed,
                      fmt::format("The name {} cannot be resolved: {}", host, gai_strerror(error)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address address;
    address.size = each->ai_addrlen;
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

struct Lookup::Shared {
  base::UniqueFd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::optional<Addresses> result;

  void give(Addresses addresses) {
    const std::lock_guard lock(mutex);
    result = std::move(addresses);
    ::eventfd_write(ready.get(), 1);
  }
};

Lookup::Lookup(std::string host, std::uint16_t port) : shared_(std::make_shared<Shared>()) {
  auto known = look_up(host, port, AI_NUMERICHOST);
  if (known) {
    shared_->give(std::move(known));
    return;
  }
  try {
    std::thread([shared = shared_, host = std::move(host), port] {
      shared->give(look_up(host, port, 0));
    }).detach();
  } catch (const std::system_error& failure) {
    shared_->give(base::fail(base::ErrorKind::kUpstreamFailed,
                             fmt::format("No thread to resolve a name: {}", failure.what())));
  }
}

Lookup::~Lookup() = default;

int Lookup::fd() const { return shared_->ready.get(); }

std::optional<Addresses> Lookup::result() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->result;
}

}  // namespace fenceline::client::redis
