/* An address that leads to no page: said, with a way on. */
import { h } from "../core/dom.js";

export const nowhere = { name: "nowhere", title: "No such page", show(root) {
  root.append(h("div", { class: "pagehead" }, h("h1", {}, "No such page")),
    h("div", { class: "card" }, h("p", {}, `There is no page ${location.hash}. `,
      h("a", { href: "#/now" }, "Go to Now"))));
  return { change: () => false };
} };
