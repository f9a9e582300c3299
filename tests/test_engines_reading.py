"""Files, streams, and what a hostile or mistaken file gets told."""

import gzip
import io
import sys
import zipfile
from pathlib import Path

import pytest

from real_runs import engines
from real_runs.engines import ENGINES, MetricsFormatError, read_log, read_text

LOGS = Path(__file__).parent / "logs"
LINE = (
    "SpecDecoding metrics: Mean acceptance length: 3.28, Accepted throughput: 47.40 tokens/s, Drafted "
    "throughput: 62.39 tokens/s, Accepted: 474 tokens, Drafted: 624 tokens, Per-position acceptance rate: "
    "0.938, 0.769, 0.572, Avg Draft acceptance rate: 76.0%"
)
LLAMA = "draft acceptance = 0.64479 (  167 accepted /   259 generated)"


@pytest.mark.parametrize(
    "kind", ["path", "text path", "bytes", "text", "open text file", "open binary file"]
)
def test_all_sources_read_the_same(kind):
    path = LOGS / "vllm_v1.log"
    with path.open(encoding="utf-8") as text, path.open("rb") as binary:
        source = {
            "path": path,
            "text path": str(path),
            "bytes": io.BytesIO(path.read_bytes()),
            "text": io.StringIO(path.read_text()),
            "open text file": text,
            "open binary file": binary,
        }[kind]
        (reading,) = read_log(source, name="a log")

    assert reading == read_text(path.read_text(), name="a log")[0]
    assert reading.source == "a log"


def test_standard_input_is_a_source(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff " + LINE.encode())))

    assert read_log(sys.stdin)[0].counts.rounds == 208


def test_the_names_of_sources(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(LINE)
    with path.open("rb") as stream:
        assert read_log(stream)[0].source == str(path)
    assert read_log(path)[0].source == str(path)
    assert read_log(io.StringIO(LINE))[0].source == "stream"
    assert read_text(LINE)[0].source == "text"


def test_two_engines_in_one_file_are_two_readings():
    readings = read_text(f"{LINE}\n{LLAMA}")

    assert [reading.engine for reading in readings] == ["llama.cpp", "vllm"]
    assert {"llama.cpp", "vllm"} <= set(ENGINES)


def test_an_engine_can_be_chosen():
    (reading,) = read_text(f"{LINE}\n{LLAMA}", engine="vllm")
    assert reading.engine == "vllm"

    with pytest.raises(MetricsFormatError) as error:
        read_text(f"{LLAMA}\n", engine="vllm", name="server.log")
    sentence = str(error.value)
    assert sentence.startswith(
        "server.log: no metrics of speculative decoding (lines read: 1); "
        "expected 'SpecDecoding metrics: ...' (vLLM)"
    )
    assert "llama.cpp" not in sentence
    with pytest.raises(ValueError, match=r"^engine must be one of llama\.cpp, .*; got 'vlm'\.$"):
        read_text(LINE, engine="vlm")


def test_skipped_lines_of_one_engine_are_told_with_the_counts_of_another():
    (reading,) = read_text(f"Speculative metrics: old\n{LLAMA}")

    assert reading.engine == "llama.cpp"
    assert [skip.line for skip in reading.skipped] == [1]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "x: this is empty; expected the log of an engine."),
        (b"a\0b", "x: this is a binary file (it has NUL bytes); expected the text of a log."),
        (
            gzip.compress(b"a", mtime=0),
            "x: this is packed with gzip; unpack it first, expected the text of a log.",
        ),
        ("a".encode("utf-16"), "x: this is UTF-16 text; save it as UTF-8 first."),
    ],
)
def test_a_file_that_is_no_log_is_told_so_in_a_sentence(content, sentence):
    with pytest.raises(MetricsFormatError) as error:
        read_log(io.BytesIO(content), name="x")

    assert str(error.value) == sentence


def test_a_text_without_metrics_is_told_what_is_read():
    with pytest.raises(MetricsFormatError) as error:
        read_text("hello\n\n", name="x")

    sentence = str(error.value)
    assert sentence.startswith("x: no metrics of speculative decoding (lines read: 2); expected ")
    assert all(name in sentence for name in ("llama.cpp", "vLLM"))
    assert len(sentence) < 600


def test_a_zip_archive_is_told_so():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("log", LINE)
    packed.seek(0)

    with pytest.raises(MetricsFormatError, match="x: this is a zip archive; unpack it first"):
        read_log(packed, name="x")


def test_a_missing_file_stays_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none.log")


def test_undecodable_bytes_do_not_stop_the_reading():
    (reading,) = read_log(io.BytesIO(b"\xff\xfe\x80".join([b"a", LINE.encode(), b"\n"])))

    assert reading.counts.rounds == 208


def test_skipped_lines_are_bounded():
    (reading,) = read_text("\n".join(["SpecDecoding metrics: "] * 1000 + [LINE]))

    assert len(reading.skipped) == 20
    assert "980 more lines were skipped than are listed." in reading.notes

    (reading,) = read_text("\n".join(["SpecDecoding metrics: "] * 21 + [LINE]))
    assert "1 more line was skipped than are listed." in reading.notes


@pytest.mark.parametrize(
    "text",
    [
        "SpecDecoding metrics: " + "9" * 60_000,
        "SpecDecoding metrics: Accepted: " + "1," * 30_000 + " tokens",
        "SpecDecoding metrics: Per-position acceptance rate: " + "0.1, " * 12_000,
        "statistics " + "a" * 60_000 + ": #calls = 1, #gen tokens = 1",
        "draft acceptance = " + "1" * 60_000,
        "draft acceptance = 0.5 ( " + " " * 60_000,
        "n_drafted = " + "1" * 60_000,
    ],
)
def test_hostile_lines_end_in_a_sentence(text):
    with pytest.raises(MetricsFormatError) as error:
        read_text(text, name="x")

    assert len(str(error.value)) < 600


def test_the_public_names():
    constants = [name for name in engines.__all__ if name.isupper()]
    others = [name for name in engines.__all__ if not name.isupper()]
    assert engines.__all__ == [*constants, *sorted(others)]
    assert all(hasattr(engines, name) for name in engines.__all__)
