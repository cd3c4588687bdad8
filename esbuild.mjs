// Bundles the extension to dist/, or with --tests its unit tests to out/test/.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const COMMON = { bundle: true, platform: "node", format: "cjs", target: "node20", sourcemap: true, logLevel: "warning" };

async function buildExtension() {
  rmSync("dist", { recursive: true, force: true });
  const result = await build({
    ...COMMON,
    entryPoints: ["client/src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: true,
    sourcemap: false,
    metafile: true,
  });
  writeFileSync("dist/THIRD-PARTY-LICENSES.txt", licenses(Object.keys(result.metafile.inputs)));
}

async function buildTests() {
  rmSync("out/test", { recursive: true, force: true });
  const files = readdirSync("client/test").filter((file) => file.endsWith(".test.ts"));
  await build({
    ...COMMON,
    entryPoints: files.map((file) => join("client/test", file)),
    outdir: "out/test",
    external: ["vscode"],
  });
}

/** The licenses of the packages whose code is in the bundle, as their authors ask. */
function licenses(inputs) {
  const folders = inputs.map((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]).filter(Boolean);
  return [...new Set(folders)].sort().map(licenseOf).join("\n");
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(basename(entry)));
  if (file === undefined) {
    throw new Error(`${name} is bundled, but ${folder} has no license file`);
  }
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

await (process.argv.includes("--tests") ? buildTests() : buildExtension());
