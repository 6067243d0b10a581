// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The search runs in a worker. Browsers refuse workers to pages that are files, so there it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const script = inside.document.createElement("script");
      this.loaded = new Promise((resolve) => { script.onload = () => resolve(inside); });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      script.src = new URL(url, location.href).href;
      inside.document.body.appendChild(script);
    }
    postMessage(data) {
      this.loaded.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
