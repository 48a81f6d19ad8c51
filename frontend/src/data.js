// The run as Python packed it: JSON, and arrays of 32-bit floats in base64.

export function floats(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Float32Array(bytes.buffer);
}

export function read() {
  const run = JSON.parse(document.getElementById("run").textContent);
  run.times = floats(run.times);
  run.poses = floats(run.poses);
  run.samples = floats(run.samples);
  for (const signal of run.signals) signal.values = floats(signal.values);
  for (const path of run.paths) path.points = floats(path.points);
  for (const line of run.flexible) line.points = floats(line.points);
  for (const arrow of run.arrows) arrow.vectors = floats(arrow.vectors);
  for (const road of run.roads) road.points = floats(road.points);
  for (const body of run.bodies)
    for (const shape of body.shapes)
      if (shape.kind === "mesh") {
        shape.vertices = floats(shape.vertices);
      }
  run.frames = run.times.length;
  run.end = run.times[run.frames - 1];
  return run;
}

// frame number and part of the way to the next at time t
export function place(times, t) {
  let low = 0;
  let high = times.length - 1;
  if (t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}
