#!/usr/bin/env python3
"""Small texts in files of records, decoded by docs/reference/mixing.md, hrec.md and container.md alone."""

import pathlib
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
M32, M64 = 2**32 - 1, 2**64 - 1
ORDERS = (0, 1, 2, 3, 4, 6)


def make_squash():
    power, table = 2**32, {}
    for x in range(2048):
        table[x] = (4095 * 2**32 + (2**32 + power) // 2) // (2**32 + power)
        power = power * 4278222805 >> 32
    table[0] = 2047
    for x in range(1, 2048):
        table[-x] = 4095 - table[x]
    return table


SQUASH = make_squash()
STRETCH = [next((x for x in range(-2047, 2048) if SQUASH[x] >= p), 2047) for p in range(4096)]


def towards_zero(a, b):
    return a // b if a >= 0 else -(-a // b)


class Slot:
    def __init__(self):
        self.p, self.n = 2**21, 0

    def stretch(self):
        return STRETCH[self.p >> 10]

    def take(self, bit):
        self.p += towards_zero(2 * ((2**22 - 1 if bit else 0) - self.p), 2 * self.n + 3)
        self.n = min(self.n + 1, 127)


def unmix(stream, size):
    t = next(t for t in range(14, 64) if t == 63 or 2**t >= 4 * size)
    tables, match_slots = [{} for _ in range(7)], [Slot() for _ in range(32)]
    weights, last = [[19660] * 9 for _ in range(18)], {}
    out, word, m, length = bytearray(), 0, 0, 0
    at = iter(stream + bytes(size * 4 + 16))
    low, high, code = 0, M32, int.from_bytes(bytes(next(at) for _ in range(4)), "big")
    while len(out) < size:
        values = [int.from_bytes(out[-n:] if n else b"", "big") for n in ORDERS] + [word]
        hashes = [((v + (i + 1) * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 & M64) >> 32 for i, v in enumerate(values)]
        c = 1
        for place in range(7, -1, -1):
            slots = [table.setdefault(((h + c * 0x9e3779b1) * 0x85ebca6b & M32) >> (32 - t), Slot())
                     for table, h in zip(tables, hashes)]
            inputs = [slot.stretch() if slot.n else 0 for slot in slots]
            order = max((o for o in range(6) if slots[o].n), default=0)
            expected = out[m] >> place & 1 if length else None
            match_slot = match_slots[min(length, 31)]
            inputs.append(0 if expected is None else match_slot.stretch() if expected else -match_slot.stretch())
            inputs.append(256)
            chosen = weights[6 * (0 if length == 0 else 1 if length <= 15 else 2) + order]
            p = SQUASH[max(-2047, min(2047, sum(w * x for w, x in zip(chosen, inputs)) >> 16))]
            middle = low + ((high - low) >> 12) * max(1, min(4095, p))
            bit = int(code <= middle)
            low, high = (low, middle) if bit else (middle + 1, high)
            while low >> 24 == high >> 24:
                low, high, code = low << 8 & M32, (high << 8 | 255) & M32, (code << 8 | next(at)) & M32
            for i, x in enumerate(inputs):
                chosen[i] += (6 * x * (4096 * bit - p) + 2**13) >> 14
            for slot in slots:
                slot.take(bit)
            if expected is not None:
                match_slot.take(int(expected == bit))
                length = length if expected == bit else 0
            c = c << 1 | bit
        byte = c & 255
        out.append(byte)
        is_of_word = byte >= 128 or chr(byte).isalnum()
        word = (word + byte + 1) * 0x2f0b4c47 & M32 if is_of_word else 0
        if length:
            m, length = m + 1, length + 1
        if len(out) >= 5:
            k = (int.from_bytes(out[-5:], "big") * 0x9e3779b97f4a7c15 & M64) >> 48
            if not length:
                m = last.get(k, 0)
                while length < min(m, 400) and out[m - 1 - length] == out[-1 - length]:
                    length += 1
            last[k] = len(out)
    return bytes(out)


def block_of(file):
    """The payload of the first block."""
    at = 32
    while True:
        header = file[at:at + 56]
        size = int.from_bytes(header[24:32], "little")
        payload = file[at + 56:at + 56 + size]
        if int.from_bytes(header[4:8], "little") == 0:
            return payload
        at += 56 + size


class Mixing(unittest.TestCase):
    def stored(self, text):
        with tempfile.TemporaryDirectory(prefix="hoist-records-") as name:
            source, target = pathlib.Path(name) / "in", pathlib.Path(name) / "x.hrec"
            source.write_bytes(text)
            done = run(TOOL, "encode", source, "-o", target, env=environment())
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            again = run(TOOL, "decode", target, env=environment())
            self.assertEqual((again.returncode, again.stdout), (0, text))
            return block_of(target.read_bytes())

    def test_small_prose_is_decoded_by_the_reference(self):
        text = (pathlib.Path(__file__).resolve().parent.parent / "LICENSE").read_bytes()[:2500] + "Größe: 5 µs\n".encode() * 9
        block = self.stored(text)
        rows = text.count(b"\n")
        self.assertLess(rows, 128)
        self.assertEqual(block[:5], bytes([0, 0, 1, rows, 4]))
        self.assertEqual(unmix(block[5:], len(text)), text)


if __name__ == "__main__":
    unittest.main()
