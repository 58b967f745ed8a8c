#include "proxy/exchange.h"

#include <gtest/gtest.h>

#include "tests/support/fake_backend.h"

namespace fenceline::proxy {
namespace {

bool may_have_body(const base::RequestHead& head) {
  testing::FedBody body;
  base::TimerWheel timers(base::Milliseconds(50), base::MonotonicTime());
  const Exchange exchange(Request{head, body, "127.0.0.1:9", "r-1", timers});
  return exchange.may_have_body();
}

TEST(Exchange, OnlyAReadThatDeclaresNoBodyHasNone) {
  base::RequestHead head;
  for (const char* method : {"GET", "HEAD"}) {
    head = {};
    head.method_text = method;
    head.method = base::method_from(method);
    EXPECT_FALSE(may_have_body(head)) << method;
    head.content_length = 3;
    EXPECT_TRUE(may_have_body(head)) << method;
    head.content_length.reset();
    head.chunked = true;
    EXPECT_TRUE(may_have_body(head)) << method;
  }
  // A POST that reads says the length of its body upstream, also if it is empty.
  for (const char* method : {"POST", "PROPFIND", "OPTIONS"}) {
    head = {};
    head.method_text = method;
    head.method = base::method_from(method);
    EXPECT_TRUE(may_have_body(head)) << method;
  }
}

}  // namespace
}  // namespace fenceline::proxy
