"""Writes the files of this folder that say things of themselves which are not so.

    python tests/data/trust/make_hostile.py        (needs pyarrow and numpy)
"""
import io
import pathlib
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent


class Compact:
    """Thrift's compact protocol, both ways: structures are lists of [id, kind, value]."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def int(self):
        raw = self.varint()
        return (raw >> 1) ^ -(raw & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            self.at += 1
            return self.data[self.at - 1]
        if kind in (4, 5, 6):
            return self.int()
        if kind == 7:
            self.at += 8
            return self.data[self.at - 8:self.at]
        if kind == 8:
            length = self.varint()
            self.at += length
            return self.data[self.at - length:self.at]
        if kind in (9, 10):
            head = self.data[self.at]
            self.at += 1
            length = head >> 4 if head >> 4 < 15 else self.varint()
            return (head & 15, [self.value(head & 15) for _ in range(length)])
        if kind == 12:
            fields, last = [], 0
            while True:
                head = self.data[self.at]
                self.at += 1
                if head == 0:
                    return fields
                last = last + (head >> 4) if head >> 4 else self.int()
                fields.append([last, head & 15, self.value(head & 15)])
        raise ValueError(kind)


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def packed(kind, value):
    if kind in (1, 2):
        return b""
    if kind == 3:
        return bytes([value])
    if kind in (4, 5, 6):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == 7:
        return value
    if kind == 8:
        return varint(len(value)) + value
    if kind in (9, 10):
        entry, values = value
        head = bytes([len(values) << 4 | entry]) if len(values) < 15 else bytes([0xF0 | entry]) + varint(len(values))
        return head + b"".join(packed(entry, v) for v in values)
    out, last = b"", 0
    for number, kind, value in value:
        head = kind if kind not in (1, 2) else (1 if value else 2)
        out += bytes([(number - last) << 4 | head]) if 0 < number - last < 16 else bytes([head]) + varint(number << 1)
        out += packed(kind, value)
        last = number
    return out + b"\0"


def get(fields, number):
    return next(f for f in fields if f[0] == number)


class File:
    """A Parquet file whose footer and page headers can be changed."""

    def __init__(self, table, **options):
        sink = io.BytesIO()
        pq.write_table(table, sink, **options)
        data = sink.getvalue()
        length = struct.unpack("<I", data[-8:-4])[0]
        self.body = data[:-8 - length]
        self.footer = Compact(data[-8 - length:-8]).value(12)

    def chunk(self, column):
        group = get(self.footer, 4)[2][1][0]
        return get(get(group, 1)[2][1][column], 3)[2]

    def page(self, column, change, dictionary=False):
        """Changes the header of the first page of a column that is the last one of the file."""
        meta = self.chunk(column)
        at = get(meta, 11)[2] if dictionary else get(meta, 9)[2]
        reader = Compact(self.body[at:])
        header = reader.value(12)
        rest = self.body[at + reader.at:]
        change(header)
        before = len(self.body)
        self.body = self.body[:at] + packed(12, header) + rest
        moved = len(self.body) - before
        get(meta, 7)[2] += moved
        if dictionary:
            get(meta, 9)[2] += moved

    def bytes_of_page(self, column, change):
        meta = self.chunk(column)
        at = get(meta, 9)[2]
        reader = Compact(self.body[at:])
        reader.value(12)
        start = at + reader.at
        self.body = self.body[:start] + change(bytearray(self.body[start:]))

    def write(self, name):
        footer = packed(12, self.footer)
        data = self.body + footer + struct.pack("<I", len(footer)) + b"PAR1"
        (HERE / name).write_bytes(data)
        print(name, len(data))


def table(rows=8, tokens=6, **extra):
    lists = [[t for t in range(tokens)] for _ in range(rows)]
    numbers = [[-0.5 - 0.01 * t for t in range(tokens)] for _ in range(rows)]
    columns = dict(
        step=pa.array(np.zeros(rows, np.int64)),
        group_id=pa.array(np.arange(rows) // 4),
        sample_id=pa.array(np.arange(rows)),
        advantage=pa.array(np.ones(rows, np.float32)),
        token_id=pa.array(lists, pa.list_(pa.int32())),
        entropy=pa.array([[0.5] * tokens] * rows, pa.list_(pa.float32())),
        logprob=pa.array(numbers, pa.list_(pa.float32())),
    )
    columns.update(extra)
    return pa.table(columns).replace_schema_metadata({"schema_version": "1", "vocab_size": "64"})


PLAIN = dict(compression="none", use_dictionary=False, write_statistics=False, store_schema=False)
LAST = 6


def set_field(number, value):
    def change(fields):
        get(fields, number)[2] = value
    return change


def main():
    f = File(table(), **PLAIN)
    get(f.footer, 3)[2] = 7
    f.write("rows_in_footer.parquet")

    f = File(table(), **PLAIN)
    group = get(f.footer, 4)[2][1][0]
    get(group, 3)[2] = 9
    get(f.footer, 3)[2] = 9
    f.write("rows_of_group.parquet")

    f = File(table(), **PLAIN)
    get(f.chunk(LAST), 1)[2] = 1  # INT32 where the schema says FLOAT
    f.write("type_of_column.parquet")

    f = File(table(), **PLAIN)
    get(f.footer, 2)[2][1][0][-1 if get(f.footer, 2)[2][1][0][-1][0] == 5 else 0]
    get(get(f.footer, 2)[2][1][0], 5)[2] = 100_000_000
    f.write("children.parquet")

    f = File(table(), compression="zstd", use_dictionary=False, write_statistics=False, store_schema=False)
    f.page(LAST, set_field(2, 1_600_000_000))
    f.write("page_size.parquet")

    f = File(table(), compression="none", use_dictionary=["logprob.list.element"], write_statistics=False,
             store_schema=False)

    def dictionary(header):
        get(get(header, 7)[2], 1)[2] = 2_000_000_000
    f.page(LAST, dictionary, dictionary=True)
    f.write("dictionary_values.parquet")

    # Levels: the list may be null, its entries may not: 2 is the highest, 3 fits into the same bits.
    required = pa.list_(pa.field("element", pa.float32(), nullable=False))
    f = File(table(logprob=pa.array([[-0.5] * 6] * 8, required)), **PLAIN)

    def above(page):
        size = struct.unpack("<I", page[:4])[0]
        at = 4 + size + 4  # behind the repetition levels and the size of the definition levels
        # A run of 48 times 2 (header 96, value 2).
        assert page[at] == 96 and page[at + 1] == 2, bytes(page[:32])
        page[at + 1] = 3
        return bytes(page)
    f.bytes_of_page(LAST, above)
    f.write("level_above.parquet")

    # BYTE_STREAM_SPLIT: the page announces 47 values of the 48 it has, as do footer and levels.
    f = File(table(), compression="none", use_dictionary=False, write_statistics=False, store_schema=False,
             column_encoding={"logprob.list.element": "BYTE_STREAM_SPLIT"})

    def fewer(header):
        data = get(header, 5)[2]
        get(data, 1)[2] = 47
    f.page(LAST, fewer)
    get(f.chunk(LAST), 5)[2] = 47
    f.write("split_length.parquet")

    # One response of 10^8 tokens in a few kilobytes.
    n = 100_000_000
    one = table(
        1, 1,
        token_id=pa.ListArray.from_arrays([0, n], pa.array(np.zeros(n, np.int8))),
        entropy=pa.ListArray.from_arrays([0, n], pa.array(np.zeros(n, np.float16))),
        logprob=pa.ListArray.from_arrays([0, n], pa.array(np.zeros(n, np.float16))),
    )
    sink = HERE / "long_row.parquet"
    pq.write_table(one, sink, compression="zstd", compression_level=19, data_page_size=1 << 24, write_statistics=False, store_schema=False)
    print("long_row.parquet", sink.stat().st_size)

    # Token texts of 60 MB, a thousand times, in a dictionary.
    rows = 1000
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * (50 << 20)]))
    long = pa.table(dict(
        step=np.zeros(rows, np.int64), group_id=np.zeros(rows, np.int64), sample_id=np.arange(rows) // 100,
        position=(np.arange(rows) % 100).astype(np.int32), token_id=np.ones(rows, np.int32), token_text=texts,
        logprob=np.full(rows, -0.5, np.float32), entropy=np.full(rows, 0.7, np.float32),
        advantage=np.ones(rows, np.float32)))
    sink = HERE / "long_texts.parquet"
    pq.write_table(long, sink, compression="zstd", compression_level=19, write_statistics=False, store_schema=False, dictionary_pagesize_limit=200 << 20)
    print("long_texts.parquet", sink.stat().st_size)

    # Texts of 40 MB, one a row group: each page is harmless, a batch of rows is not.
    sink = HERE / "many_texts.parquet"
    writer = None
    for row in range(24):
        one = pa.table(dict(
            step=np.zeros(1, np.int64), group_id=np.zeros(1, np.int64), sample_id=np.full(1, row // 4),
            position=np.full(1, row % 4, np.int32), token_id=np.full(1, row, np.int32),
            token_text=[chr(97 + row) * 40_000_000], logprob=np.full(1, -0.5, np.float32),
            entropy=np.full(1, 0.7, np.float32), advantage=np.ones(1, np.float32)))
        writer = writer or pq.ParquetWriter(sink, one.schema, compression="zstd", compression_level=19,
                                            write_statistics=False, store_schema=False)
        writer.write_table(one)
    writer.close()
    print("many_texts.parquet", sink.stat().st_size)

    # The same text of 1 MB on 1,000 rows: once in a dictionary, once as "begins like the one before".
    rows = 1000
    ids = pa.array(["g" * 1_000_000] * rows)
    for name, options in [("same_texts", {}),
                          ("begun_texts", dict(use_dictionary=False, column_encoding={"group_id": "DELTA_BYTE_ARRAY"}))]:
        sink = HERE / f"{name}.parquet"
        pq.write_table(table(rows, 2, group_id=ids), sink, compression="zstd", compression_level=19,
                       write_statistics=False, store_schema=False, dictionary_pagesize_limit=2 << 20, **options)
        print(sink.name, sink.stat().st_size)


main()
