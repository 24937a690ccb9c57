/* The keys of the editor: what each one does, and the page that lists them. */
import { $, make } from "./dom.js";

export const KEYS = {
  h: "head", l: "label", t: "tag", " ": "confirm", d: "doubt", D: "doubtBack", Backspace: "release", Delete: "release",
  n: "next", p: "previous", g: "list", z: "undo", y: "redo", Z: "redo", s: "split", j: "join", m: "multiword", e: "cells",
  S: "splitSentence", J: "joinSentences", c: "comment", r: "reparse", R: "toggleAuto", Enter: "accept", "?": "help",
};

const LIST = [
  ["← →", "Select a word (Shift: several)"], ["Home End", "First, last word"], ["↑ ↓", "To the head, to a dependent"],
  ["h", "Choose the head: arrows or its number, then Enter; 0 is the root"], ["l", "Choose the label"], ["t", "Choose the tag"],
  ["Space", "Confirm the word as it is"], ["Backspace", "Forget the head; the parser chooses again"],
  ["d D", "Next, previous word worth a look; again: in the next sentence"], ["Enter", "Sentence is done; on to the next"], ["Shift+Enter", "Done, or not done; stay here"],
  ["n p", "Next, previous sentence"], ["g", "List of all sentences"], ["z y", "Undo, redo"],
  ["s", "Split the word"], ["j", "Join the selected words, or the word and the next"],
  ["m", "Multi-word token: make or dissolve"], ["e", "Edit lemma, XPOS and features"],
  ["S", "Split the sentence before the word"], ["J", "Join the next sentence to this one"], ["c", "Note on the sentence"],
  ["r", "Parse again all that nobody decided"], ["R", "Parse again after each change: on, off"], ["?", "This page"],
];

export function fillHelp() {
  $("keys").replaceChildren(...LIST.map(([keys, what]) => make("div", {},
    make("dt", {}, ...keys.split(" ").flatMap((key, at) => [at ? " " : "", make("kbd", {}, key)])), make("dd", {}, what))));
}
