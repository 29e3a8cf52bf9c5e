/** Policies as users write them are accepted, with warnings where they are shorthand. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { Cluster, ClusterPropagationPolicy, OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import { kruiseKinds } from "@flotilla/openkruise";
import { createTestServer, PROFILE, type TestServer } from "@flotilla/testing/api-server.ts";
import type { JsonObject } from "@flotilla/base";
import { parseYaml } from "@flotilla/apimachinery";

const FOLDER = new URL("./policies/", import.meta.url);
/** The warnings for files with shorthand. */
const WARNINGS: Readonly<Record<string, string[]>> = {
  "guide-sidecarset-propagation.yaml": [
    '299 - "spec.resourceSelectors[0]: SidecarSet is in no namespace but is still selected; the canonical form is a ClusterPropagationPolicy"',
  ],
};

/** Policies that name clusters that have not joined, or kinds that are not served, cause warnings. */
const members = ["member1", "member2", "member-cluster-1", "member-cluster-2"].map((name) => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push" },
}));

let hub: TestServer;
beforeAll(async () => {
  hub = await createTestServer({
    profiles: {
      hub: {
        ...PROFILE,
        customs: [PropagationPolicy, ClusterPropagationPolicy, OverridePolicy, Cluster, ...kruiseKinds],
        objects: [...PROFILE.objects, ...members],
      },
    },
    admissions: kindAdmissions,
  });
});
afterAll(() => hub.server.close());

/** As kubectl does: objects without a namespace use the namespace of the context. */
function pathOf({ kind }: JsonObject): string {
  const plural =
    kind === "ClusterPropagationPolicy"
      ? "clusterpropagationpolicies"
      : `namespaces/default/${kind === "OverridePolicy" ? "overridepolicies" : "propagationpolicies"}`;
  return `/apis/policy.karmada.io/v1alpha1/${plural}?fieldValidation=Strict`;
}

test.for(readdirSync(FOLDER))("%s applies as written", async (file) => {
  const policy = parseYaml(readFileSync(new URL(file, FOLDER), "utf8")) as JsonObject;

  const { status, body, headers } = await hub.request("POST", pathOf(policy), policy);

  expect(status).toBe(201);
  expect(body["spec"]).toMatchObject({ placement: (policy["spec"] as JsonObject)["placement"] as JsonObject });
  expect([headers["warning"] ?? []].flat()).toEqual(WARNINGS[file] ?? []);
});
