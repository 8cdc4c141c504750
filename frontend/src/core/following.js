/* Asking again while a question changes, as a cap that is dragged: at most once per pause, and after
 * the answer that is awaited, unless that one takes too long. */

export class Following {
  /** `ask(signal)` asks what is asked now and shows the answer; a newer one aborts its signal. */
  constructor(ask, { pause_ms, slow_ms }) {
    Object.assign(this, { ask, pause_ms, slow_ms, timer: 0, late: 0, awaited: null });
  }

  /** The question is another one. */
  changed() {
    this.timer ||= setTimeout(() => { this.timer = 0; this.follow(); }, this.pause_ms);
  }

  follow() {
    const left_ms = this.awaited ? this.awaited.since_ms + this.slow_ms - performance.now() : 0;
    clearTimeout(this.late);
    if (left_ms <= 0) { this.now(); return; }
    this.behind = true;
    this.late = setTimeout(() => this.follow(), left_ms);
  }

  /** Ask at once, whatever is awaited. */
  async now() {
    this.stop();
    const mine = this.awaited = { abort: new AbortController(), since_ms: performance.now() };
    try {
      await this.ask(mine.abort.signal);
    } finally {
      if (mine === this.awaited) {
        this.awaited = null;
        if (this.behind) this.now();
      }
    }
  }

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.late);
    this.timer = 0;
    this.behind = false;
    this.awaited?.abort.abort();
    this.awaited = null;
  }
}
