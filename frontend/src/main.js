// The page of a run: stage, plots, graph, and one clock for all of them.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { read } from "./data.js";
import { drawGraph } from "./graph.js";
import { Plots } from "./plots.js";
import { Stage } from "./stage.js";

const byId = (id) => document.getElementById(id);

function options(select, entries, chosen) {
  for (const [value, text] of entries) {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = text;
    select.append(option);
  }
  select.value = chosen;
}

function start() {
  const run = read();
  document.title = run.name;
  byId("name").textContent = run.name;
  byId("about").textContent = run.about;
  const stage = new Stage(byId("stage"), run);
  const clock = { t: 0, speed: 1, playing: true, last: performance.now(), times: [] };

  const seek = (t) => {
    clock.t = t;
    show();
  };
  const plots = new Plots(byId("plots"), run, seek);
  drawGraph(byId("graph"), run.graph);

  let plotted = -1;
  const digits = run.end > 0 ? Math.min(Math.max(2, 3 - Math.floor(Math.log10(run.end))), 7) : 2;
  function show() {
    stage.show(clock.t);
    byId("slider").value = clock.t;
    byId("clock").textContent = `${clock.t.toFixed(digits)} / ${run.end.toFixed(digits)} s`;
    const now = performance.now();
    const numbers = !clock.playing || now - plotted > 250;
    if (numbers) plotted = now;
    plots.show(clock.t, numbers);
  }

  function play(on) {
    clock.playing = on;
    if (on && clock.t >= run.end) clock.t = 0;
    clock.last = performance.now();
    if (!on) stage.sharpen(stage.best);
    byId("play").textContent = on ? "❚❚" : "▶";
    byId("play").title = on ? "pause (space)" : "play (space)";
  }

  function frame(now) {
    const passed = (now - clock.last) / 1000;
    clock.last = now;
    if (clock.times.push(passed) > 600) clock.times.shift();
    if (clock.playing) {
      clock.t += Math.min(passed, 0.25) * clock.speed;
      if (clock.t > run.end) clock.t = byId("loop").checked ? clock.t % run.end : run.end;
      if (clock.t >= run.end && !byId("loop").checked) play(false);
      show();
      stage.ease(passed);
    }
    stage.draw();
    requestAnimationFrame(frame);
  }

  const slider = byId("slider");
  slider.max = run.end;
  slider.step = run.end / 2000;
  slider.oninput = () => {
    play(false);
    seek(Number(slider.value));
  };
  byId("play").onclick = () => play(!clock.playing);
  options(byId("speed"), run.speeds.map((x) => [x, x < 1 ? `1/${Number((1 / x).toPrecision(3))} ×` : `${x} ×`]), run.speed);
  clock.speed = Number(byId("speed").value || 1);
  byId("speed").onchange = () => (clock.speed = Number(byId("speed").value));
  const bodies = run.bodies.map((body, k) => [k, body.name]);
  options(byId("follow"), [[-1, "camera stands"], ...bodies.map(([k, name]) => [k, `follows ${name}`])], run.follow);
  byId("follow").onchange = () => {
    stage.follow = Number(byId("follow").value);
    stage.show(clock.t);
  };
  const traced = [...bodies, ...run.paths.map((path, k) => [run.bodies.length + k, path.name])];
  options(byId("trace"), [[-1, "no trace"], ...traced.map(([k, name]) => [k, `trace of ${name}`])], run.trace);
  byId("trace").onchange = () => {
    stage.trace(Number(byId("trace").value));
    stage.show(clock.t);
  };
  stage.follow = run.follow;
  stage.trace(run.trace);
  stage.home();
  byId("home").onclick = () => stage.home();
  for (const layer of ["joints", "loads", "names"]) {
    const box = byId(layer);
    box.onchange = () => {
      stage.toggle(layer, box.checked);
      stage.show(clock.t);
    };
    stage.toggle(layer, box.checked);
  }
  byId("stage").addEventListener("click", (event) => {
    const box = byId("stage").getBoundingClientRect();
    const body = stage.pick((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    byId("picked").textContent = body < 0 ? "" : run.bodies[body].told;
  });
  const names = run.signals.map((signal, k) => [k, signal.unit ? `${signal.name} [${signal.unit}]` : signal.name]);
  options(byId("add"), [["", "add a plot …"], ...names], "");
  byId("add").onchange = () => {
    if (byId("add").value !== "") plots.add([Number(byId("add").value)]);
    byId("add").value = "";
    plots.show(clock.t, true);
  };
  for (const tab of document.querySelectorAll(".tab"))
    tab.onclick = () => {
      for (const other of document.querySelectorAll(".tab")) other.classList.toggle("chosen", other === tab);
      for (const sheet of document.querySelectorAll(".sheet")) sheet.hidden = sheet.id !== tab.dataset.sheet;
      resize();
    };
  for (const finding of run.findings) {
    const line = document.createElement("p");
    line.className = finding.severity;
    const element = document.createElement("b");
    element.textContent = finding.element;
    line.append(element, `: ${finding.problem}. ${finding.cure}`);
    byId("findings").append(line);
  }
  if (run.findings.length === 0) byId("findings").textContent = "Nothing to remark.";
  for (const [name, value] of Object.entries(run.statistics)) {
    const row = byId("statistics").insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = value;
  }
  window.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
    if (event.key === " ") play(!clock.playing);
    else if (event.key === "ArrowRight") seek(Math.min(clock.t + run.end / 200, run.end));
    else if (event.key === "ArrowLeft") seek(Math.max(clock.t - run.end / 200, 0));
    else return;
    event.preventDefault();
  });
  function resize() {
    const box = byId("left").getBoundingClientRect();
    stage.resize(box.width, box.height);
    plots.resize();
  }
  window.addEventListener("resize", resize);
  resize();
  show();
  play(true);
  requestAnimationFrame(frame);
  window.madi = { clock, seek, play, stage, run, plots };
}

start();
