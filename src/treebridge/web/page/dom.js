/* Small helpers for building elements and calling the server. */
export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/* Text in which `code` is marked by backticks. */
export function prose(tag, text = "", className = "") {
  const parts = text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
  return make(tag, { className }, ...parts);
}

export function addOption(select, value, label = value) {
  select.append(make("option", { value }, label));
}

/* The server escapes every word in its SVG. It is parsed as XML, so nothing in it can become HTML. */
export function picture(svg) {
  return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
}

/* An error message of the server as a sentence. */
function sentence(text) {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!…]$/.test(capital) ? capital : `${capital}.`;
}

/* The token of a server that needs one arrives in the fragment of its address and stays in this window. */
const TOKEN = "treebridge-token";
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
}

export async function ask(path, { body, signal, text = false } = {}) {
  const headers = {}, token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try { response = await fetch(path, { signal, headers, ...(body && { method: "POST", body: JSON.stringify(body) }) }); }
  catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("The server does not respond. Is it still running?"), { offline: true });
  }
  if (text && response.ok) return response.text();
  const content = await response.json().catch(() => null);
  if (!content || !response.ok) {
    const message = sentence(content?.detail || `the server responded with status ${response.status}`);
    throw Object.assign(new Error(message), { status: response.status, reload: content?.reload });
  }
  return content;
}
