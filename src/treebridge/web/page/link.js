/* The address of a view: its text, models and input format, in the fragment, which stays in the browser. */
const LONGEST = 8000; // characters that browsers, mail and chat programs pass on unchanged

/* null where the text is too long for a link. */
export function linkTo({ text, model, compare, input }) {
  const fields = new URLSearchParams({ text, model });
  if (compare) fields.set("compare", compare);
  if (input !== "text") fields.set("input", input);
  const fragment = `#${fields}`;
  return fragment.length <= LONGEST ? fragment : null;
}

/* null where the address has no view. */
export function linkedView() {
  const fields = new URLSearchParams(location.hash.slice(1));
  if (!fields.get("text")) return null;
  return {
    text: fields.get("text"),
    model: fields.get("model"),
    compare: fields.get("compare") ?? "",
    input: fields.get("input") ?? "text",
  };
}
