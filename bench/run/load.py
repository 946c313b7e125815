"""How busy the machine was with other programs while something was measured.

/proc/stat counts the CPUs of the whole host, also in a container: those count here that this process may
use. Where a control group limits its time besides, which CPUs are left to it is not known, nor how
busy these are."""

import os
import pathlib
import re
import resource
import time


class Load:
    """Begins when it is made; finish() says what others used since then."""

    def __init__(self):
        self.start = snapshot()

    def finish(self):
        """{"seconds", "cpus", "others"}, the last in CPUs on average; None where it is not known."""
        end = snapshot()
        return None if self.start is None or end is None else between(self.start, end)


def snapshot():
    """(time, CPUs that may be used, their busy seconds so far, those of this process and its
    children); None without /proc/stat and under a control group's limit."""
    cpus = os.sched_getaffinity(0)
    quota = cpu_quota()
    if quota is not None and quota < len(cpus):
        return None
    try:
        with open("/proc/stat", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return None
    own = sum(used.ru_utime + used.ru_stime for used in
              (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return (time.monotonic(), len(cpus), busy_seconds(text, cpus), own)


def cpu_quota(own="/proc/self/cgroup", root="/sys/fs/cgroup"):
    """CPUs' worth of time that the process's control groups leave it; None: all."""
    try:
        lines = pathlib.Path(own).read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    quotas = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = pathlib.Path(root, *(["cpu"] if controllers else []))
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            quotas.append(quota_of(folder))
            if folder == base:
                break
    return min((quota for quota in quotas if quota is not None), default=None)


def quota_of(folder):
    """One control group's quota, of either version (cgroups(7))."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text(encoding="ascii").strip()
                             for name in ("quota", "period"))
    except OSError:
        return None
    return None if quota in ("max", "-1") else int(quota) / int(period)


def busy_seconds(stat, cpus):
    """What these CPUs did but idle and wait for disks; guests count in what runs them already
    (proc(5))."""
    busy = 0
    for number, times in re.findall(r"^cpu(\d+) (.*)$", stat, re.MULTILINE):
        if int(number) in cpus:
            fields = [int(field) for field in times.split()]
            user, nice, system, _, _, irq, softirq, steal = (fields + [0] * 8)[:8]
            busy += user + nice + system + irq + softirq + steal
    return busy / os.sysconf("SC_CLK_TCK")


def between(start, end):
    seconds = max(end[0] - start[0], 1e-9)
    others = max(0.0, (end[2] - start[2]) - (end[3] - start[3])) / seconds
    return {"seconds": seconds, "cpus": end[1], "others": others}


def sentence(load):
    """One sentence about it."""
    if load is None:
        return "How busy the machine was is not known."
    share = load["others"] / load["cpus"]
    used = f"other programs used {load['others']:.2f} of {load['cpus']} CPUs on average"
    if share < 0.05:
        meaning = "the machine was otherwise idle"
    elif share < 0.25:
        meaning = "so some of the differences between runs are theirs"
    else:
        meaning = "it was busy, so measure again on an idle machine before you rely on a ratio"
    return f"While this was measured ({load['seconds']:.0f} s), {used}: {meaning}."
