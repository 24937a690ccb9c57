/* What the keys and buttons of the editor do. */
import { pick, question } from "./annotate-pick.js";
import { edit, go, goToDoubt, parseEverything, revert } from "./annotate-server.js";
import { describe } from "./annotate-tree.js";
import { leaveMode, page, say, select, selection, showTree, word } from "./annotate-view.js";
import { $, make } from "./dom.js";

const LISTED = 500; // a longer list is slow to draw; searching finds the rest
const named = ({ id, form }) => `${id} ${form}`;
const parts = (text) => text.trim().split(/ +/);

export function chooseHead(id) {
  const { head } = page.sentence.words[id - 1];
  page.choosing = id;
  page.typed = "";
  page.look.word = page.look.to = id;
  page.look.target = head ?? (id > 1 ? id - 1 : 0);
  showTree();
  $("tree").focus();
}

export function setHead(id, head) {
  if (id === head) return;
  const { words } = page.sentence, one = words[id - 1];
  page.look.word = page.look.to = id;
  leaveMode();
  if (one.head === head && one.fixed.includes("HEAD")) return showTree();
  edit("head", { word: id, head }, `Head of ${named(one)} is now ${head ? named(words[head - 1]) : "the root"}.`);
}

let seen = null; // the sentence in which nothing more was found

function nextDoubt(step) {
  const { look, sentence } = page, { doubtful } = sentence;
  const after = doubtful.filter((id) => (step > 0 ? id > look.word : id < look.word));
  const rest = after.length ? after : doubtful.filter((id) => id !== look.word);
  if (rest.length) {
    select(step > 0 ? rest[0] : rest.at(-1));
    return say(describe(word(), sentence.words, true));
  }
  if (step > 0 && seen === sentence) return goToDoubt();
  seen = sentence;
  say(`No ${doubtful.length ? "other " : ""}word is worth a look here. Press Enter if the sentence is done, or d again to look further.`);
}

/* The next sentence that is not done; null if there is none. */
function nextOpen() {
  const { file, number, sentence } = page, order = [...file.sentences.keys()];
  if (!sentence.done) return null; // it could not be saved
  const next = [...order.slice(number + 1), ...order.slice(0, number)].find((at) => !file.sentences[at].done);
  if (next === undefined) say(`All ${order.length} sentences are done.`);
  return next ?? null;
}

export function listSentences() {
  const wanted = $("find").value.trim().toLowerCase();
  const found = [...page.file.sentences.entries()].filter(([at, { text, id, note }]) => String(at + 1) === wanted || [text, id ?? "", note].some((one) => one.toLowerCase().includes(wanted)));
  $("sentences").replaceChildren(...found.slice(0, LISTED).map(([at, { text, done, note }]) => {
    const button = make("button", { type: "button", onclick: () => { $("all").close(); go(at); } },
      make("span", { className: "mark" }, `${at + 1}${done ? " ✓" : ""}`), make("span", { dir: "auto" }, text, note ? make("em", {}, ` — ${note}`) : null));
    button.setAttribute("aria-current", String(at === page.number));
    button.setAttribute("aria-label", `Sentence ${at + 1}${done ? ", done" : ""}: ${text}`);
    return make("li", { className: done ? "is-done" : "" }, button);
  }));
}

export const actions = {
  head: () => (page.choosing === null ? chooseHead(page.look.word) : setHead(page.choosing, page.look.target)),
  async label() {
    const one = word();
    if (!one.head) return say(one.head === null ? "Choose a head first." : "The label of the root is root.");
    const { root, ...names } = page.file.labels;
    const label = await pick(`Label of ${named(one)}`, names, one.deprel);
    if (label) edit("label", { word: one.id, label }, `Label of ${named(one)} is now ${label}.`);
  },
  async tag() {
    const one = word(), tag = await pick(`Tag of ${named(one)}`, page.file.tags, one.upos);
    if (tag) edit("tag", { word: one.id, tag }, `Tag of ${named(one)} is now ${tag}.`);
  },
  confirm: () => edit("confirm", { word: page.look.word }, `Confirmed ${named(word())}.`),
  release: () => edit("release", { word: page.look.word }, `Forgot the head of ${named(word())}.`),
  doubt: () => nextDoubt(1),
  doubtBack: () => nextDoubt(-1),
  next: () => go(() => page.number + 1),
  previous: () => go(() => page.number - 1),
  undo: () => revert("undo"),
  redo: () => revert("redo"),
  async split() {
    const { id, form } = word();
    const answer = await question(`Split ${form}`, "Put a space where the word is to be split.", [{ name: "parts", label: "Parts", value: form }], [["ok", "Split"]]);
    if (answer) edit("split", { word: id, parts: parts(answer.parts) }, "Split the word.");
  },
  join() {
    let [first, last] = selection();
    if (first === last) last += 1;
    if (last > page.sentence.words.length) return say("There is no next word to join.");
    page.look.word = page.look.to = first;
    edit("join", { first, last }, "Joined the words.");
  },
  async multiword() {
    const [first, last] = selection(), { words, tokens } = page.sentence, { id, form } = word();
    const token = tokens.find((one) => one.first <= first && last <= one.last);
    if (token) {
      const forms = words.slice(token.first - 1, token.last).map((one) => one.form).join(" ");
      const answer = await question(`Multi-word token ${token.form}`, `Its words are: ${forms}.`, [], [["ungroup", "Dissolve it into its words"], ["join", "Make it one word"]]);
      if (answer?.button === "ungroup") edit("ungroup", { word: id }, "Dissolved the multi-word token.");
      if (answer?.button === "join") edit("join", { first: token.first, last: token.last }, "Made one word.");
    } else if (first !== last) {
      edit("group", { first, last }, "Made a multi-word token.");
    } else {
      const answer = await question(`Words of ${form}`, "Write the words that it stands for, with spaces between them (del: de el).", [{ name: "parts", label: "Words", value: form }], [["ok", "Make a multi-word token"]]);
      if (answer) edit("expand", { word: id, parts: parts(answer.parts) }, "Made a multi-word token.");
    }
  },
  async cells() {
    const one = word(), shown = (value) => (value === "_" ? "" : value);
    const fields = [
      { name: "LEMMA", label: "Lemma", value: shown(one.lemma) },
      { name: "XPOS", label: "XPOS", value: shown(one.xpos) },
      { name: "FEATS", label: "Features, such as Case=Nom|Number=Sing", value: shown(one.feats) },
    ];
    const answer = await question(named(one), "", fields, [["ok", "Save"]]);
    for (const { name, value } of fields) {
      if (answer && answer[name].trim() !== value) edit("cell", { word: one.id, column: name, value: answer[name] }, "Saved.");
    }
  },
  splitSentence: () => edit("split_sentence", { word: page.look.word }, "Split the sentence."),
  joinSentences: () => edit("join_sentences", {}, "Joined the next sentence to this one."),
  async comment() {
    const answer = await question("Note on the sentence", "It is kept in the file as a comment.", [{ name: "text", label: "Note", value: page.sentence.note, long: true }], [["ok", "Save"]]);
    if (answer) edit("note", { text: answer.text }, "Saved the note.");
  },
  reparse: parseEverything,
  toggleAuto() {
    $("auto").checked = !$("auto").checked;
    say(`Parsing again after each change is ${$("auto").checked ? "on" : "off"}.`);
  },
  accept() {
    if (page.choosing !== null) return setHead(page.choosing, page.look.target);
    if (!page.sentence.done) edit("done", { done: true });
    go(nextOpen);
  },
  toggleDone: () => edit("done", { done: !page.sentence.done }, page.sentence.done ? "Not done." : "Done."),
  help: () => $("help").showModal(),
  list() {
    $("find").value = "";
    listSentences();
    $("all").showModal();
    $("sentences").querySelector("[aria-current=true]")?.scrollIntoView({ block: "center" });
    $("find").focus();
  },
};
