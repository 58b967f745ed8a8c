#!/usr/bin/env python3
"""The Debian package: what is in it, and its life on a system of its own.

    package_test.py BUILD_FOLDER

That system is the real root seen through an overlay, in namespaces for mounts, processes and the
network: what is installed there is gone with it. No systemd runs in it; tests/packaging/walk.sh
says what that changes. `scripts/package --walk` does the same on a fresh Debian with systemd.
"""

import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path()
OLD, NEW = "9.0.0", "9.0.1"  # higher than a fenceline that may be installed where this runs
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, timeout=240, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def make_package(folder, version):
    must("cpack", "-B", Path(folder, version), "-D", f"CPACK_PACKAGE_VERSION={version}", cwd=BUILD,
         env={**os.environ, "SOURCE_DATE_EPOCH": "1750000000"})
    return next(Path(folder, version).glob("*.deb"))


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fenceline-package-",
                                             ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.old, cls.new = (make_package(cls.folder, version) for version in (OLD, NEW))

    def test_name_and_control(self):
        architecture = must("dpkg", "--print-architecture").strip()
        self.assertEqual(self.old.name, f"fenceline_{OLD}_{architecture}.deb")
        control = must("dpkg-deb", "-f", self.old)
        for line in ("Package: fenceline", f"Version: {OLD}", f"Architecture: {architecture}",
                     "Section: net", "Priority: optional"):
            self.assertRegex(control, rf"(?m)^{line}$")
        depends = re.search(r"(?m)^Depends: (.*)$", control)[1]
        # Of dpkg-shlibdeps: the version comes from the symbols that are used.
        self.assertRegex(depends, r"libc6 \(>= 2\.[0-9]+\)")
        for package in ("libsqlite3-0", "libssl3", "libyaml-cpp0.7", "systemd"):
            self.assertIn(package, depends)

    def test_files_belong_to_root_and_have_plain_modes(self):
        listing = must("dpkg-deb", "-c", self.old)
        modes = {}
        for line in listing.splitlines():
            mode, owner, _, _, _, name = line.split(maxsplit=5)
            self.assertEqual(owner, "root/root", line)
            modes[name] = mode
        programs = [name for name, mode in modes.items() if mode == "-rwxr-xr-x"]
        self.assertEqual(programs, ["./usr/bin/fenceline"])
        self.assertEqual(set(modes.values()), {"-rwxr-xr-x", "-rw-r--r--", "drwxr-xr-x"})
        for name in ("etc/fenceline/fenceline.yaml", "lib/systemd/system/fenceline.service",
                     "usr/lib/sysusers.d/fenceline.conf", "usr/share/man/man1/fenceline.1.gz",
                     "usr/share/man/man5/fenceline.yaml.5.gz",
                     "usr/share/bash-completion/completions/fenceline",
                     "usr/share/zsh/vendor-completions/_fenceline",
                     "usr/share/fish/vendor_completions.d/fenceline.fish",
                     "usr/share/doc/fenceline/copyright", "usr/share/doc/fenceline/changelog.gz",
                     "usr/share/doc/fenceline/operations.md", "usr/share/doc/fenceline/s3.md",
                     "usr/share/doc/fenceline/stories/long-pause.sh"):
            self.assertIn("./" + name, modes)

    def test_binary_is_stripped_and_the_sums_are_right(self):
        root = self.folder / "unpacked"
        must("dpkg-deb", "-R", self.old, root)
        sections = must("readelf", "-S", "-W", root / "usr/bin/fenceline")
        self.assertIn(".dynsym", sections)
        self.assertNotRegex(sections, r"\.debug_|\.symtab")
        self.assertIn("BIND_NOW", must("readelf", "-d", root / "usr/bin/fenceline"))
        must("md5sum", "-c", "--quiet", "DEBIAN/md5sums", cwd=root)
        for script in ("postinst", "prerm", "postrm"):
            must("sh", "-n", root / "DEBIAN" / script)
        # What the unit calls for is there.
        unit = (root / "lib/systemd/system/fenceline.service").read_text(encoding="utf-8")
        for path in re.search(r"(?m)^ExecStart=(\S+) .*--config (\S+)$", unit).groups():
            self.assertTrue((root / path[1:]).is_file(), path)

    def test_made_twice_it_is_the_same(self):
        again = make_package(self.folder / "again", OLD)
        self.assertEqual(again.read_bytes(), self.old.read_bytes())

    def test_unknown_calls_of_its_script_are_refused(self):
        done = run("sh", HERE.parents[1] / "packaging/debian/postinst", "frobnicate")
        self.assertEqual(done.returncode, 1)
        self.assertIn("frobnicate", done.stdout)

    def test_its_life_without_systemd(self):
        as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        done = run(*as_root, "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child",
                   sys.executable, __file__, "--inside", self.folder, self.old, self.new)
        if re.match("(sudo|unshare): ", done.stdout):
            self.fail("this test needs root, or sudo without a password, and in a container "
                      f"CAP_SYS_ADMIN:\n{done.stdout}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(done.stdout.endswith("\nthe walk is done\n"), done.stdout)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def walk_inside(folder, *packages):
    """In namespaces of its own: overlays the root and walks there."""
    loopback_up()
    base = Path(folder, "overlay")
    base.mkdir()
    must("mount", "--make-rprivate", "/")
    must("mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", base)
    root = base / "root"
    for name in ("root", "upper", "work"):
        (base / name).mkdir()
    must("mount", "-t", "overlay", "overlay", root, "-o",
         f"lowerdir=/,upperdir={base}/upper,workdir={base}/work")
    must("mount", "-t", "proc", "proc", root / "proc")
    must("mount", "--rbind", "/dev", root / "dev")
    for name in ("run", "tmp"):
        must("mount", "-t", "tmpfs", "tmpfs", root / name)
    for path in (Path(folder, "disk"), root / "tmp/disk"):
        path.mkdir()
    must("mount", "--bind", Path(folder, "disk"), root / "tmp/disk")
    # What an earlier fenceline of this machine left is not part of the test.
    run("chroot", root, "dpkg", "--purge", "fenceline")
    shutil.rmtree(root / "var/lib/fenceline", ignore_errors=True)
    names = [shutil.copy(package, root / "tmp") for package in packages]
    shutil.copy(HERE / "walk.sh", root / "tmp/walk.sh")
    os.execvp("chroot", ["chroot", str(root), "bash", "/tmp/walk.sh",
                         *(f"/tmp/{Path(name).name}" for name in names), "/tmp/disk"])


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        walk_inside(*sys.argv[2:])
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
