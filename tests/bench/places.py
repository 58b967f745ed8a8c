"""File systems of our own: a journaled ext4 in an image, and a tmpfs.

The root file system may be anything (without a journal, ext4 makes replacing files several times
slower), so files are measured on file systems that the report can name. They are mounted in a mount
namespace of this process (scripts/bench makes it), so nothing is left even if it is killed.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from servers import Failed

# Times are taken with the image in memory: what ext4 costs, without what a disk makes it wait.
# Durability is measured with the image on the disk of the temporary folder.
EXT4, EXT4_ON_DISK, TMPFS = "ext4", "ext4-on-disk", "tmpfs"
IMAGE_BYTES = 6 << 30


@contextlib.contextmanager
def scratch():
    """A folder for images and mount points, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="fenceline-bench-") as name:
        yield pathlib.Path(name)


@contextlib.contextmanager
def mounted(kind, folder):
    """The mount point of a fresh file system below `folder`."""
    if os.geteuid() != 0:
        raise Failed("this part needs file systems of its own, which only root can mount; run "
                     "scripts/bench as root, or with --counts, which needs none")
    with contextlib.ExitStack() as stack:
        if kind == EXT4:
            folder = stack.enter_context(_mount(folder / "memory", "-t", "tmpfs", "fenceline-bench"))
        if kind == TMPFS:
            yield _with_attributes(
                stack.enter_context(_mount(folder / kind, "-t", "tmpfs", "fenceline-bench")))
        else:
            image = folder / f"{kind}.img"
            with open(image, "wb") as file:
                file.truncate(IMAGE_BYTES)
            stack.callback(image.unlink)
            # Nothing is left for later: the kernel would do it while we measure.
            _run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
            yield stack.enter_context(_mount(folder / kind, "-o", "loop", image))


@contextlib.contextmanager
def on_disk(disk, folder):
    """(a folder whose fsync reaches a disk, what its file system is): in `disk` if given."""
    if disk:
        with tempfile.TemporaryDirectory(prefix="fenceline-bench-", dir=disk) as name:
            yield pathlib.Path(name), f"{_run('stat', '-f', '-c', '%T', name)} of {disk}"
    else:
        with mounted(EXT4_ON_DISK, folder) as point:
            yield point, "ext4"


@contextlib.contextmanager
def _mount(point, *arguments):
    point.mkdir()
    _run("mount", *arguments, point)
    try:
        yield point
    finally:
        _run("umount", point)
        point.rmdir()


def settle(point):
    """Writes back what an earlier round left, so that the next one does not pay for it."""
    _run("sync", "-f", point)


def _with_attributes(point):
    probe = point / "probe"
    probe.touch()
    try:
        os.setxattr(probe, "user.fenceline.probe", b"x")
    except OSError as error:
        raise Failed("this tmpfs keeps no extended attributes of users, which fenceline needs; that "
                     f"takes Linux 6.6 or newer with CONFIG_TMPFS_XATTR, this is "
                     f"{os.uname().release} ({error.strerror}); leave tmpfs out with --only ext4"
                     ) from error
    finally:
        probe.unlink()
    return point


def _run(*command):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout.strip()
