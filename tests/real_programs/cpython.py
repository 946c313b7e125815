"""CPython: its own test modules, and a program that has large data in one piece.

Each test case's outcome (passed, skipped and why, failed) is compared, as the XML report of
`-m test` tells it. Debian: libpython3.11-testsuite, for /usr/bin/python3."""

import glob
import xml.etree.ElementTree

import inputs
from driver import scenario

PYTHON = "/usr/bin/python3"
SUITE = next(iter(glob.glob("/usr/lib/python3.*/test/test_zlib.py")), "CPython's test suite")

# In a short run without these classes of test_ssl, which wait for half a minute.
WAITING = ("*ThreadedTests*", "*PostHandshakeAuth*", "*TestSSLDebug*")

LARGE = r"""
import bz2, gzip, hashlib, io, lzma, pickle, sys, tarfile, zipfile, zlib
text, mixed = (open(name, "rb").read() for name in ("text", "mixed"))

def tell(name, data):
    print(name, len(data), hashlib.sha256(data).hexdigest())

for name, data in (("text", text), ("mixed", mixed)):
    print(name, zlib.crc32(data), zlib.crc32(data[5:], 77), zlib.adler32(data),
          zlib.adler32(data[3:], 99))
    for level in (1, 6):
        for window in (15, -15, 31):
            packer = zlib.compressobj(level, zlib.DEFLATED, window)
            packed = packer.compress(data) + packer.flush()
            print("decoded", zlib.decompress(packed, window) == data)
            for piece in (1000, 65536, len(packed)):
                unpacker, unpacked = zlib.decompressobj(window), []
                for at in range(0, len(packed), piece):
                    unpacked.append(unpacker.decompress(packed[at:at + piece], 100000))
                    while unpacker.unconsumed_tail:
                        unpacked.append(unpacker.decompress(unpacker.unconsumed_tail, 70000))
                unpacked.append(unpacker.flush())
                print("pieces", b"".join(unpacked) == data, unpacker.eof, unpacker.unused_data)
            for damaged in (packed[:-1], packed[:len(packed) // 2],
                            packed[:5000] + b"\xff\xff\x00" + packed[5003:]):
                try:
                    print("damaged", len(zlib.decompress(damaged, window)))
                except zlib.error as error:
                    print("damaged", str(error))
    squeezed = zlib.compress(data)
    print("decoded", zlib.decompress(squeezed) == data, zlib.decompress(squeezed, 15, 99) == data)
    packed = gzip.compress(data, mtime=0) + gzip.compress(data[:12345], mtime=0)
    tell("members", gzip.decompress(packed))
    with gzip.open(io.BytesIO(packed)) as stream:
        tell("stream", stream.read())
    with gzip.open(io.BytesIO(packed)) as stream:
        stream.seek(len(data) // 2)
        tell("sought", stream.read(100000))
    with gzip.open(io.BytesIO(packed)) as stream:
        print("lines", sum(1 for line in stream))

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bundle:
    bundle.writestr("text", text)
    bundle.writestr("mixed", mixed)
with zipfile.ZipFile(archive) as bundle:
    print("bad", bundle.testzip())
    tell("zip", bundle.read("text") + bundle.read("mixed"))
archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w:gz") as bundle:
    for name in ("text", "mixed"):
        bundle.add(name)
archive.seek(0)
with tarfile.open(fileobj=archive) as bundle:
    tell("tar", b"".join(bundle.extractfile(member).read() for member in bundle))
"""


def _outcome(case):
    parts = [f"{child.tag} {child.text}" for child in case
             if child.tag in ("skipped", "failure", "error")]
    return " ".join([case.get("result", ""), *parts])


def _module(side, name, *words):
    report = side.folder / "report.xml"
    # A suite that fails is no concern of ours where it fails in the same way without us.
    side.run(PYTHON, "-m", "test", f"--junit-xml={report}", f"--tempdir={side.folder}", *words,
             f"test_{name}", status=None)
    cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
    side.expect(len(cases) > 0, f"test_{name} has no cases")
    for case in cases:
        side.see(case.get("name"), _outcome(case))


def _suites(name, *modules, heavy=False):
    def run(side):
        for module in modules:
            _module(side, module)
    scenario(name, needs=(PYTHON, SUITE), heavy=heavy)(run)


_suites("cpython-zlib", "zlib", "gzip", "hashlib", "hmac")
_suites("cpython-files", "zipfile", "tarfile", "pickle", heavy=True)


@scenario("cpython-ssl", needs=(PYTHON, SUITE))
def ssl(side):
    _module(side, "ssl", *(word for pattern in WAITING if side.scale == 1
                           for word in ("--ignore", pattern)))


@scenario("cpython-large", needs=(PYTHON,), takes=("crc32", "inflate"))
def large(side):
    (side.folder / "text").write_bytes(inputs.text(side.seed, 3_000_037 * side.scale))
    (side.folder / "mixed").write_bytes(inputs.mixed(side.seed, 1_000_003 * side.scale))
    side.see("told", side.run(PYTHON, "-c", LARGE).decode())
