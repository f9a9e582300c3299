"""Choosing a model: a preset, or one of the visitor's own from its config.json."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from analysis.model_shape import Architecture
from app_pages.deployment import choice as choices
from app_pages.deployment import models as own_models
from app_pages.deployment import widgets as deploy_widgets
from app_pages.plain_text import plain, source_link

OWN = "your own, from its config.json"


def target() -> None:
    """Which model answers."""
    _model("model", "Target", "The model whose answers you want.")


def draft() -> None:
    """Which model drafts."""
    _model("draft_model", "Draft model", "A small model of the target's vocabulary.")


def _model(name: str, label: str, words: str) -> None:
    value = _named(name)
    asked = st.session_state.get(f"deploy_{name}_own", own_models.is_own(value))
    shown = OWN if asked else value
    deploy_widgets.select(
        name,
        label,
        [*choices.models(), OWN],
        f"{words} {OWN.capitalize()}: drop or paste it.",
        shown=shown,
        take=lambda taken: _take_model(name, taken),
    )
    if not asked:
        model = choices.architecture(value)
        st.markdown(f":small[{_size(model)}. {source_link(model.source, model.url)}]")
        return
    text = st.text_area(
        "config.json",
        key=f"deploy_{name}_text",
        height=100,
        max_chars=own_models.MOST_CONFIG,
        placeholder='{"num_hidden_layers": 32, "hidden_size": 4096, …',
        help="Of the model's folder or its page on Hugging Face. Read as numbers; nothing is executed.",
        on_change=_take_config,
        args=(name,),
        persist_state="session",
    )
    upload = st.file_uploader(
        "Or the file", type=["json"], max_upload_size=1, key=f"deploy_{name}_file",
        help="The config.json itself, up to 1 MB.",
    )  # fmt: skip
    if upload is not None:
        _take_upload(name, upload)
        value = _named(name)
    problem = st.session_state.get(f"deploy_{name}_problem")
    if problem and (text or upload):
        st.warning(plain(problem), icon=":material/error:")
    st.caption(f"In use: {_size(choices.architecture(value))}")


def _named(name: str) -> str:
    choice = deploy_widgets.current()
    return choice.model if name == "model" else choices.draft_name(choice)


def _take_model(name: str, taken: str) -> None:
    st.session_state[f"deploy_{name}_own"] = taken == OWN
    if taken != OWN:
        deploy_widgets.change(**{name: taken})


def _take_config(name: str) -> None:
    text = st.session_state[f"deploy_{name}_text"]
    st.session_state.pop(f"deploy_{name}_problem", None)
    if text and text.strip():
        _read_config(name, text.encode("utf-8", "replace"))


def _take_upload(name: str, upload: UploadedFile) -> None:
    """Read a file once, when it comes."""
    seen = f"deploy_{name}_seen"
    if st.session_state.get(seen) == upload.file_id:
        return
    st.session_state[seen] = upload.file_id
    st.session_state.pop(f"deploy_{name}_problem", None)
    _read_config(name, upload.getvalue())


def _read_config(name: str, content: bytes) -> None:
    try:
        written = own_models.of_config(content)
    except ValueError as error:
        st.session_state[f"deploy_{name}_problem"] = f"{error} The model before it stays."
        return
    deploy_widgets.change(**{name: written})


def _size(model: Architecture) -> str:
    active = ""
    if model.experts:
        active = f", {model.active_parameters / 1e9:.3g} B active"
    parameters = model.parameters / 1e9
    return f"{model.layers} layers, {parameters:.3g} B parameters{active}"
