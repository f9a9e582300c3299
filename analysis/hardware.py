"""What a machine can do: bytes and operations per second, memory, and what of it programs reach.

Why `Machine` starts from the shares it does. One set serves all rows; it was chosen with the speeds of single
requests in view, so that only the rates of large batches test it independently (`tests/test_public_speeds.py`):

- `memory_share` 0.8 and `layer_s` 20 µs. The decoding speeds that gpt-fast prints (README, commit
  0f925b5, Llama 2 7B and 70B at 16 bits on 1 to 8 A100, batch 1) lie on lines of seconds over bytes per
  device: 7B has slope 1 / (1,780 GB/s), 70B 1 / (1,670 GB/s), of 2,039 GB/s printed, hence 0.82 to 0.87,
  and their README says about 1,700 GB/s is what can be reached. What the lines leave at 0 bytes is 2 ms
  for 32 layers and 6 ms for 80, 60 to 75 µs per layer with two exchanges in it. An engine of today keeps
  about half as much: SGLang's 158.34 tokens/s of Llama 3.1 8B on one H100 (EAGLE-3, Li et al. 2025,
  Table 4) leave 0.7 ms beside reading at 0.8, 22 µs per layer.
- `link_latency_s` 10 µs: more than one device adds 10 to 13 µs per layer of 7B to the same lines, for two
  exchanges of a few kB with kernels written for it; 10 µs each leaves room for general ones.
- `operations_share` 0.6: a product tuned for an H100 reaches 780 of 989 TFLOP/s (H. He, public gist), the
  narrow ones of a verification less. First-token times of TensorRT-LLM (`docs/source/performance.md`,
  0.6.1, 2,048 tokens) say 0.7 for an A100 at 16 bits and 0.45 for an H100 at 8.
- `overlap` 1, reading and computing one after the other. Of 15 rates that the same page prints for Llama 2
  7B and 70B at batches of 48 to 1,280, k = 1 with a share of 0.5 or 0.6 comes closest (rms error 29 %); the
  roofline misses by 41 % or more. It would also make a pass over up to 200 tokens as cheap as one over a
  single token, and engines show no such plateau: a block drafter on Apertus 1.5 8B at concurrency 32 (one
  GH200, drafts of 3) emits 2.29 tokens per round and is 1.31 times as fast, so that a round of 128 tokens
  takes 1.75 plain steps. k = 1 gives 1.4 for its verification, k = 2 1.2, the roofline 1.0; the rest is
  drafting.

Kernels for few-bit weights reach less (gpt-fast, 4 bits: 0.42 of the bandwidth, overheads included).
Measured step times of one's own say all of this better: `fit_pass_cost`.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis._pass_checks import check_overlap
from simulator._checks import as_count, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One device as its maker describes it.

    `memory_bytes_per_s` is the bandwidth of its memory, `operations_per_s` its dense matrix arithmetic at
    16 bits (a multiplication and an addition are two operations), `memory_bytes` its capacity.
    `operations_8bit_per_s` is the same for operands of 8 bits (FP8, INT8), 0 where that is no faster.
    Both are dense: figures "with sparsity" are twice as high. `link_bytes_per_s` is what it sends to the
    others of one machine in one direction (makers print the sum of both), 0 where there is no link.
    `source` and `url` say where the numbers are printed. Raises ValueError for a number that is not
    finite and positive.
    """

    name: str
    memory_bytes_per_s: float
    operations_per_s: float
    memory_bytes: float
    link_bytes_per_s: float = 0.0
    operations_8bit_per_s: float = 0.0
    source: str = ""
    url: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("memory_bytes_per_s", "operations_per_s", "memory_bytes"):
            if as_nonnegative(name, getattr(self, name)) == 0.0:
                raise ValueError(f"{name} must be above 0; got 0.")
        as_nonnegative("link_bytes_per_s", self.link_bytes_per_s)
        as_nonnegative("operations_8bit_per_s", self.operations_8bit_per_s)

    @property
    def knee(self) -> float:
        """Operations per byte at which arithmetic takes as long as reading."""
        return self.operations_per_s / self.memory_bytes_per_s

    def operations_at(self, bits: int) -> float:
        """Operations per second with operands of so many bits, 8 or 16; ValueError for others."""
        if isinstance(bits, bool) or bits not in {8, 16}:
            raise ValueError(f"arithmetic_bits must be 8 or 16; got {bits!r}.")
        return max(self.operations_per_s, self.operations_8bit_per_s if bits == 8 else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Devices that run one model together (tensor parallel), and what programs reach of them.

    `memory_share` and `operations_share` are the parts of bandwidth and arithmetic that are reached,
    `overlap` is the k of `PassCost`. `fixed_s` is what a pass takes beside its model (scheduling, sampling),
    `layer_s` what each layer adds to that (launches, small kernels), `token_s` what a token does,
    `link_latency_s` one exchange between devices. `arithmetic_bits` 8 computes with weights and activations
    of 8 bits both (W8A8). The defaults are assumed, from public speeds (see above): fit them from measured
    step times where there are some (`fit_pass_cost`). Raises ValueError for values out of range and several
    devices without a link.
    """

    accelerator: Accelerator
    devices: int = 1
    memory_share: float = 0.8
    operations_share: float = 0.6
    overlap: float = 1.0
    arithmetic_bits: int = 16
    fixed_s: float = 2e-4
    layer_s: float = 2e-5
    token_s: float = 0.0
    link_latency_s: float = 1e-5

    def __post_init__(self) -> None:
        as_count("devices", self.devices, least=1)
        for name in ("memory_share", "operations_share"):
            if as_probability(name, getattr(self, name)) == 0.0:
                raise ValueError(f"{name} must be above 0; got 0.")
        for name in ("fixed_s", "layer_s", "token_s", "link_latency_s"):
            as_nonnegative(name, getattr(self, name))
        check_overlap(self.overlap)
        self.accelerator.operations_at(self.arithmetic_bits)
        if self.devices > 1 and self.accelerator.link_bytes_per_s == 0.0:
            raise ValueError(
                f"devices must be 1 for {self.accelerator.name}, which has no link; got {self.devices}."
            )

    @property
    def memory_bytes(self) -> float:
        """Memory of all devices."""
        return self.devices * self.accelerator.memory_bytes
