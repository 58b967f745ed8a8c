// Keys that are unknown, missing or of the wrong type, and values that are wrong alone.

#include <gtest/gtest.h>

#include "tests/config/support.h"

namespace fenceline::config {
namespace {

class KeyErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(KeyErrors, AreAllReportedInTheirPlaces) {
  EXPECT_EQ(problems_of(load_text(GetParam().text)), GetParam().problems);
}

// Long sentences stand on several lines.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
INSTANTIATE_TEST_SUITE_P(
    Loader, KeyErrors,
    testing::Values(
        ErrorCase{"UnknownKeyNear",
                  kBase + R"(lisen: 1
)",
                  {"7:1: unknown key `lisen`; did you mean `listen`?"}},
        ErrorCase{"UnknownKeyFar",
                  kBase + R"(frobnicate: 1
)",
                  {"7:1: unknown key `frobnicate`; the keys here are listen, admin, ledger, token, "
                   "limits, timeouts, log, threads, leases, routes"}},
        ErrorCase{"UnknownInRoute",
                  kBase + R"(    metods: [GET]
)",
                  {"7:5: unknown key `routes[0].metods`; did you mean `methods`?"}},
        ErrorCase{"Null",
                  kBase + R"(log:
)",
                  {"7:1: `log` has no value; give it one or remove the key"}},
        ErrorCase{"Tilde",
                  kBase + R"(log: {level: ~}
)",
                  {"7:7: `log.level` has no value; give it one or remove the key"}},
        ErrorCase{"NullThreadsThenMore",
                  kBase + R"(threads:
log: {level: info}
)",
                  {"7:1: `threads` has no value; give it one or remove the key"}},
        ErrorCase{"ListForMap",
                  kBase + R"(log: [info]
)",
                  {"7:6: `log` must be a map (`key: value`), but is a list"}},
        ErrorCase{"ScalarForMap",
                  kBase + R"(log: info
)",
                  {"7:6: `log` must be a map (`key: value`), but is a value"}},
        ErrorCase{"MapForScalar",
                  kBase + R"(log: {level: {a: b}}
)",
                  {"7:14: `log.level`: must be a single value, but is a map"}},
        ErrorCase{"Octal",
                  kBase + R"(threads: {io: 010}
)",
                  {"7:15: `threads.io`: \"010\" is no integer from 0 to 9223372036854775807 in "
                   "plain decimal digits"}},
        ErrorCase{"Hex",
                  kBase + R"(threads: {io: 0x10}
)",
                  {"7:15: `threads.io`: \"0x10\" is no integer from 0 to 9223372036854775807 in "
                   "plain decimal digits"}},
        ErrorCase{"Float",
                  kBase + R"(threads: {io: 1.0}
)",
                  {"7:15: `threads.io`: \"1.0\" is no integer from 0 to 9223372036854775807 in "
                   "plain decimal digits"}},
        ErrorCase{"Neg",
                  kBase + R"(threads: {io: -1}
)",
                  {"7:15: `threads.io`: \"-1\" is no integer from 0 to 9223372036854775807 in "
                   "plain decimal digits"}},
        ErrorCase{"Range",
                  kBase + R"(threads: {io: 257, workers: 0}
)",
                  {"7:15: `threads.io`: 257 is out of range; allowed are 1 to 256",
                   "7:29: `threads.workers`: 0 is out of range; allowed are 1 to 256"}},
        ErrorCase{
            "MultiErrors",
            kBase + R"(    writes: maybe
    enforce: yes
    max_jump: 9223372036854775808
    require: strictt
    limits: {body: 1 GiB}
    timeouts: {body: 30, drain: 11m}
)",
            {"7:13: `routes[0].writes`: \"maybe\" is not one of required, optional, off",
             "8:14: `routes[0].enforce`: \"yes\" is neither true nor false",
             "9:15: `routes[0].max_jump`: \"9223372036854775808\" is no integer from 0 to "
             "9223372036854775807 in plain decimal digits",
             "10:14: `routes[0].require`: \"strictt\" is not one of strict, bounded, detect; did "
             "you mean strict?",
             "11:20: `routes[0].limits.body`: \"1 GiB\" is no size: \" GiB\" is no unit; write "
             "bytes or a unit of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, as in 64MiB",
             "12:22: `routes[0].timeouts.body`: \"30\" is no duration: it has no unit; write a "
             "number and a unit of ms, s, m, h, as in 30s",
             "12:33: `routes[0].timeouts.drain`: 11m is out of range; allowed are 0ms to 10m"}},
        ErrorCase{
            "SecretShort",
            kBase + R"(admin: {listen: 127.0.0.1:1, token: ${SHORT}}
)",
            {"7:37: `admin.token`: a bearer token is 16 to 4096 letters, digits and \"-._~+/=\" "
             "(this one has 7 bytes); `openssl rand -hex 32` makes one (from the environment)"}},
        ErrorCase{"EmptyStr",
                  kBase + R"(log: {level: ""}
)",
                  {"7:14: `log.level`: \"\" is not one of debug, info, warn, error"}},
        ErrorCase{"MissingAll",
                  R"(log: {level: info}
)",
                  {"1:1: the key `listen` is missing", "1:1: the key `ledger` is missing",
                   "1:1: the key `routes` is missing"}},
        ErrorCase{
            "LeasesAllAtOnce",
            kBase + R"(leases: {path: leases, min_ttl: 0s, max_wait: 25h, max_leases: 0, ttl: 1s}
)",
            {"7:16: `leases.path`: \"leases\" is no path of a service; write segments of "
             "letters, digits and \"-._~\", each after a slash, as in /leases",
             "7:33: `leases.min_ttl`: 0s is out of range; allowed are 1ms to 24h",
             "7:47: `leases.max_wait`: 25h is out of range; allowed are 0ms to 24h",
             "7:64: `leases.max_leases`: 0 is out of range; allowed are 1 to 100000000",
             "7:67: unknown key `leases.ttl`; the keys here are path, token, min_ttl, max_ttl, "
             "max_wait, "
             "lock_delay, max_lock_delay, max_leases, max_waiters, drain"}},
        ErrorCase{
            "LeasePathWithASlashAtTheEnd",
            kBase + R"(leases: {path: /a/}
)",
            {"7:16: `leases.path`: \"/a/\" is no path of a service; write segments of letters, "
             "digits and \"-._~\", each after a slash, as in /leases"}},
        ErrorCase{"LeaseTokenIsNotShown",
                  kBase + R"(leases: {token: ${SHORT}}
)",
                  {"7:17: `leases.token`: a bearer token is 16 to 4096 letters, digits and "
                   "\"-._~+/=\" (this one has 7 bytes); `openssl rand -hex 32` makes one (from the "
                   "environment)"}},
        ErrorCase{"Nobackend",
                  kBase + R"(  - name: jobs
    match: /jobs/{id}
)",
                  {"7:5: `routes[1].files` is missing, or `sqlite`, `http` or `s3`; a route "
                   "needs a backend, as in `files: {root: var/data}`"}},
        ErrorCase{"RouteScalar",
                  kBase + R"(  - hello
)",
                  {"7:5: `routes[1]` must be a map (`key: value`), but is a value"}},
        ErrorCase{"RouteNull",
                  kBase + R"(  -
)",
                  {"8:1: `routes[1]` must be a map (`key: value`), but is nothing"}},
        ErrorCase{"EmptyList",
                  kBase + R"(    methods: []
)",
                  {"7:14: `routes[0].methods`: the list is empty"}},
        ErrorCase{
            "Headers",
            kBase +
                R"(token: {headers: [Fencing-Token, fencing-token, Host, "a b", Fencing-Holder, [x]]}
)",
            {"7:34: `token.headers`: \"fencing-token\" is in the list twice",
             "7:49: `token.headers`: \"Host\" has a meaning of its own and cannot carry a token",
             "7:55: `token.headers`: \"a b\" is no header field name (RFC 9110, 5.1)",
             "7:62: `token.headers`: \"Fencing-Holder\" has a meaning of its own and cannot carry "
             "a token",
             "7:78: `token.headers`: must be a single value, but is a list"}},
        ErrorCase{"ListenMapNoAddress",
                  R"(listen: {tls: {certificate: c}}
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:9: the key `listen.address` is missing",
                   "1:15: the key `listen.tls.key` is missing"}},
        ErrorCase{"ListenBad",
                  R"(listen: localhost:80
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:9: `listen`: \"localhost:80\" is no address and port: the address must be an "
                   "IP address, not a name; write 127.0.0.1:8080 or [::1]:8080"}},
        ErrorCase{"ListenList",
                  R"(listen: [a]
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:9: `listen`: must be a single value, but is a list"}},
        ErrorCase{"LedgerEmptyPath",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: ""}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"2:18: `ledger.sqlite`: the path is empty"}},
        ErrorCase{"LedgerNothingInIt",
                  R"(listen: 127.0.0.1:1
ledger: {}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"2:9: the key `ledger.sqlite` is missing"}},
        ErrorCase{"RoutesEmpty",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: l}
routes: []
)",
                  {"3:9: `routes`: the list is empty"}},
        ErrorCase{"RoutesMap",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: l}
routes: {name: a}
)",
                  {"3:9: `routes`: must be a list, but is a map"}},
        ErrorCase{"RoutesNull",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: l}
routes:
)",
                  {"3:1: `routes` has no value; give it one or remove the key"}},
        ErrorCase{"RouteEmpty",
                  R"(listen: 127.0.0.1:1
ledger: {sqlite: l}
routes: [{}]
)",
                  {"3:10: the key `routes[0].name` is missing",
                   "3:10: the key `routes[0].match` is missing",
                   "3:10: `routes[0].files` is missing, or `sqlite`, `http` or `s3`; a route "
                   "needs a backend, as in `files: {root: var/data}`"}},
        ErrorCase{"EverythingAtOnce",
                  R"(lisen: 127.0.0.1:1
ledger: {sqlit: l}
limits: {head: 1}
routes:
  - name: A
    match: a
    fence: x
    files: {rot: r}
  - name: b
    match: /b/{x}
    fence: b/{y}
    files: r
)",
                  {"1:1: unknown key `lisen`; did you mean `listen`?",
                   "1:1: the key `listen` is missing", "2:9: the key `ledger.sqlite` is missing",
                   "2:10: unknown key `ledger.sqlit`; did you mean `sqlite`?",
                   "3:16: `limits.head`: 1 is out of range; allowed are 1KiB to 1MiB",
                   "5:11: `routes[0].name`: \"A\" is no route name; use 1 to 64 lower-case "
                   "letters, digits and \"-\"",
                   "6:12: `routes[0].match`: \"a\" must start with \"/\"",
                   "8:12: the key `routes[0].files.root` is missing",
                   "8:13: unknown key `routes[0].files.rot`; did you mean `root`?",
                   "11:12: `routes[1].fence`: \"b/{y}\" names \"{y}\", which the match \"/b/{x}\" "
                   "does not capture; it captures x",
                   "12:12: `routes[1].files` must be a map (`key: value`), but is a value"}},
        ErrorCase{"CacheKeysZero",
                  kBase + R"(log: {level: info}
limits: {connections: 0, staged: 1KiB, head: 2MiB}
)",
                  {"8:23: `limits.connections`: 0 is out of range; allowed are 1 to 1000000",
                   "8:34: `limits.staged`: 1KiB is out of range; allowed are 1MiB to 1048576TiB",
                   "8:46: `limits.head`: 2MiB is out of range; allowed are 1KiB to 1MiB"}},
        ErrorCase{
            "Timeouts",
            kBase +
                R"(timeouts: {head: 0s, body: 25h, keep_alive: 1d, write: -1s, drain: 1, shutdown: forever}
)",
            {"7:18: `timeouts.head`: 0s is out of range; allowed are 1ms to 24h",
             "7:28: `timeouts.body`: 25h is out of range; allowed are 1ms to 24h",
             "7:45: `timeouts.keep_alive`: \"1d\" is no duration: \"d\" is no unit; write a number "
             "and a unit of ms, s, m, h, as in 30s",
             "7:56: `timeouts.write`: \"-1s\" is no duration: it must start with a digit; write a "
             "number and a unit of ms, s, m, h, as in 30s",
             "7:68: `timeouts.drain`: \"1\" is no duration: it has no unit; write a number and a "
             "unit of ms, s, m, h, as in 30s",
             "7:81: `timeouts.shutdown`: \"forever\" is no duration: it must start with a digit; "
             "write a number and a unit of ms, s, m, h, as in 30s"}},
        ErrorCase{"ThreadsWord",
                  kBase + R"(threads: {io: four, worker: 2}
)",
                  {"7:15: `threads.io`: \"four\" is no integer from 0 to 9223372036854775807 in "
                   "plain decimal digits",
                   "7:21: unknown key `threads.worker`; did you mean `workers`?"}},
        ErrorCase{"TokenScalar",
                  kBase + R"(token: {headers: Fencing-Token}
)",
                  {"7:18: `token.headers`: must be a list, but is a value"}},
        ErrorCase{"TokenNine",
                  kBase + R"(token: {headers: [a, b, c, d, e, f, g, h, i]}
)",
                  {"7:43: `token.headers`: more than 8 names"}},
        ErrorCase{"TokenHeaderIf",
                  kBase + R"(token: {headers: [If-Match]}
)",
                  {"7:19: `token.headers`: \"If-Match\" has a meaning of its own and cannot carry "
                   "a token"}},
        ErrorCase{"MethodsBad",
                  kBase + R"(    methods: [GET, get, POST, PUT, PUT]
)",
                  {"7:20: `routes[0].methods`: \"get\" is not one of GET, HEAD, PUT, DELETE; did "
                   "you mean GET?",
                   "7:25: `routes[0].methods`: \"POST\" is not one of GET, HEAD, PUT, DELETE",
                   "7:36: `routes[0].methods`: \"PUT\" is in the list twice"}},
        ErrorCase{"MethodsScalar",
                  kBase + R"(    methods: GET
)",
                  {"7:14: `routes[0].methods`: must be a list, but is a value"}},
        ErrorCase{"MethodsNullItem",
                  kBase + R"(    methods: [GET, ~]
)",
                  {"7:20: `routes[0].methods`: must be a single value, but is nothing"}},
        ErrorCase{"RouteTimeoutsUnknown",
                  kBase + R"(    timeouts: {head: 1s}
)",
                  {"7:16: unknown key `routes[0].timeouts.head`; the keys here are body, drain"}},
        ErrorCase{"RouteLimitsUnknown",
                  kBase + R"(    limits: {bdy: 1}
)",
                  {"7:14: unknown key `routes[0].limits.bdy`; did you mean `body`?"}},
        ErrorCase{"RouteLimitNegative",
                  kBase + R"(    limits: {body: -1}
)",
                  {"7:20: `routes[0].limits.body`: \"-1\" is no size: it must start with a digit; "
                   "write bytes or a unit of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, as in 64MiB"}},
        ErrorCase{"RequireNone",
                  kBase + R"(    require: none
)",
                  {"7:14: `routes[0].require`: \"none\" is not one of strict, bounded, detect"}},
        ErrorCase{"FenceBad",
                  kBase + R"(    fence: x/{y}
)",
                  {"7:12: `routes[0].fence`: \"x/{y}\" names \"{y}\", which the match "
                   "\"/data/{path...}\" does not capture; it captures path"}},
        ErrorCase{"FenceEmpty",
                  kBase + R"(    fence: ""
)",
                  {"7:12: `routes[0].fence`: the fence is empty; leave the key out for one fence "
                   "per resource"}},
        ErrorCase{
            "SyncBad",
            kBase + R"(  - name: b
    match: /b/{x}
    files: {root: r, sync: ful}
)",
            {"9:28: `routes[1].files.sync`: \"ful\" is not one of full, none; did you mean full?"}},
        ErrorCase{"RootMissing",
                  kBase + R"(  - name: b
    match: /b/{x}
    files: {sync: full}
)",
                  {"9:12: the key `routes[1].files.root` is missing"}},
        ErrorCase{"RootList",
                  kBase + R"(  - name: b
    match: /b/{x}
    files: {root: [r]}
)",
                  {"9:19: `routes[1].files.root`: must be a single value, but is a list"}},
        ErrorCase{"FilesNull",
                  kBase + R"(  - name: b
    match: /b/{x}
    files:
)",
                  {"9:5: `routes[1].files` has no value; give it one or remove the key"}},
        ErrorCase{"NameMissing",
                  kBase + R"(  - match: /b/{x}
    files: {root: r}
)",
                  {"7:5: the key `routes[1].name` is missing"}},
        ErrorCase{"NameUpper",
                  kBase + R"(  - name: Bee
    match: /b/{x}
    files: {root: r}
)",
                  {"7:11: `routes[1].name`: \"Bee\" is no route name; use 1 to 64 lower-case "
                   "letters, digits and \"-\""}},
        ErrorCase{"MatchMissing",
                  kBase + R"(  - name: b
    files: {root: r}
)",
                  {"7:5: the key `routes[1].match` is missing"}},
        ErrorCase{"MatchWithMethod",
                  kBase + R"(  - name: b
    match: GET /b
    files: {root: r}
)",
                  {"8:12: `routes[1].match`: \"GET /b\" has something before the path; a pattern "
                   "is a path alone, methods go into `methods`"}},
        ErrorCase{"TlsKeyMissing",
                  R"(listen: {address: 127.0.0.1:1, tls: {certificate: c}}
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:37: the key `listen.tls.key` is missing"}},
        ErrorCase{"TlsCertificateMissing",
                  R"(listen: {address: 127.0.0.1:1, tls: {key: c}}
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:37: the key `listen.tls.certificate` is missing"}},
        ErrorCase{"TlsEmpty",
                  R"(listen: {address: 127.0.0.1:1, tls: {}}
ledger: {sqlite: l}
routes: [{name: a, match: /a, files: {root: r}}]
)",
                  {"1:37: the key `listen.tls.certificate` is missing",
                   "1:37: the key `listen.tls.key` is missing"}},
        ErrorCase{"AdminNoListen",
                  kBase + R"(admin: {token: ${SECRET}}
)",
                  {"7:8: the key `admin.listen` is missing"}},
        ErrorCase{"AdminName",
                  kBase + R"(admin: {listen: "localhost:8081"}
)",
                  {"7:17: `admin.listen`: \"localhost:8081\" is no address and port: the address "
                   "must be an IP address, not a name; write 127.0.0.1:8080 or [::1]:8080"}},
        ErrorCase{"AdminMissingVariableGivesOneProblem",
                  kBase + R"(admin: {listen: 0.0.0.0:8081, token: ${NOPE}}
)",
                  {"7:38: the environment variable NOPE is not set; set it, or write $${NOPE} for "
                   "the characters"}},
        ErrorCase{"AdminTokenWithBlank",
                  kBase + R"(admin: {listen: 127.0.0.1:8081, token: "0123456789 abcdef"}
)",
                  {"7:40: `admin.token`: a bearer token is 16 to 4096 letters, digits and "
                   "\"-._~+/=\" (this one has 17 bytes); `openssl rand -hex 32` makes one"}},
        ErrorCase{
            "AdminTokenEmptyVariable",
            kBase + R"(admin: {listen: 127.0.0.1:8081, token: "${EMPTY}"}
)",
            {"7:40: `admin.token`: a bearer token is 16 to 4096 letters, digits and \"-._~+/=\" "
             "(this one has 0 bytes); `openssl rand -hex 32` makes one (from the environment)"}}),
    case_name);
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace
}  // namespace fenceline::config
