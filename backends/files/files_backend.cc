#include "backends/files/files_backend.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "backends/files/listing.h"
#include "backends/files/metadata.h"
#include "backends/files/paths.h"
#include "backends/files/reader.h"
#include "backends/files/root_directory.h"
#include "backends/files/staging.h"
#include "backends/files/store.h"
#include "base/conditions.h"

namespace fenceline::backends {
namespace {

using base::Method;
using base::Reply;
using base::Result;
using files::OpenedResource;
using files::Store;

base::Awaitable<Result<std::string>> list_on_pool(std::shared_ptr<Store> store,
                                                  OpenedResource& directory,
                                                  const ListingPage& page, bool is_root) {
  auto fd = std::make_shared<base::UniqueFd>(std::move(directory.fd));
  base::WorkerPool& pool = store->pool;
  auto work = [store = std::move(store), fd, page, is_root] {
    return files::list_directory(*store, std::move(*fd), page, is_root);
  };
  return base::run_on<Result<std::string>>(pool, std::move(work));
}

Result<std::optional<base::Stamp>> stamp_in(Store& store, std::string_view name) {
  if (auto checked = files::check_name(name); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  auto opened = files::open_resource(store, std::string(name));
  if (!opened) {
    return tl::unexpected(std::move(opened.error()));
  }
  if (S_ISDIR(opened->status.st_mode)) {
    return tl::unexpected(files::not_found(name));
  }
  files::FileState file;
  auto inspected = files::inspect(store.calls, opened->fd.get(), opened->status, file);
  if (!inspected) {
    return tl::unexpected(std::move(inspected.error()));
  }
  if (!file.metadata) {
    return std::nullopt;
  }
  files::PackedId::Space space;
  return base::Stamp{.key = {},
                     .token = file.metadata->token,
                     .request_id = std::string(file.metadata->request_id.text(space))};
}

class FilesBackend final : public Backend {
 public:
  FilesBackend(std::shared_ptr<Store> store, std::string root)
      : store_(std::move(store)), root_(std::move(root)) {}

  [[nodiscard]] Capabilities capabilities() const override {
    if (store_->durable()) {
      return {.guarantee = Guarantee::kStrict, .assumption = {}};
    }
    return {.guarantee = Guarantee::kBounded,
            .assumption = "strict while the machine keeps power (sync: none)"};
  }

  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    return head.method == Method::kGet || head.method == Method::kHead;
  }

  [[nodiscard]] std::string_view allowed_methods() const override {
    return "GET, HEAD, PUT, DELETE";
  }

  base::Awaitable<Result<Reply>> read(ResourceRequest request) override {
    using Answer = base::Awaitable<Result<Reply>>;
    if (auto checked = files::check_name(request.name); !checked) {
      return Answer::ready(tl::unexpected(std::move(checked.error())));
    }
    const std::string name(request.name);
    auto opened = files::open_resource(*store_, name);
    if (!opened) {
      return Answer::ready(tl::unexpected(std::move(opened.error())));
    }
    if (S_ISDIR(opened->status.st_mode)) {
      return read_directory(request, *std::move(opened));
    }
    if (request.names_directory) {
      return Answer::ready(tl::unexpected(files::not_found(name + "/")));
    }
    return Answer::ready(files::read_file(*store_, request.head, *std::move(opened), name));
  }

  base::Awaitable<Result<std::unique_ptr<StagedWrite>>> stage(ResourceRequest request,
                                                              base::BodySource& body,
                                                              base::Stamp stamp) override {
    return files::stage_write(store_, request, body, std::move(stamp));
  }

  base::Awaitable<Result<LastWrite>> last_write(ResourceRequest request) override {
    auto look = [store = store_, name = std::string(request.name)] {
      return as_last_write(stamp_in(*store, name));
    };
    return base::run_on<Result<LastWrite>>(store_->pool, std::move(look));
  }

  Result<std::optional<base::Stamp>> find_stamp(std::string_view name) override {
    return stamp_in(*store_, name);
  }

  [[nodiscard]] std::optional<std::string> out_of_service() const override {
    return store_->service.reason();
  }

  [[nodiscard]] std::optional<std::string> displaced() const override {
    return files::displaced_root(root_, store_->directory);
  }

 private:
  base::Awaitable<Result<Reply>> read_directory(ResourceRequest request, OpenedResource directory) {
    const auto page = parse_listing_query(request.head.query);
    if (!page) {
      co_return tl::unexpected(page.error());
    }
    auto listing = co_await list_on_pool(store_, directory, *page, request.name.empty());
    if (!listing) {
      co_return tl::unexpected(listing.error());
    }
    Reply reply;
    reply.add("Content-Type", "application/json");
    if (request.head.method == Method::kHead) {
      reply.head_length_bytes = listing->size();
    } else {
      reply.body = *std::move(listing);
    }
    co_return reply;
  }

  std::shared_ptr<Store> store_;
  const std::string root_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_files_backend(FilesOptions options) {
  files::Syscalls& calls = options.syscalls != nullptr ? *options.syscalls : files::real_syscalls();
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof(nonce), 0) != static_cast<ssize_t>(sizeof(nonce))) {
    return tl::unexpected(base::error_from_errno(errno, "cannot get random bytes"));
  }
  auto opened = files::open_root(calls, options.root, options.sync == SyncMode::kFull,
                                 options.ledger_identity);
  if (!opened) {
    return tl::unexpected(std::move(opened.error()));
  }
  return std::make_unique<FilesBackend>(std::make_shared<Store>(options, *std::move(opened), nonce),
                                        options.root);
}

}  // namespace fenceline::backends
