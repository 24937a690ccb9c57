/* The page: a form, the trees of its text, and a link to every view. */
import { $, addOption, ask, make } from "./dom.js";
import { linkTo, linkedView } from "./link.js";
import { languageOf, showModel } from "./model.js";
import { copyText, saveText } from "./save.js";
import { offerSpace } from "./space.js";
import { card } from "./tree.js";

let models = [], answers = [];
let shown = null; // the view on the page: text, model, compare, input
let running = null; // AbortController of the current request

const modelNamed = (name) => models.find((one) => one.name === name);
const fields = ["text", "model", "compare", "input"];
const say = (text) => { $("status").textContent = text; };

async function start() {
  models = await ask("models");
  for (const model of models) {
    const language = languageOf(model);
    addOption($("model"), model.name, language && !model.name.includes(",") ? `${model.name} (${language})` : model.name);
    addOption($("compare"), model.name);
  }
  offerSpace(models);
  addEventListener("popstate", restore);
  restore();
}

/* Show the view of the address; without one, the first example. */
function restore() {
  const view = linkedView() ?? { text: models[0].examples[0] ?? "", model: models[0].name, compare: "", input: "text" };
  view.model ??= models[0].name;
  const missing = [view.model, view.compare].find((name) => name && !modelNamed(name));
  for (const field of fields) {
    $(field).value = view[field];
    if ($(field).selectedIndex < 0) $(field).selectedIndex = 0;
  }
  $("options").open ||= Boolean(view.compare || view.input !== "text");
  changeModel();
  if (missing) fail(`This link needs the model “${missing}”, which is not on this server.`);
  else if (view.text) show(view);
  else say("Enter a sentence, then press Parse.");
}

function changeModel() {
  const model = modelNamed($("model").value);
  showModel(model);
  $("text").lang = model.language ?? "";
  $("examples").hidden = !model.examples.length;
  $("examples").replaceChildren(...model.examples.map((text) =>
    make("button", { type: "button", lang: model.language, onclick: () => { $("text").value = text; $("input").value = "text"; submit(); } }, text)));
  markExample();
}

function markExample() {
  for (const button of $("examples").children) {
    button.setAttribute("aria-pressed", button.textContent === $("text").value);
  }
}

function submit(event) {
  event?.preventDefault();
  const view = Object.fromEntries(fields.map((field) => [field, $(field).value]));
  if (view.compare === view.model) view.compare = "";
  if (!view.text.trim()) {
    fail("Enter some text first.");
    $("text").focus();
    return;
  }
  const link = linkTo(view) ?? location.pathname;
  if (link !== location.hash) history.pushState(null, "", link);
  show(view);
}

async function show(view) {
  running?.abort();
  const { signal } = (running = new AbortController());
  markExample();
  say("Parsing …");
  $("results").setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const names = [view.model, view.compare].filter(Boolean);
    const requests = names.map((model) => ask("parse", { signal, body: { text: view.text, model, input: view.input } }));
    const received = await Promise.all(requests);
    if (signal.aborted) return;
    answers = received;
  } catch (error) {
    if (!signal.aborted) fail(error.message);
    return;
  }
  shown = view;
  const count = Math.min(...answers.map((answer) => answer.sentences.length));
  const { language } = modelNamed(view.model);
  replaceResults(Array.from({ length: count }, (_, index) => card(answers, index, language ?? "")));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  say(`Parsed ${count} ${count === 1 ? "sentence" : "sentences"} in ${seconds} s.`);
}

/* An error never stands beside the trees of another text. */
function fail(message) {
  running?.abort();
  answers = [];
  shown = null;
  replaceResults([]);
  say("");
  $("error").textContent = message;
  $("error").hidden = false;
}

function replaceResults(cards) {
  $("error").hidden = true;
  $("results").replaceChildren(...cards);
  $("results").removeAttribute("aria-busy");
  $("which").replaceChildren();
  for (const answer of answers) addOption($("which"), answer.model);
  $("which").parentElement.hidden = answers.length < 2;
  $("link").hidden = $("export").hidden = !cards.length;
  $("legend").hidden = !$("results").querySelector(".low");
  showConllu();
}

function showConllu() {
  $("conllu").textContent = answers[$("which").selectedIndex]?.conllu ?? "";
}

async function copyLink() {
  const link = linkTo(shown);
  if (!link) return say("This text is too long for a link. Download the CoNLL-U instead.");
  history.replaceState(null, "", link);
  say(await copyText(location.href) ? "Link copied." : "The browser does not allow copying here; copy the link from the address bar.");
}

async function copyConllu() {
  if (await copyText($("conllu").textContent)) return say("CoNLL-U copied.");
  getSelection().selectAllChildren($("conllu"));
  say("CoNLL-U selected; press Ctrl+C to copy it.");
}

$("form").addEventListener("submit", submit);
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
});
$("text").addEventListener("input", markExample);
$("model").addEventListener("change", () => {
  const example = $("examples").querySelector("[aria-pressed=true]") || !$("text").value;
  changeModel();
  const first = modelNamed($("model").value).examples[0];
  if (example && first) {
    if (!$("examples").querySelector("[aria-pressed=true]")) $("text").value = first;
    submit();
  }
});
$("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment belongs to the view
  $("results").focus();
});
$("which").addEventListener("change", showConllu);
$("link").addEventListener("click", copyLink);
$("copy").addEventListener("click", copyConllu);
$("download").addEventListener("click", () => saveText($("conllu").textContent, "trees.conllu"));
start().catch((error) => fail(error.message));
