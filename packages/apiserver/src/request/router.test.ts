import { describe, expect, test } from "vitest";
import { routeOf, splitCluster } from "./router.ts";
import type { Route } from "./router.ts";

describe("the path of a request", () => {
  const resource = { type: "resource", rest: "", watch: false } as const;
  const cases: Record<string, { path: string; want: Route }> = {
    "names a collection of the core group": {
      path: "/api/v1/pods",
      want: { ...resource, group: "", version: "v1", resource: "pods" },
    },
    "names an object in a namespace": {
      path: "/apis/apps/v1/namespaces/a/deployments/b",
      want: { ...resource, group: "apps", version: "v1", namespace: "a", resource: "deployments", name: "b" },
    },
    "names a subresource": {
      path: "/apis/apps/v1/namespaces/a/deployments/b/scale",
      want: {
        ...resource,
        group: "apps",
        version: "v1",
        namespace: "a",
        resource: "deployments",
        name: "b",
        subresource: "scale",
      },
    },
    "names a namespace itself": {
      path: "/api/v1/namespaces/a",
      want: { ...resource, group: "", version: "v1", resource: "namespaces", name: "a" },
    },
    "treats status and finalize as subresources of the namespace": {
      path: "/api/v1/namespaces/a/finalize",
      want: { ...resource, group: "", version: "v1", resource: "namespaces", name: "a", subresource: "finalize" },
    },
    "keeps the rest of a proxy path": {
      path: "/api/v1/nodes/n/proxy/a/b",
      want: { ...resource, group: "", version: "v1", resource: "nodes", name: "n", subresource: "proxy", rest: "a/b" },
    },
    "decodes escapes in names": {
      path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin",
      want: {
        ...resource,
        group: "rbac.authorization.k8s.io",
        version: "v1",
        resource: "clusterroles",
        name: "system:admin",
      },
    },
    "supports the legacy watch prefix": {
      path: "/api/v1/watch/namespaces/a/pods",
      want: { ...resource, group: "", version: "v1", namespace: "a", resource: "pods", watch: true },
    },
    "names a group and version": {
      path: "/apis/apps/v1",
      want: { type: "discovery", legacy: false, group: "apps", version: "v1" },
    },
    "may end with a slash": { path: "/apis/", want: { type: "discovery", legacy: false } },
    "may be the root": { path: "/", want: { type: "root" } },
    "may be unknown": { path: "/nope", want: { type: "unknown" } },
    "must not have empty segments": { path: "/api/v1/namespaces//pods", want: { type: "unknown" } },
  };
  for (const [behaviour, { path, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const route = routeOf(path);

      expect(route).toEqual(want);
    });
  }

  test("is rejected when an escaped slash would reach into another key", () => {
    expect(() => routeOf("/api/v1/namespaces/a%2Fb/pods")).toThrow("the server could not find the requested resource");
    expect(() => routeOf("/api/v1/namespaces/%ZZ/pods")).toThrow("malformed escape");
  });

  test("belongs to the hub unless it names a cluster", () => {
    expect(splitCluster("/api/v1")).toEqual({ cluster: "hub", path: "/api/v1" });
    expect(splitCluster("/clusters/paris/api/v1")).toEqual({ cluster: "paris", path: "/api/v1" });
    expect(splitCluster("/clusters/paris")).toEqual({ cluster: "paris", path: "/" });
  });
});
