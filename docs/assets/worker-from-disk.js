// Search runs in a worker, and browsers start none for a page that is read from the disk. There a
// hidden frame takes its place: the same script, with the same messages to and fro.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      const script = new URL(url, location.href);
      this.inside.document.open();
      this.inside.document.write(`<body><script>
        postMessage = (data) => parent.dispatchEvent(
          new CustomEvent("said-inside", { detail: { from: window, data } }));
        importScripts = (...urls) => urls.reduce((before, each) => before.then(() =>
          new Promise((done) => {
            const added = document.createElement("script");
            added.src = each;
            added.onload = done;
            document.body.append(added);
          })), Promise.resolve());
        </` + `script><script src="${script}"></` + `script>`);
      this.inside.document.close();
      this.ready = new Promise((done) => frame.addEventListener("load", done));
      addEventListener("said-inside", (event) => {
        if (event.detail.from === this.inside)
          this.dispatchEvent(new MessageEvent("message", { data: event.detail.data }));
      });
    }

    postMessage(data) {
      this.ready.then(() =>
        this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
