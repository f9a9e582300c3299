"""The pages of a deployment in a real Chromium: one choice for three pages, links, keys, files, widths."""

import json
import re

import pytest
from browsing import (
    choose,
    download,
    enter,
    follow,
    press,
    see,
    settle,
    shared_link,
    shows,
    slider,
    wait_for_url,
)

from app_pages.deployment.choice import Choice, assumed, built

pytestmark = pytest.mark.browser
REPORT = "vllm 39680"


def net(**changes):
    """The speedup that the pages show."""
    choice = Choice(**changes)
    parts = built(choice, assumed(choice)).parts(choice.gamma, choice.batch, choice.context)
    return f"{parts.speedup.value:.3f}×"


def metric(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label).first


def to(page, name, heading):
    follow(page, name)
    page.get_by_role("heading", name=heading, exact=True).wait_for()


def test_one_deployment_goes_through_three_pages_and_a_link(visit):
    page = visit("where_it_breaks")
    see(page, f"γ = 4 gains: {net()} at batch 1.")
    enter(page, page.get_by_label("Requests at once, typed"), "32")
    see(page, f"γ = 4 gains: {net(batch=32)} at batch 32.")
    enter(page, page.get_by_label("Acceptance p, typed"), "0.75")
    expected = net(batch=32, p=0.75)
    see(page, f"γ = 4 gains: {expected} at batch 32.")
    wait_for_url(page, r"where_it_breaks\?.*batch=32")
    to(page, "Explain", "Explain")
    metric(page, "Net speedup").get_by_text(expected).wait_for()
    wait_for_url(page, r"explain\?.*batch=32")
    to(page, "Plan", "Plan")
    see(page, "Tell your engine")
    link = shared_link(page)
    assert "batch=32" in link
    assert "p=0.75" in link
    again = visit(link.split("/", 3)[3].replace("plan", "explain"))
    metric(again, "Net speedup").get_by_text(expected).wait_for()
    shows(again.get_by_label("Acceptance p, typed"), "0.75")


def test_back_and_a_bad_link_keep_the_app_alive(visit):
    page = visit("plan?card=h10&batches=8,1&context=4096")
    see(page, "must be a known preset")
    see(page, "batches must be 1 to 24 rising whole numbers")
    shows(page.get_by_label("Context: tokens held per request, typed"), "4096")
    to(page, "Explain", "Explain")
    metric(page, "Net speedup").get_by_text(net(context=4096)).wait_for()
    settle(page)
    for _ in range(2):  # the page before may have an entry of its own for its address
        page.go_back()
        settle(page)
        if page.get_by_role("heading", name="Plan", exact=True).is_visible():
            break
    page.get_by_role("heading", name="Plan", exact=True).wait_for()
    shows(page.get_by_label("Context: tokens held per request, typed"), "4096")


def test_keys_move_the_batch_and_none_is_lost(visit):
    page = visit("where_it_breaks")
    see(page, f"γ = 4 gains: {net()}")
    batch = page.get_by_role("slider", name="Batch: requests that run together").first
    batch.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    see(page, f"γ = 4 gains: {net(batch=6)} at batch 6.")
    page.wait_for_timeout(1500)  # a stale answer would come now
    wait_for_url(page, r"batch=6$")
    shows(page.get_by_label("Requests at once, typed"), "6")
    shows(page.get_by_label("Batch: requests that run together, typed"), "6")


def test_a_slider_of_p_finds_where_the_gain_ends(visit):
    page = visit("where_it_breaks")
    see(page, f"γ = 4 gains: {net()}")
    slider(page, "Acceptance p").focus()
    page.keyboard.press("Home")
    see(page, f"γ = 4 loses: {net(p=0.0)} at batch 1.")
    wait_for_url(page, r"p=0$")


def test_bad_typing_gets_a_sentence(visit):
    page = visit("where_it_breaks")
    see(page, "γ = 4 gains")
    devices = page.get_by_label("Devices", exact=True)
    enter(page, devices, "0.5")
    see(page, "devices must be a whole number in [1, 64]; got 0.5. It stays at 1.")
    shows(devices, "1")


def test_another_machine_and_a_config_of_ones_own(visit, tmp_path):
    page = visit("explain")
    metric(page, "Net speedup").get_by_text(net()).wait_for()
    choose(page, "Machine", "H200", exact=True)
    metric(page, "Net speedup").get_by_text(net(card="H200")).wait_for()
    choose(page, "Target", "your own, from its config.json")
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 24,
        "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 8,
        "intermediate_size": 8192, "vocab_size": 50_000, "tie_word_embeddings": False,
    }  # fmt: skip
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    page.locator("input[type=file]").first.set_input_files(file)
    see(page, "In use: 24 layers")
    wait_for_url(page, r"model=layers%3D24")
    own = re.search(r"model=([^&]*)", page.url)[1]
    again = visit(f"plan?model={own}&card=H200")
    see(again, "In use: 24 layers")


def test_a_log_is_explained_and_planned_with(visit):
    page = visit("your_engine")
    choose(page, "Or a log from a public report", REPORT)
    see(page, "What the doctor says")
    see(page, "Take it along")
    to(page, "Explain", "Explain")
    choose(page, "Explain", "the log under Import")
    see(page, "What the doctor says")
    to(page, "Plan", "Plan")
    choose(page, "Acceptance", "the log under Import")
    wait_for_url(page, r"accept=log")
    see(page, "Tell your engine")


def test_your_engine_leads_to_the_plan_and_the_explanation_of_a_log(visit):
    page = visit("your_engine")
    press(page, "Show me an example")
    press(page, "Plan with this")
    page.get_by_role("heading", name="Plan", exact=True).wait_for()
    wait_for_url(page, r"plan\?.*accept=log")
    see(page, "Tell your engine")
    to(page, "Import", "Import")
    press(page, "Explain this")
    page.get_by_role("heading", name="Explain", exact=True).wait_for()
    wait_for_url(page, r"explain\?.*source=log")
    press(page, "Predict with its acceptance instead")
    metric(page, "Net speedup").wait_for()


def test_a_log_is_offered_where_it_is_not_used(visit):
    page = visit("your_engine")
    press(page, "Show me an example")
    see(page, "Take it along")
    to(page, "Plan", "Plan")
    see(page, "Your log is at hand")
    press(page, "Use its acceptance")
    wait_for_url(page, r"plan\?.*accept=log")
    page.get_by_text("Your log is at hand").wait_for(state="detached")


def test_a_machine_of_ones_own_numbers_goes_into_the_link(visit):
    page = visit("where_it_breaks")
    see(page, f"γ = 4 gains: {net()}")
    choose(page, "Machine", "your own numbers")
    bandwidth = page.get_by_label("Memory bandwidth (GB/s)", exact=True)
    shows(bandwidth, "3350")
    enter(page, bandwidth, "900")
    slower = net(card="own", bandwidth=900.0)
    see(page, f"γ = 4 gains: {slower}")
    wait_for_url(page, r"card=own.*gbs=900")
    again = visit(page.url.split("/", 3)[3].replace("where_it_breaks", "explain"))
    metric(again, "Net speedup").get_by_text(slower).wait_for()


def test_a_number_becomes_unknown_again(visit):
    page = visit("explain?source=numbers&tau=2.92&tps=88&plain=52.5&gamma=3")
    metric(page, "Net speedup").get_by_text("1.676×").wait_for()
    enter(page, page.get_by_label("Tokens per second without it", exact=True), "")
    see(page, "the speed without speculation")
    shows(page.get_by_label("Tokens per second without it", exact=True), "")
    enter(page, page.get_by_label("Tokens per second without it", exact=True), "44")
    metric(page, "Net speedup").get_by_text("2.000×").wait_for()


def test_files_come_down(visit):
    page = visit("plan?batches=1,8,64")
    see(page, "Tell your engine")
    assert download(page, "vllm_serve.sh").startswith(b"#")
    page.get_by_role("tab", name="SGLang").click()
    assert json.loads(download(page, "sglang_adaptive.json"))
    assert download(page, "CSV").startswith(b"batch,use,gamma")
    assert json.loads(download(page, "JSON"))["command"] == "plan"
    page = visit("explain")
    metric(page, "Net speedup").wait_for()
    assert json.loads(download(page, "JSON"))["command"] == "explain"
    page = visit("where_it_breaks")
    see(page, "Take it along")
    assert download(page, "CSV").startswith(b"batch,V,speedup")


def test_an_own_schedule_is_checked_from_the_keyboard(visit):
    page = visit("plan?context=512")
    field = page.get_by_label("Your schedule", exact=True)
    enter(page, field, "1-16:8, 17-:4")
    see(page, "The schedule loses")
    wait_for_url(page, r"schedule=")
    enter(page, field, "1-16:8, 18-:4")
    see(page, "a schedule must have no gaps: after batch 16 comes 17")
    shows(page.get_by_label("Your schedule", exact=True), "1-16:8, 17-:4")
