import { expect, test } from "vitest";
import { review } from "../../../apimachinery/src/kind/test-review.ts";
import type { DaemonSet } from "./daemonset-kind.ts";
import { rules } from "./daemonset-rules.ts";

const base = {
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
};
const make = (spec: object = {}): DaemonSet => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "a", namespace: "shop" },
  spec: { ...base, ...spec },
});
const GENERATION = "deprecated.daemonset.template.generation";

test("a DaemonSet defaults to maxUnavailable 1 and template generation 1", () => {
  const { object } = review(rules, make());

  expect(object.spec).toMatchObject({
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  });
  expect(object.metadata.annotations).toEqual({ [GENERATION]: "1" });
});

test("only a new template increases the template generation; the client's annotation is ignored", () => {
  const old = review(rules, make()).object;
  const changed = (spec: object): string | undefined =>
    review(rules, make(spec), { old }).object.metadata.annotations?.[GENERATION];

  expect(changed({ minReadySeconds: 3 })).toBe("1");
  expect(changed({ template: { ...base.template, spec: { containers: [{ name: "c", image: "j" }] } } })).toBe("2");
});

const refusals: Record<string, [rollingUpdate: object, want: string]> = {
  "a rollout with maxUnavailable and maxSurge both 0": [
    { maxUnavailable: 0 },
    "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
  ],
  "a rollout with maxSurge set while maxUnavailable is not 0": [
    { maxSurge: 1 },
    "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
  ],
};
for (const [behaviour, [rollingUpdate, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(review(rules, make({ updateStrategy: { rollingUpdate } })).problems).toEqual([want]);
  });
}
