/** Admission finishes in the caller's turn unless a step waits. */
import { expect, test } from "vitest";
import { ConfigMap, Namespace, Pod, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { AnyStep } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, required, silentLog } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createCache } from "../store/create-cache.ts";
import { createMemoryEngine } from "../store/memory-engine.ts";
import { createRbac } from "../access/rbac.ts";
import { createAdmissionChain } from "../admission/chain.ts";
import { createBuiltInSteps } from "../admission/index.ts";
import { createClusterRegistry } from "../clusters/clusters.ts";
import { createObjectStore } from "../clusters/objects.ts";
import { createProfileLayer } from "../clusters/profiles.ts";
import { createConversions } from "../conversion/conversions.ts";
import { createConfiguredAdmission } from "../configured-admission/configured-admission.ts";
import { admitDeletion, admitObject } from "./admit.ts";
import type { AdmitDependencies, AdmitRequest } from "./admit.ts";
import { ownContext, ownOptions } from "./own-request.ts";
import { deletionOf } from "./review.ts";
import { Siblings } from "./siblings.ts";
import { createWriteCounter } from "../clusters/write-counter.ts";

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
const pod = (): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "default" },
  spec: { containers: [{ name: "c", image: "i" }] },
});

async function start(...steps: AnyStep[]): Promise<{ deps: AdmitDependencies; request: AdmitRequest }> {
  const cache = await createCache(createMemoryEngine());
  const clock = createFakeClock();
  const random = createSeededRandom(1);
  const store = createObjectStore(cache, createWriteCounter());
  const profile = createProfileLayer("hub", {
    builtIns: [Namespace, ConfigMap, Pod],
    customs: [],
    objects: [namespace],
  });
  const clusters = createClusterRegistry({
    cache,
    clock,
    random,
    log: silentLog,
    profiles: new Map([["hub", profile]]),
    knownKinds: [],
  });
  await clusters.add("hub", "hub");
  const cluster = required(clusters.get("hub"), "the hub");
  const authorizer = createRbac({ cache, clusters, store });
  const builtIn = createBuiltInSteps({ restrictedGroups: [], arePodsTemplates: () => false });
  const context = ownContext(
    { cluster, resource: required(cluster.table.resource("", "pods"), "pods"), namespace: "default", name: "p" },
    undefined,
    new AbortController().signal,
  );
  return {
    deps: {
      chain: createAdmissionChain([...kubernetesAdmissions, ...builtIn, ...steps]),
      store,
      random,
      clock,
      authorizer,
      siblings: new Siblings(),
      configured: createConfiguredAdmission({
        cache,
        store,
        clusters,
        clock,
        random,
        log: silentLog,
        conversions: createConversions({ store, clusters, clock, random, log: silentLog }),
      }),
    },
    request: {
      context,
      options: ownOptions("test"),
      operation: "CREATE",
      object: pod(),
      findings: { duplicates: [] },
      errors: [],
      guards: [],
      track: (object) => object,
    },
  };
}

test("admission without asynchronous steps returns the object, not a promise", async () => {
  const { deps, request } = await start();

  const admitted = admitObject(deps, request);
  const deletion = admitDeletion(deps, deletionOf(request.context, pod(), { dryRun: false }));

  expect(admitted).not.toBeInstanceOf(Promise);
  expect(admitted).toMatchObject({ spec: { serviceAccountName: "default", priority: 0 } });
  expect(deletion).toBeUndefined();
});

test("admission of a kind without the asynchronous step returns the object", async () => {
  const { deps, request } = await start({ name: "Slow", for: ConfigMap, on: ["CREATE"], check: async () => {} });

  expect(admitObject(deps, request)).not.toBeInstanceOf(Promise);
});

test("admission by an asynchronous step that does not match returns the object", async () => {
  const { deps, request } = await start({
    name: "Slow",
    for: Pod,
    on: ["CREATE"],
    matches: ({ subresource }) => subresource === "eviction",
    check: async () => {},
  });

  expect(admitObject(deps, request)).not.toBeInstanceOf(Promise);
});

test("admission with an asynchronous step returns a promise of the object", async () => {
  const { deps, request } = await start({ name: "Slow", for: Pod, on: ["CREATE"], check: async () => {} });

  const admitted = admitObject(deps, request);

  expect(admitted).toBeInstanceOf(Promise);
  expect(await admitted).toMatchObject({ metadata: { name: "p" } });
});

test("admission names the namespace that it relied on", async () => {
  const { deps, request } = await start();

  await admitObject(deps, request);

  // The namespace is an object of the profile: the guard fails as soon as the cluster writes its own copy.
  expect(request.guards).toEqual([{ key: "/core/namespaces/hub/default", expect: "absent" }]);
});
