// Bundles the page's script and style into src/madi/view/static: what the package ships.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

// a test holds this against the sources: the bundle in the package must be made of them
const digest = createHash("sha256");
for (const name of ["package.json", ...readdirSync("src").sort().map((file) => `src/${file}`)]) digest.update(readFileSync(name));

// their licences ask for this: the notices go wherever the script goes, into every page a run is written to
const bundled = { "three.js": "three", uPlot: "uplot" };
const notices = Object.entries(bundled).map(([name, folder]) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${folder}/package.json`));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${folder}/LICENSE`, "utf8").trim()}\n`;
});
const head = `madi's page, made of sources ${digest.digest("hex").slice(0, 16)}. It contains the following.`;

await build({
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none",
  banner: { js: `/*! ${[head, ...notices].join("\n\n")}*/` },
  outfile: "../src/madi/view/static/page.js",
});
