/* The documentation of the REST interface, from its OpenAPI description. */
import { $, ask, make, prose } from "./dom.js";

function kind(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(", ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.type || "any";
}

function table(rows) {
  const body = rows.map(([name, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => prose("td", cell))));
  return make("div", { className: "scroll" }, make("table", {}, make("tbody", {}, ...body)));
}

function fields(schema, all, optional = "") {
  const found = all[kind(schema).replace("list of ", "")];
  return Object.entries(found?.properties ?? {}).map(([key, value]) => {
    return [key, kind(value) + (found.required?.includes(key) ? "" : optional), value.description || ""];
  });
}

async function start() {
  const [api, models] = await Promise.all([ask("openapi.json"), ask("models")]);
  const text = models[0].examples[0] ?? "…";
  $("example").textContent = `curl ${location.origin}/parse -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ text })}'`;
  const all = api.components.schemas;
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const card = make("section", { className: "card" },
        make("h2", {}, `${method.toUpperCase()} ${path}`), prose("p", about.description));
      const body = about.requestBody?.content["application/json"].schema;
      const asked = (about.parameters ?? []).map((one) => [one.name, kind(one.schema), one.description || ""]);
      if (body) asked.push(...fields(body, all, ", optional"));
      if (asked.length) card.append(make("h3", {}, "Parameters"), table(asked));
      const answer = about.responses["200"].content["application/json"].schema;
      card.append(make("h3", {}, `Response: ${kind(answer)}`), table(fields(answer, all)));
      const errors = Object.entries(about.responses).filter(([code]) => code !== "200");
      if (errors.length) card.append(make("h3", {}, "Errors"), table(errors.map(([code, one]) => [code, one.description])));
      $("paths").append(card);
    }
  }
}
start().catch((error) => $("paths").append(make("p", { className: "error" }, error.message)));
