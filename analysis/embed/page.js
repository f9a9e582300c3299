"use strict";
// Inputs to signals, signals to text. Every formula is in the charts' own signals; none is written here.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const state = { ...data.start };
  const views = new Map();
  const short = (value) => String(Number(value.toPrecision(4)));
  const given = (value) => String(Number(value.toPrecision(12))); // 0.999999 must not read as 1

  const problemOf = (input, text) => {
    const value = Number(text);
    const known = String(text).trim() !== "" && Number.isFinite(value);
    if (known && value >= input.least && value <= input.most && (!input.whole || Number.isInteger(value))) {
      return null;
    }
    const kind = input.whole ? "a whole number" : "a number";
    return `${input.label} must be ${kind} from ${input.least} to ${input.most}.`;
  };

  const say = (sentence) => {
    byId("problem").textContent = sentence ?? "";
    byId("problem").hidden = !sentence;
  };

  const showInputs = (typing) => {
    for (const input of data.inputs) {
      const slider = byId(input.name);
      slider.value = state[input.name];
      slider.setAttribute("aria-valuetext", given(state[input.name]));
      const typed = byId(`${input.name}-typed`);
      if (typed !== typing) {
        typed.value = given(state[input.name]);
        typed.removeAttribute("aria-invalid");
      }
    }
    const here = data.presets.findIndex((preset) =>
      data.inputs.every((input) => Math.abs(preset.values[input.name] - state[input.name]) < 1e-9));
    byId("preset").value = String(here);
    const source = byId("source");
    source.replaceChildren();
    if (here >= 0) {
      const preset = data.presets[here];
      source.append(`${preset.note} Source: `);
      if (preset.url) {
        const link = document.createElement("a");
        link.href = preset.url;
        link.textContent = preset.source;
        link.target = "_blank";
        link.rel = "noopener noreferrer";
        source.append(link, ".");
      } else {
        source.append(`${preset.source}.`);
      }
    }
  };

  const showAnswers = (view) => {
    const read = (name) => view.signal(name);
    const gamma = read("gamma");
    const best = read("best_gamma");
    const verdict = byId("verdict");
    if (verdict.textContent !== read("verdict")) verdict.textContent = read("verdict");
    verdict.className = `verdict ${/^(Pays|Costs)/.exec(read("verdict"))?.[0].toLowerCase() ?? ""}`;
    byId("trap-text").textContent = read("trap_text");
    const price = read("break_even_cost_ratio");
    byId("break-even").textContent = price > 0
      ? `At this p and γ, a draft step below ${price.toFixed(3)} of a target step pays.`
      : "At this p and γ, not even a free draft pays.";

    const slots = {
      p: given(read("p")), gamma: String(gamma), verified: String(gamma + 1),
      cost_ratio: given(read("cost_ratio")), verify_cost: given(read("verify_cost")),
      overhead: given(read("overhead")), tokens: short(read("tokens")[gamma]),
      round_cost: short(read("round_costs")[gamma]), speedup: short(read("speedups")[gamma]),
    };
    for (const slot of document.querySelectorAll("[data-slot]")) slot.textContent = slots[slot.dataset.slot];
    const beyond = read("verify_cost") !== 1 || read("overhead") !== 0;
    const holds = { one: read("p") === 1, "below-one": read("p") < 1, beyond, article: !beyond };
    for (const part of document.querySelectorAll("[data-when]")) {
      part.toggleAttribute("data-off", !holds[part.dataset.when]);
    }

    const rows = byId("rows").rows;
    for (let length = 1; length <= rows.length; length += 1) {
      const row = rows[length - 1];
      const marks = [length === gamma ? "● yours" : "", length === best ? "◆ best" : ""];
      const cells = [
        marks.filter(Boolean).join(" "), read("tokens")[length].toFixed(3),
        read("round_costs")[length].toFixed(2), `${read("speedups")[length].toFixed(2)}×`,
        read("accepted_fractions")[length].toFixed(3),
      ];
      cells.forEach((text, place) => { row.cells[place + 1].textContent = text; });
      row.classList.toggle("yours", length === gamma);
      row.classList.toggle("best", length === best);
    }
  };

  let waiting = false;
  const update = () => { // once per frame, however fast the slider moves
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(async () => {
      waiting = false;
      const all = [...views.values()];
      for (const view of all) for (const input of data.inputs) view.signal(input.name, state[input.name]);
      await Promise.all(all.map((view) => view.runAsync()));
      if (all.length) showAnswers(all[0]);
    });
  };

  let writing;
  const writeAddress = () => { // browsers allow few changes of the address per second
    clearTimeout(writing);
    writing = setTimeout(() => {
      const changed = data.inputs.filter((input) => state[input.name] !== data.start[input.name]);
      const hash = changed.map((input) => `${input.key}=${given(state[input.name])}`).join("&");
      try {
        history.replaceState(null, "", `#${hash}`);
      } catch { /* inside a frame without an address of its own */ }
    }, 250);
  };

  const put = (values, typing) => {
    Object.assign(state, values);
    say(null);
    showInputs(typing);
    update();
    writeAddress();
  };

  const readAddress = () => {
    const query = new URLSearchParams(location.hash.slice(1));
    const values = { ...data.start };
    const problems = [];
    for (const input of data.inputs) {
      if (!query.has(input.key)) continue;
      const problem = problemOf(input, query.get(input.key));
      if (problem) problems.push(`${problem} ${given(data.start[input.name])} is used instead.`);
      else values[input.name] = Number(query.get(input.key));
    }
    Object.assign(state, values);
    say(problems.join(" ") || null);
    showInputs();
    if (state.verify_cost !== 1 || state.overhead !== 0) byId("left-out").open = true;
  };

  const draw = async () => {
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, line] = ["--ink", "--soft", "--line"].map((name) => style.getPropertyValue(name).trim());
    const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 };
    const config = {
      background: "transparent", font: "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif",
      view: { stroke: line }, axis: { ...words, gridColor: line, domainColor: soft, tickColor: soft },
      legend: words, title: { color: ink, subtitleColor: soft, fontSize: 15 },
    };
    const painted = JSON.stringify(data.charts).replace(/"(#[0-9A-F]{6})"/g, (whole, colour) =>
      (dark.matches && data.dark[colour] ? `"${data.dark[colour]}"` : whole));
    for (const [name, spec] of Object.entries(JSON.parse(painted))) {
      views.get(name)?.finalize();
      const params = spec.params.map((param) => (param.name in state ? { ...param, value: state[param.name] } : param));
      // ast: expressions are interpreted, so that the page's policy can forbid eval.
      const made = await vegaEmbed(byId(name), { ...spec, params }, {
        mode: "vega-lite", ast: true, actions: false, renderer: "svg", config, defaultStyle: false,
        tooltip: { theme: dark.matches ? "dark" : "light" },
      });
      views.set(name, made.view);
    }
    update();
  };

  for (const input of data.inputs) {
    byId(input.name).addEventListener("input", (event) => put({ [input.name]: Number(event.target.value) }));
    const typed = byId(`${input.name}-typed`);
    typed.addEventListener("input", () => {
      const problem = problemOf(input, typed.value);
      typed.toggleAttribute("aria-invalid", false);
      if (problem) {
        typed.setAttribute("aria-invalid", "true");
        say(`${problem} It stays at ${given(state[input.name])}.`);
      } else {
        put({ [input.name]: Number(typed.value) }, typed);
      }
    });
    typed.addEventListener("change", () => showInputs());
  }
  data.presets.forEach((preset, place) => byId("preset").add(new Option(preset.name, String(place))));
  byId("preset").add(new Option("your own numbers", "-1"));
  byId("preset").addEventListener("change", (event) => {
    const preset = data.presets[Number(event.target.value)];
    if (preset) put(preset.values);
  });
  byId("reset").addEventListener("click", () => put(data.start));
  for (let length = 1; length <= data.lengths; length += 1) {
    const row = byId("rows").insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = String(length);
    row.append(head);
    for (let cell = 0; cell < 5; cell += 1) row.insertCell();
  }
  addEventListener("hashchange", () => { readAddress(); update(); });
  dark.addEventListener("change", draw);
  readAddress();
  draw();
})();
