#!/usr/bin/env python3
"""Patterns of `hoist match serve` as Arrow's record batches, as pyarrow, Polars, DuckDB and pandas have them. Exit status
77: there is no pyarrow, neither here nor where scripts/setup puts it."""

import http.client
import importlib.util
import io
import json
import os
import pathlib
import random
import struct
import sys
import threading
import time
import unittest

from hoist_tree import BUILD, SKIPPED
from service_case import ServiceCase, SharedServerCase

ROOT = pathlib.Path(__file__).resolve().parent.parent
if importlib.util.find_spec("pyarrow") is None:
    for folder in (ROOT / "build/venv/bin", BUILD.parent / "venv/bin"):
        if (folder / "python3").exists() and not sys.executable.startswith(str(folder)):
            os.execv(folder / "python3", [str(folder / "python3"), *sys.argv])
    print("service_arrow_test: skipped: no pyarrow", file=sys.stderr)
    sys.exit(SKIPPED)

import pyarrow as pa  # noqa: E402
import pyarrow.ipc  # noqa: E402

STREAM = "application/vnd.apache.arrow.stream"
FILE = "application/vnd.apache.arrow.file"
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
MEBIBYTE = 1 << 20
EVENTS = pa.list_(pa.list_(pa.string()))
SCHEMA = pa.schema([
    pa.field("name", pa.string(), nullable=False),
    ("events", EVENTS),
    pa.field("frequency", pa.uint32(), nullable=False),
    ("emotives", pa.list_(pa.map_(pa.string(), pa.float64()))),
    ("metadata", pa.map_(pa.string(), pa.list_(pa.string()))),
])


def stream_of(table, most_rows=None, **options):
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=most_rows)
    return stream.getvalue()


def some_lines(count, seed=SEED):
    """Patterns with everything that one may have."""
    chance = random.Random(seed)
    words = ["a", "b", "ü", "日本", "\0", "two words", "a symbol of more than twelve bytes", '"']
    for i in range(count):
        line = {"events": [[str(i), "x"]] + [sorted({chance.choice(words) for _ in range(1 + chance.randrange(3))})
                                            for _ in range(chance.randrange(4))]}
        if chance.random() < 0.5:
            line["frequency"] = chance.choice([1, 7, 2**32 - 1])
        if chance.random() < 0.3:
            line["emotives"] = [{chance.choice(words): chance.uniform(-9, 9)} for _ in range(1 + chance.randrange(3))]
        if chance.random() < 0.3:
            line["metadata"] = {chance.choice(words): ["v", str(i)], "page": [i]}
        if chance.random() < 0.1:
            line["name"] = f"name ü {i}"
        yield line


class ArrowCase(SharedServerCase):
    def ask(self, method, path, body=None, **headers):
        """Status, type and bytes of the answer."""
        connection = self.client.connection
        connection.request(method, path, body=body,
                           headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.getheader("content-type"), answer.read()

    def place(self, node=""):
        return f"/nodes/{self.node}{node}/patterns"

    def assert_grew_less(self, before, most):
        if not os.environ.get("HOIST_SANITIZE"):  # which keeps what was freed
            self.assertLess(self.server.resident() - before, most)

    def learn_lines(self, lines, node=""):
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        status, answer = self.client.ask("POST", self.place(node), body)
        self.assertEqual(status, 200, answer)

    def learn(self, body, node="", rows=None):
        status, _, answer = self.ask("POST", self.place(node), body, content_type=STREAM)
        self.assertEqual(status, 200, answer)
        if rows is not None:
            self.assertEqual(json.loads(answer)["patterns_learned"], rows)

    def refused(self, body, **expected):
        status, _, answer = self.ask("POST", self.place("_refused"), body, content_type=STREAM)
        self.assertEqual(status, 400, answer)
        detail = json.loads(answer)["detail"]
        self.assertEqual({key: detail[key] for key in expected}, expected)
        return detail["message"]

    def lines(self, node=""):
        status, kind, text = self.ask("GET", self.place(node))
        self.assertEqual((status, kind), (200, "application/jsonl"))
        return sorted(text.splitlines())

    def table(self, node=""):
        status, kind, stream = self.ask("GET", self.place(node), accept=STREAM)
        self.assertEqual((status, kind), (200, STREAM))
        table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)
        return table

    def assert_same(self, body, rows=None):
        """What is learned of the body is what the node has."""
        self.copies = getattr(self, "copies", 0) + 1
        copy = f"_copy{self.copies}"
        self.learn(body, copy, rows)
        self.assertEqual(self.lines(copy), self.lines())


class Export(ArrowCase):
    def test_content(self):
        self.learn_lines(some_lines(20_000))
        table = self.table()
        self.assertEqual(table.schema, SCHEMA)
        self.assertEqual(table.num_rows, 20_000)
        self.assertLessEqual(max(batch.num_rows for batch in table.to_batches()), 8192)
        lines = {line["name"]: line for line in map(json.loads, self.lines())}
        for row in table.to_pylist(maps_as_pydicts="strict"):
            line = lines.pop(row["name"])
            self.assertEqual({key: value for key, value in row.items() if value is not None}, line, f"seed {SEED}")
        self.assertFalse(lines)

    def test_formats(self):
        self.learn_lines(some_lines(10))
        table = self.table()
        for path, headers, kind in (
                ("", {"accept": "*/*"}, "application/jsonl"), ("", {"accept": "image/png"}, "application/jsonl"),
                ("?format=jsonl", {"accept": STREAM}, "application/jsonl"), ("?format=arrow", {}, STREAM),
                ("", {"accept": f"text/html, {STREAM};q=0.9, */*;q=0.1"}, STREAM),
                ("", {"accept": FILE}, FILE), ("?format=arrow-file", {}, FILE)):
            with self.subTest(path=path, headers=headers):
                status, got, body = self.ask("GET", self.place() + path, **headers)
                self.assertEqual((status, got), (200, kind))
                if kind == STREAM:
                    self.assertTrue(pa.ipc.open_stream(body).read_all().equals(table))
                if kind == FILE:
                    self.assertTrue(pa.ipc.open_file(body).read_all().equals(table))
        for method in ("GET", "POST"):
            status, _, answer = self.ask(method, self.place() + "?format=parquet", b"" if method == "POST" else None)
            self.assertEqual(status, 422)
            self.assertEqual(json.loads(answer)["detail"][0]["loc"], ["query", "format"])

    def test_nothing(self):
        table = self.table("_never_learned")
        self.assertEqual((table.schema, table.num_rows), (SCHEMA, 0))

    def test_while_others_learn(self):
        self.learn_lines({"events": [[str(i)], ["x"]]} for i in range(20_000))
        before = {line for line in self.lines()}
        done = threading.Event()

        def learn():
            client = self.server.client()
            session = client.session(self.node)
            number = 0
            while not done.is_set():
                number += 1
                session.teach(["new"], [str(number)])
            client.close()

        learner = threading.Thread(target=learn)
        learner.start()
        try:
            for _ in range(5):
                names = set(self.table()["name"].to_pylist())
                self.assertLessEqual({json.loads(line)["name"] for line in before}, names)
        finally:
            done.set()
            learner.join()

    def test_slow_reader(self):
        """Who takes a large answer slowly costs little memory."""
        self.learn_lines({"events": [[f"{i} {'x' * 2000}"], ["x"]]} for i in range(30_000))
        connection = self.server.client().connection
        self.addCleanup(connection.close)
        before = self.server.resident()
        connection.request("GET", self.place(), headers={"accept": STREAM})
        answer = connection.getresponse()
        time.sleep(1)
        self.assert_grew_less(before, 40 * MEBIBYTE)
        self.assertEqual(pa.ipc.open_stream(answer.read()).read_all().num_rows, 30_000)


class Import(ArrowCase):
    def setUp(self):
        super().setUp()
        self.learn_lines(some_lines(500))
        self.exported = self.table()

    def retyped(self, **columns):
        """The table with columns of other types."""
        table = self.exported
        for name, kind in columns.items():
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(kind))
        return table

    def test_as_exported(self):
        self.assert_same(stream_of(self.exported), 500)
        status, _, body = self.ask("GET", self.place(), accept=FILE)
        self.assertEqual(status, 200)
        self.learn(body, "_file", 500)
        self.assertEqual(self.lines("_file"), self.lines())
        status, _, answer = self.ask("POST", self.place("_argument") + "?format=arrow", body)
        self.assertEqual(status, 200, answer)

    def test_batches_and_slices(self):
        self.assert_same(stream_of(self.exported, most_rows=7), 500)
        parts = [self.exported.slice(i, 71) for i in range(0, 500, 71)]
        self.assert_same(stream_of(pa.concat_tables([parts[0].slice(0, 0), *parts])), 500)
        self.learn(stream_of(self.exported.slice(0, 0)), "_none", 0)
        self.learn(stream_of(pa.table({"events": pa.array([], EVENTS)})), "_none", 0)
        self.assertEqual(self.lines("_none"), [])

    def test_compression(self):
        for codec in ("lz4", "zstd"):
            with self.subTest(codec=codec):
                self.assert_same(stream_of(self.exported, compression=codec), 500)

    def test_types(self):
        large = pa.large_list(pa.large_list(pa.large_string()))
        self.assert_same(stream_of(self.retyped(events=large, name=pa.large_string(), frequency=pa.int64())), 500)
        self.assert_same(stream_of(self.retyped(name=pa.string_view(), frequency=pa.uint64())), 500)
        self.assert_same(stream_of(self.retyped(frequency=pa.float64())), 500)
        events = self.exported["events"].combine_chunks()
        for index in (pa.int8(), pa.uint16(), pa.int32(), pa.int64()):
            symbols = events.flatten().flatten().dictionary_encode()
            symbols = pa.DictionaryArray.from_arrays(symbols.indices.cast(pa.int32()), symbols.dictionary)
            if len(symbols.dictionary) < 128 or index != pa.int8():
                symbols = pa.DictionaryArray.from_arrays(symbols.indices.cast(index), symbols.dictionary)
            inner = pa.ListArray.from_arrays(events.flatten().offsets, symbols)
            outer = pa.ListArray.from_arrays(events.offsets, inner)
            self.assert_same(stream_of(self.exported.set_column(1, "events", outer)), 500)
        names = self.exported["name"].dictionary_encode()
        self.assert_same(stream_of(self.exported.set_column(0, "name", names), most_rows=100), 500)
        pairs = pa.table({"events": pa.array([[["a", "b"]], [["c", "d"], ["e", "f"]]],
                                             pa.list_(pa.list_(pa.string(), 2)))})
        self.learn(stream_of(pairs), "_pairs", 2)
        self.assertEqual(sorted(map(json.dumps, self.table("_pairs")["events"].to_pylist())),
                         ['[["a", "b"]]', '[["c", "d"], ["e", "f"]]'])

    def test_dictionaries_that_grow(self):
        names = [f"name {i}" for i in range(6)]
        batches = []
        for count in (2, 4, 6):
            array = pa.DictionaryArray.from_arrays(pa.array([count - 2, count - 1], pa.int8()), pa.array(names[:count]))
            batches.append(pa.record_batch({"name": array, "events": pa.array([[["x"], [str(count)]], [["y"], [str(count)]]],
                                                                              EVENTS)}))
        for deltas in (False, True):
            self.learn(stream_of(pa.Table.from_batches(batches), emit_dictionary_deltas=deltas), f"_grow{deltas}", 6)
            self.assertEqual(sorted(self.table(f"_grow{deltas}")["name"].to_pylist()), names)

    def test_columns(self):
        """Any order; what is unknown is passed over, whatever its type; only events must be there."""
        other = {"time": pa.array([0] * 500, pa.timestamp("ns", "UTC")), "price": pa.array(["1.5"] * 500).cast(pa.decimal128(9, 2)),
                 "bytes": pa.array([b"\xff"] * 500, pa.binary_view()), "both": pa.array([{"a": 1, "b": [None]}] * 500),
                 "nothing": pa.nulls(500), "half": pa.array([1.0] * 500).cast(pa.float16()),
                 "union": pa.UnionArray.from_dense(pa.array([0] * 500, pa.int8()), pa.array(range(500), pa.int32()),
                                                   [pa.array(range(500))]),
                 "runs": pa.RunEndEncodedArray.from_arrays([500], pa.array(["x"])),
                 "code": pa.array(["c"] * 500).dictionary_encode(), "list": pa.array([[1]] * 500, pa.list_view(pa.int8()))}
        columns = dict(zip(self.exported.column_names, self.exported.columns))
        mixed = [*other.items(), *columns.items()]
        random.Random(SEED).shuffle(mixed)
        self.assert_same(stream_of(pa.table(dict(mixed)), compression="zstd"), 500)
        self.learn(stream_of(pa.table({"events": columns["events"]})), "_events", 500)
        self.assertEqual(set(self.table("_events")["frequency"].to_pylist()), {1})

    def test_nulls_and_structures(self):
        """As programs infer types from Python's values."""
        rows = [{"events": [["a", "b"]], "frequency": None, "name": None, "emotives": None, "metadata": None},
                {"events": [["a", "c"]], "frequency": 3, "emotives": [{"joy": 1.5}, {"fear": -1}],
                 "metadata": {"page": 7, "tags": ["x", "y"], "done": True, "none": None}},
                {"events": [["a", "d"], []], "emotives": [], "metadata": {"tags": []}}]
        table = pa.Table.from_pylist(rows)
        self.learn(stream_of(table), "", 3)
        made = {row["events"][0][1]: row for row in self.table().to_pylist(maps_as_pydicts="strict")
                if row["events"][0][0] == "a" and len(row["events"][0]) == 2 and len(row["events"]) == 1}
        self.assertEqual((made["b"]["frequency"], made["b"]["emotives"], made["b"]["metadata"]), (1, None, None))
        self.assertEqual(made["c"]["emotives"], [{"joy": 1.5}, {"fear": -1.0}])
        self.assertEqual(made["c"]["metadata"], {"page": ["7"], "tags": ["x", "y"], "done": ["True"]})
        self.assertEqual((made["c"]["frequency"], made["d"]["frequency"]), (3, 1))
        self.learn(stream_of(pa.table({"events": [[["a", "b"]]], "emotives": pa.nulls(1), "name": pa.nulls(1),
                                       "metadata": pa.nulls(1), "frequency": pa.nulls(1)})), "_nulls", 1)

    def test_in_pieces(self):
        body = stream_of(self.exported, most_rows=50)

        def pieces():
            for at in range(0, len(body), 1000):
                yield body[at:at + 1000]

        self.learn(pieces(), "_pieces", 500)
        self.assertEqual(self.lines("_pieces"), self.lines())

    def test_polars(self):
        try:
            import polars
        except ImportError:
            self.skipTest("no Polars")
        frame = polars.from_arrow(self.exported)
        for options in ({}, {"compression": "lz4"}, {"compression": "zstd"},
                        {"compat_level": polars.CompatLevel.oldest()}):
            with self.subTest(**options):
                stream = io.BytesIO()
                frame.write_ipc_stream(stream, **options)
                self.assert_same(stream.getvalue(), 500)
        coded = frame.with_columns(polars.col("name").cast(polars.Categorical))
        stream = io.BytesIO()
        coded.write_ipc_stream(stream)
        self.assert_same(stream.getvalue(), 500)
        # Maps as versions without them have them.
        pairs = polars.DataFrame({"events": [[["a", "b"]]], "emotives": [[[{"key": "joy", "value": 0.5}]]],
                                  "metadata": [[{"key": "page", "value": ["7"]}]]})
        stream = io.BytesIO()
        pairs.write_ipc_stream(stream)
        self.learn(stream.getvalue(), "_pairs", 1)
        self.assertEqual(self.table("_pairs").to_pylist(maps_as_pydicts="strict")[0]["emotives"], [{"joy": 0.5}])
        self.assertEqual(self.table("_pairs")["metadata"].to_pylist(), [[("page", ["7"])]])
        file = io.BytesIO()
        frame.write_ipc(file)
        self.assertIn("send a stream", self.refused(file.getvalue(), patterns_learned=0))

    def test_duckdb_and_pandas(self):
        try:
            import duckdb
        except ImportError:
            self.skipTest("no DuckDB")
        patterns = self.exported  # noqa: F841  (DuckDB finds it by its name)
        found = duckdb.sql("select events, frequency, name, emotives, metadata from patterns").arrow()
        self.assert_same(stream_of(found if isinstance(found, pa.Table) else found.read_all()), 500)
        frame = self.exported.to_pandas()
        self.assert_same(stream_of(pa.Table.from_pandas(frame, schema=SCHEMA)), 500)


class Refused(ArrowCase):
    good = pa.table({"events": pa.array([[["a"], ["b"]]] * 3, EVENTS)})

    def test_no_arrow(self):
        for body in (b"", b"\n", b'{"events": [["a"], ["b"]]}\n', b"ARROW1\0\0", b"\xff" * 8, b"\xff" * 4 + b"\0" * 4,
                     b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\0" * 10_000, os.urandom(10_000)):
            with self.subTest(body=body[:30]):
                self.refused(body, batch=0, patterns_learned=0)

    def test_where(self):
        """The batch and the row; what came before is learned."""
        rows = pa.array([[["a"], ["b"]], [["a"], ["c"]], None, [["a"], ["d"]]], EVENTS)
        body = stream_of(pa.table({"events": rows}), most_rows=2)
        self.refused(body, message='"events" is null', batch=2, row=1, patterns_learned=2)
        for column, values, message in (
                ("frequency", [1, 0, 1], '"frequency" is no whole number from 1 on'),
                ("frequency", [1, 2**32, 1], '"frequency" is no whole number from 1 on'),
                ("frequency", [1.0, 1.5, 1.0], '"frequency" is no whole number from 1 on'),
                ("emotives", [None, [{"joy": "much"}], None], '"emotives" is no object of numbers and no list of such'),
                ("emotives", [None, [{"joy": float("inf")}], None], "a number is infinite, or none"),
                ("metadata", [None, ["x"], None], '"metadata" is no object')):
            with self.subTest(column=column, values=values):
                table = self.good.append_column(column, pa.array(values))
                self.refused(stream_of(table), message=message, batch=1, row=2, patterns_learned=1)
        for events, message in (([["a"], None], "an event is null"), ([["a", None]], "a symbol is null")):
            self.assertEqual(self.refused(stream_of(pa.table({"events": pa.array([events], EVENTS)})), row=1), message)
        short = stream_of(pa.table({"events": pa.array([[["a"]]], EVENTS)}))
        self.refused(short, batch=1, row=1)

    def test_schemas(self):
        for table, message in ((pa.table({"name": ["a"]}), '"events" is missing'),
                               (pa.table({"events": [["a"]]}), '"events" is no list of lists of strings'),
                               (pa.table({"events": [[["a"]]], "metadata": [b"x"]}), "metadata is binary, which is not read")):
            self.assertEqual(self.refused(stream_of(table), batch=0, patterns_learned=0), message)

    def test_cut_off(self):
        body = stream_of(self.good, most_rows=1)
        learned = 0
        for size in range(1, len(body), 97):
            status, _, answer = self.ask("POST", self.place(), body[:size], content_type=STREAM)
            answer = json.loads(answer)
            # Where the stream ends between two batches, nothing is missing that could be known.
            self.assertIn(status, (200, 400))
            now = answer["patterns_learned"] if status == 200 else answer["detail"]["patterns_learned"]
            self.assertGreaterEqual(now, learned)
            learned = now

    def test_sizes(self):
        """What is said to come takes no memory before it comes."""
        body = bytearray(stream_of(self.good))
        length = len(stream_of(self.good.slice(0, 0))) - 8
        (metadata,) = struct.unpack_from("<i", body, length + 4)
        begin = length + 8
        said = body.index(struct.pack("<q", len(body) - 8 - begin - metadata), begin)
        before = self.server.resident()
        for size, message in ((2**62, "at most"), (129 << 20, "at most"), (100 << 20, "ends within")):
            struct.pack_into("<q", body, said, size)
            self.assertIn(message, self.refused(bytes(body), batch=1, patterns_learned=0))
            self.assert_grew_less(before, 20 * MEBIBYTE)

    def test_damage(self):
        """Whatever it is, it is answered, and the server goes on."""
        chance = random.Random(SEED)
        table = pa.Table.from_pylist([{"name": "n", "events": [["a", "b"]], "emotives": [[("joy", 1.0)]],
                                       "metadata": [("k", ["v"])], "frequency": 1}], schema=SCHEMA)
        for options in ({}, {"compression": "lz4"}, {"compression": "zstd"}):
            body = stream_of(table, **options)
            for _ in range(150):
                damaged = bytearray(body)
                for _ in range(1 + chance.randrange(3)):
                    damaged[chance.randrange(len(damaged))] = chance.randrange(256)
                status, _, answer = self.ask("POST", self.place(), bytes(damaged), content_type=STREAM)
                self.assertIn(status, (200, 400), (SEED, answer))
        self.learn(stream_of(self.good), "_after", 3)


def equal_rows(count):
    """So many rows of one pattern: two bytes each, and next to none where they are compressed."""
    symbols = pa.DictionaryArray.from_arrays(pa.array(bytes(2 * count), pa.uint8()), pa.array(["a"]))
    return pa.table({"events": pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(symbols, 2), 1)})


def null_members(members, length, rows=1):
    """Rows whose metadata has a list of structures, of which no member is there."""
    nothing = pa.StructArray.from_arrays([pa.nulls(length * rows)] * members, names=[f"n{i}" for i in range(members)])
    metadata = pa.StructArray.from_arrays([pa.FixedSizeListArray.from_arrays(nothing, length)], names=["k"])
    return pa.table({"events": pa.array([[["a", "b"]]] * rows, EVENTS), "metadata": metadata})


class FewBytesOfMuch(ArrowCase):
    """What takes the client nothing takes the service little."""

    def test_rows(self):
        body = stream_of(equal_rows(2_000_000), compression="zstd")
        self.assertLess(len(body), 5_000)
        message = self.refused(body, batch=1)
        self.assertIn("stand for more than 1000 times as many: send it without compression", message)
        rows = (256 * MEBIBYTE - len(stream_of(equal_rows(2_000_000)))) // 1000
        self.assertAlmostEqual(json.loads(self.lines("_refused")[0])["frequency"], rows, delta=2)
        self.learn(stream_of(equal_rows(300_000)), "_plain", 300_000)

    def test_dictionaries(self):
        """They are decompressed, though no row has the long text."""
        batches = [pa.record_batch({"events": pa.ListArray.from_arrays(
            pa.array([0, 1], pa.int32()), pa.ListArray.from_arrays(
                pa.array([0, 2], pa.int32()), pa.DictionaryArray.from_arrays(
                    pa.array([0, 0], pa.int8()), pa.array(["a", name * (100 << 20)]))))}) for name in "bcdef"]
        body = stream_of(pa.Table.from_batches(batches), compression="zstd")
        self.assertLess(len(body), 200_000)
        self.assertIn("stand for more", self.refused(body, batch=3, patterns_learned=2))

    def test_null_members(self):
        body = stream_of(null_members(members=8000, length=1_000_000))
        self.assertEqual(self.refused(body, batch=1, row=1), "a row has more than two million values")

    def test_nobody_waits(self):
        """An import ends when its client is gone, though the whole body has come."""
        connection = self.server.client().connection
        self.addCleanup(connection.close)
        connection.request("POST", self.place(), body=stream_of(equal_rows(5_000_000)), headers={"content-type": STREAM})

        def learned():
            lines = self.lines()
            return json.loads(lines[0])["frequency"] if lines else 0

        while learned() == 0:
            time.sleep(0.05)
        connection.close()
        before = -1
        while (now := learned()) != before:
            before = now
            time.sleep(0.5)
        self.assertLess(now, 5_000_000)


class Ends(ServiceCase):
    def test_while_it_imports(self):
        """Long before the import would end."""
        for table in (equal_rows(5_000_000), null_members(members=10, length=190_000, rows=400)):
            server = self.serve("--grace", "1", folder=self.folder / str(table.num_rows))
            connection = server.client().connection
            self.addCleanup(connection.close)
            connection.request("POST", "/nodes/n/patterns", body=stream_of(table), headers={"content-type": STREAM})
            time.sleep(0.5)
            self.assertEqual(server.end(), 0)

    def test_what_cannot_be_read(self):
        """An export without some of the metadata is not whole, and the client is told so."""
        server = self.serve()
        client = server.client()
        chance = random.Random(SEED)
        lines = "".join(json.dumps({"events": [[str(i)], ["x"]], "metadata": {"k": chance.randbytes(2000).hex()}}) + "\n"
                        for i in range(10_000))
        self.assertEqual(client.ask("POST", "/nodes/n/patterns", lines.encode())[0], 200)
        client.close()
        self.assertEqual(server.end(), 0)
        server = self.serve()  # what was in its log is in a table now
        client = server.client()
        self.addCleanup(client.close)
        self.assertEqual(client.get("/nodes/n/patterns")[0], 200)
        tables = list((self.folder / "store/nodes").glob("*/store/*.sst"))
        self.assertTrue(tables)
        for table in tables:
            with open(table, "r+b") as file:
                file.write(chance.randbytes(table.stat().st_size * 9 // 10))
        for kind in ("jsonl", "arrow", "arrow-file"):
            # How much is sent before the fault is a matter of time: perhaps nothing.
            cut_off = (http.client.IncompleteRead, http.client.RemoteDisconnected)
            with self.subTest(kind=kind), self.assertRaises(cut_off):
                client.get(f"/nodes/n/patterns?format={kind}")
            client.close()


if __name__ == "__main__":
    unittest.main()
