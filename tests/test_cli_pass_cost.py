"""`specdec pass-cost`: predicted, fitted from step times of every kind, and both; its tables and refusals."""

import csv
import io
import json
import math
from pathlib import Path

import pytest
from commands import specdec, specdec_process

import analysis as an
from analysis.hardware import Machine
from analysis.pass_cost import PassCost
from analysis.predicted_pass import predict_pass

RUN = Path(__file__).parent / "runs" / "tiny_pair"
MACHINE = (
    "memory_bytes_per_s=1e12 operations_per_s=1e14 memory_bytes=80e9 memory_share=0.5 "
    "operations_share=0.5 overlap=1 fixed_s=0.001 layer_s=0"
)
SHAPE = "layers=2 hidden=64 heads=4 kv_heads=2 width=256 vocabulary=1000"
COST = PassCost(weights_s=0.004, compute_s=2e-5, kv_s=4e-9, fixed_s=0.001)


def document(*arguments):
    result = specdec("pass-cost", *arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def refused(*arguments, code=2):
    result = specdec("pass-cost", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert result.stderr.count("Error: ") == 1
    return " ".join(result.stderr.split()).removeprefix("Error: ")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Exact times of COST: the roofline, seen on both sides of its knee."""
    path = tmp_path_factory.mktemp("steps") / "steps.csv"
    rows = ["batch,tokens,context,ms"]
    for b in (1, 16, 64, 256):
        for n in (1, 4, 16):
            rows += [f"{b},{n},{s},{1e3 * COST.seconds(b, n, s)!r}" for s in (100, 1000)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Rounds of SGLang's sweep: each draft step takes 1 ms, the pass as COST at context 0."""
    path = tmp_path_factory.mktemp("sweep") / "sweep.jsonl"
    lines = [
        {
            "batch_size": b, "steps": s, "topk": 1, "num_draft_tokens": s + 1, "acc_length": 1 + s / 2,
            "step_time": COST.seconds(b, s + 1) + 0.001 * s, "throughput": 1.0,
        }
        for b in (1, 16, 64, 256)
        for s in (0, 1, 3, 7)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_predicted_pass_is_that_of_the_model_on_the_machine():
    found = document(
        "--target", "Mixtral", "--hardware", "h100 devices=4", "--weight-bits", "8",
        "--batch", "1,32", "--tokens", "1,5", "--context", "2000",
    )  # fmt: skip
    machine = Machine(accelerator=an.accelerator("h100"), devices=4)
    cost = predict_pass(an.architecture("Mixtral"), machine, weight_bits=8)
    for row in found["times"]:
        assert row["pass_ms"] == 1e3 * cost.seconds(row["batch"], row["tokens"], 2000)
        assert row["verify_cost"] == cost.verify_cost(row["tokens"], row["batch"], 2000)
        assert row["basis"] == "predicted"
    assert [(row["batch"], row["tokens"]) for row in found["times"]] == [
        (1, 1), (1, 5), (32, 1), (32, 5)
    ]  # fmt: skip
    assert [row["knee_tokens"] for row in found["knee"]] == [
        cost.knee(1, 2000), cost.knee(32, 2000)
    ]  # fmt: skip
    assert found["parameters"]["context"] == 2000
    assert "estimates" not in found
    assert any("80% of the bandwidth and 60% of the arithmetic" in note for note in found["notes"])


def test_one_s_own_numbers_by_hand():
    """V(n) and the step from 2 · parameters bytes, 2 operations per parameter, half of both rates."""
    found = document("--target", SHAPE, "--hardware", MACHINE, "--tokens", "1,3", "--batch", "2")
    weights = 2 * (64 * 16 * (8 + 4) + 3 * 64 * 256) + 64 * 1000
    cache = 2 * 2 * 2 * 16
    for row in found["times"]:
        m = 2 * row["tokens"]
        reading = (2 * weights + 2 * 1024 * 2 * cache) / 5e11
        computing = m * (2 * weights + 4 * 2 * 4 * 16 * 1024) / 5e13
        assert row["pass_ms"] == pytest.approx(1e3 * (0.001 + reading + computing))


def test_the_parts_add_up_with_what_the_overlap_saves():
    found = document("--target", "Qwen3 8B", "--hardware", "a100 overlap=2", "--batch", "64")
    for row in found["parts"]:
        parts = [
            value for name, value in row.items() if name not in {"batch", "tokens", "total_ms"}
        ]
        assert math.fsum(parts) == pytest.approx(row["total_ms"])
        assert row["overlap_ms"] < 0.0
    added = document("--target", "Qwen3 8B", "--hardware", "a100 overlap=1", "--batch", "64")
    assert all(row["overlap_ms"] == 0.0 for row in added["parts"])


def test_times_alone_give_the_coefficients_and_what_was_measured(table):
    found = document("--steps", table)
    assert found["times"][0]["basis"] == "measured range"
    assert {row["batch"] for row in found["times"]} == {1, 16, 64, 256}
    assert {row["tokens"] for row in found["times"]} == {1, 4, 16}
    for row in found["times"]:
        assert row["pass_ms"] == pytest.approx(
            1e3 * COST.seconds(row["batch"], row["tokens"], 1000)
        )
    assert found["estimates"][0] == {
        "parameter": "weights_s", "meaning": "reading weights", "value": pytest.approx(0.004),
        "low": pytest.approx(0.004), "high": pytest.approx(0.004), "estimate": "4 ms",
        "interval": "4 ms to 4 ms", "basis": "fitted",
    }  # fmt: skip
    assert all(row["error"] == row["worst_error"] == 0.0 for row in found["residuals"])
    assert len(found["cells"]) == 24
    assert found["parameters"]["steps"] == table  # the echo of the options keeps its place
    assert "Fitted to 24 times in 24 cells: typical error 0.0%" in found["headline"]


def test_the_context_that_was_taken_is_echoed_and_bits_are_not(table):
    result = specdec("pass-cost", "--steps", table)
    last = result.stderr.strip().splitlines()
    assert " ".join(last).endswith("context 1000]")
    assert "weight_bits" not in result.stderr


def test_a_context_between_whole_numbers_is_no_extrapolation(tmp_path):
    path = tmp_path / "half.csv"
    path.write_text("batch,tokens,context,ms\n1,1,100.5,10\n1,4,100.5,11\n", encoding="utf-8")
    found = document("--steps", str(path))
    assert found["parameters"]["context"] == 100.5
    assert {row["basis"] for row in found["times"]} == {"measured range"}


def test_beyond_what_was_measured_is_marked_where_it_is_said_first(table):
    found = document("--steps", table, "--batch", "1", "--tokens", "1,16,500")
    assert [row["basis"] for row in found["times"]] == [
        "measured range", "measured range", "extrapolated"
    ]  # fmt: skip
    assert "V(500) = 2.20 (extrapolated)" in found["headline"]
    assert found["notes"][-1].startswith("Measured: batch 1 to 256, tokens 1 to 16, context 100 to")


def test_one_setting_claims_nothing_of_computing(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("batch,tokens,context,seconds\n1,1,100,0.01\n", encoding="utf-8")
    found = document("--steps", str(path), "--tokens", "1,8")
    assert found["headline"].startswith(
        "At batch 1, context 100: V(8) = 1.00 (extrapolated), and no time of computing is seen. "
        "Fitted to 1 time in 1 cell: typical error 0.0%, largest +0.0% (a pass over 1 token at"
    )
    assert any("how far off they are is not known" in note for note in found["notes"])


def test_a_knee_that_no_pass_reached_is_extrapolated(tmp_path, table):
    path = tmp_path / "low.csv"
    rows = [f"1,{n},0,{0.01 + 1e-5 * n}" for n in (1, 4, 8)]
    path.write_text("batch,tokens,context,seconds\n" + "\n".join(rows), encoding="utf-8")
    said = document("--steps", str(path))["headline"]
    assert "at most 1.1 up to 101 tokens per request (extrapolated), and computing" in said
    assert (
        "as long as reading at 1,000 tokens per request (extrapolated), where V = 2.00. Fitted"
        in said
    )
    assert "(extrapolated)" not in document("--steps", table)["headline"]


def test_times_with_model_and_machine_give_the_shares_reached(tmp_path):
    machine = Machine(
        accelerator=an.accelerator("h100"), memory_share=0.7, operations_share=0.4, overlap=1.0,
        fixed_s=1e-3, layer_s=0.0,
    )  # fmt: skip
    cost = predict_pass(an.architecture("Llama 3.1 8B"), machine)
    path = tmp_path / "steps.csv"
    path.write_text(
        "batch;tokens;context;seconds\n"
        + "".join(
            f"{b};{n};{s};{cost.seconds(b, n, s)!r}\n"
            for b in (1, 16, 128)
            for n in (1, 4, 8)
            for s in (100, 4000)
        ),
        encoding="utf-8",
    )
    found = document("--target", "Llama 3.1 8B", "--hardware", "h100", "--steps", str(path))
    values = {row["parameter"]: row for row in found["estimates"]}
    assert values["memory_share"]["value"] == pytest.approx(0.7, rel=1e-6)
    assert values["operations_share"]["estimate"] == "0.4"
    assert values["fixed_s"]["estimate"] == "1 ms"


def test_a_sweep_of_sglang_is_rounds_told_apart_from_passes(sweep):
    found = document("--steps", sweep, "--batch", "1", "--tokens", "1,8")
    assert found["times"][0]["pass_ms"] == pytest.approx(1e3 * COST.seconds(1, 1), rel=1e-4)
    values = {row["parameter"]: row["value"] for row in found["estimates"]}
    assert values["draft_weights_s"] == pytest.approx(0.001, rel=1e-3)
    assert any("what reading the cache takes is put down" in note for note in found["notes"])


def test_a_run_folder_is_read_too():
    found = document("--steps", str(RUN))
    assert {row["time_of"] for row in found["residuals"]} == {"pass", "drafting"}
    assert {row["batch"] for row in found["times"]} == {1}


def test_tables_are_readable_and_csv_holds_the_times(table):
    shown = specdec("pass-cost", "--steps", table)
    assert shown.returncode == 0
    assert max(map(len, shown.stdout.splitlines())) <= 120
    assert "compute_s" in shown.stdout
    assert "20 µs" in shown.stdout
    assert "e-0" not in shown.stdout  # no powers of ten for people
    printed = specdec("pass-cost", "--steps", table, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    assert list(rows[0]) == ["batch", "tokens", "pass_ms", "verify_cost", "basis"]
    assert len(rows) == 12


def test_of_many_settings_the_worst_are_shown_last(tmp_path):
    path = tmp_path / "many.csv"
    rows = [
        f"{b},{n},100,{1e3 * COST.seconds(b, n, 100) * (1.0 + 0.001 * ((7 * b + n) % 30))!r}"
        for b in (1, 16, 64, 256)
        for n in range(1, 8)
    ]
    path.write_text("batch,tokens,context,ms\n" + "\n".join(rows), encoding="utf-8")
    shown = specdec("pass-cost", "--steps", str(path))
    last = shown.stdout.rstrip().split("\n\n")[-1].splitlines()
    assert last[0].split() == ["batch", "tokens", "measured", "ms", "fitted", "ms", "off", "by"]
    assert len(last) == 21
    sizes = [abs(float(line.split()[-1].rstrip("%"))) for line in last[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert "Of 28 measured settings the 20 that the fit misses most are shown; JSON has all." in (
        shown.stderr
    )
    found = document("--steps", str(path))
    assert len(found["residuals"]) == 28
    errors = sorted((abs(row["worst_error"]) for row in found["residuals"]), reverse=True)
    assert [abs(row["worst_error"]) for row in found["worst_residuals"]] == errors[:20]


def test_columns_that_say_nothing_are_left_out_and_errors_are_percent(table):
    shown = specdec("pass-cost", "--steps", table)
    last = shown.stdout.rstrip().split("\n\n")[-1].splitlines()
    assert last[0].split() == [
        "batch",
        "tokens",
        "contexts",
        "times",
        "measured",
        "ms",
        "fitted",
        "ms",
        "off",
        "by",
        "off",
        "at",
        "worst",
    ]
    assert len(last) == 13
    assert all(line.endswith("0.0%") for line in map(str.rstrip, last[1:]))
    assert "JSON has" not in shown.stderr
    assert "basis" not in shown.stdout.split("parameter")[0]
    drafted = specdec("pass-cost", "--steps", str(RUN)).stdout.rstrip().split("\n\n")[-1]
    assert drafted.split()[:2] == ["time", "of"]
    assert "draft steps" in drafted


def test_the_knee_has_v_beside_it_and_how_far_passes_are_nearly_free():
    known = ("--target", "Llama 3.1 8B", "--hardware", "h100", "--batch", "1,64")
    shown = specdec("pass-cost", *known).stdout
    assert " 215.7 " in shown
    assert "nearly free tokens   knee    knee of pass   verify cost at knee" in shown
    found = document(*known)
    cost = predict_pass(
        an.architecture("Llama 3.1 8B"), Machine(accelerator=an.accelerator("h100"))
    )
    for row, batch in zip(found["knee"], (1, 64), strict=True):
        assert row["nearly_free_tokens"] == math.floor(cost.widest(1.1, batch, 1024))
        assert row["verify_cost_at_knee"] > 1.6  # overlap 1: far from free at the knee
    assert found["headline"].startswith("At context 1024: batch 1 has V(17) = ")
    assert "; batch 64 has V(17) = " in found["headline"]


def test_milliseconds_in_a_column_of_seconds_are_asked_about(tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("batch,tokens,context,seconds\n1,1,100,6.5\n1,8,100,6.9\n", encoding="utf-8")
    question = "are these milliseconds, read as seconds?"
    for known in ((), ("--target", "Llama 3.1 8B", "--hardware", "h100")):
        assert question in document("--steps", str(path), *known)["notes"][0]
    right = tmp_path / "right.csv"
    right.write_text(path.read_text(encoding="utf-8").replace("seconds", "ms"), encoding="utf-8")
    assert not any(question in note for note in document("--steps", str(right))["notes"])


def test_a_model_that_the_machine_cannot_hold_is_said():
    large = ("--target", "Llama 3.1 70B", "--hardware")
    said = "The weights do not fit the machine: 141.1 GB of "
    assert any(note.startswith(said) for note in document(*large, "h100")["notes"])
    for fits in ((*large, "h100 devices=4"), (*large, "h100", "--weight-bits", "4")):
        assert not any("do not fit" in note for note in document(*fits)["notes"])


def test_the_figure_is_drawn(tmp_path, table):
    for number, source in enumerate(
        (("--steps", table), ("--target", "Llama 3.1 8B", "--hardware", "h100"))
    ):
        file = tmp_path / f"{number}.svg"
        result = specdec("pass-cost", *source, "--figure", str(file), "--format", "csv")
        assert result.returncode == 0, result.stderr
        assert file.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give --target and --hardware, or measured step times with --steps."),
        (("--target", "Mixtral"), "--target and --hardware must be given together"),
        (("--hardware", "h100"), "--target and --hardware must be given together"),
        (("--batch", "0"), "--batch must be whole numbers of at least 1; got 0."),
        (("--batch", "4,-2"), "--batch must be whole numbers of at least 1; got -2."),
        (("--batch", "x"), "--batch must be whole numbers separated by commas; got 'x'."),
        (("--tokens", "0:3"), "--tokens must be whole numbers of at least 1; got 0."),
        (("--tokens", "9:1"), "--tokens must be tokens in [0, 1000] such as 1:16 or 1,2,4,8"),
        (("--context", "9" * 14), "context must be at most 1e+12; got 1e+14."),
        (("--batch", "9" * 14), "batch must be at most 1e+12; got 1e+14."),
        (("--weight-bits", "0"), "weight_bits must be above 0; got 0."),
        (("--kv-bits", "nan"), "kv_bits must be a finite number of at least 0; got nan."),
        (("--figure", "v.txt"), "the figure's name must end in one of .png, .svg, .pdf"),
        (
            ("--figure", "v.png", "--batch", "1,2,3,4,5,6"),
            "batches must be at most 5 in one figure",
        ),
    ],
)
def test_refusals(arguments, sentence):
    whole = len(arguments) > 1 and arguments[0] not in {"--target", "--hardware"}
    known = ("--target", "Llama 3.1 8B", "--hardware", "h100") if whole else ()
    assert refused(*known, *arguments).startswith(sentence)


def test_bits_say_nothing_of_times_alone(table):
    for option in ("--weight-bits", "--kv-bits"):
        assert refused("--steps", table, option, "8").startswith("--weight-bits and --kv-bits need")


@pytest.mark.parametrize(
    ("content", "sentence", "code"),
    [
        (b"", "this is empty; expected step times: a CSV with the columns batch, tokens,", 3),
        (b"batch,tokens\n1,1\n", "the table has no column seconds", 3),
        (b"batch,tokens,seconds\n1,1,nan\n", "seconds must be a number; got 'nan'", 3),
        (b"batch,tokens,seconds\n1,1,-1\n", "seconds must be in [1e-12, 1e+06]; got -1", 3),
        (b"batch,tokens,ms,seconds\n1,1,1,1\n", "two columns are seconds", 3),
        (b"batch,tokens,seconds\n1,1,1\n\0", "this is a binary file", 3),
        (b"\x1f\x8b\x08" + bytes(50), "this is packed with gzip", 3),
        (b'{"steps": 1}\n', "batch_size and step_time must be there", 3),
        (b"\xff\xfe" + "batch".encode("utf-16-le"), "this is UTF-16 text", 3),
        (
            b"batch,tokens,seconds,draft,draft_steps\n1,1,1,1,2\n",
            "samples must hold passes of the target; got drafting only.",
            2,
        ),
    ],
)
def test_files_that_are_refused(tmp_path, content, sentence, code):
    path = tmp_path / "steps"
    path.write_bytes(content)
    assert sentence in refused("--steps", str(path), code=code)


def test_a_file_that_is_not_there(tmp_path):
    assert "No such file" in refused("--steps", str(tmp_path / "none.csv"))
    assert "no run.json" in refused("--steps", str(tmp_path), code=3)


def test_the_installed_command_answers():
    result = specdec_process("pass-cost", "--target", "SmolLM2 135M", "--hardware", "h100")
    assert result.returncode == 0
    assert "computing takes as long as reading" in result.stderr
