"""The machine in words, for the raw data and the table."""

import os
import platform


def first_line(path, prefix=""):
    """What stands behind PREFIX and a colon, or the file's first line."""
    try:
        with open(path) as lines:
            for line in lines:
                if line.startswith(prefix):
                    return line.split(":", 1)[-1].strip()
    except OSError:
        pass
    return "?"


def described():
    kib = first_line("/proc/meminfo", "MemTotal").split()[0]
    pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled")
    return ", ".join([
        "%d × %s" % (os.cpu_count() or 0,
                     first_line("/proc/cpuinfo", "model name")),
        "%.0f GiB" % (float(kib) / 2 ** 20 if kib.isdigit() else 0),
        "Linux " + ".".join(platform.release().split(".")[:2]),
        " ".join(platform.libc_ver()),
        "huge pages: " + (pages.partition("[")[2].partition("]")[0] or "?"),
        "load before %.1f %.1f %.1f" % os.getloadavg(),
    ])
