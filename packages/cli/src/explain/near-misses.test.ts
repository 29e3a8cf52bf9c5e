import { expect, test } from "vitest";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { findNearMisses } from "./near-misses.ts";

const web = makeDeployment("shop/web").build();
const cases: Record<string, { policy: ReturnType<typeof makePolicy>; want: string[] }> = {
  "names a policy of another namespace": {
    policy: makePolicy("default/all").selects("apps/v1", "Deployment"),
    want: ["PropagationPolicy default/all selects such objects, but only in its own namespace"],
  },
  "names a policy for another API version of the kind": {
    policy: makePolicy("shop/old").selects("extensions/v1beta1", "Deployment"),
    want: ["PropagationPolicy shop/old selects Deployment in extensions/v1beta1, and this is Deployment in apps/v1"],
  },
  "names a policy for a misspelt kind": {
    policy: makePolicy("shop/typo").selects("apps/v1", "Deploymnet"),
    want: ["PropagationPolicy shop/typo selects Deploymnet in apps/v1, and this is Deployment in apps/v1"],
  },
  "names no policy for another kind": {
    policy: makePolicy("shop/sets").selects("apps/v1", "StatefulSet"),
    want: [],
  },
  "names no policy of another namespace for another object": {
    policy: makePolicy("default/db").selects("apps/v1", "Deployment", "db"),
    want: [],
  },
};
const fixes: Record<string, { policy: ReturnType<typeof makePolicy>; want: string }> = {
  "the kind only, because every served version matches": {
    policy: makePolicy("shop/typo").selects("apps/v1beta1", "Deploymnet"),
    want: "set kind: Deployment in the resourceSelectors of the policy",
  },
  "the API version only": {
    policy: makePolicy("shop/old").selects("apps/v1beta1", "Deployment"),
    want: "set apiVersion: apps/v1 in the resourceSelectors of the policy",
  },
};
for (const [behaviour, { policy, want }] of Object.entries(fixes))
  test(`why advises to correct ${behaviour}`, () => {
    const [found] = findNearMisses(web, { policies: [policy.build()], clusterPolicies: [] });

    expect(found?.try).toBe(want);
  });

for (const [behaviour, { policy, want }] of Object.entries(cases))
  test(`why ${behaviour}`, () => {
    const found = findNearMisses(web, { policies: [policy.build()], clusterPolicies: [] });

    expect(found.map(({ what }) => what)).toEqual(want);
  });
