/* The values of now, once a second, by server-sent events.
 *
 * States: "connecting" (nothing has come yet), "live", "stale" (the connection stands, or seems to,
 * but nothing has come for five seconds), "trouble" (the server answers, but cannot see the machine,
 * and says why) and "lost" (the server is gone; asked again until it is back). The browser's own
 * reconnection gives up at the first answer that is no stream, a proxy's error page for one, so this
 * one closes and opens by itself. */
import { get } from "./api.js";

const STALE_MS = 5000;
const PAUSES_MS = [500, 1000, 2000, 4000];

export class Live {
  constructor() {
    this.state = "connecting";
    this.now = null;
    this.last_ms = null;
    this.since = null;
    this.failures = 0;
    this.listeners = new Set();
    this.timer = setInterval(() => this.check(), 500);
    this.open();
  }

  /** Call `listener(live, news)` with news "now", "state" or "back"; returns how to stop it. */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(news) {
    this.listeners.forEach((listener) => listener(this, news));
  }

  open() {
    this.source = new EventSource("api/events");
    this.source.addEventListener("now", (event) => this.arrived(JSON.parse(event.data)));
    this.source.addEventListener("trouble", (event) => this.troubled(JSON.parse(event.data)));
    this.source.addEventListener("error", () => this.failed());
  }

  arrived(now) {
    const back = this.state === "lost" || this.state === "trouble";
    this.now = now;
    this.last_ms = performance.now();
    this.lastDate = new Date();
    this.failures = 0;
    this.become("live");
    if (back) this.tell("back");
    this.tell("now");
  }

  troubled({ error }) {
    this.trouble = error;
    this.failures = 0;
    this.become("trouble");
  }

  /** Nobody is asked any more: who looks has to log in first. */
  end() {
    this.ended = true;
    this.source.close();
    clearTimeout(this.again);
    clearInterval(this.timer);
    this.become("ended");
  }

  failed() {
    if (this.ended) return;
    this.source.close();
    this.become("lost");
    const pause = PAUSES_MS[Math.min(this.failures, PAUSES_MS.length - 1)];
    this.failures += 1;
    clearTimeout(this.again);
    this.again = setTimeout(() => this.open(), pause);
  }

  check() {
    const silent = this.last_ms !== null && performance.now() - this.last_ms > STALE_MS;
    if (this.state === "live" && silent) this.become("stale");
  }

  become(state) {
    if (state === this.state) return;
    if (this.state === "live" || this.since === null) this.since = this.lastDate ?? new Date();
    this.state = state;
    this.tell("state");
  }

  /** The first values, without waiting for a beat. */
  async first() {
    const now = await get("now");
    if (this.now === null) {
      this.now = now;
      this.tell("now");
    }
  }
}
