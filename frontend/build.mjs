/* Builds the pages into the package: one script, one sheet of styles, one page, the licences.
 *
 *   node build.mjs [FOLDER]   (without one: ../src/wattline/web/static/app)
 *
 * The same sources give the same bytes: versions are fixed by package-lock.json, and nothing here
 * asks for the time or the place. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../src/wattline/web/static/app"));
const uplot = join(here, "node_modules/uplot");

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const common = { bundle: true, minify: true, legalComments: "none", absWorkingDir: here,
  target: ["es2022"], logLevel: "warning", charset: "utf8" };
await build({ ...common, entryPoints: ["src/main.js"], outfile: join(out, "app.js"),
  format: "iife" });
await build({ ...common, entryPoints: ["src/styles/app.css"], outfile: join(out, "app.css") });
for (const file of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", file), join(out, file));
const { version } = JSON.parse(readFileSync(join(uplot, "package.json"), "utf8"));
writeFileSync(join(out, "LICENSES.txt"),
  "What is built into app.js and app.css, besides Wattline itself (Apache-2.0):\n\n"
  + `uPlot ${version}, https://github.com/leeoniya/uPlot\n\n`
  + readFileSync(join(uplot, "LICENSE"), "utf8"));
