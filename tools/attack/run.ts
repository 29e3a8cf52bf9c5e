/**
 * `npm run attack`: starts a hub in a temporary folder, attacks it over the loopback interface, and prints per attack
 * what was tried, whether the hub held, how long an uninvolved client waited meanwhile, and how much memory it took.
 */
import { parseArgs } from "node:util";
import { messageOf } from "@flotilla/base";
import { runCampaign, type CampaignOptions } from "./campaign.ts";
import { attacks } from "./catalogue.ts";
import { renderJudgement, renderSummary } from "./report.ts";

const USAGE = `Attack a hub, and report what held. Starts a hub of its own; everything stays on the loopback interface.

Usage: npm run attack -- [--list] [--only NAME]... [--short] [--minutes N] [-o json]

  --list       print the attacks and end
  --only NAME  run attacks whose name contains this; may be repeated
  --short      run a small form of the quick attacks, in less than a minute; memory a minute later is not measured
  --minutes N  start no attack after N minutes; the rest is reported as not tried; default: 30, with --short 0.9
  -o json      print JSON

Exit code 0: everything that was tried held; 1: an attack did not hold; 2: wrong usage.
`;
const FULL_MINUTES = 30;
const SHORT_MINUTES = 0.9;

type Options = CampaignOptions & { isJson: boolean };

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
  const judgements = await runCampaign(options, (judgement) => {
    if (!isJson) process.stdout.write(renderJudgement(judgement));
  });
  process.stdout.write(isJson ? `${JSON.stringify(judgements, undefined, 2)}\n` : renderSummary(judgements));
  return judgements.some(({ outcome }) => outcome === "broken") ? 1 : 0;
}

function parseOptions(args: string[]): Options | "help" | "list" {
  const { values } = parseArgs({
    args,
    options: {
      list: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      short: { type: "boolean", default: false },
      minutes: { type: "string" },
      output: { type: "string", short: "o", default: "text" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  if (values.list) return "list";
  const minutes = Number(values.minutes ?? (values.short ? SHORT_MINUTES : FULL_MINUTES));
  if (!(minutes > 0)) throw new TypeError(`--minutes must be a positive number, not ${values.minutes ?? ""}`);
  if (!["text", "json"].includes(values.output)) throw new TypeError(`unknown output format ${values.output}`);
  const { only, short: isShort } = values;
  const chosen = attacks.filter(
    ({ name, short = false }) =>
      (only.length === 0 || only.some((part) => name.includes(part))) && (short || !isShort || only.length > 0),
  );
  if (chosen.length === 0) throw new TypeError(`no attack is named like ${only.join(", ")}; see --list`);
  return { chosen, isShort, minutes, isJson: values.output === "json" };
}
