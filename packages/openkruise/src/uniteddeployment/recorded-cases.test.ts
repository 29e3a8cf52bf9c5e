/** Every planner compared with inputs and outputs recorded from OpenKruise's own functions. */
import { describe, expect, test } from "vitest";
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import type { JsonObject } from "@flotilla/base";
import { revisionHash } from "@flotilla/kubernetes";
import { checkCases } from "../testdata/check-cases.ts";
import { readCases } from "../testdata/read-cases.ts";
import { unitedDeploymentCases, unitedDeploymentFromAlpha } from "./testdata/uniteddeployment-cases.ts";
import { unitedDeploymentRevisions } from "./uniteddeployment-revisions.ts";

describe("UnitedDeployment planners match OpenKruise's recorded cases", () => {
  for (const [kind, run] of Object.entries(unitedDeploymentCases))
    checkCases(
      kind,
      readCases<never, never>(new URL("./testdata/uniteddeployment.jsonl.gz", import.meta.url), kind),
      run,
    );
});

test("revisions have OpenKruise's data and names", () => {
  const pods = (image: string): JsonObject => ({
    selector: { matchLabels: { app: "ud" } },
    template: { metadata: { labels: { app: "ud" } }, spec: { containers: [{ name: "main", image }] } },
  });
  const make = (template: string, image: string): UnitedDeployment =>
    unitedDeploymentFromAlpha({
      metadata: { name: "ud" },
      spec: { template: { [template]: { metadata: { labels: { app: "ud" } }, spec: pods(image) } } },
    });
  const hashOf = (deployment: UnitedDeployment): string =>
    revisionHash(unitedDeploymentRevisions.dataOf(deployment), 0);

  const hashes = [
    make("cloneSetTemplate", "nginx:1.0"),
    make("deploymentTemplate", "nginx:1.0"),
    make("deploymentTemplate", "nginx:2.0"),
  ].map(hashOf);

  expect(hashes).toEqual(["644cf96b64", "558dfd766", "7cbf8d8ccc"]);
});
