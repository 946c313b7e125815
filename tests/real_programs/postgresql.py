"""PostgreSQL: a cluster with checksums under load, backed up, dumped, restored, compared.

Debian: postgresql-15. The server and all its tools run under Hoist; as it refuses to run as root,
they run as user postgres then."""

import pathlib
import signal
import subprocess
import threading

from driver import scenario, wait_for

BIN = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=pathlib.Path("/nowhere"))

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0777
fsync = off
shared_buffers = 32MB
wal_compression = {compression}
wal_level = replica
max_wal_senders = 4
timezone = 'UTC'
log_min_messages = warning
"""
# Long values of several kinds (TOAST compresses them), sorts, and an index of each kind.
TABLES = """
CREATE TABLE documents AS
  SELECT i AS id, md5(i::text) AS name, repeat(md5((i % 97)::text) || ' words ', i % 400) AS body,
         decode(md5((i * 3)::text), 'hex') AS bytes, i::float8 / 7 AS ratio
  FROM generate_series(1, {rows}) AS i;
ALTER TABLE documents ADD PRIMARY KEY (id);
CREATE INDEX ON documents (name);
CREATE INDEX ON documents USING hash (ratio);
CREATE INDEX ON documents USING gin (to_tsvector('simple', left(body, 500)));
ALTER TABLE documents ALTER body SET COMPRESSION lz4;
UPDATE documents SET body = body || 'changed' WHERE id % 3 = 0;
ANALYZE;
"""
# Every table, ordered: where concurrent clients put rows is theirs to choose, and so is the time.
CONTENT = """
SELECT 'accounts', md5(string_agg(a::text, ',' ORDER BY aid)) FROM pgbench_accounts a;
SELECT 'tellers', md5(string_agg(t::text, ',' ORDER BY tid)) FROM pgbench_tellers t;
SELECT 'branches', md5(string_agg(b::text, ',' ORDER BY bid)) FROM pgbench_branches b;
SELECT 'history', count(*), md5(string_agg(format('%s %s %s %s', tid, bid, aid, delta), ','
       ORDER BY tid, bid, aid, delta)) FROM pgbench_history;
SELECT 'documents', md5(string_agg(d::text, ',' ORDER BY name)) FROM documents d;
SELECT id, ts_rank(to_tsvector('simple', body), 'changed') FROM documents
  WHERE body LIKE '%changed' ORDER BY ratio DESC LIMIT 50;
"""


class _Cluster:
    """A server on a data directory, and its tools."""

    def __init__(self, side, data):
        self.side = side
        self.data = data
        self.log = side.home / "server.log"
        self.process = None

    def start(self):
        self.process = self.side.start(BIN / "postgres", "-D", self.data, log=self.log)
        # Plain in both modes: it is asked until the server is up.
        asked = [BIN / "pg_isready", "-q", "-U", "postgres", "-h", self.side.home]
        wait_for("postgres", lambda: subprocess.run(asked, check=False).returncode == 0,
                 self.process)

    def stop(self, number=signal.SIGINT):
        self.side.stop(self.process, number)

    def tool(self, name, *words, **options):
        return self.side.run(BIN / name, *words, env={"PGHOST": str(self.side.home),
                                                      "PGUSER": "postgres"}, **options)

    def query(self, text, database="postgres"):
        return self.tool("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database,
                         input=text.encode()).decode()

    def dump(self, database="postgres"):
        """The lines of a dump, sorted: rows lie in another order where they were restored. Newer
        versions frame it by a key drawn at random."""
        lines = self.tool("pg_dump", "-d", database).splitlines()
        return sorted(line for line in lines
                      if not line.startswith((b"\\restrict", b"\\unrestrict")))


def _load(cluster, clients, transactions):
    """pgbench while the server is told to read its settings again (SIGHUP to it and, under Hoist,
    to what started it)."""
    stop = threading.Event()

    def reload():
        while not stop.wait(0.1):
            cluster.process.send_signal(signal.SIGHUP)

    reloading = threading.Thread(target=reload)
    reloading.start()
    try:
        cluster.tool("pgbench", "-n", "-c", clients, "-j", 2, "-t", transactions,
                     f"--random-seed={cluster.side.seed}", "postgres")
    finally:
        stop.set()
        reloading.join()


def _dump_and_restore(cluster):
    side = cluster.side
    dump = cluster.dump()
    for name, words in (("custom", ("-Fc", "-Z6")), ("directory", ("-Fd", "-j2", "-Z1")),
                        ("plain.gz", ("-Z9",)), ("tar", ("-Ft",))):
        file = side.folder / name
        cluster.tool("pg_dump", *words, "-f", file, "postgres")
        cluster.query(f'CREATE DATABASE "{name}";')
        if name == "plain.gz":
            cluster.query(side.run("gzip", "-dc", file).decode(), name)
        else:
            cluster.tool("pg_restore", "-d", name, file)
        side.see(f"{name}, restored", cluster.query(CONTENT, name))
        side.expect(cluster.dump(name) == dump, f"the database restored from {name} has another "
                    "dump than the one that was dumped")
        cluster.query(f'DROP DATABASE "{name}";')


def _back_up(cluster, method, *words):
    target = cluster.side.folder / f"backup-{method}"
    cluster.tool("pg_basebackup", "-D", target, f"--compress={method}", "--checkpoint=fast",
                 "--no-sync", *words)
    return target


def _restored_content(cluster, backup):
    """What a server says that starts from the tar files of a backup."""
    data = backup.with_name(f"{backup.name}-data")
    cluster.side.run("mkdir", "-m", "700", data)
    for archive in sorted(backup.glob("*.tar*")):
        target = data / "pg_wal" if archive.name.startswith("pg_wal") else data
        cluster.side.run("tar", "-xf", archive, "-C", target)
    cluster.side.run("cp", backup / "backup_manifest", data)
    cluster.tool("pg_verifybackup", "-q", data)
    restored = _Cluster(cluster.side, data)
    restored.start()
    content = restored.query(CONTENT)
    restored.stop()
    return content


@scenario("postgresql", needs=(BIN / "postgres", BIN / "pgbench", "setpriv", "tar", "zstd"),
          takes=("inflate",), heavy=True)
def postgresql(side):
    side.become("postgres")
    cluster = _Cluster(side, side.folder / "data")
    side.run(BIN / "initdb", "-D", cluster.data, "--data-checksums", "--no-sync", "-U", "postgres",
             "--auth=trust", "--locale=C", "--encoding=UTF8")
    compression = ("pglz", "lz4", "zstd")[side.seed % 3]
    with open(cluster.data / "postgresql.conf", "a", encoding="utf-8") as settings:
        settings.write(SETTINGS.format(sockets=side.home, compression=compression))
    cluster.start()
    cluster.tool("pgbench", "-i", "-q", "-s", side.scale, "postgres")
    cluster.query(TABLES.format(rows=3000 * side.scale))
    _load(cluster, 4, 200 * side.scale)
    # The times of transactions are the only thing that dumps and sides may tell apart.
    cluster.query("UPDATE pgbench_history SET mtime = NULL;")
    content = cluster.query(CONTENT)
    side.see("content", content)
    _dump_and_restore(cluster)

    long_only = side.scale > 1
    for method in ("server-gzip:1", *(("server-zstd:3", "server-lz4") if long_only else ())):
        cluster.tool("pg_verifybackup", "-q", _back_up(cluster, method))
    archives = [_back_up(cluster, method, "-Ft") for method in (
        "client-gzip:6", "client-zstd:3",
        *(("server-gzip:9", "server-zstd:workers=2") if long_only else ()))]
    cluster.stop()
    side.run(BIN / "pg_checksums", "--check", "-D", cluster.data)
    for backup in archives:
        side.expect(_restored_content(cluster, backup) == content,
                    f"a server started from {backup.name} has other content")
    side.see("server's complaints", [
        line.split("]", 1)[-1] for line in cluster.log.read_text().splitlines()
        if any(level in line for level in (" WARNING:", " ERROR:", " PANIC:"))])
