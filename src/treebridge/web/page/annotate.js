/* The editor of a file: one sentence at a time, by keyboard, mouse or touch. */
import { actions, chooseHead, listSentences, setHead } from "./annotate-actions.js";
import { fillHelp, KEYS } from "./annotate-keys.js";
import { load, open, queue, reload, tryAgain } from "./annotate-server.js";
import { makeDraggable } from "./annotate-tree.js";
import { leaveMode, markEdges, page, say, select, showTree, word } from "./annotate-view.js";
import { $, ask } from "./dom.js";
import { saveText } from "./save.js";

const { look } = page;

function onKey(event) {
  const { key, target, shiftKey } = event;
  if (!page.sentence || document.querySelector("dialog[open]") || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    const what = { z: shiftKey ? "redo" : "undo", y: "redo" }[key.toLowerCase()];
    if (what) actions[what]();
    if (what) event.preventDefault();
    return;
  }
  if (key === "Escape") $("error").hidden = true;
  if ((key === "Enter" || key === " ") && target.closest("button, a, summary, input")) return; // they have their own
  if (page.choosing === null ? selectKey(key, shiftKey) : headKey(key)) return event.preventDefault();
  if (key === "Enter" && shiftKey) actions.toggleDone();
  else if (KEYS[key]) actions[KEYS[key]]();
  else return;
  event.preventDefault();
}

/* Arrows are for the eye: in right-to-left scripts, the next word is on the left. */
const step = (key) => ({ ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0) * (page.mirrored ? -1 : 1);

/* Keys that select words; whether this was one. */
function selectKey(key, extend) {
  const { words } = page.sentence, within = (id) => Math.max(1, Math.min(words.length, id));
  if (step(key)) select(within((extend ? look.to : look.word) + step(key)), extend);
  else if (key === "Home" || key === "End") select(key === "Home" ? 1 : words.length, extend);
  else if (key === "ArrowUp") select(word().head || look.word);
  else if (key === "ArrowDown") select(words.find(({ head }) => head === look.word)?.id ?? look.word);
  else if (key === "Escape") select(look.word);
  else return false;
  return true;
}

/* Keys that choose a head; whether this was one. */
function headKey(key) {
  const { words } = page.sentence, by = step(key) || { ArrowUp: -1, ArrowDown: 1 }[key] || 0;
  const possible = (id) => id >= 0 && id <= words.length && id !== page.choosing;
  if (by) {
    page.typed = "";
    look.target = [look.target + by, look.target + 2 * by].find(possible) ?? look.target;
  } else if (key === "Home" || key === "End") {
    look.target = (key === "Home" ? [0] : [words.length, words.length - 1]).find(possible);
  } else if (/^\d$/.test(key)) { // it continues the number if there is such a word, else it begins a new one
    page.typed = Number(page.typed + key) <= words.length ? page.typed + key : key;
    if (possible(Number(page.typed))) look.target = Number(page.typed);
    else say("A word cannot be its own head.");
  } else if (key === "Enter" || key === "h") {
    setHead(page.choosing, look.target);
    return true;
  } else if (key === "Escape" || KEYS[key]) {
    leaveMode();
    showTree();
    return key === "Escape";
  } else return false;
  showTree();
  return true;
}

function onClick({ target, shiftKey }) {
  $("tree").focus();
  const [label, tag, arc, chosen] = ["label", "tag", "arc", "word"].map((name) => {
    const found = target.closest(`[data-${name}]`);
    return found ? Number(found.dataset[name]) : null;
  });
  if (page.choosing !== null && chosen !== null) setHead(page.choosing, chosen);
  else if (label !== null || tag !== null) {
    select(label ?? tag);
    actions[label === null ? "tag" : "label"]();
  } else if (arc !== null) chooseHead(arc);
  else if (!chosen) return;
  else if (chosen === look.word && chosen === look.to) chooseHead(chosen);
  else select(chosen, shiftKey);
}

function download({ currentTarget }) {
  const { part } = currentTarget.dataset;
  queue(async () => {
    const text = await ask(`annotate/file?part=${part}`, { text: true });
    const name = page.file.file.replace(/(\.conllu)?$/, part === "all" ? ".conllu" : `-${part}.conllu`);
    if (text) saveText(text, name);
    else say("There is nothing to download yet.");
  });
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (!button || !page.sentence) return;
  if (event.detail) $("tree").focus(); // keys after a click are for the tree, not for the button
  actions[button.dataset.do]();
});
$("tree").addEventListener("click", onClick);
makeDraggable($("tree"), setHead);
for (const button of document.querySelectorAll("[data-part]")) button.addEventListener("click", download);
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", () => $("tree").focus());
$("find").addEventListener("input", listSentences);
$("dismiss").addEventListener("click", () => { $("error").hidden = true; });
$("again").addEventListener("click", tryAgain);
$("reload").addEventListener("click", reload);
$("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the place in the file
  $("tree").focus();
});
$("scroll").addEventListener("scroll", markEdges, { passive: true });
addEventListener("resize", () => page.sentence && showTree());
fillHelp();

const linked = Number(location.hash.slice(1)); // the sentence of an earlier visit
page.number = Math.max(0, (linked || 1) - 1);
queue(async () => {
  await open();
  const first = page.file.sentences.findIndex((one) => !one.done);
  if (!linked && first > 0) await load(first);
  $("tree").focus();
});
