"""SQLite's and Redis's own programs (PostgreSQL has a file of its own)."""

import random
import socket

import inputs
from driver import free_ports, listens, scenario, wait_for


@scenario("sqlite", needs=("sqlite3",), takes=("crc32", "inflate"), opt_in_takes=("deflate",))
def sqlite(side):
    """CSV in and out, sorting, and the archives that its shell packs by zlib."""
    rows = random.Random(side.seed)
    (side.folder / "rows.csv").write_text("id,name,value\n" + "".join(
        f"{i},name {rows.randrange(99999)},{rows.random()}\n" for i in range(60000 * side.scale)))
    inputs.tree(side.folder / "tree", side.seed, 100, 2_000_000 * side.scale)
    side.shell("find tree -exec touch -h -d '2020-01-01 00:00' {} +")

    def query(*lines, database="data.db"):
        return side.run("sqlite3", "-batch", "-bail", database,
                        input="\n".join(lines).encode() + b"\n")

    side.see("sorted", query(".mode csv", ".import rows.csv t",
                             "SELECT * FROM t ORDER BY CAST(value AS REAL) DESC, name;",
                             "SELECT name, count(*), sum(value) FROM t GROUP BY 1 ORDER BY 2, 1;"))
    query("CREATE INDEX by_name ON t (name, value);", "VACUUM;")
    side.see("dump", query(".dump"))
    side.see("check", query("PRAGMA integrity_check;"))
    side.see("file", (side.folder / "data.db").read_bytes())
    side.run("sqlite3", "archive.sqlar", "-Ac", "tree")
    side.see("list", side.run("sqlite3", "archive.sqlar", "-Atv"))
    (side.folder / "out").mkdir()
    side.run("sqlite3", "archive.sqlar", "-Ax", "--directory", "out")
    side.see_tree("extracted", side.folder / "out")
    side.run("sqlite3", "archive.zip", "-Ac", "tree")
    side.see_encoded("deflate", "archive.zip", (side.folder / "archive.zip").read_bytes())
    side.see("zip", query("SELECT name, mode, mtime, sz, hex(substr(data, 1, 2000)), length(data) "
                          "FROM zipfile('archive.zip') ORDER BY 1;"))


class _Redis:
    """The server's plain protocol: one command, one reply."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rwb")

    def close(self):
        self._file.close()
        self._socket.close()

    def send(self, *words):
        self._file.write(b"*%d\r\n" % len(words))
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            self._file.write(b"$%d\r\n%s\r\n" % (len(word), word))

    def reply(self):
        self._file.flush()
        line = self._file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self._file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return line[:-2]

    def ask(self, *words):
        self.send(*words)
        return self.reply()


@scenario("redis", needs=("redis-server",), takes=("qsort",))
def redis(side):
    """SORT of a long list goes through qsort(); snapshots are written by a forked child."""
    [port] = free_ports(1)
    words = ("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir",
             side.folder, "--enable-debug-command", "yes", "--daemonize", "no")

    def start():
        started = side.start(*words, log=side.home / "redis.log")
        wait_for("redis-server", lambda: listens(port), started)
        asked = _Redis(port)
        # It answers while it loads, and takes the digest of what is there by then.
        wait_for("redis-server", lambda: b"\nloading:0" in asked.ask("INFO", "persistence"),
                 started)
        return started, asked

    def snapshot():
        return client.ask("DEBUG", "DIGEST")

    server, client = start()
    source = random.Random(side.seed)
    values = source.sample(range(10 ** 9), 150_000 * side.scale)
    for at in range(0, len(values), 1000):
        client.send("RPUSH", "numbers", *values[at:at + 1000])
    for _ in range(0, len(values), 1000):
        client.reply()
    for i in range(200):
        client.ask("SET", f"key{i}", inputs.text(side.seed + i, 5000))
        client.ask("HSET", f"hash{i}", "a", i, "b", source.random())
        client.ask("ZADD", "ranks", source.random(), f"member{i}")
    side.see("ascending", b" ".join(client.ask("SORT", "numbers")))
    side.see("descending", b" ".join(client.ask("SORT", "numbers", "DESC")))
    side.see("letters", b" ".join(client.ask("SORT", "numbers", "ALPHA")))
    side.see("stored", client.ask("SORT", "numbers", "STORE", "sorted"))
    side.see("digest", snapshot())
    side.see("background", client.ask("BGSAVE"))
    side.see("after fork", b" ".join(client.ask("SORT", "numbers", "LIMIT", "0", "100000")))
    wait_for("BGSAVE", lambda: b"rdb_bgsave_in_progress:0" in client.ask("INFO", "persistence"),
             server)
    side.see("background status", b"rdb_last_bgsave_status:ok" in client.ask("INFO", "persistence"))
    side.see("saved", client.ask("SAVE"))
    digest = snapshot()
    side.see("reloaded", client.ask("DEBUG", "RELOAD"))
    side.expect(snapshot() == digest, "Redis reloaded other data than it saved")
    side.stop(server)
    client.close()
    side.run("redis-check-rdb", side.folder / "dump.rdb")
    server, client = start()
    side.expect(snapshot() == digest, "Redis loaded other data than it saved")
    client.close()
    side.stop(server)
