import { expect, test } from "vitest";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ChangedKind } from "@flotilla/kubernetes";
import type { Lister } from "@flotilla/controller-runtime";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { createRuleChanges } from "./rule-changes.ts";

const web = makeBinding(makeDeployment("shop/web").build()).build();
const settings = makeBinding({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "settings" },
}).build();
const work = {
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { namespace: "karmada-es-paris", name: "web-1" },
  spec: {
    workload: {
      manifests: [{ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name: "web" } }],
    },
  },
} as unknown as Work;
const listing = <T extends ResourceBinding | Work>(...objects: DeepReadonly<T>[]): Lister<T> => ({
  get: () => undefined,
  list: () => objects,
  by: () => [],
});

function started(): { found: string[]; searches(): number; change(kind: ChangedKind): void } {
  const found: string[] = [];
  let searches = 0;
  const listeners: ((kind: ChangedKind) => void)[] = [];
  const bindings = listing<ResourceBinding>(web, settings);
  const changes = createRuleChanges({
    hub: "hub",
    interpreter: { onChange: (listener) => listeners.push(listener) },
    bindings: [],
    works: listing<Work>(work),
  });
  changes
    .bindings({ ...bindings, list: () => (searches++, bindings.list()) })
    .start(({ name }) => found.push(`binding ${name}`), new AbortController().signal);
  changes.works().start(({ name }) => found.push(`work ${name}`), new AbortController().signal);
  return { found, searches: () => searches, change: (kind) => listeners.forEach((report) => report(kind)) };
}

test("enqueues everything decided with the rules of a kind, and nothing else", async () => {
  const { found, change } = started();

  change({ group: "apps", kind: "Deployment" });
  await Promise.resolve();

  expect(found).toEqual(["binding web-deployment", "work web-1"]);
});

test("many simultaneous changes cause one search", async () => {
  const { found, searches, change } = started();

  for (const kind of ["Deployment", "StatefulSet", "Deployment"]) change({ group: "apps", kind });
  await Promise.resolve();

  expect(searches()).toBe(1);
  expect(found).toEqual(["binding web-deployment", "work web-1"]);
});

test("enqueues a template without a binding, because its rule may have failed from the start", async () => {
  const found: string[] = [];
  const listeners: ((kind: ChangedKind) => void)[] = [];
  const fleet = { apiVersion: "games.example.com/v1", kind: "GameFleet", metadata: { namespace: "shop", name: "eu" } };
  const changes = createRuleChanges({
    hub: "hub",
    interpreter: { onChange: (listener) => listeners.push(listener) },
    bindings: [listing<ResourceBinding>(web)],
    works: listing<Work>(),
    templates: {
      list: ({ apiVersion, kind }) =>
        apiVersion.startsWith("games.example.com/") && kind === "GameFleet" ? [fleet] : [],
    },
  });
  changes.templates().start(({ name }) => found.push(name), new AbortController().signal);

  for (const report of listeners) report({ group: "games.example.com", kind: "GameFleet" });
  await Promise.resolve();

  expect(found).toEqual(["eu"]);
});
