"""Git: a generated repository cloned, repacked, checked; object ids must be the same."""

import random

import inputs
from driver import scenario

IDENTITY = "A U Thor <author@example.org>"
ENVIRONMENT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat",
               "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
LARGE = 2_500_000  # bytes of files that git streams, by bigFileThreshold


def _history(side, commits):
    """A fast-import stream: text files that change, and two large ones."""
    source = random.Random(side.seed)
    lines = inputs.text(side.seed, 1 << 20).splitlines(keepends=True)
    files = {}
    parts = [b"feature done\n"]

    def data(content):
        parts.append(b"data %d\n%s\n" % (len(content), content))

    for number in range(commits):
        parts.append(f"commit refs/heads/main\nmark :{number + 1}\n"
                     f"committer {IDENTITY} {1600000000 + 60 * number} +0000\n".encode())
        data(b"Change %d\n" % number)
        if number > 0:
            parts.append(b"from :%d\n" % number)
        else:
            for name, content in (("large.txt", inputs.text(side.seed + 1, LARGE)),
                                  ("large.bin", inputs.mixed(side.seed + 2, LARGE // 3))):
                parts.append(f"M 100644 inline {name}\n".encode())
                data(content)
        for _ in range(3):
            name = f"part{source.randrange(20)}/file{source.randrange(40)}.txt"
            content = files.get(name) or source.choices(lines, k=source.randrange(5, 200))
            content = list(content)
            for _ in range(4):
                content[source.randrange(len(content))] = source.choice(lines)
            files[name] = content
            parts.append(f"M 100644 inline {name}\n".encode())
            data(b"".join(content))
        parts.append(b"\n")
    parts.append(b"done\n")
    return b"".join(parts)


@scenario("git", needs=("git",), takes=("crc32", "inflate"), opt_in_takes=("deflate",), heavy=True)
def git(side):
    settings = side.home / ".gitconfig"
    # One thread finds the same deltas each time. The large text is streamed, not mapped.
    settings.write_text("[pack]\nthreads = 1\n[core]\nbigFileThreshold = 2m\n"
                        "[user]\nname = A\nemail = a@example.org\n"
                        "[init]\ndefaultBranch = main\n[gc]\nauto = 0\n")

    def run(*words, **options):
        return side.run("git", *words, env=ENVIRONMENT, **options)

    def inside(*words, **options):
        return run("-C", "origin", *words, **options)

    def packs(name, folder):
        for path in sorted((folder / "objects/pack").glob("*.pack")):
            side.see_encoded("deflate", f"{name}: {path.name}", path.read_bytes())
            run("verify-pack", path)

    run("init", "-q", "origin")
    inside("fast-import", "--quiet", input=_history(side, 350 * side.scale))
    inside("checkout", "-q", "main")
    objects = inside("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) "
                     "%(objectsize)")
    side.see("objects", objects)
    side.expect(objects.count(b"\n") > 1500, "there are few objects")
    side.see("content", inside("cat-file", "--batch-all-objects", "--batch"))
    side.see("log", inside("log", "-p", "--stat", "-100"))
    run("clone", "-q", "--no-local", "origin", "copy")
    run("clone", "-q", "--bare", "--depth=20", f"file://{side.folder}/origin", "shallow")
    inside("unpack-objects", "-q", input=next(
        (side.folder / "shallow/objects/pack").glob("*.pack")).read_bytes())
    inside("gc", "-q", "--aggressive", "--prune=now")
    packs("gc", side.folder / "origin/.git")
    for place in ("origin", "copy", "shallow"):
        side.see(f"fsck {place}", run("-C", place, "fsck", "--full", "--strict"))
    packs("clone", side.folder / "copy/.git")
    side.see("after", inside("cat-file", "--batch-all-objects", "--batch"))
    (side.folder / "origin/large.txt").write_bytes(inputs.text(side.seed + 3, LARGE))
    (side.folder / "origin/part1/new").write_bytes(inputs.mixed(side.seed + 4, 400_000))
    inside("add", "-A")
    side.see("tree", inside("write-tree"))
    inside("commit", "-qm", "Changed")
    for kind in ("tar", "zip", "tar.gz"):
        archive = inside("archive", f"--format={kind}", "main")
        if kind == "tar":
            side.see(kind, archive)
        else:
            side.see_encoded("deflate", kind, archive)
    inside("bundle", "create", "-q", "../all.bundle", "main")
    run("clone", "-q", "all.bundle", "from-bundle")
    side.see("bundle", run("-C", "from-bundle", "rev-parse", "main^{tree}"))
    side.see_tree("work tree", side.folder / "copy/part1")
