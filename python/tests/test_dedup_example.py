"""examples/dedup finds again what its generator made twice, as RapidFuzz does, and replaces no file."""

import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "dedup"


def call(script, *arguments):
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    path = tmp_path_factory.mktemp("dedup") / "customers.csv"
    made = call("make_customers.py", 5000, path)
    assert made.returncode == 0, made
    return path


def found_by(customers, engine):
    out = customers.parent / f"{engine}.csv"
    arguments = (customers, out, "--engine", engine, "--also", "city", "--truth", "person")
    done = call("dedup.py", *arguments)
    assert done.returncode == 0, done
    answer = out.read_bytes()
    again = call("dedup.py", *arguments)
    assert (again.returncode, out.read_bytes()) == (1, answer)
    assert "exists" in again.stderr
    return done.stdout, answer


def test_duplicates_are_found(customers):
    said, answer = found_by(customers, "hoist")
    there_are, both, wrong = map(
        int, re.search(r"of (\d+) pairs of one person (\d+) are in one cluster; (\d+)", said).groups()
    )
    assert there_are > 400
    assert both > 0.75 * there_are
    assert wrong < 0.05 * there_are
    pytest.importorskip("rapidfuzz")
    assert found_by(customers, "rapidfuzz")[1] == answer


def test_what_cannot_be_done_is_said(customers, tmp_path):
    again = call("make_customers.py", 10, customers)
    assert again.returncode == 1
    assert "exists" in again.stderr
    lost = call("dedup.py", customers, tmp_path / "x.csv", "--column", "nobody")
    assert lost.returncode == 1
    assert "has no column nobody: id, name, city, person" in lost.stderr
    gone = call("dedup.py", tmp_path / "nothing.csv", tmp_path / "x.csv")
    assert gone.returncode == 1
    assert "nothing.csv" in gone.stderr
    assert not (tmp_path / "x.csv").exists()


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    rows = "name,city\nÅsa Berg,Oslo\nBerg Åsa,Oslo\nJan Kowal,Oslo\n"
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / f"{encoding}.csv").write_text(rows, encoding=encoding)
        done = call("dedup.py", tmp_path / f"{encoding}.csv", tmp_path / f"{encoding}.out")
        assert done.returncode == 0, done
    assert (tmp_path / "utf-8.out").read_bytes() == (tmp_path / "utf-8-sig.out").read_bytes()
    lines = (tmp_path / "utf-8.out").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "name,city,cluster,alike"
    assert lines[2] == "Berg Åsa,Oslo,0,100.0"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_that_is_not_utf_8_is_named(tmp_path, encoding):
    (tmp_path / "in.csv").write_text("name\nÅsa Berg\n", encoding=encoding)
    done = call("dedup.py", tmp_path / "in.csv", tmp_path / "out.csv")
    assert done.returncode == 1
    assert done.stderr.startswith(f"dedup: {tmp_path / 'in.csv'} is no CSV file in UTF-8: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()
