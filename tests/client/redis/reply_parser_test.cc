#include "client/redis/reply_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/redis/command.h"

namespace fenceline::client::redis {
namespace {

/// The answers in `bytes`, which come `step` at a time; nothing for a refusal.
std::optional<std::vector<Reply>> read(std::string_view bytes, std::size_t step) {
  ReplyParser parser;
  std::vector<Reply> replies;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      auto reply = parser.take(piece);
      if (!reply) {
        return std::nullopt;
      }
      if (*reply) {
        replies.push_back(**reply);
      }
    }
  }
  return replies;
}

TEST(ReplyParser, EveryKindIsRead) {
  const std::string bytes =
      "+OK\r\n-ERR no\r\n:-12\r\n:0\r\n:9223372036854775807\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n"
      "*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n$1\r\nx\r\n*0\r\n$-1\r\n+\r\n";
  const std::vector<Reply> expected = {
      status("OK"),
      error("ERR no"),
      integer(-12),
      integer(0),
      integer(9223372036854775807),
      bulk("a\r\nbc"),
      bulk(""),
      Reply{},
      Reply{},
      array({}),
      array({integer(1), array({bulk("x"), array({})}), Reply{}}),
      status(""),
  };
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    EXPECT_EQ(read(bytes, step), expected) << "in pieces of " << step;
  }
}

TEST(ReplyParser, WhatIsNoAnswerIsRefused) {
  for (const std::string_view bytes : {"\r\n",
                                       "OK\r\n",
                                       "+OK\n",
                                       "+O\rK\r\n",
                                       "+OK\r\r\n",
                                       ":\r\n",
                                       ":+1\r\n",
                                       ":01\r\n",
                                       ":-0\r\n",
                                       ":1 \r\n",
                                       ": 1\r\n",
                                       ":9223372036854775808\r\n",
                                       ":1x\r\n",
                                       "$-2\r\n",
                                       "$01\r\n",
                                       "$x\r\n",
                                       "$\r\n",
                                       "$1\r\nab\r\n",
                                       "$1\r\na\n\n",
                                       "$1048577\r\n",
                                       "*-2\r\n",
                                       "*1025\r\n",
                                       "*x\r\n",
                                       "_\r\n",
                                       "%1\r\n",
                                       "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
                                       "HTTP/1.1 400 Bad Request\r\n"}) {
    for (const std::size_t step : {std::size_t{1}, bytes.size()}) {
      EXPECT_EQ(read(bytes, step), std::nullopt) << bytes;
    }
  }
}

TEST(ReplyParser, TheLimitsAreReached) {
  const std::string big(ReplyParser::kMaxBulkBytes, 'x');
  EXPECT_EQ(read("$1048576\r\n" + big + "\r\n", 65'536), std::vector{bulk(big)});
  std::string wide = "*1024\r\n";
  for (int i = 0; i < 1024; ++i) {
    wide += ":1\r\n";
  }
  ASSERT_TRUE(read(wide, 100));
  EXPECT_EQ(read(wide, 100)->front().elements.size(), 1024U);
  EXPECT_TRUE(read("*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", 1));
  EXPECT_TRUE(read("+" + std::string(ReplyParser::kMaxLineBytes - 3, 'x') + "\r\n", 100));
  EXPECT_FALSE(read("+" + std::string(ReplyParser::kMaxLineBytes - 2, 'x') + "\r\n", 100));
  EXPECT_FALSE(read(std::string(ReplyParser::kMaxLineBytes + 1, '+'), 100)) << "without an end";
}

TEST(ReplyParser, AllOfAnAnswerIsBoundedToo) {
  const std::string big(ReplyParser::kMaxBulkBytes, 'x');
  std::string bytes = "*5\r\n";
  for (int i = 0; i < 5; ++i) {
    bytes += "$1048576\r\n" + big + "\r\n";
  }
  EXPECT_FALSE(read(bytes, 65'536));
  bytes = "*5\r\n";
  for (int i = 0; i < 5; ++i) {
    bytes += "*1024\r\n";
    for (int j = 0; j < 1024; ++j) {
      bytes += "+\r\n";
    }
  }
  EXPECT_FALSE(read(bytes, 1000));
}

TEST(ReplyParser, ItStopsBehindAnAnswer) {
  ReplyParser parser;
  std::string_view bytes = "+A\r\n+B\r\n";
  EXPECT_EQ(parser.take(bytes).value(), status("A"));
  EXPECT_EQ(bytes, "+B\r\n");
}

TEST(Command, IsAnArrayOfBulkStrings) {
  EXPECT_EQ(command({"SET", "a\r\n", ""}), "*3\r\n$3\r\nSET\r\n$3\r\na\r\n\r\n$0\r\n\r\n");
  EXPECT_EQ(eval("return 1", {"k"}, {"v", "w"}),
            "*6\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\nv\r\n$1\r\nw\r\n");
}

}  // namespace
}  // namespace fenceline::client::redis
