#include "tests/client/redis_server.h"
#include "tests/client/source_contract.h"

namespace fenceline::testing {
namespace {

std::string name_of(const ::testing::TestParamInfo<SourceCase>& info) { return info.param.name; }

SourceCase redis(std::string name, RedisSettings settings) {
  return {std::move(name), [settings] { return std::make_unique<RedisSourceServer>(settings); }};
}

SourceCase redlock(std::string name, std::size_t nodes) {
  return {std::move(name), [nodes] { return std::make_unique<RedlockServer>(nodes); }};
}

// One case each: the tests of an instance run case by case in turns, and would start all servers of
// a case anew each time.
INSTANTIATE_TEST_SUITE_P(Redis, SourceContract, ::testing::Values(redis("Plain", {})), name_of);
INSTANTIATE_TEST_SUITE_P(RedisTls, SourceContract,
                         ::testing::Values(redis("WithPassword",
                                                 {.password = "s3cret", .tls = true})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Redlock3, SourceContract, ::testing::Values(redlock("OfThree", 3)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Redlock5, SourceContract, ::testing::Values(redlock("OfFive", 5)),
                         name_of);

}  // namespace
}  // namespace fenceline::testing
