#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/http/current_context.h"
#include "base/async.h"
#include "base/spawn.h"

namespace fenceline::backends::http {

template <typename T>
base::Awaitable<void> put_result(base::Awaitable<T> work,
                                 std::shared_ptr<std::vector<std::optional<T>>> into,
                                 std::size_t at) {
  auto value = co_await std::move(work);
  (*into)[at].emplace(std::move(value));
}

/// Runs all of them at once on the caller's core and waits for every one.
/// Success: the results in their order; nothing for one that threw. What they use by reference
/// outlives the call, and the io_context does not end before it.
template <typename T>
base::Awaitable<std::vector<std::optional<T>>> gather(std::vector<base::Awaitable<T>> works) {
  auto results = std::make_shared<std::vector<std::optional<T>>>(works.size());
  auto* context = co_await current_context();
  const auto start = [&works, &results, context](base::Done<int> done) {
    auto left = std::make_shared<std::size_t>(works.size());
    for (std::size_t i = 0; i < works.size(); ++i) {
      base::spawn(*context, put_result(std::move(works[i]), results, i),
                  [left, done](const std::exception_ptr&) {
                    if (--*left == 0) {
                      done(0);
                    }
                  });
    }
  };
  if (!works.empty()) {
    co_await base::from_callback<int>(start);
  }
  co_return std::move(*results);
}

}  // namespace fenceline::backends::http
