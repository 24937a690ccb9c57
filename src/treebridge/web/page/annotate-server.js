/* Requests of the editor, one after another: the server saves a change before the page shows it. */
import { describe } from "./annotate-tree.js";
import { leaveMode, page, say, show, showTree } from "./annotate-view.js";
import { $, ask } from "./dom.js";

const REPARSED = new Set(["head", "label", "tag", "release", "split", "expand", "join", "group", "ungroup", "split_sentence", "join_sentences"]);
const RENUMBERED = new Set(["split", "expand", "join", "split_sentence", "join_sentences"]);

const SEARCHED = 200; // sentences; without probabilities in the file, each has to be parsed

let waiting = 0, chain = Promise.resolve();
let renumbering = false;
let failed = null; // the request to try again

export function queue(work) {
  waiting += 1;
  chain = chain.then(work).catch(fail).finally(() => { waiting -= 1; });
  return chain;
}

function fail(error) {
  const unsaved = error.offline && failed;
  $("message").textContent = unsaved ? "The server does not respond, so the last change was not saved. Start it again, then try again." : error.message;
  $("again").hidden = !unsaved;
  $("reload").hidden = error.reload !== "file";
  $("error").hidden = false;
  $("saved").textContent = "";
  if (!error.offline) failed = null;
  if (error.reload === "page") queue(open);
  leaveMode();
  if (page.sentence) showTree();
}

async function post(path, body) {
  failed = { path, body };
  const answer = await ask(`annotate/${path}`, { body: { version: page.file.version, ...body } });
  failed = null;
  $("error").hidden = true;
  $("saved").textContent = "Saved";
  return answer;
}

export function tryAgain() {
  if (!failed) return;
  const { path, body } = failed;
  $("error").hidden = true;
  queue(async () => accept(await post(path, body)));
}

/* Take over an answer and return the words whose arc changed, which flash; `keep` leaves the page as it is. */
function accept(answer, keep = false) {
  const { file, look } = page, { version, undo, redo } = answer;
  Object.assign(file, { version, undo, redo });
  if (answer.sentences) file.sentences = answer.sentences;
  file.sentences[answer.sentence.number] = answer.summary;
  if (keep) return [];
  const old = page.number === answer.sentence.number ? page.sentence : null;
  page.number = answer.sentence.number;
  page.sentence = answer.sentence;
  const { words } = page.sentence, same = old?.words.length === words.length;
  const differs = (one, two) => one.head !== two.head || one.deprel !== two.deprel;
  const changed = same ? words.filter((one, at) => differs(one, old.words[at])).map(({ id }) => id) : [];
  look.flash = new Set(changed);
  if (!old) look.word = look.to = page.sentence.doubtful[0] ?? 1;
  leaveMode();
  show();
  return changed;
}

export function edit(op, body = {}, message = "") {
  if (renumbering) return say("One moment: the words are being renumbered.");
  renumbering = RENUMBERED.has(op);
  const sentence = page.number;
  return queue(async () => {
    const changed = new Set(accept(await post("edit", { sentence, op, ...body })));
    if (REPARSED.has(op) && $("auto").checked && waiting === 1) { // else a later edit does it
      if (op === "split_sentence") await parseAgain(sentence + 1, true);
      for (const id of await parseAgain(sentence)) changed.add(id);
    }
    changed.delete(body.word); // what the person did needs no telling
    page.look.flash = changed;
    showTree();
    say([message, others([...changed])].filter(Boolean).join(" "));
  }).finally(() => { renumbering = false; });
}

/* Parse the rest again if the parser may change anything. */
async function parseAgain(sentence, keep = false) {
  if (!keep && (!page.sentence.open || page.sentence.done)) return [];
  return accept(await post("reparse", { sentence }), keep);
}

export function parseEverything() {
  queue(async () => {
    const changed = accept(await post("reparse", { sentence: page.number, everything: true }));
    say(others(changed) || (page.sentence.done ? "The sentence is done, so nothing is parsed again." : "The parser changed nothing."));
  });
}

function others(changed) {
  if (!changed.length) return "";
  const { words } = page.sentence, names = changed.sort((a, b) => a - b).map((id) => describe(words[id - 1], words, false));
  return `Also changed: ${names.join("; ")}.`;
}

export function revert(what) {
  if (!page.file[what]) return say(`There is nothing to ${what}.`);
  queue(async () => {
    const changed = accept(await post(what, {}));
    if (changed.length && !changed.includes(page.look.word)) page.look.word = page.look.to = changed[0];
    showTree();
    say(what === "undo" ? "Undone." : "Redone.");
  });
}

export async function open() {
  page.file = await ask("annotate/document");
  await load(Math.min(page.number, page.file.sentences.length - 1));
}

export async function load(place) {
  const answer = await ask(`annotate/sentences/${place}`);
  $("saved").textContent = "";
  if (place !== page.number) page.sentence = null;
  accept(answer);
  say("");
}

/* Go to a sentence; `find` is its place, or chooses it when its turn comes. */
export function go(find) {
  queue(async () => {
    const place = typeof find === "function" ? find() : find;
    if (place === null) return;
    if (place < 0 || place >= page.file.sentences.length) return say(`This is the ${place < 0 ? "first" : "last"} sentence.`);
    await load(place);
  });
}

/* Go to the next sentence that is not done and has a word worth a look. */
export function goToDoubt() {
  queue(async () => {
    const { sentences } = page.file, open = [...sentences.keys()].slice(page.number + 1).filter((at) => !sentences[at].done);
    for (const place of open.slice(0, SEARCHED)) {
      say(`Looking at sentence ${place + 1} …`);
      const answer = await ask(`annotate/sentences/${place}`);
      if (answer.sentence.doubtful.length) {
        page.sentence = null;
        accept(answer);
        return say("");
      }
    }
    say(open.length > SEARCHED ? `No word is worth a look in the next ${SEARCHED} sentences.` : "No word is worth a look in the sentences that follow.");
  });
}

export function reload() {
  queue(async () => {
    await ask("annotate/reload", { body: {} });
    page.sentence = null;
    await open();
    $("error").hidden = true;
    say("Reloaded the file.");
  });
}
