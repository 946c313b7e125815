"""How busy the machine was with other programs while something was measured."""

import os
import re
import resource
import time


class Load:
    """Begins when it is made; finish() says what others used since then."""

    def __init__(self):
        self.start = snapshot()

    def finish(self):
        """{"seconds", "cpus", "others"}, the last in CPUs on average; None without /proc/stat."""
        return None if self.start is None else between(self.start, snapshot())


def snapshot():
    """(time, CPUs of the machine, its busy seconds so far, those of this process and its children)"""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return None
    own = sum(used.ru_utime + used.ru_stime for used in
              (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return (time.monotonic(), len(re.findall(r"^cpu\d", text, re.MULTILINE)), busy_seconds(text), own)


def busy_seconds(stat):
    """All but idle and waiting for disks; guests count in what runs them already (proc(5))."""
    fields = [int(field) for field in stat.split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, irq, softirq, steal = (fields + [0] * 8)[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def between(start, end):
    seconds = max(end[0] - start[0], 1e-9)
    others = max(0.0, (end[2] - start[2]) - (end[3] - start[3])) / seconds
    return {"seconds": seconds, "cpus": end[1], "others": others}


def sentence(load):
    """One sentence about it."""
    if load is None:
        return "How busy the machine was is not known."
    share = load["others"] / load["cpus"]
    used = f"other programs used {load['others']:.2f} of the machine's {load['cpus']} CPUs on average"
    if share < 0.05:
        meaning = "the machine was otherwise idle"
    elif share < 0.25:
        meaning = "so some of the differences between runs are theirs"
    else:
        meaning = "it was busy, so measure again on an idle machine before you rely on a ratio"
    return f"While this was measured ({load['seconds']:.0f} s), {used}: {meaning}."
