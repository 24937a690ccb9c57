/* Downloads and the clipboard. */
import { make } from "./dom.js";

const SCALE = 2; // of PNG, for sharp print
const LARGEST = 16000; // pixels that a canvas can have on one side

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function saveText(text, name, type = "text/plain") {
  save(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

/* The browser draws the SVG on a white canvas. */
export async function savePng(svg, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = Math.min(SCALE, LARGEST / image.width, LARGEST / image.height);
  const canvas = make("canvas", { width: image.width * scale, height: image.height * scale });
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  save(await new Promise((resolve) => canvas.toBlob(resolve, "image/png")), name);
}

/* Whether the browser allowed it; it does so only on localhost and over HTTPS. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
