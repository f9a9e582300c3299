"""Files that are no logs, or want too much: one sentence, after at most 1 MB, in bounded memory."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import pickle
import sqlite3
import tarfile
import tracemalloc
import zipfile

import pytest

from real_runs.engines import MetricsFormatError, read_log

MEGABYTE = 1 << 20
LINE = (
    "SpecDecoding metrics: Mean acceptance length: 3.28, Accepted throughput: 47.40 tokens/s, Drafted "
    "throughput: 62.39 tokens/s, Accepted: 474 tokens, Drafted: 624 tokens, Per-position acceptance rate: "
    "0.938, 0.769, 0.572, Avg Draft acceptance rate: 76.0%\n"
)


class Counted(io.RawIOBase):
    """A stream of pieces, without end unless they have one, that counts what was read of it."""

    def __init__(self, *pieces, endless=None):
        self.pieces = itertools.chain(pieces, itertools.repeat(endless) if endless else ())
        self.left = b""
        self.given = 0

    def readable(self):
        return True

    def read(self, size=-1):
        while len(self.left) < size and (piece := next(self.pieces, None)) is not None:
            self.left += piece
        block, self.left = self.left[:size], self.left[size:]
        self.given += len(block)
        return block


def refused(stream):
    """The sentence, what was read until then, and the memory that it took."""
    tracemalloc.start()
    try:
        with pytest.raises(MetricsFormatError) as error:
            read_log(stream, name="x")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    sentence = str(error.value)
    assert sentence.startswith("x")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 700
    return sentence, stream.given, peak


KILOBYTES = 64 << 10
ENDLESS = {
    "columns": (b"name,", b"column," * 10_000, "more than 1,000 columns"),
    "columns of a table": (
        b"num_drafts,num_draft_tokens,",
        b"c," * 30_000,
        "more than 1,000 columns",
    ),
    "columns of positions": (
        LINE[:-2].replace("0.572,", "0.572, " * 5).encode(),
        b"0.100, " * 10_000,
        "more than 1,000 columns",
    ),
    "NUL bytes": (b"", b"\0" * KILOBYTES, "NUL bytes"),
    "a number in JSON": (b'{"num_drafts": ', b"9" * KILOBYTES, "more than 1000 digits"),
    "a number in a log": (b"SpecDecoding metrics: Accepted: ", b"1" * KILOBYTES, "digits"),
    "a number": (b"", b"7" * KILOBYTES, "digits"),
    "a fraction in JSON": (b'{"a": 0.', b"3" * KILOBYTES, "more than 1000 digits"),
    "lists": (b"", b"[" * KILOBYTES, "nested more than 200 deep"),
    "objects": (b"", b'{"a":' * 10_000, "nested more than 200 deep"),
    "objects behind a log's line": (b"first\n", b"\0{" * 10_000, "NUL"),
    "a line without a marker": (b"", b"abc def " * 10_000, "no end within 1 MB"),
    "a line of blanks": (b"", b" " * KILOBYTES, "no end within 1 MB"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_stream_without_end_is_given_up_within_a_megabyte(name):
    start, endless, words = ENDLESS[name]
    sentence, given, peak = refused(Counted(start, endless=endless))

    assert words in sentence
    assert given <= MEGABYTE
    assert peak < 16 * MEGABYTE


def test_json_nested_ten_thousand_deep():
    for text in (
        b"[" * 10_000 + b"]" * 10_000,
        b'{"num_drafts":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"a": 1}\n' + b'{"num_drafts":' * 10_000 + b"1" + b"}" * 10_000,
    ):
        _, given, peak = refused(Counted(text))

        assert given <= MEGABYTE
        assert peak < 16 * MEGABYTE


def test_a_million_columns_with_and_without_a_known_one():
    for first in (b"num_drafts", b"a"):
        header = first + b",c" * 1_000_000
        sentence, given, _ = refused(Counted(header + b"\n" + header + b"\n"))

        assert "more than 1,000 columns" in sentence
        assert given <= MEGABYTE


def test_a_table_of_a_thousand_columns_is_read_and_one_more_is_not():
    names = ["num_drafts", "num_draft_tokens", "num_accepted_tokens", "acceptance_at_pos_0"]
    header = names + [f"c{number}" for number in range(996)]
    row = ["10", "10", "8", "0.8"] + ["1"] * 996
    text = f"{','.join(header)}\n{','.join(row)}\n"
    (reading,) = read_log(io.StringIO(text))

    assert reading.counts.rounds == 10
    sentence, _, _ = refused(Counted(text.replace("\n", ",x\n").encode()))
    assert "more than 1,000 columns" in sentence


def packed_tar():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("server.log")
        entry.size = len(LINE)
        archive.addfile(entry, io.BytesIO(LINE.encode()))
    return packed.getvalue()


def packed_zip():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/data.pkl", LINE)
    return packed.getvalue()


def database(folder):
    path = folder / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table lines (text)")
    connection.commit()
    connection.close()
    return path.read_bytes()


SAFETENSORS = json.dumps(
    {"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
).encode()
FILES = {
    "gzip": (gzip.compress(LINE.encode()), "packed with gzip"),
    "zip": (packed_zip(), "zip archive"),
    "an empty zip": (b"PK\x05\x06" + b"\0" * 18, "zip archive"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00abc", "packed with zstd"),
    "xz": (lzma.compress(LINE.encode()), "packed with xz"),
    "bzip2": (bz2.compress(LINE.encode()), "packed with bzip2"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4", "7z archive"),
    "lz4": (b"\x04\x22\x4d\x18abc", "packed with lz4"),
    "tar": (packed_tar(), "tar archive"),
    "parquet": (b"PAR1\x15\x04", "Parquet"),
    "pickle": (pickle.dumps({"spec_verify_ct": 3}), "never opened"),
    "an old pickle": (pickle.dumps({"spec_verify_ct": 3}, protocol=2), "never opened"),
    "safetensors": (len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS, "safetensors"),
    "gguf": (b"GGUF\x03\0\0\0", "GGUF"),
    "numpy": (b"\x93NUMPY\x01\0", "NumPy"),
    "UTF-16": (LINE.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (LINE.encode("utf-16-le"), "NUL bytes"),
    "UTF-32": (LINE.encode("utf-32"), "UTF-16"),
    "NULs within": (LINE.encode() + b"\0\0\n", "NUL bytes"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_text_are_told_apart(name):
    content, words = FILES[name]
    sentence, given, peak = refused(Counted(content, endless=content))

    assert words in sentence
    assert given <= MEGABYTE
    assert peak < 8 * MEGABYTE


def test_a_database_is_told(tmp_path):
    assert "SQLite" in refused(Counted(database(tmp_path)))[0]


def test_an_old_pickle_of_text_is_never_opened():
    text = pickle.dumps({"num_drafts": 3}, protocol=0)

    refused(Counted(text))


def test_a_json_text_that_is_too_long_or_too_full():
    row = b'{"a": "' + b"x" * 1000 + b'"},\n'
    sentence, given, _ = refused(Counted(b"[", endless=row * 200))
    assert "longer than 64 MB" in sentence
    assert given < 65 * MEGABYTE

    sentence, given, peak = refused(Counted(b"[", endless=b"{},[]," * 30_000))
    assert "more than" in sentence
    assert peak < 64 * MEGABYTE

    sentence, given, _ = refused(Counted(b'["', endless=b"x" * KILOBYTES))
    assert "longer than 4 MB" in sentence
    assert given < 6 * MEGABYTE


@pytest.mark.parametrize(
    "long",
    [
        b"z" * (2 * MEGABYTE),
        b"1" * (2 * MEGABYTE),
        b"c," * MEGABYTE,
        b"[" * MEGABYTE,
        b'{"num_drafts":' * 100_000,
        b"\0" * MEGABYTE,
    ],
)
def test_a_long_line_in_a_good_log_does_not_stop_it(long):
    before = (LINE * 1500).encode()
    (reading,) = read_log(Counted(before + long + b"\n" + LINE.encode()))

    assert reading.counts.rounds == 208 * 1501
    assert reading.lines == 1502


def test_a_good_log_is_read_to_its_end():
    stream = Counted(*[(LINE * 20).encode()] * 50)
    (reading,) = read_log(stream)

    assert stream.given == 1000 * len(LINE)
    assert reading.used == 1000
