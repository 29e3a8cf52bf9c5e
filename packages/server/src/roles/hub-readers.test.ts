/** The API server of a hub without controllers: what it reads to answer explanations and the proxy. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { createMemoryEngine } from "@flotilla/apiserver";
import { silentLog, systemClock, systemRandom } from "@flotilla/base";
import { createEventRecorders, createInformers } from "@flotilla/controller-runtime";
import type { Informers } from "@flotilla/controller-runtime";
import { ResourceBinding } from "@flotilla/karmada";
import { Deployment } from "@flotilla/kubernetes";
import { createHubApiServer } from "./api-server.ts";
import type { HubApiServer } from "./api-server.ts";
import { createHubReaders } from "./hub-readers.ts";
import type { HubReaders } from "./hub-readers.ts";
import { startParts, stopParts } from "./process-parts.ts";
import type { Part } from "./process-parts.ts";

const environment = { clock: systemClock, random: systemRandom, log: silentLog };

let parts: readonly Part[];
let api: HubApiServer;
let readers: HubReaders;
/** The kinds whose informers were requested. */
let opened: Set<string>;
let shared: ReturnType<typeof createInformers>;

beforeEach(async () => {
  api = await createHubApiServer({ ...environment, engine: createMemoryEngine(), nodes: 0, runsKruise: () => false });
  const client = api.connect("system", "flotilla-system");
  shared = createInformers({ client, ...environment, scope: { cluster: HUB } });
  const events = createEventRecorders({ client, ...environment });
  opened = new Set();
  const informers: Informers = {
    ...shared,
    of(kind) {
      opened.add(kind.plural);
      return shared.of(kind);
    },
  };
  readers = createHubReaders({ hub: HUB, client, informers, events: events.recorders, ...environment });
  parts = [api, { stop: () => shared.close() }, events, readers];
  await startParts(parts, new AbortController().signal);
});
afterEach(() => stopParts(parts));

test("opens informers of what explanations and the proxy read, and of nothing that only controllers read", () => {
  expect([...opened].toSorted()).toEqual([
    "addonplacementscores",
    "clusteroverridepolicies",
    "clusterpropagationpolicies",
    "clusterresourcebindings",
    "clusters",
    "customresourcedefinitions",
    "federatedresourcequotas",
    "fleetrollouts",
    "managedclusters",
    "managedclustersetbindings",
    "managedclustersets",
    "manifestworkreplicasets",
    "manifestworks",
    "overridepolicies",
    "placementdecisions",
    "placements",
    "priorityclasses",
    "propagationpolicies",
    "resourcebindings",
    "resourceinterpretercustomizations",
    "resourceinterpreterwebhookconfigurations",
    "rollouts",
    "rolloutstrategies",
    "secrets",
    "services",
    "works",
  ]);
});

test("explains a template of a kind that a binding names at the first request", async () => {
  const client = api.connect("system", "flotilla-system");
  await client.create(Deployment, HUB, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  });
  await client.create(ResourceBinding, HUB, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "default" },
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" } },
  });
  await vi.waitFor(() => expect(opened).toContain("deployments"));
  await shared.whenSynced(new AbortController().signal);
  const { explanation } = readers.extensions(async () => ({ status: 404, headers: {}, body: new Uint8Array() }));

  const explained = await explanation("default", "web-deployment");

  expect(explained?.resource).toMatchObject({ kind: "Deployment", namespace: "default", name: "web" });
});
