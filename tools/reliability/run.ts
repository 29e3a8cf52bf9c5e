/**
 * `npm run reliability`: three etcd, three API servers and two processes of controllers under load, with faults at random;
 * checks what clients saw for linearizability.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { realBinaries } from "../../test/programs/kube.ts";
import { defects, withDefect } from "./defects.ts";
import { runCampaign } from "./campaign.ts";
import { faultKinds } from "./faults.ts";
import type { FaultKind } from "./faults.ts";
import { isSound, renderReport } from "./report.ts";

const USAGE = `Let faults happen to a hub of several processes, and check what its clients saw.

Usage: npm run reliability -- [--minutes N] [--seed S] [--only TEXT]... [--break NAME] [--json FILE] [--keep] [--list]

  --minutes N    how long faults happen (default: 5)
  --seed S       which faults happen, and what clients do; printed (default: drawn)
  --only TEXT    only faults whose name contains this; may be repeated
  --break NAME   build a known defect into a copy of the program: then the run must find it; with the faults that show it
  --json FILE    write the result as JSON
  --keep         keep the logs of all processes
  --list         print the faults and the defects, and end

It needs etcd in $REAL_BIN, and the right to mount for full disks. Everything is on the loopback interface.

Exit code 0: the history is that of one correct store; 1: it is not; 2: wrong usage; 3: nothing was run. With --break, 0 means
that the defect was found.
`;

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args,
      options: {
        minutes: { type: "string", default: "5" },
        seed: { type: "string", default: String(1 + Math.floor(Math.random() * 1e6)) },
        only: { type: "string", multiple: true, default: [] },
        break: { type: "string" },
        json: { type: "string" },
        keep: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) process.stdout.write(USAGE);
    else if (values.list)
      process.stdout.write(`faults:\n  ${faultKinds.join("\n  ")}\ndefects:\n  ${Object.keys(defects).join("\n  ")}\n`);
    else return await run(values);
    return 0;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`reliability: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
}

interface Values {
  minutes: string;
  seed: string;
  only: readonly string[];
  break?: string | undefined;
  json?: string | undefined;
  keep: boolean;
}

async function run(values: Values): Promise<number> {
  const { minutes, seed, only, break: defect, json, keep } = values;
  if (!(Number(minutes) > 0) || !Number.isInteger(Number(seed)))
    throw new TypeError("--minutes and --seed are numbers");
  const wanted = only.length > 0 ? only : ((defect === undefined ? undefined : defects[defect]?.shownBy) ?? [""]);
  const chosen = faultKinds.filter((kind) => wanted.some((text) => kind.includes(text)));
  if (chosen.length === 0) throw new TypeError("no fault has such a name; --list shows them");
  if (defect !== undefined && !Object.hasOwn(defects, defect))
    throw new TypeError(`no defect is called '${defect}'; --list shows them`);
  const binaries = realBinaries(["etcd"]);
  if (binaries === undefined) {
    process.stderr.write("reliability: there is no etcd in $REAL_BIN\n");
    return 3;
  }
  return withDefect(defect, async (entry) => {
    const result = await runCampaign({
      minutes: Number(minutes),
      seed: Number(seed),
      binaries,
      entry,
      only: chosen satisfies readonly FaultKind[],
      keep,
      progress: (text) => void process.stderr.write(`${text}\n`),
    });
    process.stdout.write(renderReport(result));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, undefined, 2)}\n`);
    if (defect === undefined) return isSound(result) ? 0 : 1;
    process.stdout.write(isSound(result) ? `the defect ${defect} was not found\n` : `the defect ${defect} was found\n`);
    return isSound(result) ? 1 : 0;
  });
}
