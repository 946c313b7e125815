"""Peers that see columns: pcodec, OpenZL, Parquet, clp-s. Each gives its size in bytes where it is installed.

The columns are those of a CSV file or of flat JSON objects. A column whose values are all decimal numbers, with nothing or
`NA` among them, is handed over as 64-bit integers in units of its last decimal place, with a byte a value for what is
missing; other columns as their texts. So these peers do not store how numbers were written (1.5 or 1.50), which the
text compressors and Hoist do."""

import csv
import json
import lzma
import pathlib
import re
import subprocess
import sysconfig

NOTHING = ("", "NA", "null")
DECIMAL = re.compile(r"-?\d{1,12}(?:\.(\d{1,13}))?$")


def read_columns(path):
    """Lists of texts by name; None where the file is no table. A missing value is ''."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        header, *lines = csv.reader(text.splitlines())
        return {name or f"column {i}": list(column) for i, (name, column) in enumerate(zip(header, zip(*lines)))}
    if path.suffix != ".jsonl":
        return None
    objects = [json.loads(line, parse_float=str, parse_int=str) for line in text.splitlines()]
    names = dict.fromkeys(name for fields in objects for name in fields)
    return {name: [str(fields.get(name, "")) for fields in objects] for name in names}


def as_numbers(texts):
    """(numbers that are there, marks) or None."""
    matches = [None if text in NOTHING else DECIMAL.match(text) or False for text in texts]
    if any(match is False for match in matches) or not any(matches):
        return None
    scale = max(len(match.group(1) or "") for match in matches if match)
    if scale + max(len(match.group(0)) for match in matches if match) > 17:
        return None
    numbers = []
    for match in filter(None, matches):
        whole, _, fraction = match.group(0).partition(".")
        numbers.append(int(whole + fraction.ljust(scale, "0")))
    return numbers, bytes(match is not None for match in matches)


def small_bytes(data):
    return len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)) if len(set(data)) > 1 else 1


def joined(texts):
    return "\n".join(texts).encode()


def pcodec_size(columns):
    """Numbers by pcodec at its highest level, texts by xz -9e."""
    import numpy
    from pcodec import ChunkConfig, standalone
    config, size = ChunkConfig(compression_level=12), 0
    for texts in columns.values():
        parsed = as_numbers(texts)
        if parsed is None:
            size += small_bytes(joined(texts))
            continue
        numbers, marks = parsed
        size += len(standalone.simple_compress(numpy.array(numbers, dtype=numpy.int64), config)) + small_bytes(marks)
    return size


def openzl_size(columns):
    """The smallest of some graphs a column."""
    import numpy
    import openzl.ext as zl
    nodes, graphs = zl.nodes, zl.graphs

    def compressed(make, data):
        compressor = zl.Compressor()
        compressor.set_parameter(zl.CParam.FormatVersion, 21)
        compressor.set_parameter(zl.CParam.CompressionLevel, 9)
        compressor.select_starting_graph(make(compressor))
        context = zl.CCtx()
        context.ref_compressor(compressor)
        return len(context.compress([data]))

    end = {"compress": lambda c: graphs.Compress()(c), "lz": lambda c: graphs.FieldLz()(c),
           "zstd": lambda c: graphs.Zstd()(c)}
    number_graphs = [
        end["compress"], end["lz"],
        lambda c: nodes.DeltaInt()(c, end["compress"](c)), lambda c: nodes.DeltaInt()(c, end["lz"](c)),
        lambda c: nodes.RangePack()(c, end["lz"](c)),
        lambda c: nodes.TokenizeNumeric(sort=True)(c, alphabet=nodes.DeltaInt()(c, end["lz"](c)), indices=end["lz"](c)),
        lambda c: nodes.TokenizeNumeric(sort=True)(c, alphabet=nodes.DeltaInt()(c, end["lz"](c)),
                                                   indices=end["compress"](c)),
    ]
    text_graphs = [
        end["compress"],
        lambda c: nodes.TokenizeString(sort=True)(c, alphabet=end["compress"](c), indices=end["lz"](c)),
        lambda c: nodes.TokenizeString(sort=True)(c, alphabet=end["compress"](c), indices=end["compress"](c)),
    ]

    def smallest(makes, data):
        sizes = []
        for make in makes:
            try:
                sizes.append(compressed(make, data))
            except RuntimeError:
                continue
        return min(sizes)

    size = 0
    for texts in columns.values():
        parsed = as_numbers(texts)
        if parsed is None:
            encoded = [text.encode() for text in texts]
            # An input does not keep its arrays alive.
            content = numpy.frombuffer(b"".join(encoded) or b"\0", dtype=numpy.uint8)
            lengths = numpy.array([len(text) for text in encoded], dtype=numpy.uint32)
            size += min(smallest(text_graphs, zl.Input(zl.Type.String, content, lengths)), small_bytes(joined(texts)))
            continue
        numbers, marks = parsed
        values = numpy.array(numbers, dtype=numpy.int64)
        size += smallest(number_graphs, zl.Input(zl.Type.Numeric, values))
        size += small_bytes(marks)
    return size


def parquet_size(columns, folder):
    """Columns as numbers and texts, zstd 22; the smaller of pyarrow's default encodings and the delta ones."""
    import pyarrow
    import pyarrow.parquet
    arrays, encodings = {}, {}
    for name, texts in columns.items():
        parsed = as_numbers(texts)
        if parsed is None:
            arrays[name], encodings[name] = texts, "DELTA_BYTE_ARRAY"
            continue
        numbers = iter(parsed[0])
        arrays[name] = [next(numbers) if mark else None for mark in parsed[1]]
        encodings[name] = "DELTA_BINARY_PACKED"
    table, path, sizes = pyarrow.table(arrays), folder / "x.parquet", []
    for options in ({}, {"use_dictionary": False, "column_encoding": encodings}):
        pyarrow.parquet.write_table(table, path, compression="zstd", compression_level=22, **options)
        sizes.append(path.stat().st_size)
    return min(sizes)


def clp_size(path, folder):
    """clp-s at level 19; a line of text that is no JSON as an object with one text."""
    program = pathlib.Path(sysconfig.get_path("scripts")) / "clp-s"
    if not program.exists():
        raise ImportError
    source = path
    if path.suffix != ".jsonl":
        source = folder / "lines.jsonl"
        with path.open(encoding="utf-8", errors="replace") as lines, source.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps({"message": line.rstrip("\n")}) + "\n" for line in lines)
    target = folder / "clp"
    subprocess.run(["rm", "-rf", target], check=True)
    subprocess.run([program, "c", "--compression-level", "19", "--single-file-archive", target, source], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def rows_of(peers):
    """Rows for the table, of all peers that are installed."""
    for name, size in peers:
        try:
            yield {"program": name, "bytes": size()}
        except ImportError:
            continue


def sizes_of_columns(columns, folder):
    yield from rows_of((("pcodec 12 a column, texts xz -9e", lambda: pcodec_size(columns)),
                        ("OpenZL, best graph a column", lambda: openzl_size(columns)),
                        ("Parquet, zstd 22", lambda: parquet_size(columns, folder))))


def sizes(path, folder):
    if path.suffix != ".csv":
        yield from rows_of((("clp-s 19", lambda: clp_size(path, folder)),))
    columns = read_columns(path)
    if columns is not None:
        yield from sizes_of_columns(columns, folder)
