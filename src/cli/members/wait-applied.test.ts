import { expect, test } from "vitest";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import type { Failure } from "./each-place.ts";
import type { Place } from "./places.ts";
import { unseenStand } from "./wait-applied.ts";

const template = makeDeployment("shop/web").build();
const binding = {
  ...makeBinding(template).targets({ oslo: 1 }).build(),
  status: { aggregatedStatus: [{ clusterName: "oslo", applied: true, health: "Healthy" as const }] },
};
const place = (more: Partial<Place> = {}): Place => ({ name: "oslo", prefix: "", mode: "pull", ...more });

const cases: Record<string, { failure: Failure; reason?: string }> = {
  "a member that pulls is as it reports": { failure: { place: place(), reason: "no way", isOutOfReach: true } },
  "a member that may not be looked into is as it reports": {
    failure: { place: place({ mode: "push" }), reason: "forbidden" },
  },
  "a member that does not answer is not well, whatever it last reported": {
    failure: { place: place({ mode: "push" }), reason: "no answer within 10 s", isAway: true },
    reason: "it cannot be seen: no answer within 10 s",
  },
  "a member that pulls and is not heard of is not well": {
    failure: { place: place({ unready: "its agent is silent" }), reason: "no way", isOutOfReach: true },
    reason: "it cannot be seen: no way",
  },
};
for (const [behaviour, { failure, reason }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(unseenStand(template, binding, failure)).toEqual({ cluster: "oslo", reason });
  });
}
