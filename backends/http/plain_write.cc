#include "backends/http/plain_write.h"

#include <utility>

#include "backends/http/answers.h"
#include "backends/http/burned.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/held_request.h"
#include "backends/http/upstream_target.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;

class PlainWrite final : public StagedWrite {
 public:
  PlainWrite(SharedUpstream upstream, std::unique_ptr<HeldRequest> request)
      : upstream_(std::move(upstream)), request_(std::move(request)) {}

  Awaitable<Result<Reply>> commit() override {
    auto received = co_await request_->complete();
    if (!received) {
      co_return base::pass_on(received.error());
    }
    co_return co_await outcome_of(upstream_, std::move(*received));
  }

  [[nodiscard]] std::optional<WriteIntent> intent() const override {
    return WriteIntent{.data = {}, .shared = true};
  }

  [[nodiscard]] Bearing bearing_on(std::string_view data) const override {
    const Outgoing& head = request_->head();
    return bearing_of_plain(data, upstream_->origin, head.method, head.target);
  }

 private:
  SharedUpstream upstream_;
  std::unique_ptr<HeldRequest> request_;
};

}  // namespace

Awaitable<Result<std::unique_ptr<StagedWrite>>> stage_plain(SharedUpstream upstream,
                                                            ResourceRequest request,
                                                            base::BodySource& body) {
  auto fields = fields_upstream(upstream->options, request, {.depth = depth_of(request)});
  if (!fields) {
    co_return base::pass_on(fields.error());
  }
  auto held = std::make_unique<HeldRequest>(
      upstream, *request.timers,
      Outgoing{.method = std::string(request.head.method_text),
               .target = target_of(upstream->options.base_path, request.name,
                                   request.names_directory, request.head.query),
               .fields = std::move(*fields)});
  held->declare_empty_body(declares_empty_body(request.head));
  auto early = co_await held->take(body, kSmallBodyBytes);
  if (!early) {
    co_return base::pass_on(early.error());
  }
  if (*early) {
    co_return co_await refused_early(upstream, std::move(**early));
  }
  std::unique_ptr<StagedWrite> staged =
      std::make_unique<PlainWrite>(std::move(upstream), std::move(held));
  co_return staged;
}

}  // namespace fenceline::backends::http
