/* The tree of a sentence as SVG: words in a row, arcs above them; words can be dragged to their heads. */
const NS = "http://www.w3.org/2000/svg";
const FORM = 18, TAG = 12, LABEL = 13, GAP = 20, MARGIN = 16, STEP = 28, ROUND = 10, ROOT_WIDTH = 44, LARGEST = 1.3, SMALLEST = 0.85;
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff]/u;
const pen = document.createElement("canvas").getContext("2d");

function width(text, size, weight = 400) {
  pen.font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif`;
  return pen.measureText(text).width;
}

function shape(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* Every arc as low as the arcs beneath it allow. */
function levels(words) {
  const arcs = words.filter((word) => word.head).map(({ id, head }) => ({ id, head, left: Math.min(id, head), right: Math.max(id, head) }));
  arcs.sort((one, two) => one.right - one.left - (two.right - two.left) || one.left - two.left);
  const top = new Array(words.length + 1).fill(0);
  for (const arc of arcs) {
    arc.level = 1 + Math.max(0, ...top.slice(arc.left, arc.right));
    top.fill(arc.level, arc.left, arc.right);
  }
  return arcs;
}

/* Centres of the words: each as wide as its text, gaps as wide as the labels above need. */
function place(sentence, arcs) {
  const widths = [ROOT_WIDTH, ...sentence.words.map((word) => Math.max(width(word.form, FORM, 500), width(word.upos === "_" ? "–" : word.upos, TAG, 600), 18) + 10)];
  for (const { first, last, form } of sentence.tokens) {
    let sum = GAP * (last - first);
    for (let id = first; id <= last; id++) sum += widths[id];
    const missing = width(form, LABEL) - sum;
    if (missing > 0) widths[first] += missing;
  }
  const gaps = new Array(widths.length).fill(GAP); // after each word
  for (const { id, left, right } of arcs) {
    let room = (widths[left] + widths[right]) / 2 - 2 * ROUND;
    for (let at = left; at < right; at++) room += gaps[at] + (at > left ? widths[at] : 0);
    const missing = width(sentence.words[id - 1].deprel, LABEL, 600) + 14 - room;
    if (missing > 0) for (let at = left; at < right; at++) gaps[at] += missing / (right - left);
  }
  const centres = [];
  let x = MARGIN;
  widths.forEach((size, at) => { centres.push(x + size / 2); x += size + gaps[at]; });
  const total = x - gaps.at(-1) + MARGIN;
  const mirrored = RIGHT_TO_LEFT.test(sentence.text);
  return { widths, total, mirrored, centres: mirrored ? centres.map((centre) => total - centre) : centres };
}

/* Where each arc leaves its head: beside the centre, the longest arc closest to it. */
function starts(arcs, { centres, widths }) {
  const groups = new Map();
  for (const arc of arcs) {
    const key = `${arc.head} ${centres[arc.id] > centres[arc.head]}`;
    groups.set(key, [...(groups.get(key) ?? []), arc]);
  }
  for (const group of groups.values()) {
    group.sort((one, two) => two.right - two.left - (one.right - one.left));
    group.forEach((arc, at) => {
      const step = Math.min(7, (widths[arc.head] / 2 + 4) / group.length) * (at + 1);
      arc.x = centres[arc.head] + (centres[arc.id] > centres[arc.head] ? step : -step);
    });
  }
}

export function describe(word, words, doubtful) {
  const head = word.head === null ? "no head" : word.head === 0 ? "root" : `${word.deprel} of ${word.head} ${words[word.head - 1].form}`;
  const marks = [word.fixed.includes("HEAD") && "decided", doubtful && "worth a look"].filter(Boolean);
  return [`${word.id} ${word.form}`, word.upos === "_" ? "no tag" : word.upos, head, ...marks].join(", ");
}

/* Draw a sentence as large as there is room. `look` has the selected words, the candidate for a head, and words that flash. */
export function drawTree(sentence, look, room) {
  const { words } = sentence, arcs = levels(words), layout = place(sentence, arcs);
  const { centres, widths, total, mirrored } = layout;
  starts(arcs, layout);
  const top = 2 * LABEL + 8 + STEP * Math.max(0, ...arcs.map((arc) => arc.level));
  const base = top + STEP / 2, foot = base + FORM + TAG + 34;
  const height = foot + (sentence.tokens.length ? 30 : 6);
  const scale = Math.max(room > 700 ? SMALLEST : 1, Math.min(LARGEST, room / total));
  const svg = shape("svg", { width: total * scale, height: height * scale, viewBox: `0 0 ${total} ${height}`, role: "presentation" });
  const doubtful = new Set(sentence.doubtful), labels = [];
  const draw = (word, path, x, y) => {
    const names = [word.fixed.includes("HEAD") && "mine", doubtful.has(word.id) && "doubt", look.word === word.id && "selected", look.flash.has(word.id) && "flash"].filter(Boolean).join(" ");
    svg.append(drawArc(word, path, centres[word.id], base, names));
    labels.push(drawLabel(word, x, y, names));
  };
  for (const arc of arcs.sort((one, two) => two.level - one.level)) {
    const y = top - STEP * (arc.level - 1), to = centres[arc.id], turn = Math.min(ROUND, Math.abs(to - arc.x) / 2) * Math.sign(to - arc.x), size = Math.abs(turn);
    const path = `M${arc.x} ${base}V${y + size}q0 ${-size} ${turn} ${-size}H${to - turn}q${turn} 0 ${turn} ${size}V${base - 4}`;
    draw(words[arc.id - 1], path, (arc.x + to) / 2, y - 5);
  }
  for (const word of words) {
    if (word.head !== 0) continue;
    const x = centres[word.id];
    draw(word, `M${x} ${LABEL + 14}V${base - 4}`, x, LABEL + 8);
  }
  svg.append(...labels); // above all lines, so that each can be clicked
  svg.append(drawWord({ id: 0, form: "root" }, centres[0], widths[0], base, "word rootword", look, "The root of the sentence"));
  for (const word of words) svg.append(drawWord(word, centres[word.id], widths[word.id], base, "word", look, describe(word, words, doubtful.has(word.id))));
  for (const { first, last, form } of sentence.tokens) {
    const ends = [first, last].flatMap((id) => [centres[id] - widths[id] / 2 + 4, centres[id] + widths[id] / 2 - 4]);
    const left = Math.min(...ends), right = Math.max(...ends);
    svg.append(shape("path", { class: "range", d: `M${left} ${foot - 2}v5H${right}v-5` }),
      shape("text", { class: "written", x: (left + right) / 2, y: foot + 18 }, form));
  }
  return { svg, centres, mirrored, scale };
}

function drawArc(word, path, to, base, names) {
  return shape("g", { class: `arc ${names}`, "data-arc": word.id, "aria-hidden": "true" }, title(word),
    shape("path", { class: "line", d: path }), shape("path", { class: "hit", d: path }),
    shape("path", { class: "tip", d: `M${to - 4} ${base - 7}h8l-4 8z` }));
}

function drawLabel(word, x, y, names) {
  const own = word.fixed.includes("DEPREL") ? "decided" : "";
  return shape("text", { x, y, class: `label ${names} ${own}`, "data-label": word.id, "aria-hidden": "true" }, title(word), word.deprel === "_" ? "?" : word.deprel);
}

function title(word) {
  const sure = [["head", word.arc], ["label", word.label]].filter(([, value]) => value !== null);
  return shape("title", {}, [word.deprel, ...sure.map(([name, value]) => `${name} ${Math.round(100 * value)} %`)].join(", "));
}

function drawWord(word, x, size, base, name, look, label) {
  const { id } = word;
  const chosen = id >= Math.min(look.word, look.to) && id <= Math.max(look.word, look.to) && id > 0;
  const classes = [name, chosen && "selected", look.target === id && "target"].filter(Boolean).join(" ");
  const group = shape("g", { class: classes, id: `word-${id}`, "data-word": id, role: "option", "aria-selected": String(chosen), "aria-label": label },
    shape("rect", { x: x - size / 2, y: base + 1, width: size, height: FORM + TAG + 27, rx: 7 }),
    shape("text", { class: "form", x, y: base + FORM + 2 }, word.form));
  if (id) group.append(
    shape("text", { class: word.fixed.includes("UPOS") ? "upos mine" : "upos", x, y: base + FORM + TAG + 8, "data-tag": id }, word.upos === "_" ? "–" : word.upos),
    shape("text", { class: "number", x, y: base + FORM + TAG + 22 }, String(id)));
  return group;
}

/* Let words be dragged with mouse or pen; fingers scroll. Calls back with the word and its new head. */
export function makeDraggable(tree, onDrop) {
  let from = null, line = null, over = null;
  const wordAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-word]");
  const clear = () => {
    line?.remove();
    over?.classList.remove("target");
    from = line = over = null;
  };
  tree.addEventListener("pointerdown", (event) => {
    const word = event.target.closest("[data-word]");
    if (!word || event.button || event.pointerType === "touch" || event.target.dataset.tag || word.dataset.word === "0") return;
    from = { id: Number(word.dataset.word), x: event.clientX, y: event.clientY };
  });
  addEventListener("pointermove", (event) => {
    if (!from || (!line && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 7)) return;
    const svg = tree.querySelector("svg"), box = svg.getBoundingClientRect();
    if (!line) svg.append(line = shape("path", { class: "drag" }));
    const scale = svg.viewBox.baseVal.width / box.width;
    const [x1, y1, x2, y2] = [from.x - box.left, from.y - box.top, event.clientX - box.left, event.clientY - box.top].map((place) => place * scale);
    line.setAttribute("d", `M${x1} ${y1}Q${(x1 + x2) / 2} ${Math.min(y1, y2) - 40} ${x2} ${y2}`);
    const now = wordAt(event);
    over?.classList.remove("target");
    over = now && Number(now.dataset.word) !== from.id ? now : null;
    over?.classList.add("target");
    event.preventDefault();
  });
  addEventListener("pointerup", () => {
    const drop = line && over ? [from.id, Number(over.dataset.word)] : null, dragged = Boolean(line);
    clear();
    if (dragged) tree.addEventListener("click", (event) => event.stopPropagation(), { capture: true, once: true });
    if (dragged) setTimeout(() => tree.dispatchEvent(new Event("click")), 0); // the click may never come
    if (drop) onDrop(...drop);
  });
  addEventListener("pointercancel", clear);
}
