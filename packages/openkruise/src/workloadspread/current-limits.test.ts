import { expect, test } from "vitest";
import { chooseSubset, withCurrentLimits } from "./subset-records.ts";
import type { ReadonlySpread } from "./spread-targets.ts";
import { VERSION_IGNORED } from "./spread-targets.ts";

const NOW = Date.UTC(2024, 4, 1, 12);

test("a pod that is created right after a scale is placed by the new percentages", () => {
  const full = ["base", "burst"].map((name) => ({ name, replicas: 2, missingReplicas: 0 }));
  const spread: ReadonlySpread = {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "WorkloadSpread",
    metadata: { name: "web" },
    spec: {
      targetRef: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
      subsets: [
        { name: "base", maxReplicas: "50%" },
        { name: "burst", maxReplicas: "50%" },
      ],
    },
    status: { versionedSubsetStatuses: { [VERSION_IGNORED]: full } },
  };
  const pod = { name: "web-4", id: "web-4", version: VERSION_IGNORED };

  expect(chooseSubset(withCurrentLimits(spread, VERSION_IGNORED, 4), pod, 4, NOW).subset).toBeUndefined();
  expect(chooseSubset(withCurrentLimits(spread, VERSION_IGNORED, 8), pod, 8, NOW).subset).toBe("base");
});
