"""gzip members for tests, ordinary ones and ones that no compressor would write."""

import struct
import zlib

ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)


def member(data, level=6, strategy=zlib.Z_DEFAULT_STRATEGY, extra=None, name=None, comment=None,
           header_crc=False, mtime=0, crc=None, body=None):
    """`header_crc`: True for the right one, or the number to store."""
    flags = ((2 if header_crc is not False else 0) | (4 if extra is not None else 0)
             | (8 if name is not None else 0) | (16 if comment is not None else 0))
    header = b"\x1f\x8b\x08" + struct.pack("<BIBB", flags, mtime, 0, 3)
    if extra is not None:
        header += struct.pack("<H", len(extra)) + extra
    if name is not None:
        header += name + b"\0"
    if comment is not None:
        header += comment + b"\0"
    if header_crc is not False:
        value = zlib.crc32(header) & 0xFFFF if header_crc is True else header_crc
        header += struct.pack("<H", value)
    if body is None:
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        body = packer.compress(data) + packer.flush()
    if crc is None:
        crc = zlib.crc32(data)
    return header + body + struct.pack("<II", crc, len(data) & 0xFFFFFFFF)


class BitWriter:
    def __init__(self):
        self.value = 0
        self.count = 0
        self.done = bytearray()

    def put(self, value, count):
        self.value |= value << self.count
        self.count += count
        while self.count >= 8:
            self.done.append(self.value & 255)
            self.value >>= 8
            self.count -= 8

    def align(self):
        if self.count:
            self.put(0, 8 - self.count)

    def bytes(self):
        self.align()
        return bytes(self.done)


def codes(lengths):
    """Canonical codes, bit-reversed: symbol -> (code, length)."""
    result = {}
    code = 0
    for length in range(1, 16):
        code <<= 1
        for symbol, own in enumerate(lengths):
            if own == length:
                bits = format(code & ((1 << length) - 1), f"0{length}b")[::-1]
                result[symbol] = (int(bits, 2), length)
                code += 1
    return result


def random_lengths(generator, count, limit, complete=0.9):
    """Code lengths for `count` symbols: mostly of a complete code."""
    used = generator.sample(range(count), generator.randrange(1, min(count, 60) + 1))
    lengths = [0] * count
    if len(used) == 1:
        lengths[used[0]] = generator.choice((1, 1, 1, 2, limit))
        return lengths
    leaves = [1, 1]
    while len(leaves) < len(used):
        # Splitting a deep leaf now and then makes long codes.
        at = len(leaves) - 1 if generator.random() < 0.4 else generator.randrange(len(leaves))
        if leaves[at] == limit:
            at = leaves.index(min(leaves))
        if leaves[at] == limit:
            break
        leaves[at] += 1
        leaves.append(leaves[at])
    for symbol, length in zip(used, leaves):
        lengths[symbol] = length
    if generator.random() > complete:
        victim = generator.choice(used)
        lengths[victim] = generator.choice((0, 1, limit, max(0, lengths[victim] - 1)))
    return lengths


def put_symbol(writer, table, symbol, generator):
    code, length = table.get(symbol, (generator.getrandbits(4), 4))
    writer.put(code, length)


LENGTH_EXTRA = [0] * 8 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4 + [5] * 4 + [0]
DISTANCE_EXTRA = [0, 0] + [i // 2 for i in range(2, 30)]


def put_symbols(writer, literals, distances, generator, count):
    choices = list(literals)
    near = [d for d in distances if d < 12]
    for _ in range(count):
        symbol = generator.choice(choices) if choices else 0
        if symbol == 256 and generator.random() < 0.9:
            continue
        put_symbol(writer, literals, symbol, generator)
        if symbol == 256:
            return
        if symbol > 256 and symbol <= 285:
            extra = LENGTH_EXTRA[symbol - 257]
            writer.put(generator.getrandbits(extra) if extra else 0, extra)
            pool = near if near and generator.random() < 0.9 else list(distances)
            distance = generator.choice(pool) if pool else 0
            put_symbol(writer, distances, distance, generator)
            extra = DISTANCE_EXTRA[distance] if distance < 30 else 0
            writer.put(generator.getrandbits(extra) if extra else 0, extra)
    if 256 in literals:
        put_symbol(writer, literals, 256, generator)


def put_dynamic(writer, generator):
    literal_count = generator.choice((257, 258, 270, 286, 286, 286))
    distance_count = generator.choice((1, 2, 5, 10, 30, 30))
    if generator.random() < 0.02:
        literal_count, distance_count = generator.choice(((287, 5), (288, 30), (286, 31), (260, 32)))
    literal_lengths = random_lengths(generator, literal_count, 15)
    if generator.random() < 0.95 and 256 < literal_count and literal_lengths[256] == 0:
        donor = next((s for s in range(literal_count) if literal_lengths[s]), None)
        literal_lengths[256], literal_lengths[donor] = literal_lengths[donor], 0
    kind = generator.random()
    if kind < 0.1:
        distance_lengths = [0] * distance_count
    elif kind < 0.2:
        distance_lengths = [0] * distance_count
        distance_lengths[generator.randrange(distance_count)] = 1
    else:
        distance_lengths = random_lengths(generator, distance_count, 15)
    wanted = literal_lengths + distance_lengths
    # Code-length symbols with repetitions, now and then one of nothing.
    symbols = []
    at = 0
    previous = None
    if generator.random() < 0.03:
        symbols.append((16, 0, 2))
        at = 3
    while at < len(wanted):
        run = 1
        while at + run < len(wanted) and wanted[at + run] == wanted[at]:
            run += 1
        if wanted[at] == 0 and run >= 11 and generator.random() < 0.9:
            run = min(run, 138)
            symbols.append((18, run - 11, 7))
        elif wanted[at] == 0 and run >= 3 and generator.random() < 0.9:
            run = min(run, 10)
            symbols.append((17, run - 3, 3))
        elif previous == wanted[at] and run >= 3 and generator.random() < 0.9:
            run = min(run, 6)
            symbols.append((16, run - 3, 2))
        else:
            run = 1
            symbols.append((wanted[at], 0, 0))
        previous = wanted[at]
        at += run
    used = sorted({s for s, _, _ in symbols})
    lengths = [0] * 19
    if len(used) == 1:
        lengths[used[0]] = 1
    else:
        depth = [1, 1]
        while len(depth) < len(used):
            shallow = depth.index(min(depth))
            depth[shallow] += 1
            depth.append(depth[shallow])
        for symbol, length in zip(used, depth):
            lengths[symbol] = length
    if generator.random() < 0.03:
        lengths[generator.randrange(19)] = generator.randrange(8)
    count = max(4, max(i + 1 for i in range(19) if lengths[ORDER[i]] or i < 4))
    writer.put(literal_count - 257, 5)
    writer.put(distance_count - 1, 5)
    writer.put(count - 4, 4)
    for i in range(count):
        writer.put(lengths[ORDER[i]], 3)
    table = codes(lengths)
    for symbol, extra, bits in symbols:
        put_symbol(writer, table, symbol, generator)
        writer.put(extra, bits)
    put_symbols(writer, codes(literal_lengths), codes(distance_lengths), generator,
                generator.choice((0, 1, 20, 300, 5000)))


def put_fixed(writer, generator):
    lengths = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
    put_symbols(writer, codes(lengths), codes([5] * 32 if generator.random() < 0.1 else [5] * 30),
                generator, generator.choice((0, 1, 30, 400)))


def put_stored(writer, generator):
    data = generator.randbytes(generator.choice((0, 1, 100, 40000)))
    writer.align()
    size = len(data)
    wrong = 1 if generator.random() < 0.05 else 0
    writer.put(size, 16)
    writer.put(size ^ 0xFFFF ^ wrong, 16)
    for byte in data:
        writer.put(byte, 8)


def random_member(generator):
    """A few random blocks; the trailer is wrong, since nobody knows what comes out."""
    writer = BitWriter()
    blocks = generator.randrange(1, 5)
    for block in range(blocks):
        writer.put(1 if block == blocks - 1 else 0, 1)
        kind = generator.random()
        if kind < 0.02:
            writer.put(3, 2)
        elif kind < 0.2:
            writer.put(0, 2)
            put_stored(writer, generator)
        elif kind < 0.4:
            writer.put(1, 2)
            put_fixed(writer, generator)
        else:
            writer.put(2, 2)
            put_dynamic(writer, generator)
    return member(b"", body=writer.bytes(), crc=generator.getrandbits(32))


def far_match_member(generator):
    """Literals and matches in a fixed block that reach far before its start."""
    writer = BitWriter()
    writer.put(1, 1)
    writer.put(1, 2)
    literals = codes([8] * 144 + [9] * 112 + [7] * 24 + [8] * 8)
    distances = codes([5] * 30)
    for _ in range(generator.randrange(1, 60)):
        if generator.random() < 0.4:
            writer.put(*literals[generator.randrange(256)])
            continue
        symbol = generator.randrange(257, 286)
        writer.put(*literals[symbol])
        extra = LENGTH_EXTRA[symbol - 257]
        writer.put(generator.getrandbits(extra) if extra else 0, extra)
        distance = generator.randrange(20, 30)
        writer.put(*distances[distance])
        extra = DISTANCE_EXTRA[distance]
        writer.put(generator.getrandbits(extra), extra)
    writer.put(*literals[256])
    return member(b"", body=writer.bytes(), crc=generator.getrandbits(32))
