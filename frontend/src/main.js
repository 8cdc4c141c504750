/* The frame around the pages: where one is, whether values are fresh, light or dark. */
import { get, post, rememberCsrf } from "./core/api.js";
import { h, say, setText } from "./core/dom.js";
import * as formats from "./core/formats.js";
import { Live } from "./core/live.js";
import { onPlace } from "./core/router.js";
import { themeSwitch } from "./core/theme.js";
import { failure } from "./parts/states.js";
import { accounts } from "./pages/accounts.js";
import { api } from "./pages/api.js";
import { job } from "./pages/job.js";
import { jobs } from "./pages/jobs.js";
import { nowhere } from "./pages/nowhere.js";
import { now } from "./pages/now.js";
import { login } from "./pages/login.js";
import { isPlan, plan } from "./pages/plan/plan.js";
import { whatif } from "./pages/whatif/whatif.js";

const PAGES = { now, jobs, job, accounts, whatif, plan, api };
/** Pages whose address goes on, as "#/job/702". */
const OF_ONE = new Set(["job", "plan", "api"]);
const LINKS = [["now", "Now"], ["jobs", "Jobs"], ["accounts", "Accounts"], ["whatif", "What if"],
  ["plan", "Plan"]];

const session = { me: null, about: null };

async function meet() {
  const [me, about] = await Promise.all([get("me"), get("about")]);
  session.me = me;
  session.about = about;
  rememberCsrf(me.csrf);
}

function frame(live) {
  const links = h("nav", { "aria-label": "Pages" }, LINKS.map(([page, text]) =>
    h("a", { href: `#/${page}`, "data-page": page }, text)));
  const pulse = h("p", { class: "pulse", "data-state": "connecting" });
  const source = h("p", { class: "source soft" });
  const banner = h("div", { class: "banner", hidden: true, role: "status" });
  document.getElementById("top").replaceWith(
    h("header", { class: "top", id: "top" },
      h("a", { class: "brand", href: "#/now" }, h("img", { src: "app/icon.svg", alt: "" }),
        "Wattline"),
      links, source, pulse, themeSwitch()), banner);
  live.listen(() => showPulse(live, pulse, banner));
  setInterval(() => showPulse(live, pulse, banner), 1000);
  showPulse(live, pulse, banner);
  return { links, source };
}

function showPulse(live, pulse, banner) {
  const since = live.since ? formats.wallClock(live.since) : "";
  const old_s = live.now?.stale_s ?? 0;
  const still = session.about?.source.speed === 0;
  const texts = { connecting: "Connecting …",
    live: old_s > 0 ? "Source is silent" : still ? "Stands still" : "Live",
    stale: "Stale", trouble: "No values", lost: "Reconnecting …", ended: "" };
  pulse.dataset.state = live.state !== "live" ? live.state
    : old_s > 0 ? "stale" : still ? "still" : "live";
  setText(pulse, texts[live.state]);
  const then = live.now ? ` What is shown is from ${since} (your time).` : "";
  const words = {
    trouble: `The server does not see the machine: ${live.trouble}.${then}`,
    stale: `No values since ${since} (your time). What is shown is from then.`,
    lost: live.now ? `The server does not answer since ${since} (your time). It is asked again `
      + "until it does; what is shown is from then." : "The server does not answer yet. It is asked "
      + "again until it does.",
    live: old_s > 0 ? `The machine's source has said nothing for ${formats.time(old_s)}.` : "",
  };
  const text = words[live.state] ?? "";
  banner.hidden = !text;
  setText(banner, text);
  document.documentElement.dataset.live = pulse.dataset.state;
}

function showSource(place) {
  const { source, version } = session.about;
  const speed = source.speed > 1 ? `, ${formats.number(source.speed)} times faster` : "";
  const kind = { demo: "Demo", run: "Recorded run", live: "Live" }[source.kind] ?? source.kind;
  setText(place, `${kind}: ${source.name}${speed}`);
  place.title = `Wattline ${version}`;
}

/** Who is logged in, and a way out; those whom the proxy or the machine itself knows have none. */
function showLogOut() {
  const { user, session: byToken } = session.me;
  if (!byToken) return;
  const button = h("button", { type: "button", class: "quiet logout", title: `You are ${user}`,
    onclick: async () => {
      await post("logout", {}).catch(() => {});
      location.reload();
    } }, "Log out");
  document.querySelector("header.top .theme").before(button);
}

function pageAt({ page, rest }) {
  const known = Object.hasOwn(PAGES, page) && rest.length <= (OF_ONE.has(page) ? 1 : 0);
  if (page === "plan" && rest.length && !isPlan(rest[0])) return nowhere;
  return known ? PAGES[page] : nowhere;
}

function start() {
  if (new URLSearchParams(location.search).has("wall")) {
    document.documentElement.classList.add("wall");
  }
  const live = new Live();
  const { links, source } = frame(live);
  const main = document.getElementById("main");
  let shown = null;
  const met = meet();

  live.listen((_, news) => {
    if (news !== "back") return;
    meet().then(() => { showSource(source); say("The server is back."); shown?.refresh?.(); },
      (error) => error.status === 401 && location.reload());
  });
  met.then(() => { showSource(source); showLogOut(); }, () => {});
  onPlace(async (place) => {
    const page = pageAt(place);
    if (shown?.page === page && shown.change?.(place)) return;
    shown?.destroy?.();
    shown = null;
    links.querySelectorAll("a").forEach((link) => {
      const here = link.dataset.page === (page.under ?? page.name);
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    document.documentElement.dataset.page = page.name;
    document.title = `${page.title} · Wattline`;
    const body = h("div", { class: `page ${page.name}` });
    main.replaceChildren(body);
    try {
      await met;
    } catch (error) {
      if (error.status === 401) live.end(); // it answers: nothing is lost, one has to log in
      body.replaceChildren(error.status === 401 ? login()
        : failure(error, () => location.reload()));
      return;
    }
    if (!body.isConnected) return; // another page was chosen meanwhile
    shown = { page, ...page.show(body, place, { live, session }) };
    window.scrollTo(0, 0);
  });
}

start();
