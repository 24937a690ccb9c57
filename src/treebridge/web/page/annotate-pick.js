/* Dialogs: choose one of many names by typing, and answer a question. */
import { $, make } from "./dom.js";

/* Names that match a query: those that begin with it, contain it, or whose meaning does. */
export function matches(names, query) {
  const wanted = query.trim().toLowerCase();
  const rank = ([name, gloss]) => {
    const lower = name.toLowerCase();
    if (lower === wanted) return 0;
    if (lower.startsWith(wanted)) return 1;
    if (lower.includes(wanted)) return 2;
    return gloss.toLowerCase().includes(wanted) ? 3 : 4;
  };
  const found = Object.entries(names).map((entry) => [rank(entry), entry]).filter(([at]) => at < 4);
  return found.sort((one, two) => one[0] - two[0]).map(([, entry]) => entry);
}

/* Resolves to the chosen name, or null. */
export function pick(title, names, current) {
  const dialog = $("pick"), query = $("query"), list = $("options");
  let found = [], at = 0;
  const mark = () => {
    [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === at)));
    query.setAttribute("aria-activedescendant", found.length ? `option-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    found = matches(names, query.value);
    at = query.value ? 0 : Math.max(0, found.findIndex(([name]) => name === current));
    list.replaceChildren(...found.map(([name, gloss], number) => {
      const item = make("li", { id: `option-${number}`, className: name === current ? "current" : "", onclick: () => dialog.close(name) }, make("b", {}, name), make("span", {}, gloss));
      item.setAttribute("role", "option");
      return item;
    }));
    if (!found.length) list.append(make("li", {}, "Nothing found. Only relations and tags that UD, the model or this file know can be chosen."));
    mark();
  };
  query.oninput = show;
  query.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) {
      at = Math.max(0, Math.min(found.length - 1, at + step));
      mark();
    } else if (event.key === "Enter") {
      if (found[at]) dialog.close(found[at][0]);
    } else return;
    event.preventDefault();
  };
  $("pick-title").textContent = title;
  query.value = "";
  show();
  return opened(dialog, query);
}

/* Ask for some texts. `fields` are {name, label, value, long}, `buttons` [value, label]; resolves to {button, …texts} or null. */
export async function question(title, text, fields, buttons) {
  const dialog = $("ask");
  $("ask-title").textContent = title;
  $("ask-text").textContent = text;
  const inputs = fields.map(({ name, label, value = "", long }) => {
    const input = make(long ? "textarea" : "input", { id: `field-${name}`, name, value, autocomplete: "off", spellcheck: false, dir: "auto" });
    input.onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      dialog.close(buttons[0][0]);
    };
    return input;
  });
  $("fields").replaceChildren(...inputs.flatMap((input, at) => [make("label", { htmlFor: input.id }, fields[at].label), input]));
  $("ask-buttons").replaceChildren(
    ...buttons.map(([value, label], at) => make("button", { type: at ? "button" : "submit", value, onclick: () => dialog.close(value) }, label)),
    make("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"));
  const button = await opened(dialog, inputs[0] ?? $("ask-buttons").firstChild);
  if (!button) return null;
  return { button, ...Object.fromEntries(inputs.map((input) => [input.name, input.value])) };
}

function opened(dialog, focus) {
  return new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true });
    dialog.showModal();
    focus.focus();
    focus.setSelectionRange?.(focus.value.length, focus.value.length);
  });
}
