#!/usr/bin/env python3
"""The systemd unit and its configuration are right, as far as that shows without starting them.

    packaging_test.py FENCELINE
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging/fenceline.service"
CONFIG = ROOT / "packaging/fenceline.yaml"
FENCELINE = ""
ANALYZE = shutil.which("systemd-analyze")
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600}


def run(*command):
    return subprocess.run([str(part) for part in command], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def settings(name):
    """Every value of this setting in the unit, in order."""
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)


def seconds(text):
    amount, unit = re.fullmatch(r"([0-9]+)([a-z]+)", text).groups()
    return int(amount) * SECONDS[unit]


class PackagingTest(unittest.TestCase):
    def test_the_configuration_is_right_and_strict(self):
        done = run(FENCELINE, "check", "--config", CONFIG)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("guarantee strict", done.stdout)

    def test_the_paths_of_the_configuration_may_be_written(self):
        self.assertEqual(settings("StateDirectory"), ["fenceline"])
        text = CONFIG.read_text(encoding="utf-8")
        paths = re.findall(r"(?:sqlite|root): (\S+)", text)
        self.assertEqual(len(paths), 2)
        for path in paths:
            self.assertTrue(path.startswith("/var/lib/fenceline/"), path)

    def test_the_service_is_given_the_time_to_stop(self):
        shutdown = re.search(r"shutdown: (\S+)", CONFIG.read_text(encoding="utf-8"))[1]
        self.assertGreater(seconds(settings("TimeoutStopSec")[0]), seconds(shutdown))

    def test_the_user_exists(self):
        users = (ROOT / "packaging/fenceline.sysusers").read_text(encoding="utf-8")
        self.assertRegex(users, rf"(?m)^u {settings('User')[0]} ")

    def test_a_wrong_configuration_is_not_tried_again(self):
        self.assertEqual(settings("RestartPreventExitStatus"), ["2"])
        done = run(FENCELINE, "serve", "--config", ROOT / "README.md")
        self.assertEqual(done.returncode, 2, done.stdout)

    def test_a_reload_checks_and_then_sends_the_signal(self):
        self.assertEqual(settings("ExecReload"),
                         [settings("ExecStart")[0].replace(" serve ", " check "),
                          "/bin/kill -HUP $MAINPID"])


@unittest.skipUnless(ANALYZE, "systemd-analyze is not installed")
class SystemdTest(unittest.TestCase):
    """The unit as installed, but with the binary of the build and a user that exists."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.unit = Path(folder.name) / "fenceline.service"
        text = UNIT.read_text(encoding="utf-8")
        changed = text.replace("/usr/bin/fenceline", FENCELINE)
        self.assertNotEqual(text, changed)
        self.unit.write_text(changed, encoding="utf-8")

    def test_verify_has_nothing_to_say(self):
        done = run(ANALYZE, "verify", "--man=no", "--generators=no", "--recursive-errors=no",
                   self.unit)
        ours = [line for line in done.stdout.splitlines() if "fenceline" in line]
        self.assertEqual((done.returncode, ours), (0, []), done.stdout)

    def test_verify_sees_a_mistake(self):
        text = self.unit.read_text(encoding="utf-8").replace("NoNewPrivileges=", "NoNewPrivilege=")
        self.unit.write_text(text, encoding="utf-8")
        done = run(ANALYZE, "verify", "--man=no", "--generators=no", "--recursive-errors=no",
                   self.unit)
        self.assertIn("NoNewPrivilege", done.stdout)

    def test_the_sandbox_is_tight(self):
        done = run(ANALYZE, "security", "--offline=true", "--threshold=20", "--no-pager", self.unit)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Overall exposure level", done.stdout)

    def test_the_system_calls_that_we_rely_on_are_allowed(self):
        allowed = set()
        for line in settings("SystemCallFilter"):
            for name in line.lstrip("~").split():
                calls = system_calls(name)
                allowed = allowed - calls if line.startswith("~") else allowed | calls
        # What strace saw of a server that was started, written to, read, listed and stopped.
        needed = """accept4 access arch_prctl bind brk clone3 close epoll_create1 epoll_ctl epoll_wait
            eventfd2 execve exit exit_group fcntl fdatasync fgetxattr flock fsetxattr fsync
            ftruncate futex getcwd getdents64 geteuid getpid getrandom getsockname gettid ioctl
            listen lseek madvise mkdir mkdirat mmap mprotect munmap newfstatat openat openat2
            pread64 prlimit64 pwrite64 read readlink recvfrom rename renameat renameat2 rseq
            rt_sigaction rt_sigprocmask rt_sigtimedwait sendfile sendmsg set_robust_list
            set_tid_address setsockopt shutdown socket syncfs timerfd_create timerfd_settime unlink
            unlinkat write""".split()
        self.assertEqual([call for call in needed if call not in allowed], [])
        # systemd refuses openat2 wholly with it, whatever the filter allows.
        self.assertEqual(settings("RestrictSUIDSGID"), [])
        for call in ("mount", "ptrace", "bpf", "reboot", "add_key", "chroot"):
            self.assertFalse(call in allowed, call)


def system_calls(name):
    """The calls of a set such as @sync, with those of the sets inside it."""
    if not name.startswith("@"):
        return {name}
    found = set()
    for line in run(ANALYZE, "syscall-filter", name).stdout.splitlines()[1:]:
        word = line.strip()
        if word and not word.startswith("#"):
            found |= system_calls(word)
    return found


if __name__ == "__main__":
    FENCELINE = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
