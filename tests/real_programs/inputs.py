"""Inputs for real programs: the same bytes for the same seed and size."""

import random

_WORDS = ("the of and to in that is was he for it with as his on be at by had not are but from or "
          "have an they which one you were her all she there would their we him been has when who "
          "will more no if out so said what up its about into than them can only other new some "
          "could time these two may then do first any my now such like our over man me even most "
          "made after also did many before must through years where much your way well").split()


def text(seed, size):
    """Prose-like lines that compress to about a third, `size` bytes of them."""
    source = random.Random(seed)
    lines = []
    for number in range(4000):
        words = source.choices(_WORDS, k=source.randrange(4, 16))
        lines.append(f"{number * 7919 % 99991} {' '.join(words)}\n".encode())
    drawn = source.choices(lines, k=size // 40 + 1)
    return b"".join(drawn)[:size - 1] + b"\n"


def noise(seed, size):
    """Bytes that do not compress."""
    return random.Random(seed).randbytes(size)


def mixed(seed, size):
    """Stretches of text, noise, zeros and repetition, as in archives of all kinds."""
    source = random.Random(seed)
    prose, parts, length = text(seed, 1 << 18), [], 0
    while length < size:
        stretch = source.randrange(1, 1 << 16)
        kind = source.randrange(4)
        if kind == 0:
            start = source.randrange(len(prose) - 1)
            part = prose[start:start + stretch]
        elif kind == 1:
            part = source.randbytes(stretch)
        elif kind == 2:
            part = bytes(stretch)
        else:
            part = source.randbytes(source.randrange(1, 300)) * 200
        parts.append(part)
        length += len(part)
    return b"".join(parts)[:size]


def tree(folder, seed, files, large):
    """A folder of small files in subfolders, two of `large` bytes, a link and an empty file."""
    source = random.Random(seed)
    prose, waste = text(seed, 1 << 20), noise(seed, 1 << 18)
    for number in range(files):
        path = folder / f"part{number % 17}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        start = source.randrange(1 << 19)
        path.write_bytes(prose[start:start + source.randrange(20000)] if number % 8 else
                         waste[start % 9999:start % 9999 + source.randrange(5000)])
    (folder / "large.txt").write_bytes(text(seed + 1, large))
    (folder / "large.bin").write_bytes(mixed(seed + 2, large))
    (folder / "empty").touch()
    (folder / "link").symlink_to("large.txt")


def numbers(seed, count):
    """Lines of a number, some of them equal."""
    source = random.Random(seed)
    return b"".join(b"%d\n" % value for value in source.choices(range(10 ** 9), k=count))
