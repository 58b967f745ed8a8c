// Fails every system call of a write, each in turn, with every errno that matters, and looks at the
// disk afterwards.

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "tests/backends/files/files_fixture.h"

namespace fenceline::testing {
namespace {

using backends::SyncMode;
using base::Applied;

const std::vector<Call> kCalls = {Call::kOpen,   Call::kCreate, Call::kWrite,    Call::kFsync,
                                  Call::kRename, Call::kMkdir,  Call::kSetXattr, Call::kGetXattr,
                                  Call::kStat,   Call::kStatAt};
const std::vector<int> kErrors = {EIO, ENOSPC, EDQUOT, EFBIG, EMFILE, EINTR, ENOMEM};

class FilesFaults : public FilesBackendTest, public ::testing::WithParamInterface<SyncMode> {
 protected:
  // Puts `name` while the n-th call fails; false when there was no n-th call any more.
  bool put_with_fault(const std::string& name, const std::string& old, Call call, int nth,
                      int error, const Fields& fields) {
    open(GetParam());
    calls().fail(call, nth, error);
    const Answer answer = put(backend(), name, "new content", fields);
    calls().disarm();
    const bool hit = calls().hit();
    const std::string trace = "call " + std::to_string(static_cast<int>(call)) + " nth " +
                              std::to_string(nth) + " errno " + std::to_string(error);
    SCOPED_TRACE(trace);
    check(name, old, answer);
    if (call == Call::kFsync && hit) {
      check_out_of_service(name, answer);
    } else {
      EXPECT_FALSE(backend().out_of_service());
      EXPECT_EQ(alarms_before_, alarms().size());
      EXPECT_NE(put(backend(), name, "later").status, 0) << "one failure must not stick";
    }
    if (hit && error == ENOSPC && call == Call::kWrite) {
      EXPECT_EQ(answer.error_name(), "insufficient-storage");
    }
    if (hit && error == EMFILE && call != Call::kFsync) {
      EXPECT_TRUE(answer.error_name() == "overloaded" || answer.error_name() == "storage-failed");
    }
    alarms_before_ = alarms().size();
    return hit;
  }

 private:
  void check(const std::string& name, const std::string& old, const Answer& answer) {
    const std::string content = read(root() / name);
    EXPECT_EQ(leftovers(), 0U);
    if (!answer.error) {
      EXPECT_EQ(content, "new content");
    } else if (answer.error->applied == Applied::kNo) {
      EXPECT_EQ(content, old);
    } else {
      EXPECT_EQ(answer.error->applied, Applied::kUnknown);
      EXPECT_TRUE(content == old || content == "new content");
    }
  }

  void check_out_of_service(const std::string& name, const Answer& answer) {
    EXPECT_EQ(answer.error_name(), "storage-failed");
    EXPECT_TRUE(backend().out_of_service());
    EXPECT_EQ(alarms().size(), alarms_before_ + 1);
    const int tried = calls().fsyncs();
    const Answer refused = put(backend(), name, "later");
    EXPECT_EQ(refused.error_name(), "storage-failed");
    EXPECT_EQ(refused.error->applied, Applied::kNo);
    EXPECT_EQ(refused.error->detail, backend().out_of_service());
    EXPECT_EQ(remove(backend(), name).error_name(), "storage-failed");
    EXPECT_EQ(calls().fsyncs(), tried) << "a failed fsync is never tried again";
  }

  std::size_t alarms_before_ = 0;
};

TEST_P(FilesFaults, AReplacementIsWholeOrNotThere) {
  write(root() / "a/b", "old");
  for (const Call call : kCalls) {
    for (const int error : kErrors) {
      for (int nth = 1;; ++nth) {
        write(root() / "a/b", "old");
        if (!put_with_fault("a/b", "old", call, nth, error, {{"If-None-Match", "\"none\""}})) {
          break;
        }
      }
    }
  }
}

TEST_P(FilesFaults, ANewFileInNewDirectoriesIsWholeOrNotThere) {
  for (const Call call : kCalls) {
    for (const int error : kErrors) {
      for (int nth = 1;; ++nth) {
        std::filesystem::remove_all(root() / "x");
        if (!put_with_fault("x/y/z", "", call, nth, error, {})) {
          break;
        }
      }
    }
  }
}

TEST_P(FilesFaults, ADeletionHappensOrNot) {
  for (const Call call : {Call::kUnlink, Call::kStatAt, Call::kOpen}) {
    open(GetParam());
    EXPECT_NE(put(backend(), "d/a", "x").status, 0);
    calls().fail(call, 1, EIO);
    const Answer answer = remove(backend(), "d/a");
    EXPECT_TRUE(calls().hit());
    EXPECT_EQ(answer.error_name(), "storage-failed");
    EXPECT_EQ(answer.error->applied, Applied::kNo);
    EXPECT_EQ(get(backend(), "d/a").content, "x");
  }
}

TEST_P(FilesFaults, WhatFailsAfterTheFactIsUnknown) {
  open(GetParam());
  calls().fail(Call::kRename, 1, EIO, true);
  const Answer written = put(backend(), "a", "x");
  ASSERT_TRUE(written.error);
  EXPECT_EQ(written.error->applied, Applied::kUnknown);
  EXPECT_EQ(leftovers(), 0U);

  calls().fail(Call::kUnlink, 1, EIO, true);
  const Answer removed = remove(backend(), "a");
  ASSERT_TRUE(removed.error);
  EXPECT_EQ(removed.error->applied, Applied::kUnknown);
}

TEST_P(FilesFaults, ShortWritesAreContinued) {
  open(GetParam());
  calls().limit_writes(7);
  const std::string content(1000, 'x');
  EXPECT_EQ(put(backend(), "a", content).status, 201);
  EXPECT_EQ(read(root() / "a"), content);
}

TEST_P(FilesFaults, AReadThatFailsIsNoShortContent) {
  open(GetParam());
  put(backend(), "a", "content");
  for (const Call call : {Call::kOpen, Call::kStat, Call::kGetXattr, Call::kRead}) {
    calls().fail(call, 1, EIO);
    EXPECT_EQ(get(backend(), "a").error_name(), "storage-failed");
    EXPECT_TRUE(calls().hit());
  }
  calls().fail(Call::kOpen, 1, EMFILE);
  EXPECT_EQ(get(backend(), "a").error_name(), "overloaded");
  calls().fail(Call::kOpen, 1, EAGAIN);
  EXPECT_EQ(get(backend(), "a").content, "content");
}

INSTANTIATE_TEST_SUITE_P(Sync, FilesFaults, ::testing::Values(SyncMode::kFull, SyncMode::kNone),
                         [](const auto& tested) {
                           return tested.param == SyncMode::kFull ? "full" : "none";
                         });

TEST_F(FilesBackendTest, TheKernelsOwnLimitLeavesTheOldContent) {
  open();
  put(backend(), "a", "old");
  ::signal(SIGXFSZ, SIG_IGN);  // As the server does.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Answer answer = put(backend(), "a", std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(answer.error_name(), "insufficient-storage");
  EXPECT_EQ(answer.error->applied, Applied::kNo);
  EXPECT_EQ(get(backend(), "a").content, "old");
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, AFailedFsyncOfTheDirectoryIsUnknown) {
  open();
  put(backend(), "a", "old");
  calls().fail(Call::kFsync, 2, EIO);  // The first is that of the file.
  const Answer answer = put(backend(), "a", "new");
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->applied, Applied::kUnknown);
  EXPECT_TRUE(backend().out_of_service());
  EXPECT_EQ(get(backend(), "a").status, 200) << "reads go on";
}

TEST_F(FilesBackendTest, WhatWasStagedBeforeAFailureIsNotCommittedAfterIt) {
  open();
  Staged before = stage_put(backend(), "b", "x");
  calls().fail(Call::kFsync, 1, EIO);
  EXPECT_TRUE(put(backend(), "a", "y").error);
  const Answer answer = before.commit();
  EXPECT_EQ(answer.error_name(), "storage-failed");
  EXPECT_EQ(answer.error->applied, Applied::kNo);
  EXPECT_FALSE(std::filesystem::exists(root() / "b"));
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(FilesBackendTest, ARestartTakesWritesAgain) {
  open();
  calls().fail(Call::kFsync, 1, EIO);
  EXPECT_TRUE(put(backend(), "a", "y").error);
  open();
  EXPECT_EQ(put(backend(), "a", "y").status, 201);
}

TEST_F(FilesBackendTest, WithoutSyncNothingIsSynced) {
  open(backends::SyncMode::kNone);
  put(backend(), "x/y", "content");
  remove(backend(), "x/y");
  EXPECT_EQ(calls().fsyncs(), 0);
}

TEST_F(FilesBackendTest, WithSyncEveryStepIsSynced) {
  open();
  put(backend(), "a", "content");
  EXPECT_EQ(calls().fsyncs(), 2) << "file and directory";
  put(backend(), "x/y/z", "content");
  EXPECT_EQ(calls().fsyncs(), 6) << "file, the parents of two new directories, directory";
  remove(backend(), "a");
  EXPECT_EQ(calls().fsyncs(), 7);
}

}  // namespace
}  // namespace fenceline::testing
