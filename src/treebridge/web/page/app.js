"use strict";
const $ = (id) => document.getElementById(id);
let models = [];
let answers = [];

async function ask(path, body) {
  const options = body && {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let response;
  try { response = await fetch(path, options); }
  catch { throw new Error("The server does not answer. Is it still running?"); }
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.detail || `The server answers ${response.status}.`);
  return content;
}

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function say(where, text, wrong = false) {
  where.textContent = text;
  where.classList.toggle("wrong", wrong);
}

/* SVG comes from our own server, which has escaped every word in it; it is parsed as XML, so that
   nothing in it can be taken for HTML. */
function picture(svg) {
  return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
}

function option(name, select) {
  const element = make("option", name);
  element.value = name;
  select.append(element);
}

async function start() {
  models = await ask("models");
  for (const model of models) {
    option(model.name, $("model"));
    option(model.name, $("other"));
  }
  showFacts();
}

const percent = (value) => value === undefined || value === null ? "–" : `${value.toFixed(1)} %`;
const number = (value, digits = 3) => value === undefined || value === null ? "–" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");

function showFacts() {
  const model = models.find((one) => one.name === $("model").value);
  if (!model) return;
  const rows = [["encoder", model.encoder]];
  if (model.language) rows.unshift(["language", model.language]);
  if (model.scores.LAS) rows.push(["on its own treebank", `LAS ${number(model.scores.LAS, 1)}, UAS ${number(model.scores.UAS, 1)}`]);
  if (model.bridge) {
    const q = model.bridge.quality;
    rows.push(["bridge into", model.bridge.into]);
    if (q.verdict) rows.push(["bridge", q.verdict]);
    if (q.links) rows.push(["links", q.links.toLocaleString("en")]);
    if (q.anchors) rows.push(["anchors", `${q.anchors.toLocaleString("en")}, ${q.types_with_several_senses} words with several senses`]);
    if (q.anisotropy) rows.push(["anisotropy", `${number(q.anisotropy.target)} → ${number(q.anisotropy.target_isotropic)}`]);
    if (q.cosine !== undefined) rows.push(["cosine, held out", `${number(q.cosine_unmapped)} → ${number(q.cosine)}`]);
    if (q.target_to_source?.csls_p1) rows.push(["word found", `${percent(q.target_to_source.csls_p1)} at once, ${percent(q.target_to_source.csls_p5)} among five`]);
    if (q.unmapped?.csls_p1) rows.push(["without the map", percent(q.unmapped.csls_p1)]);
  } else {
    rows.push(["bridge", "none: vectors go to the parser as they are"]);
  }
  $("facts").replaceChildren(...rows.map(([name, value]) => {
    const row = make("tr");
    row.append(make("th", name), make("td", value));
    row.firstChild.scope = "row";
    return row;
  }));
  $("about").hidden = false;
  $("space").hidden = !models.some((one) => one.space);
}

function card(index) {
  const first = answers[0].sentences[index];
  const element = make("article", undefined, "card");
  const text = make("p", first.text);
  text.dir = "auto";
  const columns = make("div", undefined, answers.length > 1 ? "columns two" : "columns");
  for (const answer of answers) {
    const column = make("div");
    if (answers.length > 1) column.append(make("h3", answer.model));
    const scroll = make("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.append(picture(answer.sentences[index].svg));
    column.append(scroll);
    columns.append(column);
  }
  // Side by side only what fits: two long trees go below each other.
  const widest = Math.max(...Array.from(columns.querySelectorAll("svg"), (one) => Number(one.getAttribute("width"))));
  columns.classList.toggle("stacked", widest > 570);
  element.append(text, columns);
  if (answers.length > 1) element.append(make("p", agreement(index), "note"));
  return element;
}

function agreement(index) {
  const [one, two] = answers.map((answer) => answer.sentences[index].words);
  if (one.length !== two.length) return "The two models cut the words differently.";
  const heads = one.filter((word, i) => word.head === two[i].head).length;
  const both = one.filter((word, i) => word.head === two[i].head && word.deprel === two[i].deprel).length;
  return `The same head for ${heads} of ${one.length} words, head and label for ${both}.`;
}

function showConllu() {
  $("conllu").textContent = answers[$("which").selectedIndex]?.conllu ?? "";
}

async function parse(event) {
  event?.preventDefault();
  const text = $("text").value;
  if (!text.trim()) { say($("status"), "Write something first.", true); $("text").focus(); return; }
  const names = [$("model").value];
  if ($("other").value && $("other").value !== names[0]) names.push($("other").value);
  $("parse").disabled = true;
  say($("status"), "Parsing …");
  const started = performance.now();
  try {
    const input = $("input").value;
    answers = await Promise.all(names.map((model) => ask("parse", { text, model, input })));
    const count = Math.min(...answers.map((answer) => answer.sentences.length));
    $("results").replaceChildren(...Array.from({ length: count }, (_, index) => card(index)));
    $("which").replaceChildren();
    for (const answer of answers) option(answer.model, $("which"));
    $("which").parentElement.hidden = answers.length < 2;
    $("export").hidden = false;
    showConllu();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say($("status"), `${count} ${count === 1 ? "sentence" : "sentences"} in ${seconds} s. Dashed arcs are doubtful; point at one to see how much.`);
  } catch (error) {
    say($("status"), error.message, true);
  } finally {
    $("parse").disabled = false;
  }
}

async function showSpace(event) {
  event.preventDefault();
  const model = models.find((one) => one.space);
  say($("space-status"), "Looking …");
  try {
    const query = new URLSearchParams({ word: $("word").value, model: model.name });
    const found = await ask(`space?${query}`);
    $("pictures").replaceChildren(picture(found.before), picture(found.after));
    const parts = Object.entries(found.translations).map(([word, count]) => `${word} ${count} times`);
    say($("space-status"), `“${found.word}” is translated as ${parts.join(", ")}.`);
  } catch (error) {
    $("pictures").replaceChildren();
    say($("space-status"), error.message, true);
  }
}

async function copy() {
  try {
    await navigator.clipboard.writeText($("conllu").textContent);
    say($("status"), "Copied.");
  } catch {
    const range = document.createRange();
    range.selectNodeContents($("conllu"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    say($("status"), "Selected: press Ctrl+C to copy.");
  }
}

function download() {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([$("conllu").textContent], { type: "text/plain;charset=utf-8" }));
  link.download = "trees.conllu";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

$("form").addEventListener("submit", parse);
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse(event);
});
$("model").addEventListener("change", showFacts);
$("which").addEventListener("change", showConllu);
$("copy").addEventListener("click", copy);
$("download").addEventListener("click", download);
$("space-form").addEventListener("submit", showSpace);
start().catch((error) => say($("status"), error.message, true));
