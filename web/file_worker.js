// Search on the documentation site when it is opened from a disk: browsers start no workers for file://, so the
// script of the worker runs in a hidden frame.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  function load(frame, address) {
    return new Promise(function (done, failed) {
      const script = frame.contentDocument.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      frame.contentDocument.body.appendChild(script);
    });
  }

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const worker = this;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = function (data) {
        const event = new MessageEvent("message", { data: data });
        worker.dispatchEvent(event);
        if (worker.onmessage) worker.onmessage(event);
      };
      inside.importScripts = function (...others) {
        return Promise.all(others.map((other) => load(frame, new URL(other, address))));
      };
      this.frame = frame;
      this.ready = load(frame, new URL(address, location.href));
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data: data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
})();
