/* What the editor shows: the state of the page, and the functions that draw it. */
import { drawTree } from "./annotate-tree.js";
import { $, make } from "./dom.js";

export const page = {
  file: null, // the overview of the file
  sentence: null, // the one on the page
  number: 0, // its place, from 0
  look: { word: 1, to: 1, target: null, flash: new Set() }, // selected words, candidate for a head, words that flash
  choosing: null, // the word whose head is being chosen
  typed: "", // digits of its number
};

export const say = (text) => { $("status").textContent = text; };
export const word = () => page.sentence.words[page.look.word - 1];

export function selection() {
  const { word: one, to } = page.look;
  return [Math.min(one, to), Math.max(one, to)];
}

export function leaveMode() {
  page.choosing = page.look.target = null;
  page.typed = "";
}

export function select(id, extend = false) {
  const { look } = page;
  look.flash = new Set();
  look.to = id;
  if (!extend) look.word = id;
  showTree();
}

export function show() {
  const { file, sentence, number } = page, { done, text, note, problem, rules, words, conllu, empty } = sentence;
  const finished = file.sentences.filter((one) => one.done).length, all = file.sentences.length;
  $("file").textContent = file.file;
  $("progress").textContent = `${finished} of ${all} done`;
  $("bar").max = all;
  $("bar").value = finished;
  document.title = `${number + 1}/${all} ${file.file}`;
  $("where").textContent = `Sentence ${number + 1} of ${all}${sentence.id ? ` · ${sentence.id}` : ""}`;
  $("badge").hidden = !done;
  $("text").textContent = text;
  $("text").lang = $("tree").lang = file.language ?? "";
  $("note").hidden = !note;
  $("note").textContent = note;
  const unknown = words.filter((one) => one.head === null).length;
  const hints = [
    problem && `Not a tree: ${problem}.`,
    !problem && unknown && `${unknown} ${unknown === 1 ? "word has" : "words have"} no head yet; press r to let the parser fill them in.`,
  ];
  $("problem").textContent = hints.find(Boolean) || "";
  $("problem").hidden = !$("problem").textContent;
  $("rules").hidden = !rules.length;
  $("rules").replaceChildren(...rules.map((rule) => make("li", {}, `${rule}.`)));
  $("empty").hidden = !empty.length;
  $("empty").textContent = `Not shown, but kept: empty ${empty.length === 1 ? "node" : "nodes"} ${empty.join(", ")}.`;
  $("conllu").textContent = conllu;
  for (const name of ["undo", "redo"]) document.querySelector(`.tools [data-do=${name}]`).disabled = !file[name];
  $("done").firstChild.textContent = done ? "Next " : "Done, next ";
  if (location.hash !== `#${number + 1}`) history.replaceState(null, "", `#${number + 1}`);
  showTree();
}

export function showTree() {
  const { sentence, look, choosing } = page, { words } = sentence;
  look.word = Math.max(1, Math.min(words.length, look.word));
  look.to = Math.max(1, Math.min(words.length, look.to));
  const { svg, centres, mirrored, scale } = drawTree(sentence, look, $("scroll").clientWidth);
  page.mirrored = mirrored;
  $("tree").replaceChildren(svg);
  $("tree").setAttribute("aria-label", `Words of “${sentence.text}”`);
  const active = choosing === null ? look.to : look.target;
  $("tree").setAttribute("aria-activedescendant", `word-${active}`);
  keepInView(centres[active] * scale);
  $("mode").hidden = choosing === null;
  if (choosing !== null) {
    const to = look.target === 0 ? "the root" : `${look.target} ${words[look.target - 1].form}`;
    $("mode").replaceChildren("Head of ", make("strong", {}, `${choosing} ${words[choosing - 1].form}`), ": ", make("strong", {}, to),
      " · arrows, a number or a click, then ", make("kbd", {}, "Enter"), "; ", make("kbd", {}, "0"), " is the root, ", make("kbd", {}, "Esc"), " cancels");
  }
  showWord();
}

function keepInView(x) {
  const scroll = $("scroll"), side = Math.min(90, scroll.clientWidth / 4);
  if (x < scroll.scrollLeft + side) scroll.scrollLeft = x - side;
  else if (x > scroll.scrollLeft + scroll.clientWidth - side) scroll.scrollLeft = x - scroll.clientWidth + side;
  markEdges();
}

/* Fade the sides where the tree goes on. */
export function markEdges() {
  const { scrollLeft, scrollWidth, clientWidth } = $("scroll");
  $("box").classList.toggle("more-left", scrollLeft > 1);
  $("box").classList.toggle("more-right", scrollLeft < scrollWidth - clientWidth - 1);
}

const COLUMNS = { HEAD: "head", DEPREL: "label", UPOS: "tag" };

function showWord() {
  const { words } = page.sentence, one = word(), [first, last] = selection();
  if (first !== last) {
    const forms = words.slice(first - 1, last).map(({ form }) => form).join(" ");
    $("word").replaceChildren(make("strong", {}, `Words ${first}–${last}`), make("span", { dir: "auto" }, forms),
      make("span", {}, make("kbd", {}, "j"), " joins them, ", make("kbd", {}, "m"), " makes a multi-word token"));
    return;
  }
  const percent = (value) => (value === null ? "" : ` (${Math.round(100 * value)} %)`);
  const head = one.head === null ? "none" : one.head === 0 ? "root" : `${one.head} ${words[one.head - 1].form}`;
  const facts = [["Tag", one.upos], ["Label", one.deprel + percent(one.label)], ["Head", head + percent(one.arc)], ["Lemma", one.lemma], ["XPOS", one.xpos], ["Features", one.feats]];
  const chosen = one.fixed.length ? `decided: ${one.fixed.map((name) => COLUMNS[name]).join(", ")}` : "";
  $("word").replaceChildren(make("strong", { dir: "auto" }, `${one.id} ${one.form}`),
    ...facts.filter(([, value]) => value !== "_").map(([name, value]) => make("span", { dir: "auto" }, `${name} ${value}`)), make("span", {}, chosen));
}
