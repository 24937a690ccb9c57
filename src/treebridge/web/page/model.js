/* What is known about a model: a panel beside the form, and details at the end of the page. */
import { $, make, prose } from "./dom.js";

const TAGS = { gold: "needed in the input", none: "not used", predicted: "predicted" };
const names = new Intl.DisplayNames(["en"], { type: "language" });
const number = (value, digits = 1) => (value === undefined || value === null ? "–" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
const percent = (value) => `${number(value)} %`;

export function languageOf(model) {
  return model.language_name || nameOf(model.language);
}

function nameOf(code) {
  try { return code ? names.of(code) : ""; }
  catch { return code; } // not a language code
}

export function showModel(model) {
  const language = languageOf(model), source = nameOf(model.source_language);
  const subtitle = [language, source && `learned from ${source} trees`].filter(Boolean).join(", ");
  const { LAS } = model.scores;
  $("about").replaceChildren(
    make("div", { className: "title" },
      make("h2", { id: "about-title" }, make("small", {}, "Model "), model.name),
      LAS ? make("p", { className: "score" }, make("strong", {}, number(LAS)), " LAS") : null),
    make("p", { className: "subtitle" }, subtitle || "Language unknown"),
    make("p", { className: "note" }, accuracy(model, language, source)),
    prose("p", model.summary, "summary"),
  );
  $("about").hidden = false;
  showDetails(model);
}

function accuracy(model, language, source) {
  const { LAS, UAS } = model.scores;
  if (LAS) return `About ${Math.round(LAS)} of 100 words get the right head and relation, ${Math.round(UAS)} the right head (${model.scored_on}).`;
  const unknown = `Not evaluated${language ? ` on ${language} trees` : ""} yet.`;
  if (!model.source_scores.LAS || !model.bridge) return unknown;
  return `${unknown} On held-out ${source || "source"} trees, LAS is ${number(model.source_scores.LAS)}.`;
}

function showDetails(model) {
  const parts = [["Technical details", facts(model)]];
  if (model.limits.length) parts.unshift(["Known limits", list(model.limits)]);
  if (model.data.length) {
    const data = list(model.data.map((one) => `${one.what} (${one.licence})`));
    parts.unshift(["Training data", data, make("p", {}, `The model is licensed under ${model.licence}.`)]);
  }
  $("details").replaceChildren(...parts.map(([title, ...content]) => make("section", {}, make("h2", {}, title), ...content)));
  $("details").hidden = false;
}

const list = (texts) => make("ul", {}, ...texts.map((text) => prose("li", text)));

function facts(model) {
  const rows = [["UPOS tags", TAGS[model.tags]]];
  if (model.encoder !== "encoder") rows.unshift(["Encoder", model.encoder]); // else inside the model's folder
  const source = model.source_scores;
  if (source.LAS) rows.push(["Source language", `LAS ${number(source.LAS)}, UAS ${number(source.UAS)}`]);
  if (model.bridge) {
    const q = model.bridge.quality;
    rows.push(["Bridge", q.verdict], ["Bridge into", model.bridge.into]);
    if (q.links) rows.push(["Links", q.links.toLocaleString("en")]);
    if (q.anchors) rows.push(["Anchors", `${q.anchors.toLocaleString("en")}; ${q.types_with_several_senses.toLocaleString("en")} words with several senses`]);
    if (q.anisotropy) rows.push(["Anisotropy", `${number(q.anisotropy.target, 3)} → ${number(q.anisotropy.target_isotropic, 3)}`]);
    if (q.cosine !== undefined) rows.push(["Held-out cosine", `${number(q.cosine_unmapped, 3)} → ${number(q.cosine, 3)}`]);
    if (q.target_to_source?.csls_p1) rows.push(["Words translated", `${percent(q.target_to_source.csls_p1)} correctly, ${percent(q.target_to_source.csls_p5)} among the top 5`]);
    if (q.unmapped?.csls_p1) rows.push(["Without the map", percent(q.unmapped.csls_p1)]);
  } else {
    rows.push(["Bridge", "none"]);
  }
  return make("table", { id: "facts" }, make("tbody", {}, ...rows.map(([name, value]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)))));
}
