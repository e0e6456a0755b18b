const root = document.documentElement, toggle = document.getElementById("theme");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches;
const follow = () => toggle.setAttribute("aria-pressed", isDark());
toggle.hidden = false; follow();
toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; follow(); });
darkness.addEventListener("change", follow);
const tip = document.getElementById("tip");
let shown = null;
const show = (mark) => {
  if (shown) shown.classList.remove("on");
  shown = mark; tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.dataset.t;
  mark.classList.add("on");
  const box = mark.getBoundingClientRect(), high = tip.offsetHeight, wide = tip.offsetWidth;
  const left = Math.min(Math.max(4, box.left + box.width / 2 - wide / 2), innerWidth - wide - 4);
  tip.style.left = left + "px";
  tip.style.top = (box.top - high - 8 > 0 ? box.top - high - 8 : box.bottom + 8) + "px";
};
const isSeen = (mark) => mark.getClientRects().length;
const marksOf = (plot) => [...plot.querySelectorAll("[data-t]")].filter(isSeen);
const nearest = (plot, event) => {
  let best = null, least = 24;
  for (const mark of marksOf(plot)) {
    const box = mark.getBoundingClientRect();
    const across = event.clientX - box.left - box.width / 2, down = event.clientY - box.top - box.height / 2;
    const far = Math.hypot(across, down);
    if (far < least) { least = far; best = mark; }
  }
  return best;
};
for (const plot of document.querySelectorAll(".plot")) {
  const point = (event) => {
    const mark = event.target.closest("rect[data-t], line[data-t]") || nearest(plot, event);
    if (mark !== shown) show(mark);
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", () => show(null));
  plot.addEventListener("blur", () => show(null));
  plot.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") show(null);
    const marks = step ? marksOf(plot) : [];
    if (!marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(shown);
    show(marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length]);
  });
}
for (const chart of document.querySelectorAll(".chart")) {
  const buttons = [...chart.querySelectorAll("button[data-s]")];
  const put = (button, on) => {
    button.setAttribute("aria-pressed", on);
    for (const part of chart.querySelectorAll('.plot [data-s="' + button.dataset.s + '"]'))
      part.classList.toggle("off", !on);
  };
  const isOn = (button) => button.getAttribute("aria-pressed") === "true";
  for (const button of buttons) {
    button.addEventListener("click", () => put(button, !isOn(button)));
    button.addEventListener("dblclick", () => {
      const alone = buttons.every((other) => isOn(other) === (other === button));
      for (const other of buttons) put(other, alone || other === button);
    });
  }
}
