#include "backends/files/staging.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "backends/files/commit.h"
#include "backends/files/errors.h"
#include "backends/files/metadata.h"
#include "backends/files/paths.h"
#include "backends/files/temporary_file.h"
#include "backends/representation.h"

namespace fenceline::backends::files {
namespace {

using base::ErrorKind;
using base::Method;
using base::Result;

using StageResult = Result<std::unique_ptr<StagedWrite>>;

constexpr std::size_t kMaxRequestIdBytes = 64;

Result<void> check_target(const ResourceRequest& request) {
  const Method method = request.head.method;
  if (method != Method::kPut && method != Method::kDelete) {
    return base::fail(ErrorKind::kMethodNotAllowed, "use GET, HEAD, PUT or DELETE");
  }
  if (request.names_directory) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        "the path ends in a slash, which names a directory; directories are made with "
        "the files in them, so name a file");
  }
  if (request.name.empty()) {
    return tl::unexpected(is_directory("/"));
  }
  return check_name(request.name);
}

bool all_between(std::string_view text, char low, char high) {
  return std::ranges::all_of(text, [=](char c) { return c >= low && c <= high; });
}

/// What is kept with the content; the nonce is missing still.
Result<Metadata> describe(const base::RequestHead& head, const base::Stamp& stamp) {
  if (auto checked = check_representation(head); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  auto type = content_type_of(head);
  if (!type) {
    return tl::unexpected(std::move(type.error()));
  }
  if (stamp.request_id.size() > kMaxRequestIdBytes || !all_between(stamp.request_id, 0x21, 0x7e)) {
    return base::fail(ErrorKind::kInternal,
                      "a request id is not at most 64 bytes of visible ASCII");
  }
  return Metadata{stamp.token, {}, PackedId(stamp.request_id), *type};
}

base::Awaitable<Result<void>> sync_on_pool(Store& store, std::shared_ptr<TemporaryFile> file) {
  // Let go before the coroutine goes on, so that whoever destroys the write removes the file.
  auto work = [file = std::move(file)]() mutable {
    auto synced = file->sync();
    file.reset();
    return synced;
  };
  return base::run_on<Result<void>>(store.pool, std::move(work));
}

// A write whose body has not come yet.
struct Prepared {
  std::shared_ptr<ReadyWrite> write = std::make_shared<ReadyWrite>();
  std::string attribute;  ///< The encoded metadata.
};

Result<Prepared> prepare(std::shared_ptr<Store> store, const ResourceRequest& request,
                         const base::Stamp& stamp) {
  if (auto serving = store->service.check(); !serving) {
    return tl::unexpected(std::move(serving.error()));
  }
  if (auto checked = check_target(request); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  auto conditions = base::Conditions::parse(request.head);
  if (!conditions) {
    return tl::unexpected(std::move(conditions.error()));
  }
  Prepared prepared;
  prepared.write->conditions = *std::move(conditions);
  prepared.write->name = request.name;
  if (request.head.method == Method::kPut) {
    auto metadata = describe(request.head, stamp);
    if (!metadata) {
      return tl::unexpected(std::move(metadata.error()));
    }
    auto file = TemporaryFile::create(store);
    if (!file) {
      return tl::unexpected(std::move(file.error()));
    }
    metadata->nonce = PackedId((*file)->name());
    prepared.attribute = encode(*metadata);
    prepared.write->file = *std::move(file);
  }
  prepared.write->store = std::move(store);
  return prepared;
}

Result<void> keep(TemporaryFile* file, std::string_view piece) {
  return file != nullptr ? file->append(piece) : Result<void>();
}

base::Awaitable<Result<void>> wait_for_body(base::BodySource& body, TemporaryFile* file,
                                            base::Awaitable<Result<std::string_view>> next) {
  while (true) {
    const auto piece = co_await std::move(next);
    if (!piece) {
      co_return tl::unexpected(piece.error());
    }
    if (piece->empty()) {
      co_return Result<void>();
    }
    auto kept = keep(file, *piece);
    if (!kept) {
      co_return kept;
    }
    next = body.read();
  }
}

// Reads to the end; what arrives goes into `file` if there is one. A small body has come with its
// head: nobody waits for it.
base::Awaitable<Result<void>> take_body(base::BodySource& body, TemporaryFile* file) {
  using Taken = base::Awaitable<Result<void>>;
  while (true) {
    auto next = body.read();
    if (!next.is_ready()) {
      return wait_for_body(body, file, std::move(next));
    }
    const auto piece = next.take();
    if (!piece || piece->empty()) {
      return Taken::ready(piece ? Result<void>() : tl::unexpected(piece.error()));
    }
    if (auto kept = keep(file, *piece); !kept) {
      return Taken::ready(std::move(kept));
    }
  }
}

}  // namespace

base::Awaitable<StageResult> stage_write(std::shared_ptr<Store> store, ResourceRequest request,
                                         base::BodySource& body, base::Stamp stamp) {
  auto prepared = prepare(std::move(store), request, stamp);
  if (!prepared) {
    co_return tl::unexpected(prepared.error());
  }
  ReadyWrite& write = *prepared->write;
  const auto taken = co_await take_body(body, write.file.get());
  if (!taken) {
    co_return tl::unexpected(taken.error());
  }
  if (!write.file) {
    co_return make_staged_write(std::move(prepared->write));
  }
  const auto described = write.file->describe(prepared->attribute);
  if (!described) {
    co_return tl::unexpected(described.error());
  }
  if (write.store->durable()) {
    const auto synced = co_await sync_on_pool(*write.store, write.file);
    if (!synced) {
      co_return tl::unexpected(synced.error());
    }
  }
  auto etag = write.file->etag();
  if (!etag) {
    co_return tl::unexpected(etag.error());
  }
  write.etag = *std::move(etag);
  co_return make_staged_write(std::move(prepared->write));
}

}  // namespace fenceline::backends::files
