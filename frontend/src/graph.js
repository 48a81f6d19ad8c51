// The tree and its cuts as a drawing: bodies in rows by depth, joints as lines, cuts dashed.

const NS = "http://www.w3.org/2000/svg";

function element(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function drawGraph(holder, graph) {
  const row = 26;
  const place = new Map(graph.nodes.map((node, k) => [node.name, { x: 14 + 22 * node.depth, y: 20 + row * k }]));
  const widest = Math.max(...graph.nodes.map((node) => 22 * node.depth + 8 * (node.name.length + (node.joint ?? "").length))) + 190;
  const picture = element("svg", { width: widest, height: 30 + row * graph.nodes.length, class: "graph" });
  for (const node of graph.nodes) {
    const at = place.get(node.name);
    if (node.parent !== undefined) {
      const from = place.get(node.parent);
      picture.append(element("path", { d: `M${from.x},${from.y + 5} V${at.y} H${at.x - 6}`, class: "tree" }));
    }
    picture.append(element("circle", { cx: at.x, cy: at.y, r: 5, class: node.parent === undefined ? "root" : "body" }));
    const label = element("text", { x: at.x + 11, y: at.y + 4 }, node.name);
    if (node.joint) label.append(element("tspan", { class: "joint", dx: 8 }, `${node.joint} · ${node.kind}`));
    picture.append(label);
  }
  const right = widest - 30;
  graph.cuts.forEach((cut, k) => {
    const [a, b] = [place.get(cut.a), place.get(cut.b)];
    if (!a || !b) return;
    const x = right - 7 * (k % 6);
    picture.append(element("path", { d: `M${a.x + 150},${a.y} C${x},${a.y} ${x},${b.y} ${b.x + 150},${b.y}`, class: "cut" }));
    picture.append(element("text", { x: x - 60, y: (a.y + b.y) / 2 + 4, class: "cut" }, cut.joint));
  });
  holder.append(picture);
}
