/**
 * `npm run check`: types, lint, format, unused code, layers, determinism, the tidy rules, wire names, words and the
 * lock file. Runs them all and exits 1 when one of them found something.
 */
import { spawnSync } from "node:child_process";
import { checkDeterminism } from "./check/determinism.ts";
import { checkLayers, renderGraph } from "./check/layers.ts";
import { checkTidy } from "./check/tidy.ts";
import { listSources } from "./check/sources.ts";
import { readSupplyChain } from "./check/supply-chain.ts";
import { checkWireNames } from "./check/wire-names.ts";
import { checkUnusedExports } from "./check/unused-exports.ts";
import { checkWords } from "./check/words.ts";

const sources = listSources();
const steps: { name: string; run(): string[] }[] = [
  { name: "types", run: () => command("node_modules/typescript/bin/tsc", ["-p", "."]) },
  { name: "types of the page", run: () => command("node_modules/typescript/bin/tsc", ["-p", "packages/web"]) },
  { name: "lint", run: () => command("node_modules/oxlint/bin/oxlint", ["--quiet"]) },
  { name: "format", run: () => command("node_modules/oxfmt/bin/oxfmt", ["--list-different", "."]) },
  { name: "unused", run: () => command("node_modules/knip/bin/knip.js", ["--no-progress"]) },
  { name: "unused exports", run: () => checkUnusedExports(sources) },
  { name: "layers", run: () => checkLayers(sources) },
  { name: "determinism", run: () => checkDeterminism(sources) },
  { name: "tidy", run: () => checkTidy(sources) },
  { name: "wire names", run: () => checkWireNames(sources) },
  { name: "words", run: () => checkWords(sources) },
  { name: "supply chain", run: readSupplyChain },
];

process.stdout.write(
  `packages and what they import:\n${renderGraph(sources)
    .map((line) => `  ${line}\n`)
    .join("")}`,
);

let failed = 0;
for (const { name, run } of steps) {
  const started = performance.now();
  const findings = run();
  process.stdout.write(
    `${findings.length === 0 ? "ok    " : "failed"} ${name} (${Math.round(performance.now() - started)} ms)\n`,
  );
  for (const finding of findings) process.stdout.write(`  ${finding}\n`);
  if (findings.length > 0) failed++;
}
process.exitCode = failed === 0 ? 0 : 1;

/** Runs one of our tools with this Node; its output is the finding if it fails. */
function command(file: string, args: string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });
  if (error) return [`${file} did not start: ${error.message}`];
  if (status === 0) return [];
  return `${stdout}${stderr}`.trimEnd().split("\n");
}
