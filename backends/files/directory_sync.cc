#include "backends/files/directory_sync.h"

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fenceline::backends::files {
namespace {

struct Waiter {
  SharedFd directory;
  base::Done<int> done;
};

using Group = std::vector<Waiter>;

void finish(const Group& group, int code) {
  for (const Waiter& waiter : group) {
    waiter.done(code);
  }
}

}  // namespace

struct DirectorySync::State : std::enable_shared_from_this<State> {
  std::function<int(int)> fsync;
  std::function<void(std::function<void()>)> post;
  std::mutex mutex;
  /// A directory is in here while a round for it runs; the group is the next round's.
  std::unordered_map<std::uint64_t, Group> next;
  int failure = 0;

  void run_round(std::uint64_t inode, const Group& group) {
    const int code = fsync(group.front().directory->get());
    Group following;
    int failed = 0;
    {
      const std::scoped_lock lock(mutex);
      if (code < 0 && failure == 0) {
        failure = code;
      }
      failed = failure;
      following = std::exchange(next[inode], {});
      if (following.empty() || failed != 0) {
        next.erase(inode);
      }
    }
    finish(group, code);
    if (failed != 0) {
      finish(following, failed);
    } else if (!following.empty()) {
      // Posted rather than looped, so that a busy directory does not keep one commit's thread.
      post([self = shared_from_this(), inode, following = std::move(following)] {
        self->run_round(inode, following);
      });
    }
  }
};

DirectorySync::DirectorySync(std::function<int(int fd)> fsync,
                             std::function<void(std::function<void()>)> post)
    : state_(std::make_shared<State>()) {
  state_->fsync = std::move(fsync);
  state_->post = std::move(post);
}

void DirectorySync::sync(std::uint64_t inode, SharedFd directory, base::Done<int> done) {
  int failed = 0;
  {
    const std::scoped_lock lock(state_->mutex);
    failed = state_->failure;
    if (failed == 0) {
      const auto [running, is_first] = state_->next.try_emplace(inode);
      if (!is_first) {
        running->second.push_back({std::move(directory), std::move(done)});
        return;
      }
    }
  }
  if (failed != 0) {
    done(failed);
    return;
  }
  Group alone;
  alone.push_back({std::move(directory), std::move(done)});
  state_->run_round(inode, alone);
}

}  // namespace fenceline::backends::files
