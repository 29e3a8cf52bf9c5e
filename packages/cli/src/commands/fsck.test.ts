import { expect, test } from "vitest";
import type { CommandContext, StoreReport } from "../command.ts";
import { createOutput } from "../output.ts";
import { fsckCommand } from "./fsck.ts";

const intact: StoreReport = {
  objects: 3,
  rows: 7,
  revision: 7,
  hasChecksums: true,
  structure: [],
  damaged: [],
  damagedHistory: 0,
  unknownObjects: 0,
};
const damaged = (from: StoreReport["damaged"][number]["from"]): StoreReport => ({
  ...intact,
  damaged: [{ object: "configmaps shop/a of hub", problem: "the value is damaged", from, revision: 4 }],
});

async function run(report: StoreReport, flags: Record<string, unknown>, answer?: string) {
  let text = "";
  let repairs = 0;
  const write = (more: string): void => void (text += more);
  const code = await fsckCommand.run({
    flags: { data: "/data", ...flags },
    output: createOutput({ format: "table", write, warn: write, showProgress: () => undefined }),
    environment: {},
    signal: new AbortController().signal,
    terminal: { canAsk: answer !== undefined, ask: async () => answer },
    stores: {
      check: async () => report,
      async repair() {
        repairs += 1;
        return { objects: 3, keptAs: "/data/flotilla.db.damaged" };
      },
    },
  } as unknown as CommandContext<Record<string, never>>);
  return { code, text, repairs };
}

const cases: Record<
  string,
  { report: StoreReport; flags?: Record<string, unknown>; answer?: string; code: number; repairs: number; says: string }
> = {
  "an intact store": { report: intact, code: 0, repairs: 0, says: "no damage found" },
  "a damaged store is not repaired without a terminal": {
    report: damaged("history"),
    code: 1,
    repairs: 0,
    says: "configmaps shop/a of hub: the value is damaged; it can be restored as it was at revision 4",
  },
  "a damaged store is not repaired when the user declines": {
    report: damaged("history"),
    answer: "n",
    code: 1,
    repairs: 0,
    says: "nothing was changed",
  },
  "a damaged store is repaired when the user confirms": {
    report: damaged("log"),
    answer: "y",
    code: 0,
    repairs: 1,
    says: "the damaged file is /data/flotilla.db.damaged",
  },
  "a damaged store is repaired with --yes": {
    report: damaged("snapshot"),
    flags: { yes: true },
    code: 0,
    repairs: 1,
    says: "repaired: 3 objects",
  },
  "an object without an intact copy needs a decision": {
    report: damaged("nothing"),
    flags: { yes: true },
    code: 1,
    repairs: 0,
    says: "1 objects have no intact copy; add --from SNAPSHOT, or --remove-lost",
  },
  "an object without an intact copy is removed on request": {
    report: damaged("nothing"),
    flags: { yes: true, "remove-lost": true },
    code: 0,
    repairs: 1,
    says: "repaired",
  },
  "lost writes need a decision": {
    report: { ...intact, lostUpTo: 9 },
    flags: { yes: true },
    code: 1,
    repairs: 0,
    says: "writes up to revision 9 were acknowledged, and those after 7 are gone",
  },
  "a file with a damaged structure is reported, and not repaired without a terminal": {
    report: { ...intact, structure: ["Tree 4 page 7: btreeInitPage() returns error code 11"] },
    code: 1,
    repairs: 0,
    says: "Tree 4 page 7: btreeInitPage() returns error code 11",
  },
  "a file with a damaged structure whose objects can be read is repaired with --yes": {
    report: { ...intact, structure: ["Tree 4 page 7: btreeInitPage() returns error code 11"] },
    flags: { yes: true },
    code: 0,
    repairs: 1,
    says: "repaired: 3 objects",
  },
  "a store of which nothing can be read needs a snapshot": {
    report: { ...intact, objects: 0, structure: ["the file is missing or empty"], lostUpTo: 9 },
    flags: { yes: true, "remove-lost": true },
    code: 1,
    repairs: 0,
    says: "add --from SNAPSHOT to restore it from a snapshot",
  },
};
test.each(Object.entries(cases))("%s", async (_behaviour, { report, flags = {}, answer, code, repairs, says }) => {
  const result = await run(report, flags, answer);

  expect([result.code, result.repairs]).toEqual([code, repairs]);
  expect(result.text).toContain(says);
});
