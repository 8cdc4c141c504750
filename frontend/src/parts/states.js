/* What stands where values are not (yet): being loaded, nothing there, an error with a way on. */
import { h, replaceKeeping, say, setText } from "../core/dom.js";
import * as formats from "../core/formats.js";
import { wasAborted } from "../core/api.js";

export function skeleton(lines = 3, label = "Loading") {
  return h("div", { class: "skeleton", role: "status", "aria-label": `${label} …` },
    Array.from({ length: lines }, () => h("span", { class: "bone", "aria-hidden": "true" })));
}

export function empty(text, more = null) {
  return h("div", { class: "empty" }, h("p", {}, text), more && h("p", { class: "soft" }, more));
}

/** What is not there, why, and what to do so that it is: a sentence of the server's. */
export function unknown(why, name = null) {
  if (!why) return null;
  return h("p", { class: "unknown" }, name && h("strong", {}, `${name} `),
    `${name ? why[0] : why[0].toUpperCase()}${why.slice(1)}.`);
}

/** An error in words, what would be right, and a button that tries again. */
export function failure(error, retry = null) {
  return h("div", { class: "failure", role: "alert" },
    h("p", {}, h("strong", {}, error.message || String(error))),
    error.right && h("p", {}, error.right),
    retry && h("button", { type: "button", onclick: retry }, "Try again"));
}

/** The same element in place of what stood there, marked as busy while `load()` is under way.
 *
 * The first time bones are shown; later the old values stay, dimmed, until the new ones are there:
 * what people read does not jump away. A newer call makes an older one void. */
export class Filled {
  constructor(element, { lines = 4, label = "Loading", keeping = false } = {}) {
    this.element = element;
    this.keeping = keeping; // what comes again by itself takes nothing from under a reader's hand
    this.lines = lines;
    this.label = label;
    this.round = 0;
    this.shown = false;
  }

  /** Whether an answer is waited for. */
  get busy() {
    return this.element.hasAttribute("aria-busy");
  }

  async fill(load, show) {
    const round = ++this.round;
    this.abort?.abort();
    this.abort = new AbortController();
    this.element.setAttribute("aria-busy", "true");
    if (!this.shown) this.element.replaceChildren(skeleton(this.lines, this.label));
    try {
      const found = await load(this.abort.signal);
      if (round !== this.round) return;
      const made = show(found);
      if (made && this.keeping) replaceKeeping(this.element, [made].flat());
      else if (made) this.element.replaceChildren(...[made].flat());
      this.shown = true;
    } catch (error) {
      if (wasAborted(error) || round !== this.round) return;
      this.shown = false;
      this.element.replaceChildren(failure(error, () => this.fill(load, show)));
      say(error.message);
    } finally {
      if (round === this.round) this.element.removeAttribute("aria-busy");
    }
  }

  stop() {
    this.round += 1;
    this.abort?.abort();
  }
}

/** What figures rest on, folded away but counted. */
export function assumptions(list, title = "What this rests on") {
  if (!list?.length) return null;
  return h("details", { class: "assumed" },
    h("summary", {}, `${title} (${list.length})`),
    h("ul", {}, list.map((text) => h("li", {}, text))));
}

/** Of when the figures of a page are that does not follow the beat, and a button for newer ones. */
export class AsOf {
  constructor(live, refresh) {
    this.live = live;
    this.text = h("span", {});
    this.element = h("p", { class: "summary asof", hidden: true }, this.text, " ",
      h("button", { type: "button", class: "quiet", onclick: refresh }, "Refresh"));
    this.stop = live.listen((_, news) => news === "now" && this.show());
  }

  /** New figures are there, of this time; null where they do not change any more. */
  at(time_s) {
    this.time_s = time_s;
    this.show();
  }

  show() {
    const { now } = this.live;
    const said = now && this.time_s !== undefined && this.time_s !== null
      && Math.abs(now.time_s - this.time_s) > 1e-3 ? formats.asOf(this.time_s, now).trim() : "";
    this.element.hidden = !said;
    if (said) setText(this.text, said);
  }

  destroy() {
    this.stop();
  }
}
