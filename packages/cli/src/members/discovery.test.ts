import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { unavailable } from "@flotilla/apimachinery";
import { createDiscovery, readTypes } from "./discovery.ts";
import type { Place } from "./members-places.ts";

const LEGACY: Record<string, JsonObject> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/api/v1": {
    resources: [
      {
        name: "pods",
        singularName: "pod",
        namespaced: true,
        kind: "Pod",
        verbs: ["list"],
        shortNames: ["po"],
        categories: ["all"],
      },
      { name: "pods/log", kind: "Pod", namespaced: true, verbs: ["get"] },
    ],
  },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      { name: "apps", versions: [{ version: "v1beta1" }, { version: "v1" }], preferredVersion: { version: "v1" } },
      { name: "metrics.k8s.io", versions: [{ version: "v1beta1" }], preferredVersion: { version: "v1beta1" } },
    ],
  },
  "/apis/apps/v1": {
    resources: [{ name: "deployments", singularName: "", namespaced: true, kind: "Deployment", verbs: ["list"] }],
  },
  "/apis/apps/v1beta1": {
    resources: [{ name: "deployments", singularName: "", namespaced: true, kind: "Deployment", verbs: ["list"] }],
  },
};

test("a server before 1.26 is queried group by group; an unavailable aggregated API hides no other group", async () => {
  const types = await readTypes((path) =>
    path in LEGACY ? Promise.resolve(LEGACY[path] ?? {}) : Promise.reject(unavailable("down")),
  );

  expect(types.map(({ group, version, plural, scope }) => `${group}/${version} ${plural} ${scope}`)).toEqual([
    "/v1 pods Namespaced",
    "apps/v1 deployments Namespaced",
    "apps/v1beta1 deployments Namespaced",
  ]);
});

const discovery = (plurals: string[]): JsonObject => ({
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: {},
      versions: [
        {
          version: "v1",
          resources: plurals.map((resource) => ({
            resource,
            responseKind: { kind: resource },
            scope: "Cluster",
            verbs: ["list"],
          })),
        },
      ],
    },
  ],
});
const EMPTY = discovery([]);
const place = (name: string): Place => ({ name, prefix: "", mode: "push", serves: "same" });

test("a member that lacks a type by another's discovery is queried itself: its CRD may be new", async () => {
  const asked: string[] = [];
  const found = createDiscovery(({ name }, path) => {
    if (path === "/api") asked.push(name);
    return Promise.resolve(path === "/apis" ? EMPTY : discovery(name === "member2" ? ["nodes", "extras"] : ["nodes"]));
  });

  const [first, second, extras] = [
    await found.typesAt(place("member1"), "nodes"),
    await found.typesAt(place("member2"), "nodes"),
    await found.typesAt(place("member2"), "extras"),
  ];

  expect([first, second, extras].map((types) => types.length)).toEqual([1, 1, 1]);
  expect(asked).toEqual(["member1", "member2"]);
});

test("a failed discovery does not affect other members, and is retried", async () => {
  let isAway = true;
  const found = createDiscovery(({ name }, path) =>
    name === "member1" && isAway
      ? Promise.reject(new Error("away"))
      : Promise.resolve(path === "/apis" ? EMPTY : discovery(["nodes"])),
  );

  const [first, second] = await Promise.allSettled([
    found.typesAt(place("member1"), "nodes"),
    found.typesAt(place("member2"), "nodes"),
  ]);
  isAway = false;
  const again = await found.typesAt(place("member1"), "nodes");

  expect([first.status, second.status, again.length]).toEqual(["rejected", "fulfilled", 1]);
});
