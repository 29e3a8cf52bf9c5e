/** `flotilla fsck`: checks the store of a stopped fleet, and repairs it after confirmation. */
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { StoreReport } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import { isDamaged, renderStore, withoutCopy } from "../store/render-store.ts";

const DAMAGED = 1;
const NOT_CHECKED = 2;

export const fsckCommand = defineCommand({
  name: "fsck",
  summary: "check the store of a stopped fleet for damage, and repair it",
  details:
    "Verifies the structure of the file and the checksum of every value. Nothing is written without " +
    "confirmation. A repair writes a new file with all intact objects, restores damaged ones from the " +
    "history or from a snapshot, and keeps the damaged file. The exit code is 0 without damage or after a " +
    "repair, 1 with damage that was not repaired, and 2 if the store could not be checked.",
  example: [
    { says: "Check a store, and confirm the repair if it is damaged.", run: "flotilla fsck" },
    {
      says: "Repair it without confirmation, with copies from a snapshot.",
      run: "flotilla fsck --from fleet.snapshot --yes",
    },
    { says: "Also remove objects of which no intact copy exists.", run: "flotilla fsck --remove-lost --yes" },
  ],
  args: [],
  flags: {
    data: { type: "string", value: "DIR", description: "data directory of the fleet (default ~/.flotilla)" },
    from: {
      type: "string",
      value: "SNAPSHOT",
      completes: "file",
      description: "restore damaged objects from this snapshot where it is newer than the history",
    },
    "remove-lost": {
      type: "boolean",
      description: "accept the loss of writes and objects without an intact copy",
    },
    yes: { type: "boolean", short: "y", description: "repair without confirmation" },
  },
  failureCode: NOT_CHECKED,
  async run({ flags, output, environment, stores, terminal, signal }) {
    const data = flags.data ?? defaultDataDirectory(environment);
    const onProgress = (rows: number): void => output.progress(`checking ${data}: ${rows} values`);
    output.progress(`checking ${data}`);
    const report = await stores.check(data, flags.from, onProgress);
    if (!isDamaged(report)) {
      output.result(asJson(data, report, "intact"), () => renderStore(data, report));
      return 0;
    }
    output.say(renderStore(data, report));
    const reason = reasonAgainst(report, flags) ?? (await refusal(flags.yes, terminal, signal));
    if (reason !== undefined) {
      output.result(asJson(data, report, "damaged"), () => output.called(reason));
      return DAMAGED;
    }
    output.progress(`repairing ${data}`);
    const { objects, keptAs } = await stores.repair(data, flags.from, onProgress);
    output.result({ ...asJson(data, report, "repaired"), keptAs: keptAs ?? null }, () =>
      output.called(
        `repaired: ${objects} objects${keptAs === undefined ? "" : `; the damaged file is ${keptAs}`}; start the fleet with: flotilla up --data ${data}`,
      ),
    );
    return 0;
  },
});

function asJson(data: string, report: StoreReport, result: string): Record<string, Json> {
  return { data, result, ...(JSON.parse(JSON.stringify(report)) as Record<string, Json>) };
}

/** Why the damage is not repaired with these flags. */
function reasonAgainst(
  report: StoreReport,
  flags: { from: string | undefined; "remove-lost": boolean },
): string | undefined {
  if (report.objects + report.damaged.length === 0)
    return "nothing in the store can be read; add --from SNAPSHOT to restore it from a snapshot, or remove the data directory to start with an empty one";
  if (flags["remove-lost"]) return undefined;
  const lost = withoutCopy(report) + report.unknownObjects;
  if (lost > 0)
    return `${lost} objects have no intact copy; add --from SNAPSHOT, or --remove-lost to repair the store without them`;
  // A snapshot replaces the whole store only when nothing in it can be read.
  if (report.lostUpTo !== undefined && report.objects > 0)
    return "acknowledged writes are lost; put the removed file back, restore a snapshot into a new directory, or add --remove-lost to continue without them";
  return undefined;
}

async function refusal(
  yes: boolean,
  terminal: { canAsk: boolean; ask(question: string, signal: AbortSignal): Promise<string | undefined> },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (yes) return undefined;
  if (!terminal.canAsk) return "nothing was changed; run 'flotilla fsck --yes' to repair it";
  const answer = await terminal.ask("Repair the store? The damaged file is kept. [y/N] ", signal);
  return /^\s*y(es)?\s*$/i.test(answer ?? "") ? undefined : "nothing was changed";
}
