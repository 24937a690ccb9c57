/* A card per sentence: its trees, one for each model, with downloads and a table of words. */
import { $, make, picture } from "./dom.js";
import { savePng, saveText } from "./save.js";

const LARGEST = 1.6, SCROLLED = 1.1; // scale of a short tree; of one that is wider than the page
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff]/u;

export function card(answers, index, language) {
  const { text } = answers[0].sentences[index];
  const title = make("h2", { dir: "auto", lang: language }, text);
  const trees = answers.map((answer) => column(answer, index, language, answers.length > 1));
  const columns = make("div", { className: answers.length > 1 ? "columns two" : "columns" }, ...trees);
  const widths = Array.from(columns.querySelectorAll("svg"), (svg) => svg.viewBox.baseVal.width);
  columns.classList.toggle("stacked", Math.max(...widths) > 520);
  const note = answers.length > 1 ? make("p", { className: "note" }, agreement(answers, index)) : null;
  return make("article", { className: "card" }, title, columns, note);
}

function column(answer, index, language, named) {
  const sentence = answer.sentences[index];
  const head = make("div", { className: "head" }, named ? make("h3", {}, answer.model) : null, downloads(answer, index));
  return make("div", {}, head, tree(sentence, language), table(sentence, language));
}

function downloads(answer, index) {
  const { conllu, svg } = answer.sentences[index];
  const name = `${answer.model.replace(/[^\p{L}\p{N}]+/gu, "-")}-${index + 1}`;
  const kinds = {
    "CoNLL-U": () => saveText(conllu, `${name}.conllu`),
    SVG: () => saveText(svg, `${name}.svg`, "image/svg+xml"),
    PNG: () => savePng(svg, `${name}.png`).catch(() => {
      $("status").textContent = "The browser could not draw the PNG; download the SVG instead.";
    }),
  };
  const buttons = Object.entries(kinds).map(([kind, save]) => {
    const button = make("button", { type: "button", className: "small", title: `Download ${kind}`, onclick: save }, kind);
    button.setAttribute("aria-label", `Download ${kind}, sentence ${index + 1}, model ${answer.model}`);
    return button;
  });
  return make("div", { className: "downloads" }, ...buttons);
}

function tree(sentence, language) {
  const svg = picture(sentence.svg);
  svg.setAttribute("aria-label", `Dependency tree of “${sentence.text}”; the table below lists its words`);
  svg.setAttribute("lang", language);
  const scroll = make("div", { className: "scroll" }, svg);
  scroll.setAttribute("role", "group");
  const hint = make("p", { className: "hint" }, "Scroll sideways to see the whole tree");
  hint.setAttribute("aria-hidden", "true");
  const box = make("div", { className: "tree-box" }, scroll, hint);
  const update = () => {
    const rest = scroll.scrollWidth - scroll.clientWidth;
    box.classList.toggle("scrolls", rest > 1);
    box.classList.toggle("more-left", scroll.scrollLeft > 1);
    box.classList.toggle("more-right", scroll.scrollLeft < rest - 1);
    scroll.tabIndex = rest > 1 ? 0 : -1;
    scroll.setAttribute("aria-label", rest > 1 ? "Tree; scroll with the arrow keys" : "Tree");
  };
  let placed = false;
  new ResizeObserver(() => {
    const natural = svg.viewBox.baseVal.width, room = scroll.clientWidth / natural;
    svg.style.width = `${natural * (room < 1 ? SCROLLED : Math.min(room, LARGEST))}px`;
    if (!placed && RIGHT_TO_LEFT.test(sentence.text)) scroll.scrollLeft = scroll.scrollWidth;
    placed = true;
    update();
  }).observe(scroll);
  scroll.addEventListener("scroll", update, { passive: true });
  return box;
}

function table({ words }, language) {
  const details = make("details", {}, make("summary", {}, "Words as a table"));
  details.addEventListener("toggle", () => details.append(tableOf(words, language)), { once: true });
  return details;
}

function tableOf(words, language) {
  const forms = new Map(words.map((word) => [word.id, word.form]));
  const cell = (tag, text, scope) => make(tag, scope ? { scope } : {}, String(text));
  const percent = (value) => (value === undefined ? "" : `${Math.round(100 * value)} %`);
  // Columns that a model does not predict are not shown.
  const further = [["Lemma", "lemma"], ["XPOS", "xpos"], ["Features", "feats"]]
    .filter(([, key]) => words.some((word) => word[key]));
  const names = ["", "Word", "Tag", ...further.map(([name]) => name), "Head", "Relation", "Head probability",
    "Relation probability"];
  const rows = words.map((word) => {
    const form = cell("th", word.form, "row");
    form.lang = language;
    const head = word.head ? `${word.head} ${forms.get(word.head)}` : "root";
    return make("tr", {}, cell("td", word.id), form,
      ...[word.upos, ...further.map(([, key]) => features(word[key])), head, word.deprel, percent(word.arc_probability), percent(word.label_probability)].map((text) => cell("td", text)));
  });
  const header = make("tr", {}, ...names.map((name) => cell("th", name, "col")));
  const scroll = make("div", { className: "scroll words", tabIndex: 0 },
    make("table", {}, make("thead", {}, header), make("tbody", {}, ...rows)));
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", "Words of the sentence");
  return scroll;
}

function features(text) {
  return (text ?? "").replaceAll("|", ", "); // so that the line can be broken
}

function agreement(answers, index) {
  const [one, two] = answers.map((answer) => answer.sentences[index].words);
  if (one.length !== two.length) return "The two models split the words differently.";
  const same = one.filter((word, i) => word.head === two[i].head);
  const both = same.filter((word) => word.deprel === two[one.indexOf(word)].deprel);
  return `The models agree on the head of ${same.length} of ${one.length} words, and on head and relation of ${both.length}.`;
}
