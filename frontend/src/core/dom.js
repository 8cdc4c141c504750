/* Elements from values. Text is always text: nothing here reads HTML from a string. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null
    && child !== undefined && child !== false));
  // A select has its options only now.
  if (element.tagName === "SELECT" && properties?.value !== undefined) {
    element.value = properties.value;
  }
  return element;
}

export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Other children in a place that somebody may be reading: what has the focus keeps it, and what was
 * scrolled stays where it was. */
export function replaceKeeping(place, children) {
  const name = (one) => one.getAttribute("aria-label") ?? one.getAttribute("href")
    ?? one.dataset.sort ?? one.textContent;
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const scrolled = [...place.querySelectorAll(".scroll")].map((one) =>
    [one.scrollLeft, one.scrollTop]);
  place.replaceChildren(...children);
  place.querySelectorAll(".scroll").forEach((one, at) => {
    [one.scrollLeft, one.scrollTop] = scrolled[at] ?? [0, 0];
  });
  if (!held) return;
  [...place.querySelectorAll(held.tagName)].find((one) => name(one) === name(held))
    ?.focus({ preventScroll: true });
}

let given = 0;

/** A name for an element that others point at. */
export function freshId(stem) {
  given += 1;
  return `${stem}-${given}`;
}

/** Say something to those who listen to the page. */
export function say(text) {
  const place = document.getElementById("said");
  if (place && place.textContent !== text) place.textContent = text;
}

/** Call it once the calls have paused for so long. */
export function debounced(call, pause_ms) {
  let timer = 0;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), pause_ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Put `text` into a place only where it changed, so that readers of screens hear news only. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
