/* Where the server asks who one is: a token once, then a cookie that scripts cannot read. */
import { post } from "../core/api.js";
import { freshId, h } from "../core/dom.js";
import { labelled } from "../parts/operator.js";
import { failure } from "../parts/states.js";

export function login() {
  const token = h("input", { type: "password", id: freshId("field"), required: true,
    autocomplete: "current-password" });
  const problem = h("div");
  return h("section", { class: "card login" }, h("h1", {}, "Who are you?"),
    h("form", { onsubmit: async (event) => {
      event.preventDefault();
      try {
        await post("login", { token: token.value });
        location.reload();
      } catch (error) {
        problem.replaceChildren(failure(error));
        token.focus();
      }
    } }, labelled("Token", token, "Your site's operators hand it out."), problem,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Log in"))));
}
