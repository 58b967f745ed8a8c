#include "fencing/sqlite_ledger.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "fencing/ledger_file.h"
#include "fencing/ledger_format.h"
#include "fencing/ledger_queue.h"
#include "fencing/ledger_writer.h"

namespace fenceline::fencing {
namespace {

class SqliteLedger final : public Ledger, public AnswerStore {
 public:
  SqliteLedger(std::unique_ptr<LedgerWriter> writer, std::string identity, std::size_t max_waiting)
      : identity_(std::move(identity)),
        queue_(max_waiting),
        thread_([this, owned = std::move(writer)] { owned->serve(queue_); }) {}

  ~SqliteLedger() override {
    queue_.close();
    thread_.join();
  }

  void raise(const base::FenceKey& key, const Mark& offered,
             base::Done<base::Result<Mark>> done) override {
    if (!offered.token.exists()) {
      find(key, std::move(done));
      return;
    }
    enqueue(RaiseRequest{key.text(), offered, std::move(done)});
  }

  void find(const base::FenceKey& key, base::Done<base::Result<Mark>> done) override {
    enqueue(FindRequest{key.text(), std::move(done)});
  }

  void scan(std::string prefix, std::string after, std::size_t limit,
            base::Done<base::Result<std::vector<KeyedMark>>> done) override {
    enqueue(ScanRequest{range_of(prefix, after), limit, std::move(done)});
  }

  void reset(const base::FenceKey& key, const ResetOrder& order,
             base::Done<base::Result<ResetOutcome>> done) override {
    enqueue(ResetRequest{key.text(), order, std::move(done)});
  }

  void resets(const base::FenceKey& key, std::size_t limit,
              base::Done<base::Result<std::vector<ResetRecord>>> done) override {
    enqueue(ResetsRequest{key.text(), limit, std::move(done)});
  }

  void put_intent(Intent put, std::vector<Intent> drop,
                  base::Done<base::Result<void>> done) override {
    enqueue(IntentRequest{std::move(put), std::move(drop), std::move(done)});
  }

  void drop_intents(std::vector<Intent> drop, base::Done<base::Result<void>> done) override {
    enqueue(IntentRequest{std::nullopt, std::move(drop), std::move(done)});
  }

  void list_intents(base::Done<base::Result<std::vector<Intent>>> done) override {
    enqueue(IntentsRequest{std::move(done)});
  }

  void grant(GrantOrder order, base::Done<base::Result<base::Token>> done) override {
    enqueue(LeaseRequest{std::move(order), std::move(done)});
  }

  void end_leases(EndOrder order, base::Done<base::Result<base::Token>> done) override {
    enqueue(LeaseRequest{std::move(order), std::move(done)});
  }

  void change_ttl(std::string id, base::Milliseconds ttl,
                  base::Done<base::Result<void>> done) override {
    enqueue(LeaseRequest{TtlOrder{std::move(id), ttl},
                         [done = std::move(done)](const base::Result<base::Token>& stored) {
                           done(stored.map([](base::Token) {}));
                         }});
  }

  void list_leases(base::Done<base::Result<LeaseRecords>> done) override {
    enqueue(LeasesRequest{std::move(done)});
  }

  AnswerStore* answers() override { return this; }

  void recall(base::Once once, std::string request_id, std::string before,
              base::Done<base::Result<std::optional<base::KeptRow>>> done) override {
    enqueue(AnswerRequest{.kind = AnswerRequest::Kind::kRecall,
                          .once = std::move(once),
                          .request_id = std::move(request_id),
                          .before = std::move(before),
                          .answer = {},
                          .done = std::move(done)});
  }

  void keep(base::Once once, base::KeptAnswer answer,
            base::Done<base::Result<void>> done) override {
    enqueue(AnswerRequest{.kind = AnswerRequest::Kind::kKeep,
                          .once = std::move(once),
                          .request_id = {},
                          .before = {},
                          .answer = std::move(answer),
                          .done = without_row(std::move(done))});
  }

  void forget(std::string key, std::string claimed_by,
              base::Done<base::Result<void>> done) override {
    enqueue(AnswerRequest{.kind = AnswerRequest::Kind::kForget,
                          .once = {.key = std::move(key), .print = {}},
                          .request_id = std::move(claimed_by),
                          .before = {},
                          .answer = {},
                          .done = without_row(std::move(done))});
  }

  [[nodiscard]] std::string identity() const override { return identity_; }

 private:
  static base::Done<AnswerRequest::Answer> without_row(base::Done<base::Result<void>> done) {
    return [done = std::move(done)](AnswerRequest::Answer answer) {
      done(answer ? base::Result<void>() : tl::unexpected(std::move(answer.error())));
    };
  }

  template <typename Request>
  void enqueue(Request request) {
    if (!queue_.push(request)) {
      request.done(base::fail(base::ErrorKind::kOverloaded,
                              "Too many requests wait for the ledger of fencing tokens. Send the "
                              "request again later."));
    }
  }

  const std::string identity_;
  LedgerQueue queue_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace

base::Result<std::unique_ptr<Ledger>> open_sqlite_ledger(SqliteLedgerOptions options) {
  options.max_group = std::max<std::size_t>(options.max_group, 1);
  auto file = open_ledger_file(options.path);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  if (file->contents.upgraded_from != 0 && options.on_upgraded) {
    options.on_upgraded(file->path, file->contents.upgraded_from, kLedgerFormat);
  }
  if (file->contents.no_marks && options.on_no_marks) {
    options.on_no_marks(file->path);
  }
  std::string identity = std::move(file->contents.identity);
  const std::size_t max_waiting = options.max_waiting;
  auto writer = LedgerWriter::make(std::move(*file), std::move(options));
  if (!writer) {
    return tl::unexpected(std::move(writer.error()));
  }
  return std::make_unique<SqliteLedger>(std::move(*writer), std::move(identity), max_waiting);
}

}  // namespace fenceline::fencing
