/**
 * `npm run bench -- [NAME…] [--json FILE] [--peer DIR] [--shared DIR]`: measures, and prints each figure with its unit.
 * docs/performance.md describes the method. `--peer DIR` names a running real Karmada (DIR/kube/hub.json, member1.json,
 * …), for members a cluster with OpenKruise (DIR/kube/admin.json); it then gets the same load in the same run and the
 * ratio is printed, because absolute times depend on the machine. `pipeline` and `ocm` start their peers themselves,
 * from `--shared DIR` or $FLOTILLA_SHARED.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import type { Benchmark, Figure } from "./benchmark.ts";
import { admission } from "./admission.ts";
import { apiserver } from "./apiserver.ts";
import { distributed } from "./distributed.ts";
import { interpreter } from "./interpreter.ts";
import { deployments } from "./deployments.ts";
import { members } from "./members.ts";
import { ocm } from "./ocm.ts";
import { pipeline } from "./pipeline.ts";
import { scheduler } from "./scheduler.ts";
import { statusLatency } from "./status-latency.ts";
import { standby } from "./standby.ts";
import { takeover } from "./takeover.ts";

const benchmarks: readonly Benchmark[] = [
  deployments,
  apiserver,
  admission,
  members,
  interpreter,
  scheduler,
  pipeline,
  statusLatency,
  distributed,
  takeover,
  standby,
  ocm,
];
const USAGE =
  `usage: npm run bench -- [${benchmarks.map(({ name }) => name).join(" | ")}] [--n COUNT] [--runs COUNT] ` +
  "[--json FILE] [--peer DIR] [--shared DIR] [--short] [--only SET-UP]...";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    peer: { type: "string" },
    shared: { type: "string" },
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    n: { type: "string" },
    runs: { type: "string", default: "1" },
    help: { type: "boolean", short: "h" },
  },
});
const unknown = positionals.find((name) => !benchmarks.some((benchmark) => benchmark.name === name));
const shared = values.shared ?? process.env["FLOTILLA_SHARED"];
const { short } = values;
const DEFAULT_COUNT = 500;
const countOf = ({ counts }: Benchmark): number =>
  Number(values.n ?? counts?.[short ? "short" : "full"] ?? DEFAULT_COUNT);
const runs = Number(values.runs);
if (
  values.help ||
  unknown !== undefined ||
  !benchmarks.every((benchmark) => Number.isInteger(countOf(benchmark)) && countOf(benchmark) > 0) ||
  !Number.isInteger(runs) ||
  runs < 1
) {
  process.stderr.write(unknown === undefined ? `${USAGE}\n` : `unknown benchmark '${unknown}'\n${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}

const figures: (Figure & { benchmark: string; run: number })[] = [];
for (const benchmark of benchmarks.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  for (let run = 1; run <= runs; run++) {
    process.stdout.write(`${benchmark.name}${runs > 1 ? ` (run ${run} of ${runs})` : ""}: ${benchmark.summary}\n`);
    for (const figure of await measure(benchmark)) {
      figures.push({ ...figure, benchmark: benchmark.name, run });
      process.stdout.write(`  ${render(figure)}\n`);
    }
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);

/** A benchmark that cannot be measured here prints why, and the others still run. */
async function measure(benchmark: Benchmark): Promise<Figure[]> {
  try {
    return await benchmark.run({
      count: countOf(benchmark),
      short,
      peer: values.peer,
      shared,
      only: values.only,
      progress: (text) => void process.stderr.write(`  … ${text}\n`),
    });
  } catch (error) {
    process.stderr.write(`${benchmark.name}: ${messageOf(error)}\n`);
    process.exitCode = 1;
    return [];
  }
}

function render(figure: Figure): string {
  const { name, value, unit, peer, reference, better } = figure;
  const own = `${name.padEnd(34)} ${format(value).padStart(9)} ${unit.padEnd(12)}`;
  if (reference !== undefined)
    return `${own} reference ${format(reference).padStart(9)}   ${(value / reference).toFixed(2)} of it`;
  if (peer === undefined) return own.trimEnd();
  const ratio = better === "more" ? value / peer : peer / value;
  return `${own} peer ${format(peer).padStart(9)}   ${ratio.toFixed(1)} × better`;
}

function format(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
