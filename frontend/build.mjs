// Bundles the page's script and style into src/madi/view/static: what the package ships.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

// a test holds this against the sources: the bundle in the package must be made of them
const digest = createHash("sha256");
for (const name of ["package.json", ...readdirSync("src").sort().map((file) => `src/${file}`)]) digest.update(readFileSync(name));

await build({
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none",
  banner: { js: `/* madi's page, made of sources ${digest.digest("hex").slice(0, 16)}. Contains three.js (MIT) and uPlot (MIT). */` },
  outfile: "../src/madi/view/static/page.js",
});
