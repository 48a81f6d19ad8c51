// Panels of signals over time; their cursor is the animation's clock.
import uPlot from "uplot";

const COLORS = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#72b7b2", "#9d755d", "#d67195"];

export class Plots {
  constructor(holder, run, seek) {
    Object.assign(this, { holder, run, seek, panels: [], time: 0 });
    for (const panel of run.panels) this.add(panel);
  }

  add(numbers) {
    const { run } = this;
    const box = document.createElement("div");
    box.className = "panel";
    const close = document.createElement("button");
    close.textContent = "×";
    close.title = "remove this panel";
    close.className = "close";
    box.append(close);
    this.holder.append(box);
    const signals = numbers.map((n) => run.signals[n]);
    const unit = signals[0].unit;
    const options = {
      width: Math.max(box.clientWidth, 240),
      height: 180,
      scales: { x: { time: false } },
      cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      legend: { live: true },
      series: [
        { label: "t", value: (_, v) => (v == null ? "" : v.toFixed(3) + " s") },
        ...signals.map((signal, k) => ({
          label: signal.name, stroke: COLORS[k % COLORS.length], width: 1.6,
          value: (_, v) => (v == null ? "" : `${Number(v).toPrecision(5)} ${unit}`),
        })),
      ],
      axes: [{ size: 28, font: "11px system-ui" }, { size: 58, font: "11px system-ui", label: unit || "–", labelSize: 16, labelFont: "11px system-ui" }],
    };
    const now = document.createElement("div");
    now.className = "now";
    const plot = new uPlot(options, [run.samples, ...signals.map((signal) => signal.values)], box);
    plot.over.append(now);
    plot.over.addEventListener("click", (event) => {
      const t = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
      this.seek(Math.min(Math.max(t, 0), run.end));
    });
    close.onclick = () => {
      plot.destroy();
      box.remove();
      this.panels = this.panels.filter((one) => one.plot !== plot);
    };
    this.panels.push({ plot, box, now });
  }

  // the line that tells the time moves with every frame; the numbers below follow a few times a second
  show(t, numbers) {
    this.time = t;
    for (const { plot, now } of this.panels) {
      const left = plot.valToPos(t, "x");
      now.style.transform = `translateX(${left}px)`;
      if (numbers) plot.setCursor({ left, top: -10 }, false);
    }
  }

  resize() {
    for (const { plot, box } of this.panels) plot.setSize({ width: Math.max(box.clientWidth, 240), height: 180 });
  }
}
