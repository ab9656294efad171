"use strict";
(function () {
  var root = document.documentElement, hint = document.getElementById("hint");
  function each(selector, act) { Array.prototype.forEach.call(document.querySelectorAll(selector), act); }

  /* Switches: before and after, light and dark. */
  function side(name) {
    root.setAttribute("data-side", name);
    each("[data-side][type=button]", function (button) {
      button.setAttribute("aria-pressed", String(button.getAttribute("data-side") === name));
    });
  }
  each("[data-side][type=button]", function (button) {
    button.addEventListener("click", function () { side(button.getAttribute("data-side")); });
  });
  if (document.querySelector(".switch")) side("after");

  var theme = document.getElementById("theme");
  var prefers = window.matchMedia("(prefers-color-scheme: dark)");
  function dark() { return root.getAttribute("data-theme") ? root.getAttribute("data-theme") === "dark" : prefers.matches; }
  function showTheme() { theme.setAttribute("aria-pressed", String(dark())); }
  theme.addEventListener("click", function () { root.setAttribute("data-theme", dark() ? "light" : "dark"); showTheme(); });
  prefers.addEventListener("change", showTheme);
  showTheme();
  document.querySelector(".tools").hidden = false;

  /* Tables: a click on a head sorts the rows of each group by that column. */
  function value(row, column) {
    var cell = row.children[column], number = cell.getAttribute("data-value");
    return number === null ? cell.textContent.toLowerCase() : number === "" ? NaN : Number(number);
  }
  function order(a, b) {
    if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
    return isNaN(a) ? (isNaN(b) ? 0 : 1) : isNaN(b) ? -1 : a - b;
  }
  function sort(table, head, column) {
    var down = head.getAttribute("aria-sort") === "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.prototype.forEach.call(table.tBodies, function (body) {
      Array.prototype.filter.call(body.rows, function (row) { return !row.classList.contains("group"); })
        .map(function (row, place) { return { row: row, place: place, value: value(row, column) }; })
        .sort(function (a, b) {
          var found = order(a.value, b.value), missing = isNaN(a.value) && typeof a.value === "number" ||
            isNaN(b.value) && typeof b.value === "number";
          return (down && !missing ? -found : found) || a.place - b.place;
        })
        .forEach(function (entry) { body.appendChild(entry.row); });
    });
  }
  each("table.sortable", function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () { sort(table, head, column); });
    });
  });

  /* Hints: the numbers of the mark under the pointer or, in a focused figure, of the mark chosen by
     the arrow keys. */
  function show(mark, words) {
    var box = mark.getBoundingClientRect();
    hint.textContent = words;
    hint.hidden = false;
    var left = box.left + box.width / 2 - hint.offsetWidth / 2;
    left = Math.max(4, Math.min(left, root.clientWidth - hint.offsetWidth - 4));
    var top = box.top - hint.offsetHeight - 8;
    if (top < 60) top = box.bottom + 8;
    hint.style.left = left + window.scrollX + "px";
    hint.style.top = top + window.scrollY + "px";
  }
  each("svg.pcal", function (figure) {
    var marks = [], at = -1;
    Array.prototype.forEach.call(figure.querySelectorAll("g title"), function (title) {
      var mark = title.parentNode, words = title.textContent;
      mark.removeChild(title);
      marks.push({ mark: mark, words: words });
      mark.addEventListener("pointerenter", function () { show(mark, words); });
      mark.addEventListener("pointerleave", function () { hint.hidden = true; });
    });
    if (marks.length === 0) return;
    function leave() { if (at >= 0) marks[at].mark.classList.remove("shown"); hint.hidden = true; }
    figure.setAttribute("tabindex", "0");
    figure.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      event.preventDefault();
      leave();
      at = (at + step + marks.length + (at < 0 && step < 0 ? 1 : 0)) % marks.length;
      marks[at].mark.classList.add("shown");
      show(marks[at].mark, marks[at].words);
    });
    figure.addEventListener("blur", leave);
  });

  /* Print all details open. */
  window.addEventListener("beforeprint", function () { each("details", function (part) { part.open = true; }); });
})();
