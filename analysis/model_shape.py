"""The shape of a decoder: parameters, cache and arithmetic per token follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator._checks import as_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A decoder-only transformer by its dimensions, as a Hugging Face `config.json` names them.

    `experts` 0 is a dense model, otherwise `expert_width` is the width of one expert and each token calls
    `experts_per_token` of them; `shared_width` is that of experts which every token calls, and
    `dense_layers` says how many layers have no experts but one feed-forward part of `width`. `gated` says
    whether the feed-forward part has three matrices or two. `tied` says whether the output layer is the
    embedding. `extra_parameters` are weights beside these that every token multiplies. Biases and norms
    are left out: about a thousandth of the parameters.

    Raises ValueError for sizes that are not whole and positive, experts per token out of range, more heads
    for keys than for queries, and a feed-forward part without width.

    >>> llama = Architecture(name="Llama 3 8B", layers=32, hidden=4096, heads=32, kv_heads=8,
    ...                      width=14336, vocabulary=128256)
    >>> round(llama.parameters / 1e9, 2), llama.kv_numbers
    (8.03, 65536)
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    width: int
    vocabulary: int
    head_dim: int | None = None
    gated: bool = True
    tied: bool = False
    experts: int = 0
    experts_per_token: int = 0
    expert_width: int = 0
    shared_width: int = 0
    dense_layers: int = 0
    extra_parameters: int = 0
    source: str = ""
    url: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "heads", "kv_heads", "vocabulary"):
            as_count(name, getattr(self, name), least=1)
        for name in ("width", "expert_width", "shared_width", "experts", "extra_parameters"):
            as_count(name, getattr(self, name))
        as_count("kv_heads", self.kv_heads, least=1, most=self.heads)
        as_count("dense_layers", self.dense_layers, most=self.layers)
        if self.dense_layers and not (self.experts and self.width):
            raise ValueError(
                "dense_layers must be 0 unless the model has both experts and a width for the layers "
                f"without; got {self.dense_layers}."
            )
        if self.experts:
            as_count("experts_per_token", self.experts_per_token, least=1, most=self.experts)
            as_count("expert_width", self.expert_width, least=1)
        elif not self.width:
            raise ValueError("width must be above 0 for a model without experts; got 0.")
        if self.head_dim is not None:
            as_count("head_dim", self.head_dim, least=1)
        elif self.hidden < self.heads:
            raise ValueError(
                f"heads must be at most hidden ({self.hidden}) unless head_dim is given; got {self.heads}."
            )

    @property
    def attention_parameters(self) -> int:
        """Weights of all attention layers: queries, keys, values and the output projection."""
        size = self.head_size
        return self.layers * self.hidden * size * (2 * self.heads + 2 * self.kv_heads)

    @property
    def shared_parameters(self) -> int:
        """Weights that every token uses, the output layer and the embedding apart."""
        matrix = (3 if self.gated else 2) * self.hidden
        dense = self.layers if not self.experts else self.dense_layers
        routed = self.layers - dense
        return (
            self.attention_parameters
            + dense * matrix * self.width
            + routed * (matrix * self.shared_width + self.hidden * self.experts)
            + self.extra_parameters
        )

    @property
    def expert_parameters(self) -> int:
        """Weights of all experts of all layers that are chosen by a router."""
        matrix = (3 if self.gated else 2) * self.hidden
        return (self.layers - self.dense_layers) * self.experts * matrix * self.expert_width

    @property
    def output_parameters(self) -> int:
        """Weights of the output layer."""
        return self.hidden * self.vocabulary

    @property
    def parameters(self) -> int:
        """All weights; the embedding counts unless it is the output layer (`tied`)."""
        embedding = 0 if self.tied else self.output_parameters
        return self.shared_parameters + self.expert_parameters + self.output_parameters + embedding

    @property
    def active_parameters(self) -> int:
        """Weights that one token multiplies, the output layer included and the embedding not.

        Counts in print usually include the embedding, of which a token reads one row.
        """
        called = 0
        if self.experts:
            called = self.expert_parameters // self.experts * self.experts_per_token
        return self.shared_parameters + called + self.output_parameters

    @property
    def head_size(self) -> int:
        """Numbers per attention head."""
        return self.head_dim or self.hidden // self.heads

    @property
    def kv_numbers(self) -> int:
        """Numbers in the cache of one token: keys and values of all layers."""
        return self.kv_numbers_on(1)

    def kv_numbers_on(self, devices: int) -> int:
        """The same on all of so many devices: each keeps whole heads, and more than there are repeat.

        >>> llama = Architecture(name="Llama 3 8B", layers=32, hidden=4096, heads=32, kv_heads=8,
        ...                      width=14336, vocabulary=128256)
        >>> llama.kv_numbers_on(8), llama.kv_numbers_on(16)
        (65536, 131072)
        """
        kept = devices * -(-self.kv_heads // as_count("devices", devices, least=1))
        return 2 * self.layers * kept * self.head_size

    def draft_head(self, *, layers: int = 1, vocabulary: int | None = None) -> Architecture:
        """A draft of so many layers as this model's, over its features, with its own output layer.

        What EAGLE, MTP and block drafters have: layers of the target's kind (with its experts, if it has
        any: such a draft is often dense in practice; give `DraftKind` a model then), and one matrix of
        2 · hidden × hidden that joins a token with the target's features. `vocabulary` shortens the output
        layer. Without the output layer, Llama 2 7B gives 0.24e9 and 70B 0.99e9, as the README of EAGLE
        prints for its heads.
        """
        return replace(
            self,
            name=f"{layers} layer{'s' if layers > 1 else ''} of {self.name}",
            layers=as_count("layers", layers, least=1),
            vocabulary=self.vocabulary
            if vocabulary is None
            else as_count("vocabulary", vocabulary, least=1),
            tied=True,
            dense_layers=0,
            extra_parameters=2 * self.hidden * self.hidden,
        )
