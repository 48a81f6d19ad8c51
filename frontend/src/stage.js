// The 3D stage: bodies, joints, springs, road, arrows, traces; `show(t)` moves everything to time t.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { place } from "./data.js";

const COLORS = [0x4c78a8, 0xf58518, 0x54a24b, 0xb279a2, 0xe45756, 0x72b7b2, 0xeeca3b, 0x9d755d, 0x8a94a6, 0xd67195];
const UP = new THREE.Vector3(0, 0, 1);

// without a graphics card, light and edges are made simpler: moving smoothly comes first (#fine: for pictures, not so)
const SOFTWARE = (() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const told = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name) && location.hash !== "#fine";
})();

function material(color, opacity = 1) {
  const look = { color, transparent: opacity < 1, opacity, depthWrite: opacity === 1 };
  return SOFTWARE
    ? new THREE.MeshLambertMaterial(look)
    : new THREE.MeshStandardMaterial({ ...look, roughness: 0.55, metalness: 0.15 });
}

// many meshes as one, each with its own colour: one call to the card for a body
function merged(parts) {
  const pieces = [];
  for (const part of parts) {
    part.updateMatrixWorld(true);
    part.traverse((mesh) => {
      if (!mesh.isMesh) return;
      const geometry = mesh.geometry.index ? mesh.geometry.toNonIndexed() : mesh.geometry.clone();
      geometry.applyMatrix4(mesh.matrixWorld);
      for (const name of Object.keys(geometry.attributes)) if (name !== "position" && name !== "normal") geometry.deleteAttribute(name);
      const { r, g, b } = mesh.material.color;
      const count = geometry.getAttribute("position").count;
      const colors = new Float32Array(3 * count);
      for (let k = 0; k < count; k++) colors.set([r, g, b], 3 * k);
      geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
      pieces.push(geometry);
    });
  }
  if (pieces.length === 0) return null;
  const look = material(0xffffff);
  look.vertexColors = true;
  look.side = THREE.DoubleSide;
  const mesh = new THREE.Mesh(mergeGeometries(pieces), look);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

// a rod from a to b
function rod(a, b, radius, look) {
  const from = new THREE.Vector3(...a);
  const along = new THREE.Vector3(...b).sub(from);
  const mesh = new THREE.Mesh(new THREE.CapsuleGeometry(radius, along.length(), 6, 16), look);
  mesh.position.copy(from).addScaledVector(along, 0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.clone().normalize());
  return mesh;
}

function turnZ(mesh) {
  // three.js draws cylinders along y; ours are along z
  mesh.geometry.rotateX(Math.PI / 2);
  return mesh;
}

function shapeOf(shape, color) {
  const look = material(shape.color ?? color, shape.opacity ?? 1);
  let mesh;
  if (shape.kind === "rod") return rod(shape.a, shape.b, shape.radius, look);
  if (shape.kind === "box") mesh = new THREE.Mesh(new THREE.BoxGeometry(...shape.size), look);
  else if (shape.kind === "sphere") mesh = new THREE.Mesh(new THREE.SphereGeometry(shape.size[0], 32, 24), look);
  else if (shape.kind === "cylinder")
    mesh = turnZ(new THREE.Mesh(new THREE.CylinderGeometry(shape.size[0], shape.size[0], shape.size[1], 48), look));
  else if (shape.kind === "wheel") {
    mesh = new THREE.Group();
    const [radius, width] = shape.size;
    const tire = turnZ(new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, width, 48), material(0x2b2f36)));
    const rim = turnZ(new THREE.Mesh(new THREE.CylinderGeometry(0.6 * radius, 0.6 * radius, 1.04 * width, 32), material(0xc9ced6)));
    mesh.add(tire, rim);
    for (let k = 0; k < 5; k++) {
      const spoke = new THREE.Mesh(new THREE.BoxGeometry(0.12 * radius, 1.0 * radius, 1.07 * width), material(0x8a94a6));
      spoke.rotation.z = (k * Math.PI) / 5;
      mesh.add(spoke);
    }
  } else {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(shape.vertices, 3));
    geometry.computeVertexNormals();
    look.side = THREE.DoubleSide;
    mesh = new THREE.Mesh(geometry, look);
  }
  mesh.position.set(...shape.position);
  mesh.quaternion.set(shape.turn[1], shape.turn[2], shape.turn[3], shape.turn[0]);
  return mesh;
}

export class Stage {
  constructor(canvas, run) {
    this.run = run;
    this.size = run.size;
    this.up = new THREE.Vector3(...run.up);
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !SOFTWARE });
    this.ratio = this.best = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.shadowMap.enabled = !SOFTWARE;
    this.slow = 0;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0xeef2f7);
    this.scene.fog = new THREE.Fog(0xeef2f7, 12 * this.size, 40 * this.size);
    this.camera = new THREE.PerspectiveCamera(38, 1, 0.002 * this.size, 100 * this.size);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.follow = -1;
    this.traced = -1;
    this.layers = { joints: new THREE.Group(), loads: new THREE.Group(), names: new THREE.Group(), trace: new THREE.Group() };
    for (const layer of Object.values(this.layers)) this.scene.add(layer);
    this.lights();
    this.bodies();
    this.ground();
    this.flexible();
    this.springs();
    this.arrows();
    this.home();
  }

  lights() {
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa6b8, 1.6));
    const sun = new THREE.DirectionalLight(0xfff4e0, 2.2);
    this.sun = sun;
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const r = 1.6 * this.size;
    Object.assign(sun.shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.01 * r, far: 10 * r });
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.004 * this.size;
    this.scene.add(sun, sun.target);
  }

  bodies() {
    const marks = new Map([[-1, []], ...this.run.bodies.map((_, k) => [k, []])]);
    const r = 0.011 * this.size;
    const look = { tree: material(0x20242b), cut: material(0xd62728) };
    for (const joint of this.run.joints) {
      const shaft = joint.axis
        ? new THREE.CylinderGeometry(0.8 * r, 0.8 * r, 4 * r, 16)
        : new THREE.SphereGeometry(1.25 * r, 16, 10);
      const mesh = new THREE.Mesh(shaft, joint.cut ? look.cut : look.tree);
      mesh.position.set(...joint.at);
      if (joint.axis) mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...joint.axis).normalize());
      marks.get(joint.body).push(mesh);
    }
    const group = (shapes, color, number) => {
      const made = new THREE.Group();
      const parts = shapes.map((shape) => shapeOf(shape, color));
      const solid = merged(parts.filter((_, k) => (shapes[k].opacity ?? 1) === 1));
      if (solid) made.add(solid);
      parts.forEach((part, k) => {
        if ((shapes[k].opacity ?? 1) < 1) made.add(part);
      });
      const joints = merged(marks.get(number));
      if (joints) {
        joints.userData.joint = true;
        made.add(joints);
      }
      made.traverse((part) => {
        if (number >= 0) part.userData.body = number;
      });
      this.scene.add(made);
      return made;
    };
    this.still = group(this.run.ground, 0x9aa3b0, -1); // the ground's own shapes
    this.frames = this.run.bodies.map((body, k) => group(body.shapes, COLORS[k % COLORS.length], k));
    this.run.bodies.forEach((body, k) => this.label(body.name, this.frames[k], body.com));
  }

  label(text, parent, at) {
    const canvas = document.createElement("canvas");
    const pen = canvas.getContext("2d");
    pen.font = "28px system-ui, sans-serif";
    canvas.width = Math.ceil(pen.measureText(text).width) + 16;
    canvas.height = 40;
    pen.font = "28px system-ui, sans-serif";
    pen.fillStyle = "rgba(255,255,255,0.82)";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = "#20242b";
    pen.fillText(text, 8, 29);
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: new THREE.CanvasTexture(canvas), depthTest: false }));
    const h = 0.035 * this.size;
    sprite.scale.set((h * canvas.width) / canvas.height, h, 1);
    sprite.userData = { of: parent, at: new THREE.Vector3(...at), name: true };
    this.layers.names.add(sprite);
  }

  ground() {
    const lift = new THREE.Quaternion().setFromUnitVectors(UP, this.up);
    if (this.run.roads.length === 0) {
      const reach = 24 * this.size;
      const floor = new THREE.Mesh(
        new THREE.PlaneGeometry(reach, reach), new THREE.MeshLambertMaterial({ color: 0xe3e8ef }));
      floor.quaternion.copy(lift);
      floor.position.copy(this.up).multiplyScalar(this.run.floor);
      floor.receiveShadow = true;
      this.scene.add(floor);
      const step = 10 ** Math.floor(Math.log10(this.size / 2));
      const grid = new THREE.GridHelper(80 * step, 80, 0xaab4c3, 0xcdd5df);
      grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), this.up);
      grid.position.copy(floor.position).addScaledVector(this.up, 0.0008 * this.size);
      grid.material.transparent = true;
      grid.material.opacity = 0.7;
      this.scene.add(grid);
    }
    for (const road of this.run.roads) {
      const n = road.points.length / 6; // left and right edge of every section
      const index = [];
      for (let k = 0; k + 1 < n; k++) index.push(2 * k, 2 * k + 2, 2 * k + 1, 2 * k + 1, 2 * k + 2, 2 * k + 3);
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(road.points, 3));
      geometry.setIndex(index);
      geometry.computeVertexNormals();
      const look = new THREE.MeshLambertMaterial({ color: 0xb9c1cc, side: THREE.DoubleSide });
      const strip = new THREE.Mesh(geometry, look);
      strip.receiveShadow = true;
      this.scene.add(strip);
      const marks = [];
      for (let k = 0; k < n; k += road.every) marks.push(2 * k, 2 * k + 1);
      const lines = new THREE.BufferGeometry();
      lines.setAttribute("position", geometry.getAttribute("position"));
      lines.setIndex(marks);
      this.scene.add(new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: 0x98a2b0 })));
    }
  }

  flexible() {
    this.tubes = this.run.flexible.map((line) => {
      const sides = 10;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(line.count * sides * 3), 3));
      const index = [];
      for (let k = 0; k + 1 < line.count; k++)
        for (let j = 0; j < sides; j++) {
          const a = k * sides + j;
          const b = k * sides + ((j + 1) % sides);
          index.push(a, b, a + sides, b, b + sides, a + sides);
        }
      geometry.setIndex(index);
      const mesh = new THREE.Mesh(geometry, material(COLORS[line.body % COLORS.length]));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.userData.body = line.body;
      this.scene.add(mesh);
      return { ...line, mesh, sides };
    });
  }

  springs() {
    const many = 97;
    this.coils = this.run.springs.map((spring) => {
      const geometry = new THREE.BufferGeometry();
      const count = spring.coil ? many : 2;
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
      const look = new THREE.LineBasicMaterial({ color: spring.coil ? 0xc0392b : 0x3b4450, linewidth: 2 });
      const line = new THREE.Line(geometry, look);
      line.frustumCulled = false;
      this.scene.add(line);
      return { ...spring, line, count };
    });
  }

  arrows() {
    this.pointers = this.run.arrows.map((arrow) => {
      const color = arrow.reaction ? 0x8e44ad : 0x1f8a4c;
      const pointer = new THREE.Group(); // along y: shaft of length 1, then the head
      const look = new THREE.MeshBasicMaterial({ color });
      const shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), look);
      const head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0), look);
      pointer.add(shaft, head);
      this.layers.loads.add(pointer);
      return { ...arrow, pointer, shaft, head };
    });
    const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xd62728 }));
    line.frustumCulled = false;
    this.trail = line;
    this.layers.trace.add(line);
    this.layers.names.visible = false;
  }

  // put every body where it is at time t
  show(t) {
    this.dirty = true;
    const { poses, bodies, times } = this.run;
    const [k, part] = place(times, t);
    const next = Math.min(k + 1, this.run.frames - 1);
    const q = new THREE.Quaternion();
    for (let b = 0; b < bodies.length; b++) {
      const i = 7 * (k * bodies.length + b);
      const j = 7 * (next * bodies.length + b);
      const frame = this.frames[b];
      frame.position.set(...[0, 1, 2].map((c) => poses[i + c] + part * (poses[j + c] - poses[i + c])));
      frame.quaternion.set(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]);
      q.set(poses[j + 4], poses[j + 5], poses[j + 6], poses[j + 3]);
      frame.quaternion.slerp(q, part);
      frame.updateMatrixWorld(true);
    }
    this.bend(k, next, part);
    for (const coil of this.coils) this.coil(coil);
    for (const arrow of this.pointers) this.point(arrow, k, next, part);
    if (this.layers.names.visible)
      for (const sprite of this.layers.names.children)
        sprite.position.copy(sprite.userData.of.localToWorld(sprite.userData.at.clone()));
    if (this.traced >= 0) this.trail.geometry.setDrawRange(0, k + 1);
    this.lead();
  }

  world(body, at) {
    const point = new THREE.Vector3(...at);
    return body < 0 ? point : this.frames[body].localToWorld(point);
  }

  bend(k, next, part) {
    for (const tube of this.tubes) {
      const { points, count, sides, radius, mesh } = tube;
      const at = (n) => {
        const i = 3 * (k * count + n);
        const j = 3 * (next * count + n);
        return new THREE.Vector3(...[0, 1, 2].map((c) => points[i + c] + part * (points[j + c] - points[i + c])));
      };
      const line = Array.from({ length: count }, (_, n) => at(n));
      const out = mesh.geometry.getAttribute("position");
      const aside = new THREE.Vector3(0.31, 0.17, 0.93);
      for (let n = 0; n < count; n++) {
        const way = line[Math.min(n + 1, count - 1)].clone().sub(line[Math.max(n - 1, 0)]).normalize();
        const e1 = new THREE.Vector3().crossVectors(way, aside).normalize().multiplyScalar(radius);
        const e2 = new THREE.Vector3().crossVectors(way, e1).normalize().multiplyScalar(radius);
        for (let j = 0; j < sides; j++) {
          const a = (2 * Math.PI * j) / sides;
          const p = line[n].clone().addScaledVector(e1, Math.cos(a)).addScaledVector(e2, Math.sin(a));
          out.setXYZ(n * sides + j, p.x, p.y, p.z);
        }
      }
      out.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
  }

  coil({ a, b, at, to, coil, line, count }) {
    const from = this.world(a, at);
    const end = this.world(b, to);
    const out = line.geometry.getAttribute("position");
    if (!coil) {
      out.setXYZ(0, from.x, from.y, from.z);
      out.setXYZ(1, end.x, end.y, end.z);
    } else {
      const way = end.clone().sub(from);
      const length = way.length();
      const e1 = new THREE.Vector3().crossVectors(way, Math.abs(way.z) > 0.9 * length ? new THREE.Vector3(1, 0, 0) : UP).normalize();
      const e2 = new THREE.Vector3().crossVectors(way, e1).normalize();
      const radius = Math.min(0.016 * this.size, 0.2 * length);
      for (let n = 0; n < count; n++) {
        const s = n / (count - 1);
        const inside = Math.min(Math.max((s - 0.12) / 0.76, 0), 1);
        const r = inside > 0 && inside < 1 ? radius : 0;
        const turn = 2 * Math.PI * 7 * inside;
        const p = from.clone().addScaledVector(way, s).addScaledVector(e1, r * Math.cos(turn)).addScaledVector(e2, r * Math.sin(turn));
        out.setXYZ(n, p.x, p.y, p.z);
      }
    }
    out.needsUpdate = true;
  }

  point({ body, at, vectors, scale, push, pointer, shaft, head }, k, next, part) {
    const v = new THREE.Vector3(...[0, 1, 2].map((c) => vectors[3 * k + c] + part * (vectors[3 * next + c] - vectors[3 * k + c])));
    const length = v.length() * scale * this.size;
    pointer.visible = length > 0.004 * this.size;
    if (!pointer.visible) return;
    v.normalize();
    pointer.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), v);
    const tip = Math.min(0.4 * length, 0.035 * this.size);
    const thick = Math.min(0.0045 * this.size, 0.1 * length);
    shaft.scale.set(thick, length - tip, thick);
    head.scale.set(2.6 * thick, tip, 2.6 * thick);
    head.position.y = length - tip;
    pointer.position.copy(this.world(body, at));
    if (push) pointer.position.addScaledVector(v, -length); // the arrow's head touches what it pushes
  }

  lead() {
    const target = this.follow >= 0 ? this.world(this.follow, this.run.bodies[this.follow].com) : null;
    if (target) {
      const shift = target.clone().sub(this.controls.target);
      this.controls.target.copy(target);
      this.camera.position.add(shift);
    }
    const middle = this.controls.target;
    this.sun.target.position.copy(middle);
    this.sun.position.copy(middle).addScaledVector(this.up, 2.6 * this.size);
    const side = new THREE.Vector3(0.55, -0.8, 0.3).projectOnPlane(this.up).multiplyScalar(1.5 * this.size);
    this.sun.position.add(side);
  }

  trace(number) {
    this.traced = number;
    this.layers.trace.visible = number >= 0;
    if (number < 0) return;
    const { bodies, paths } = this.run;
    const points = number < bodies.length ? this.way(number) : paths[number - bodies.length].points;
    this.trail.geometry.dispose();
    this.trail.geometry = new THREE.BufferGeometry();
    this.trail.geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
  }

  // where a body's centre of mass is in every frame
  way(body) {
    const { poses, bodies, frames } = this.run;
    const points = new Float32Array(3 * frames);
    const com = new THREE.Vector3(...bodies[body].com);
    for (let k = 0; k < frames; k++) {
      const i = 7 * (k * bodies.length + body);
      const q = new THREE.Quaternion(poses[i + 4], poses[i + 5], poses[i + 6], poses[i + 3]);
      const p = com.clone().applyQuaternion(q);
      points.set([p.x + poses[i], p.y + poses[i + 1], p.z + poses[i + 2]], 3 * k);
    }
    return points;
  }

  // the camera looks at everything from above, in front and aside
  home() {
    const middle = new THREE.Vector3(...this.run.middle);
    if (this.follow >= 0) this.show(0);
    this.controls.target.copy(this.follow >= 0 ? this.world(this.follow, this.run.bodies[this.follow].com) : middle);
    const aside = new THREE.Vector3(...this.run.look).normalize();
    this.camera.position.copy(this.controls.target).addScaledVector(aside, 1.9 * this.run.reach);
    this.controls.update();
  }

  toggle(layer, on) {
    if (layer === "joints") this.scene.traverse((part) => { if (part.userData.joint) part.visible = on; });
    else this.layers[layer].visible = on;
  }

  pick(x, y) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const hit = ray.intersectObjects(this.scene.children, true).find((one) => one.object.userData.body !== undefined);
    return hit ? hit.object.userData.body : -1;
  }

  // frames that take too long are drawn with fewer points, until they do not
  ease(passed) {
    this.slow = 0.9 * this.slow + 0.1 * passed;
    this.waited = (this.waited ?? 0) + 1;
    if (this.waited < 12 || location.hash === "#fine") return;
    if (this.slow > 0.023 && this.ratio > 0.4) this.sharpen(0.8 * this.ratio);
    else if (this.slow < 0.018 && this.ratio < this.best) this.sharpen(Math.min(1.1 * this.ratio, this.best));
  }

  sharpen(ratio) {
    this.dirty = true;
    this.ratio = ratio;
    this.waited = 0;
    this.renderer.setPixelRatio(ratio);
  }

  resize(width, height) {
    this.dirty = true;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw() {
    this.controls.update();
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}
