"""The machine in words, for the raw data and the table."""

import os
import platform


def first_line(path, prefix=""):
    try:
        with open(path) as lines:
            for line in lines:
                if line.startswith(prefix):
                    return line.split(":", 1)[-1].strip() if prefix \
                        else line.strip()
    except OSError:
        pass
    return "?"


def described():
    kib = first_line("/proc/meminfo", "MemTotal").split()[0]
    pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled")
    chosen = pages.partition("[")[2].partition("]")[0] or "?"
    return "%d × %s, %.0f GiB, Linux %s, %s, huge pages: %s, load before %s" % (
        os.cpu_count() or 0, first_line("/proc/cpuinfo", "model name"),
        float(kib) / 2 ** 20 if kib.isdigit() else 0, ".".join(platform.release().split(".")[:2]),
        " ".join(platform.libc_ver()), chosen,
        " ".join("%.1f" % x for x in os.getloadavg()))
