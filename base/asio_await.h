#pragma once

// Lets a coroutine of ours await an operation of Asio:
//
//     auto token = await_into(error);
//     const auto count = co_await socket.async_read_some(buffer, token);

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>
#include <coroutine>
#include <optional>
#include <tuple>
#include <utility>

#include "base/awaitable.h"
#include "base/resumption.h"

namespace fenceline::base {

/// The completion token for operations that give no error, such as `post`. An operation must not
/// complete inside the function that starts it (none of Asio's does).
struct AwaitToken {};
inline constexpr AwaitToken kAwait{};

/// The completion token for all others: errors are values here, so the error goes into a variable,
/// which outlives the wait.
struct AwaitInto {
  boost::system::error_code* error;
};
inline AwaitInto await_into(boost::system::error_code& error) { return {&error}; }

/// What an operation gave besides its error: nothing, or one value.
template <typename... Values>
class OperationResult {
 public:
  static_assert(sizeof...(Values) <= 1, "an operation gives one value at most");
  using Type = std::tuple_element_t<0, std::tuple<Values..., void>>;

  void set(Values... values) { values_.emplace(std::move(values)...); }
  Type take() {
    if constexpr (sizeof...(Values) == 1) {
      return std::get<0>(*std::move(values_));
    }
  }

 private:
  std::optional<std::tuple<Values...>> values_;
};

/// An operation that has not been started; `co_await` starts it. Used once.
/// `error` is null where the operation gives none.
template <typename Initiation, typename Arguments, typename... Values>
class Operation {
 public:
  Operation(Initiation initiation, boost::system::error_code* error, Arguments arguments)
      : initiation_(std::move(initiation)), error_(error), arguments_(std::move(arguments)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    std::apply(
        [&](auto&&... arguments) {
          std::move(initiation_)(Handler{&result_, error_, Resumption(waiting)},
                                 std::move(arguments)...);
        },
        std::move(arguments_));
  }

  typename OperationResult<Values...>::Type await_resume() { return result_.take(); }

 private:
  struct Handler {
    OperationResult<Values...>* result;
    boost::system::error_code* into;
    Resumption resumption;
    void operator()(Values... values) {
      result->set(std::move(values)...);
      resumption.resume();
    }
    void operator()(const boost::system::error_code& error, Values... values) {
      *into = error;
      (*this)(std::move(values)...);
    }
  };

  Initiation initiation_;
  boost::system::error_code* error_;
  Arguments arguments_;
  OperationResult<Values...> result_;
};

}  // namespace fenceline::base

template <>
class boost::asio::async_result<fenceline::base::AwaitToken, void()> {
 public:
  template <typename Initiation, typename... Arguments>
  static auto initiate(Initiation initiation, const fenceline::base::AwaitToken& /*token*/,
                       Arguments... arguments) {
    return fenceline::base::Operation<Initiation, std::tuple<Arguments...>>(
        std::move(initiation), nullptr, std::tuple<Arguments...>(std::move(arguments)...));
  }
};

template <typename... Values>
class boost::asio::async_result<fenceline::base::AwaitInto,
                                void(boost::system::error_code, Values...)> {
 public:
  template <typename Initiation, typename... Arguments>
  static auto initiate(Initiation initiation, const fenceline::base::AwaitInto& token,
                       Arguments... arguments) {
    return fenceline::base::Operation<Initiation, std::tuple<Arguments...>, Values...>(
        std::move(initiation), token.error, std::tuple<Arguments...>(std::move(arguments)...));
  }
};
