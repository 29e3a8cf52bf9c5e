/** A plan of what was applied says that nothing would change: the files of each example, and each file of the guides. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseYamlDocuments } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { mayChangeMembers, planInput } from "../../packages/cli/src/explain/plan-input.ts";

const SETTLED_MS = 10_000;
const { signal } = new AbortController();
/** Rules for the same operations of the same kinds as files before them, which the hub rejects. */
const REJECTED = [
  "test/seeds/interpreters/introduction-statefulset.yaml",
  "test/seeds/interpreters/talk-cloneset.yaml",
];
/** Has a placeholder for a certificate that a script makes. */
const INCOMPLETE = "examples/interpreter-webhook/configuration.yaml";

const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => join(folder, file))
    .toSorted();

/** Without patches and tests of rules. */
const manifestsIn = (file: string): JsonObject[] =>
  parseYamlDocuments(readFileSync(file, "utf8"))
    .filter(isObject)
    .filter(({ apiVersion, kind, metadata }) => apiVersion !== undefined && kind !== undefined && isObject(metadata));

test("a plan of what was applied says that nothing would change", { timeout: 120_000 }, async () => {
  const guides = filesIn("test/seeds").map((file) => [file, manifestsIn(file)] as const);
  const examples = readdirSync("examples").map(
    (example) =>
      [
        example,
        filesIn("examples").flatMap((file) =>
          file.startsWith(join("examples", example, "/")) && file !== INCOMPLETE ? manifestsIn(file) : [],
        ),
      ] as const,
  );
  const fleet = await startTestFleet({ members: ["member1", "member2", "member3", "cluster1"], nodes: 3 });
  const rejected: string[] = [];
  const changing: unknown[] = [];
  try {
    for (const [title, manifests] of [...guides, ...examples]) {
      if (manifests.length === 0) continue;
      const input = { manifests, without: [], namespace: "default" };
      try {
        await planInput(fleet.client, input, fleet.clock, signal);
      } catch {
        rejected.push(title);
        continue;
      }
      await applyAll(fleet.client, input, { signal, whenRecorded: () => fleet.run(1_000) });
      await fleet.run(SETTLED_MS);
      const again = await planInput(fleet.client, input, fleet.clock, signal);
      if (again.hub.length > 0 || mayChangeMembers(again))
        changing.push([title, again.hub, again.changes, again.releases, again.unplanned]);
    }
  } finally {
    await fleet.stop();
  }

  expect(changing).toEqual([]);
  expect(rejected).toEqual(REJECTED);
});
