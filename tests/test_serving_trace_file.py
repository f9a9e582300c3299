"""Recorded arrivals from files: the usual forms, exactly; damaged and hostile ones with one sentence."""

from __future__ import annotations

import io
import json

import pytest

from analysis.serving import trace_file
from analysis.serving.trace_file import TraceFileError, read_arrivals, read_trace


def read(text):
    return read_arrivals(io.BytesIO(text.encode() if isinstance(text, str) else text), name="t")


def columns(trace):
    return trace.arrival_s, trace.prompt_tokens, trace.output_tokens


WANTED = ((0.0, 0.5, 2.0), (10, 20, 30), (1, 2, 3))
FORMS = {
    "ours": "arrival_s,prompt_tokens,output_tokens\n7,10,1\n7.5,20,2\n9,30,3\n",
    "milliseconds": "arrival_ms,prompt_tokens,output_tokens\n7000,10,1\n7500,20,2\n9000,30,3\n",
    "Azure": (
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,10,1\r\n"
        "2023-11-16 18:17:04.4799600,20,2\r\n2023-11-16 18:17:05.9799600,30,3\r\n"
    ),
    "dates with a zone": (
        "timestamp,input_tokens,output_tokens\n2024-05-12T00:00:00+00:00,10,1\n"
        "2024-05-12T02:00:00.5+02:00,20,2\n2024-05-12T00:00:02Z,30,3\n"
    ),
    "BurstGPT": (
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,10,1,11,Conversation log\n5.5,GPT-4,20,2,22,API log\n7,ChatGPT,30,3,33,API log\n"
    ),
    "Mooncake": (
        '{"timestamp": 27482, "input_length": 10, "output_length": 1, "hash_ids": [46, 47]}\n'
        '{"timestamp": 27982, "input_length": 20, "output_length": 2, "hash_ids": []}\n\n'
        '{"timestamp": 29482, "input_length": 30, "output_length": 3}\n'
    ),
    "JSON lines in seconds": "".join(
        json.dumps({"arrival_s": t, "prompt_tokens": p, "output_tokens": o}) + "\n"
        for t, p, o in ((1.0, 10, 1), (1.5, 20, 2.0), (3, "30", "3"))
    ),
    "semicolons": "arrival_s;prompt_tokens;output_tokens;note\n7;10;1;a,b,c\n7.5;20;2;\n9;30;3;\n",
    "tabs": "arrival_s\tprompt_tokens\toutput_tokens\n7\t10\t1\n7.5\t20\t2\n9\t30\t3\n",
    "quoted, spaced, with a mark": (
        '\ufeff"output_tokens", Prompt_Tokens ,"note",arrival_s\n1,10,"a, b",-1\n2, 20 ,,-0.5\n3,30,,1\n'
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_usual_forms(form):
    found = columns(read(FORMS[form]))
    assert found[0] == pytest.approx(WANTED[0], abs=1e-6)
    assert found[1:] == WANTED[1:]


UNITS = {
    "ours": "arrival_s was read as seconds",
    "milliseconds": "arrival_ms was read as milliseconds",
    "Azure": "timestamp was read as dates",
    "dates with a zone": "timestamp was read as dates",
    "BurstGPT": "timestamp was read as seconds (call it timestamp_ms if it is milliseconds)",
    "Mooncake": "timestamp was read as milliseconds (call it timestamp_s if it is seconds)",
    "JSON lines in seconds": "arrival_s was read as seconds",
}


@pytest.mark.parametrize("form", UNITS)
def test_the_unit_that_was_taken_is_said(form):
    assert read_trace(io.BytesIO(FORMS[form].encode())).unit == UNITS[form]


def test_seconds_in_json_lines_by_the_name_that_the_remark_tells():
    rows = [{"timestamp": t, "input_length": 9, "output_length": 5} for t in (1.25, 3.75)]
    text = "\n".join(map(json.dumps, rows))
    assert read(text).arrival_s == pytest.approx(
        (0.0, 0.0025)
    )  # Mooncake's milliseconds, and said so
    renamed = text.replace("timestamp", "timestamp_s")
    assert read(renamed).arrival_s == (0.0, 2.5)


def test_a_file_by_its_path(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text(FORMS["ours"])
    assert columns(read_arrivals(file)) == WANTED
    with pytest.raises(OSError, match="absent"):
        read_arrivals(tmp_path / "absent.csv")
    file.write_text("arrival_s,prompt_tokens,output_tokens\n0,0,1\n")
    with pytest.raises(TraceFileError, match=r"trace\.csv, line 2: prompt_tokens must be a whole"):
        read_arrivals(file)


HEADER = "arrival_s,prompt_tokens,output_tokens\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t has no requests"),
        ("\n \n", "t has no requests"),
        (HEADER, "t has no requests"),
        ("time,prompt_tokens,output_tokens\n1,2,3\n", "line 1: no column for arrival in 'time, prompt_"),
        ("arrival_s,tokens\n1,2\n", "line 1: no column for prompt and output in 'arrival_s, tokens'"),
        (HEADER + "0,5,5\n1,5\n", "line 3: expected 3 cells as in the header; got 2"),
        (HEADER + "2,5,5\n1,5,5\n", "line 3: arrivals must not fall; sort the trace by arrival_s"),
        (HEADER + "soon,5,5\n", "in _ms) or an ISO date; got 'soon'"),
        (HEADER + "nan,5,5\n", "line 2: arrival_s must be"),
        (HEADER + "1e300,5,5\n", "line 2: arrival_s must be"),
        (HEADER + "0,5,0\n", "line 2: output_tokens must be a whole number of 1 to 1,000,000 tokens; got '0'"),
        (HEADER + "0,1.5,1\n", "line 2: prompt_tokens must be"),
        (HEADER + "0,-5,1\n", "line 2: prompt_tokens must be"),
        (HEADER + "0,,1\n", "line 2: prompt_tokens must be"),
        (HEADER + "0,1000001,1\n", "line 2: prompt_tokens must be"),
        (HEADER + f"0,{'9' * 5000},1\n", "line 2: prompt_tokens must be"),
        ("\n" + HEADER.replace("output", "out") + "0,1,1\n", "line 2: no column for output"),
        ("arrival_s,tokens," + "x" * 5000 + "\n1,2,3\n", "line 1: no column for prompt and output"),
        ("timestamp,prompt_tokens,output_tokens\n1700000000018,1,1\n", "line 2: timestamp must be seconds"),
        ('[{"arrival_s": 1, "prompt_tokens": 1, "output_tokens": 1}]\n', "line 1: is a list in JSON; write"),
        ("\n[\n", "line 2: is a list in JSON"),
        (b"\x1f\x8b\x08\x00\x00", "line 1: is not text (UTF-8); unpack or convert it"),
        ('{"timestamp": 1}\n', "line 1: no column for prompt and output"),
        ('{"timestamp": true, "input_length": 1, "output_length": 1}\n', "line 1: timestamp must be"),
        ('{"timestamp": 1, "input_length": NaN, "output_length": 1}\n', "line 1: input_length must be"),
        ('{"timestamp": 1, "input_length": 1e999, "output_length": 1}\n', "line 1: input_length must be"),
        ('{"timestamp": 1, "input_length": true, "output_length": 1}\n', "line 1: input_length must be"),
        ('{"timestamp": 1, "input_length": [1], "output_length": 1}\n', "line 1: input_length must be"),
        ('{"timestamp": 1, "input_length": 1, "output_length": 1}\nx\n', "line 2: expected an object in JSON"),
        ('{"a":' * 20_000 + "\n", "line 1: expected an object in JSON"),
        (HEADER.encode() + b"\xff\xfe,1,1\n", "line 2: is not text"),
    ],
)  # fmt: skip
def test_damage_is_named_with_its_line(text, said):
    with pytest.raises(TraceFileError) as found:
        read(text)
    assert str(found.value).startswith("t")
    assert said in str(found.value)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 400


def test_reading_is_bounded(monkeypatch):
    monkeypatch.setattr(trace_file, "MOST_ROWS", 3)
    assert len(read(HEADER + "0,1,1\n" * 3).arrival_s) == 3
    with pytest.raises(TraceFileError, match="at most 3 requests"):
        read(HEADER + "0,1,1\n" * 4)
    monkeypatch.setattr(trace_file, "LARGEST", 50)
    with pytest.raises(TraceFileError, match="at most 50 bytes"):
        read(HEADER + "0,1,1\n" * 3)
    monkeypatch.setattr(trace_file, "_LONGEST_LINE", 20)
    with pytest.raises(TraceFileError, match="line 1: a line must have at most 20 bytes"):
        read(HEADER)


def test_a_line_without_an_end_is_not_read_whole(monkeypatch):
    class Endless(io.RawIOBase):
        """Gives as much as it is asked for."""

        given = 0

        def readline(self, size=-1):
            assert size > 0
            self.given += size
            return b"x" * size

    monkeypatch.setattr(trace_file, "_LONGEST_LINE", 1000)
    endless = Endless()
    with pytest.raises(TraceFileError, match="at most 1,000 bytes"):
        read_arrivals(endless)
    assert endless.given <= 1001
