"""Columns of records in a device's memory, against those that NumPy gets: on the CPU device, and on a GPU where
PyTorch or CuPy finds one."""

import math
import os
import random
import tempfile
import unittest

import numpy as np
from hoist import errors, records

try:
    import torch

    torch_gpu = torch.cuda.is_available()
except ImportError:
    torch = None
    torch_gpu = False
try:
    import cupy
except ImportError:
    cupy = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

NAT = np.iinfo(np.int64).min


def lines(rows, seed=1):
    chooser = random.Random(seed)
    price = {"BTC-USD": 11739131, "ETH-USD": 441050, "SOL": 18999}
    for i in range(rows):
        symbol = chooser.choice(list(price))
        price[symbol] += chooser.randrange(-300, 301)
        fields = [f'"symbol": "{symbol}"']
        fields.append(f'"time": "2025-08-17T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03}Z"')
        fields.append(f'"price": "{price[symbol] // 100}.{price[symbol] % 100:02}"')
        fields.append(f'"volume": {"null" if i % 7 == 0 else chooser.randrange(1, 10**9) / 10**8}')
        fields.append(f'"n": {chooser.getrandbits(chooser.randrange(1, 63)) - 1000}')
        fields.append(f'"ok": {"true" if i % 3 else "false"}')
        if i % 5:
            fields.append(f'"note": "{chooser.choice(["a", "b", "c d", "é"])}{i % 4000}"')
        if i % 11 == 0:
            fields.append('"tags": ["x", "y"]')
        yield "{" + ", ".join(fields) + "}"


class OnDevice(unittest.TestCase):
    device = "cpu"

    @staticmethod
    def numpy(column):
        return np.from_dlpack(column)

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = os.path.join(cls.folder.name, "x.hrec")
        records.encode(lines(150000), path)
        cls.file = records.open(path)

    def expect_same(self, column, expected):
        """`expected`: what columns() gives without a device."""
        values = self.numpy(column)
        self.assertEqual(len(column), len(expected))
        valid = np.ones(len(values), bool) if column.valid is None else self.numpy(column.valid)
        if column.type == "codes":
            self.assertEqual(column.dictionary, sorted(set(column.dictionary)))
            texts = np.array([*column.dictionary, None], dtype=object)
            self.assertEqual(texts[values].tolist(), expected.tolist())
            self.assertTrue((valid == (values >= 0)).all())
        elif column.type == "timestamp":
            np.testing.assert_array_equal(values, expected.astype(f"datetime64[{column.unit}]").view(np.int64))
            self.assertTrue((valid == (values != NAT)).all())
        else:
            mask = np.ma.getmaskarray(expected)
            np.testing.assert_array_equal(valid, ~mask)
            plain = np.ma.getdata(expected)
            self.assertEqual(values[valid].tobytes(), plain[valid].tobytes())
            if values.dtype == np.float64:
                self.assertTrue(np.isnan(values[~valid]).all())

    def test_all_types(self):
        names = ["symbol", "time", "price", "volume", "n", "ok", "note"]
        for rows in (None, (0, 1), (65530, 131080), (149999, 150000), (7, 7)):
            loaded = self.file.columns(names, rows=rows, device=self.device)
            expected = self.file.columns(names, rows=rows)
            self.assertEqual(list(loaded), names)
            for name in names:
                with self.subTest(name=name, rows=rows):
                    self.expect_same(loaded[name], expected[name])

    def test_types_that_are_asked_for(self):
        types = {"price": "decimal", "volume": "float32", "n": "float64"}
        loaded = self.file.columns(["price", "volume", "n"], device=self.device, types=types)
        expected = self.file.columns(["price", "volume", "n"])
        self.assertEqual(loaded["price"].scale, 2)
        np.testing.assert_array_equal(
            self.numpy(loaded["price"]), np.round(expected["price"] * 100).astype(np.int64)
        )
        valid = ~np.ma.getmaskarray(expected["volume"])
        np.testing.assert_array_equal(
            self.numpy(loaded["volume"])[valid], np.ma.getdata(expected["volume"])[valid].astype(np.float32)
        )
        np.testing.assert_array_equal(self.numpy(loaded["n"]), expected["n"].astype(np.float64))

    def test_conditions(self):
        for where in ("price>=117391.31", ["symbol=SOL", "volume<5"], "volume=null", "n!=7", "note=a1",
                      "time>=2025-08-17T12", "price<0", ["ok=true", "n>=0", "n<100000"]):
            for rows in (None, (1000, 140000)):
                with self.subTest(where=where, rows=rows):
                    names = ["price", "symbol", "volume", "time"]
                    loaded = self.file.columns(names, rows, where, device=self.device)
                    expected = self.file.columns(names, rows, where)
                    self.assertEqual(loaded.rows, len(expected["price"]))
                    for name in names:
                        self.expect_same(loaded[name], expected[name])

    def test_what_no_row_can_hold_is_skipped(self):
        loaded = self.file.columns(["price"], where="price<0", device=self.device)
        self.assertEqual(loaded.rows, 0)
        info = loaded.info()
        self.assertEqual(info.skipped, info.blocks)

    def test_info_says_which_conditions_the_cpu_evaluated(self):
        for where, by_cpu in (("price>=0", False), ("symbol=SOL", False), ("time>=2025-08-17T12", True)):
            info = self.file.columns(["n"], where=where, device=self.device).info()
            self.assertEqual(info.conditions_by_cpu, info.blocks if by_cpu else 0)

    def test_info_says_what_the_cpu_decoded(self):
        info = self.file.columns(["price", "note"], device=self.device).info()
        self.assertEqual(info.device.split(":")[0], self.device)
        self.assertEqual(info.by_cpu["price"], 0)
        self.assertEqual(info.blocks, self.file.info().blocks)
        self.assertGreater(info.copied_bytes, 0)

    def test_a_csv_and_texts_of_all_kinds(self):
        texts = {
            "csv": "a,b,c\n" + "".join(f"{i},{i / 8},{'' if i % 9 == 0 else i}\n" for i in range(3000)),
            "symbolic": "".join(
                f"⟆⟐.RAW:[§₿»⏱{0x68a128dc + i:08x}»↗{i}.5,✓]\n" for i in range(2000)
            ),
            "log": "".join(f"2024-01-31 13:55:{i % 60:02} INFO [{i}] took {i * i} ms\n" for i in range(2000)),
            "empty": "",
            "plain": "\0\1\2\n" * 9,
        }
        for name, text in texts.items():
            path = os.path.join(self.folder.name, name + ".hrec")
            records.encode(text.encode(), path, replace=True)
            file = records.open(path)
            names = [info.name for info in file.columns_info if not info.is_list]
            loaded, expected = file.columns(names, device=self.device), file.columns(names)
            for column in names:
                with self.subTest(file=name, column=column):
                    self.expect_same(loaded[column], expected[column])

    def test_texts_that_are_made_of_others(self):
        chooser = random.Random(3)
        rows = []
        for _ in range(3000):
            name, number = chooser.choice(["al", "bo"]) + str(chooser.randrange(10**6)), chooser.randrange(10**7)
            rows.append(f'{{"a": "{name}", "b": {number}, "c": "{name}/{number}.html", "d": "{number}.5"}}')
        path = os.path.join(self.folder.name, "composed.hrec")
        records.encode(rows, path, replace=True)
        file = records.open(path)
        loaded, expected = file.columns(device=self.device), file.columns()
        for name in "abcd":
            self.expect_same(loaded[name], expected[name])

    def test_numbers_at_the_borders(self):
        numbers = ["9007199254740993", "9223372036854775807", "-9223372036854775808", "0", "-1"]
        decimals = ["900719925474099.27", "9223372036854775.07", "-9223372036854775.07", "0.00", "-0.01", "0.30"]
        text = "".join(f'{{"i": {numbers[i % 5]}, "d": {decimals[i % 6]}}}\n' for i in range(600))
        path = os.path.join(self.folder.name, "borders.hrec")
        records.encode(text.encode(), path, replace=True)
        file = records.open(path)
        loaded, expected = file.columns(device=self.device), file.columns()
        for name in ("i", "d"):
            self.expect_same(loaded[name], expected[name])
        decimal = file.columns(["d"], device=self.device, types={"d": "decimal"})["d"]
        self.assertEqual(decimal.scale, 2)
        self.assertEqual(
            self.numpy(decimal)[:6].tolist(), [int(each.replace(".", "")) for each in decimals]
        )

    def test_wrong_calls(self):
        columns = self.file.columns
        for error, arguments in (
            (errors.NotFound, {"names": ["nothing"]}),
            (errors.NotFound, {"names": ["price"], "types": {"n": "float32"}}),
            (errors.InvalidArgument, {"names": ["tags[]"]}),
            (errors.InvalidArgument, {"names": ["tags"]}),
            (errors.InvalidArgument, {"names": ["price"], "types": {"price": "int64"}}),
            (errors.InvalidArgument, {"names": ["price"], "types": {"price": "complex"}}),
            (errors.InvalidArgument, {"names": ["symbol"], "types": {"symbol": "float64"}}),
        ):
            with self.subTest(arguments=arguments), self.assertRaises((error, errors.NotFound)):
                columns(**arguments, device=self.device)
        with self.assertRaises(errors.InvalidArgument):
            columns(["price"], types={"price": "decimal"})
        with self.assertRaises(errors.NotFound):
            columns(["price"], device=self.device)["volume"]

    def test_arrays_outlive_what_they_came_from(self):
        column = self.file.columns(["n"], device=self.device)["n"]
        values = self.numpy(column)
        copy = values.copy()
        del column
        np.testing.assert_array_equal(values, copy)


class Arrow(unittest.TestCase):
    def test_device_array(self):
        if pyarrow is None or not hasattr(pyarrow.RecordBatch, "_import_from_c_device_capsule"):
            self.skipTest("needs PyArrow with device arrays")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.hrec")
            records.encode(lines(3001), path)
            file = records.open(path)
            names = ["symbol", "time", "price", "volume", "n", "ok", "note"]
            columns = file.columns(names, device="cpu", types={"price": "decimal"})
            batch = pyarrow.RecordBatch._import_from_c_device_capsule(*columns.__arrow_c_device_array__())
            del columns
        batch.validate(full=True)
        expected = pyarrow.table(file.select(names)).to_pydict()
        found = batch.to_pydict()
        self.assertEqual([str(price) for price in found["price"]], [f"{price:.2f}" for price in expected["price"]])
        for name in names:
            if name != "price":
                self.assertEqual(found[name], expected[name], name)
        self.assertTrue(any(math.isfinite(each) for each in found["volume"] if each is not None))


@unittest.skipUnless(torch_gpu, "needs PyTorch with a CUDA GPU")
class OnGpuWithTorch(OnDevice):
    device = "cuda"

    @staticmethod
    def numpy(column):
        tensor = torch.from_dlpack(column)
        assert tensor.is_cuda
        return tensor.cpu().numpy()

    def test_an_arrow_device_array_says_where_it_is(self):
        columns = self.file.columns(["symbol", "price", "volume"], device="cuda")
        schema, array = columns.__arrow_c_device_array__()
        self.assertIn("arrow_schema", repr(schema))
        self.assertIn("arrow_device_array", repr(array))


@unittest.skipUnless(torch_gpu and cupy is not None, "needs CuPy and PyTorch with a CUDA GPU")
class OnGpuWithCupy(OnDevice):
    device = "cuda"

    @staticmethod
    def numpy(column):
        return cupy.from_dlpack(column).get()


if __name__ == "__main__":
    unittest.main()
