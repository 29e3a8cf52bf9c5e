import { describe, expect, test } from "vitest";
import { queryText, resourcePath } from "./request-path.ts";

describe("request paths", () => {
  const cases: Record<string, { path: Partial<Parameters<typeof resourcePath>[0]>; want: string }> = {
    "the core group is under /api": { path: { group: "", resource: "nodes" }, want: "/api/v1/nodes" },
    "other groups are under /apis": {
      path: { namespace: "shop", name: "web", subresource: "status" },
      want: "/apis/apps/v1/namespaces/shop/deployments/web/status",
    },
    "names are percent-encoded": {
      path: { name: "system:a/b?c#d" },
      want: "/apis/apps/v1/deployments/system%3Aa%2Fb%3Fc%23d",
    },
  };
  for (const [behaviour, { path, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(resourcePath({ cluster: "hub", group: "apps", version: "v1", resource: "deployments", ...path })).toBe(
        want,
      );
    });
  }

  for (const name of ["", ".", ".."]) {
    test(`the name ${JSON.stringify(name)} is rejected, since it would address another object`, () => {
      expect(() => resourcePath({ cluster: "hub", group: "", version: "v1", resource: "nodes", name })).toThrow(
        "cannot be used in a request path; name the object",
      );
    });
  }

  test("queries are encoded, and an empty one adds nothing", () => {
    expect(queryText({ labelSelector: "a in (b,c)", limit: "5" })).toBe("?labelSelector=a%20in%20(b%2Cc)&limit=5");
    expect(queryText({})).toBe("");
  });
});
