"use strict";
function make(tag, text, name) {
  const element = document.createElement(tag);
  // Descriptions are written with `code` in them: every second part is such.
  (text ?? "").split("`").forEach((part, index) => {
    if (index % 2 === 0) return element.append(part);
    element.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
  if (name) element.className = name;
  return element;
}

function kind(schema, all) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((one) => kind(one, all)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(", ");
  if (schema.type === "array") return `list of ${kind(schema.items, all)}`;
  return schema.type || "anything";
}

function table(rows) {
  const body = make("tbody");
  for (const [name, ...cells] of rows) {
    const row = make("tr");
    row.append(make("th", name), ...cells.map((cell) => make("td", cell)));
    body.append(row);
  }
  const element = make("table");
  element.append(body);
  return element;
}

function fields(schema, all) {
  const name = kind(schema, all);
  const found = all[name.replace("list of ", "")];
  if (!found?.properties) return [];
  return Object.entries(found.properties).map(([key, value]) => {
    const needed = found.required?.includes(key) ? "" : ", optional";
    return [key, kind(value, all) + needed, value.description || ""];
  });
}

async function start() {
  document.getElementById("example").textContent =
    `curl ${location.origin}/parse -H 'Content-Type: application/json' \\\n  -d '{"text": "O banco aprovou o empréstimo."}'`;
  const api = await (await fetch("openapi.json")).json();
  const all = api.components.schemas;
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const card = make("section", undefined, "card");
      card.append(make("h2", `${method.toUpperCase()} ${path}`), make("p", about.description));
      const body = about.requestBody?.content["application/json"].schema;
      const asked = (about.parameters || []).map((one) => [one.name, kind(one.schema, all), one.description || ""]);
      if (body) asked.push(...fields(body, all));
      if (asked.length) card.append(make("h3", "takes"), table(asked));
      const answer = about.responses["200"].content["application/json"].schema;
      card.append(make("h3", `answers with ${kind(answer, all)}`), table(fields(answer, all)));
      const errors = Object.entries(about.responses).filter(([code]) => code !== "200");
      if (errors.length) card.append(make("h3", "or"), table(errors.map(([code, one]) => [code, one.description])));
      document.getElementById("paths").append(card);
    }
  }
}
start();
