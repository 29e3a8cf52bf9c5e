/**
 * `npm run attack`: starts a hub in a temporary folder, attacks it over the loopback interface, and prints per attack
 * what was tried, whether the hub held, how long an uninvolved client waited meanwhile, and how much memory it took.
 */
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { runCampaign, type CampaignOptions } from "./campaign.ts";
import { attacks, familyNames, familyOf } from "./catalogue.ts";
import { exitCodeOf } from "./judge.ts";
import { renderStress, stressProblems } from "./stress-judge.ts";
import { runStress } from "./stress.ts";
import { renderJudgement, renderSummary } from "./report.ts";

const USAGE = `Attack a hub, and report what held. Starts a hub of its own; everything stays on the loopback interface.

Usage: npm run attack -- [--list] [--family NAME]... [--only NAME]... [--short] [--minutes N] [-o json]
       npm run attack -- --stress [--minutes N] [-o json]

  --list         print the attacks and end
  --family NAME  run the attacks of a family: ${familyNames().join(", ")}; may be repeated
  --only NAME    run attacks whose name contains this; may be repeated
  --short        run a small form of the quick attacks, in about a minute; memory afterwards is not measured
  --minutes N    start no attack after N minutes; the rest is reported as not tried; default: 40, with --short 4
  --stress        hostile members, agents and tenants at the same time, for N minutes (default: 60), beside a steady load
                 on other members: their p99 of delivery stays below twice that of a quiet phase before, no hostile
                 peer receives a canary, and the hub's memory stays bounded
  -o json        print JSON

Exit code 0: every attack was tried and held; 1: an attack did not hold; 2: wrong usage; 3: nothing broke, but an attack
was not tried.
`;
/** Bounds for a machine that hangs; the attacks take about half of it. */
const FULL_MINUTES = 40;
const SHORT_MINUTES = 4;
const STRESS_MINUTES = 60;

type Options = CampaignOptions & { isJson: boolean; isStress: boolean };

// The listeners for "exit" end the hub.
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let options: Options | "help" | "list";
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`attack: ${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options === "help" || options === "list") {
    process.stdout.write(options === "help" ? USAGE : attacks.map(({ name, claim }) => `${name}: ${claim}\n`).join(""));
    return 0;
  }
  const { isJson } = options;
  if (options.isStress) return stress(options.minutes, isJson);
  const judgements = await runCampaign(options, (judgement) => {
    if (!isJson) process.stdout.write(renderJudgement(judgement));
  });
  process.stdout.write(isJson ? `${JSON.stringify(judgements, undefined, 2)}\n` : renderSummary(judgements));
  return exitCodeOf(judgements);
}

async function stress(minutes: number, isJson: boolean): Promise<number> {
  const observation = await runStress(minutes, (line) => process.stderr.write(`${line}\n`));
  const problems = stressProblems(observation);
  process.stdout.write(
    isJson ? `${JSON.stringify({ ...observation, problems }, undefined, 2)}\n` : renderStress(observation, problems),
  );
  return problems.length > 0 ? 1 : 0;
}

function parseOptions(args: string[]): Options | "help" | "list" {
  const { values } = parseArgs({
    args,
    options: {
      list: { type: "boolean", default: false },
      family: { type: "string", multiple: true, default: [] },
      only: { type: "string", multiple: true, default: [] },
      short: { type: "boolean", default: false },
      stress: { type: "boolean", default: false },
      minutes: { type: "string" },
      output: { type: "string", short: "o", default: "text" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  if (values.list) return "list";
  const isStress = values.stress;
  if (isStress && (values.short || values.only.length > 0 || values.family.length > 0))
    throw new TypeError("--stress cannot be combined with --short, --only or --family");
  const minutes = Number(values.minutes ?? (isStress ? STRESS_MINUTES : values.short ? SHORT_MINUTES : FULL_MINUTES));
  if (!(minutes > 0)) throw new TypeError(`--minutes must be a positive number, not ${values.minutes ?? ""}`);
  if (!["text", "json"].includes(values.output)) throw new TypeError(`unknown output format ${values.output}`);
  const { only, family: families, short: isShort } = values;
  const unknown = families.find((name) => !familyNames().includes(name));
  if (unknown !== undefined) throw new TypeError(`no family is named ${unknown}; see --help`);
  const chosen = attacks.filter(
    (attack) =>
      (families.length === 0 || families.includes(familyOf(attack))) &&
      (only.length === 0 || only.some((part) => attack.name.includes(part))) &&
      (attack.short || !isShort || only.length > 0),
  );
  if (chosen.length === 0) throw new TypeError(`no attack is named like ${only.join(", ")}; see --list`);
  return { chosen, isShort, minutes, isStress, isJson: values.output === "json" };
}
