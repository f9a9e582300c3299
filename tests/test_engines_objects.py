"""JSON in every place where engines leave it: each object reaches the format that knows its key."""

import io
import json
import math

import pytest

from real_runs.engines import MetricsFormatError
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.formats import LineFormat, ObjectFormat
from real_runs.engines.routing import Found, take_all
from real_runs.engines.text.fragments import fragments
from real_runs.engines.text.json_text import JsonText
from real_runs.engines.text.lines import BLOCK
from real_runs.engines.text.objects import objects_in
from real_runs.engines.text.opening import Opening
from real_runs.engines.text.yaml_subset import read_yaml


class Recorder:
    """Keeps all that it is given."""

    def __init__(self, _source, _skips):
        self.seen = []

    def take(self, line):
        self.seen.append((line.number, line.text))

    def take_object(self, value, where):
        if "refused" in value:
            raise NoCounts("the object is refused", finding="unit_error")
        self.seen.append((where.line, value, where.parents))

    def readings(self, _lines):
        return []


def recorded(text, *keys, markers=("MARK",)):
    """What a format of these keys gets, what one of lines gets, lines read, skipped lines."""
    formats = [
        ObjectFormat(engine="x", collector=Recorder, keys=keys, shapes="an object"),
        LineFormat(engine="x", collector=Recorder, markers=markers, shapes="a line"),
    ]
    found = Found(formats, "x")
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    lines = take_all(Opening(stream, source="x"), found, "x")
    objects, rows = (collector.seen for collector in found._all)
    return objects, rows, lines, found.skips.kept


def objects_of(text, *keys):
    return [(line, value) for line, value, _ in recorded(text, *keys)[0]]


INNER = {"ct": 43, "histogram": [39, 1, 0, 3]}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_gives_nested_objects_with_those_around_them(indent):
    document = {"id": "a", "choices": [{"meta": INNER}, {"meta": {"ct": 1}}], "x": [[{"ct": 2}]]}
    text = json.dumps(document, indent=indent)
    objects, _, lines, _ = recorded(text, "ct")

    assert [value["ct"] for _, value, _ in objects] == [43, 1, 2]
    assert [parents[0] == document for _, _, parents in objects] == [True] * 3
    assert objects[0][2] == (document, {"meta": INNER})
    assert lines == text.count("\n") + 1


def test_outer_objects_come_before_inner_ones_and_each_once_a_format():
    outer = {"a": 1, "b": 2, "inner": {"b": 3}}

    assert objects_of(json.dumps(outer), "b", "a") == [(1, outer), (1, {"b": 3})]


def test_one_object_a_line():
    rows = [{"ct": number, "text": "x" * 10} for number in range(3)]
    text = "\n".join(json.dumps(row) for row in rows)

    assert objects_of(text, "ct") == list(enumerate(rows, 1))
    assert recorded(text, "ct")[2] == 3


def test_a_long_line_that_is_an_object_is_whole():
    row = {"lengths": list(range(100_000)), "ct": 1}
    text = (
        f"{json.dumps({'a': 1})}\n{json.dumps(row)}\n{json.dumps(row)[:-1]}\n{json.dumps(INNER)}\n"
    )
    objects, _, lines, skipped = recorded(text, "ct")

    assert [(line, value) for line, value, _ in objects] == [(2, row), (4, INNER)]
    assert [(skip.line, skip.reason) for skip in skipped] == [(3, "a long line is no JSON object")]
    assert lines == 4


def test_documents_one_after_another_then_a_log():
    text = f"{json.dumps(INNER, indent=1)}\n{json.dumps({'ct': 2}, indent=1)}\nMARK a log {{\n"
    objects, rows, lines, _ = recorded(text, "ct")

    assert [value for _, value, _ in objects] == [INNER, {"ct": 2}]
    assert rows == [(text.count("\n"), "MARK a log {")]
    assert lines == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "[2025-10-22 10:27:57 TP0] Decode batch. MARK 1\nnext\n",
        "{ MARK of a log, not JSON\n",
        '{"level": "info"} MARK\n',
        '{"level": "info", "msg": "MARK\n',
        '["a", MARK\n',
        "[MARK]\n",
        "{}" + "\n" * 3 + "MARK\n",
        "[1, 2]\nMARK\n",
        "{" * 150 + "MARK\n",
    ],
)
def test_a_log_that_begins_like_json_is_read_as_lines(text):
    _, rows, lines, _ = recorded(text, "ct")

    (row,) = rows
    assert "MARK" in row[1]
    assert row[0] == text[: text.index("MARK")].count("\n") + 1
    assert lines == text.count("\n")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            'INFO "speculative_decoding": {"ct": 43, "rest": [1, {}]} end',
            [{"ct": 43, "rest": [1, {}]}],
        ),
        ('"a":200,"ct":188,"b" : 1.5e-3', [{"a": 200, "ct": 188, "b": 0.0015}]),
        ('x {"ct": 1} y {"ct": 2, "z": null}', [{"ct": 1}, {"ct": 2, "z": None}]),
        (
            "meta: {'ct': 3, 'a': True, 'b': None, 'c': (1, 2.5), 'd': 'it\\'s'}",
            [{"ct": 3, "a": True, "b": None, "c": [1, 2.5], "d": "it's"}],
        ),
        ('cut {"ct": 4, "deep": {"ct": 5, "list": [1, 2', [{"ct": 4}, {"ct": 5}]),
        ("don't {'ct': 6}", [{"ct": 6}]),
        ('{"ct": NaN}', [{"ct": math.nan}]),
        ('{"text": "say \\"ct\\": 7", "ct": 8}', [{"text": 'say "ct": 7', "ct": 8}]),
        (
            "{'text': \"it's\", 'ct': 9, 'more': {1: 'a'}}",
            [{"text": "it's", "ct": 9, "more": {"1": "a"}}],
        ),
        ('"ct" 188', []),
        ('"ct": os.system(1)', []),
    ],
)
def test_fragments_within_lines(line, found):
    assert repr(objects_of(f"first\n{line}\n", "ct")) == repr([(2, value) for value in found])


def test_fragments_of_one_line_are_bounded():
    with pytest.raises(NoCounts, match="more than 32 values in the line are no JSON"):
        list(fragments('{"a": ' * 100))
    text = "first\n" + '{"ct":' * 5000 + "\n" + json.dumps(INNER) + "\n"
    objects, _, _, skipped = recorded(text, "ct")

    assert [value for _, value, _ in objects] == [INNER]
    assert [skip.line for skip in skipped] == [2]


def test_a_format_can_refuse_an_object():
    text = f'first\n{{"ct": 1, "refused": 1}}\n{json.dumps(INNER)}'
    objects, _, _, (skip,) = recorded(text, "ct")

    assert len(objects) == 1
    assert (skip.line, skip.reason, skip.finding) == (2, "the object is refused", "unit_error")


def test_depth_is_bounded():
    def nested(depth):
        value = {"ct": depth}
        for _ in range(depth):
            value = {"a": value}
        return value

    assert len(list(objects_in(nested(20)))) == 21
    assert len(list(objects_in(nested(100)))) == 33
    assert len(objects_of(json.dumps(nested(31)), "ct")) == 1
    with pytest.raises(MetricsFormatError) as error:
        objects_of(json.dumps(nested(200)), "ct")
    assert str(error.value) == "x: JSON is nested more than 200 deep."


@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_strings_and_numbers_across_blocks(shift):
    value = {
        "a": "q" * (BLOCK - 30 - shift),
        "b": 'quo"te\\',
        "c": 12345678901234567890,
        "d": "{[" * 300,
        "ct": 1,
    }
    text = json.dumps(value, indent=1)

    assert objects_of(text, "ct") == [(1, value)]


def test_a_string_of_escapes_costs_one_pass():
    text = JsonText("x")
    assert text.add(b'{"a": "' + b'\\"' * (BLOCK // 2))
    assert text.add(b'\\"' * (BLOCK // 2) + b'"}')
    assert text.values()[0] == [{"a": '"' * BLOCK}]


CSV = 'num_drafts,draft model,acceptance_length,acceptance_at_pos_0\n10,m,2.5,0.8\n\n12,"a, b",,1e-1\n'


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_of_a_table_are_objects(delimiter, end):
    text = CSV.replace('"a, b"', "ab").replace(",", delimiter).replace("\n", end)

    assert objects_of(text, "num_drafts") == [
        (
            2,
            {
                "num_drafts": 10,
                "draft model": "m",
                "acceptance_length": 2.5,
                "acceptance_at_pos_0": 0.8,
            },
        ),
        (4, {"num_drafts": 12, "draft model": "ab", "acceptance_at_pos_0": 0.1}),
    ]


def test_cells_in_quotes_comments_and_bad_rows():
    text = f"# made by a tool\n{CSV}1,2\n3,4,5,6\n"
    objects, _, lines, (skip,) = recorded(text, "num_drafts")

    assert [(line, value["draft model"]) for line, value, _ in objects] == [
        (3, "m"),
        (5, "a, b"),
        (7, 4),
    ]
    assert (skip.line, skip.reason) == (6, "the row has 2 cells under 4 columns")
    assert lines == 7


@pytest.mark.parametrize("text", ["num_drafts: 10\n", "1,2,3\nMARK,num_drafts\n", "a,b\nMARK\n"])
def test_a_log_is_no_table(text):
    objects, _, lines, _ = recorded(text, "num_drafts")

    assert objects == []
    assert lines == text.count("\n")


YAML = """\
# SPEED-Bench, temperature 1
model-a:
  thinking_on: {1: 1.84, 2: 2.51,
                3: 3.0}   # flow
  thinking_off:
    1: 1.7
    2: null
"model b":
  thinking_on: {"1": 2}
"""


def test_nested_yaml_is_an_object():
    (one, two) = objects_of(YAML, "thinking_on")

    assert one == (
        1,
        {"thinking_on": {"1": 1.84, "2": 2.51, "3": 3.0}, "thinking_off": {"1": 1.7, "2": None}},
    )
    assert two == (1, {"thinking_on": {"1": 2}})


def test_flat_pairs_are_those_of_a_log():
    assert objects_of("thinking_on: 1\nother: 2\n", "thinking_on") == []


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "a: {1: 2",
        "a: {1: 2}}",
        "a: {1 2}",
        "a: [1, 2",
        "a: 1\n  b: 2\n",
        "a: 1\na: 2\n",
        "a:\n    b: 1\n  c: 2\n",
        "a: &x {1: 2}",
        "plain text",
        "a: " + "[" * 100 + "]" * 100,
        "\n".join(f"{' ' * n}a:" for n in range(60)),
    ],
)
def test_other_yaml_is_refused(text):
    with pytest.raises(ValueError, match=r"^[a-z]"):
        read_yaml(text)


def test_json_of_several_rows_within_a_log():
    value = {"timings": {"predicted_n": 256, "ct": 259, "b": 167}}
    text = f"$ curl\n{json.dumps(value, indent=2)}\nMARK\nmeta: {json.dumps(value, indent=1)}\nMARK"
    objects, rows, lines, _ = recorded(text, "ct", "b")

    assert [(line, found) for line, found, _ in objects] == [
        (2, value["timings"]),
        (10, value["timings"]),
    ]
    assert [line for line, _ in rows] == [9, text.count("\n") + 1]
    assert lines == text.count("\n") + 1


def test_rows_of_cut_json_are_no_objects():
    text = 'first\n {\n "ct": 259,\n "other": 1,\n "b": 167,\n "c": [1, 2],\n'

    assert objects_of(text, "ct", "b", "c") == []
