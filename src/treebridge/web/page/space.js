/* The plots of a word's occurrences before and after the bridge's map. */
import { $, ask, picture } from "./dom.js";

export function offerSpace(models) {
  const model = models.find((one) => one.space);
  $("space").hidden = !model;
  $("space-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    say("Loading …");
    try {
      const query = new URLSearchParams({ word: $("word").value, model: model.name });
      const found = await ask(`space?${query}`);
      $("pictures").replaceChildren(picture(found.before), picture(found.after));
      const parts = Object.entries(found.translations).map(([word, count]) => `${word} (${count} times)`);
      say(`“${found.word}” is translated as ${parts.join(", ")}.`);
    } catch (error) {
      $("pictures").replaceChildren();
      say(error.message, true);
    }
  });
}

function say(text, wrong = false) {
  $("space-status").textContent = text;
  $("space-status").classList.toggle("error", wrong);
}
