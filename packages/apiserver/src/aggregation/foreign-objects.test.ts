import { describe, expect, test } from "vitest";
import { collectedKinds } from "./foreign-objects.ts";
import type { RemoteService } from "./remote-service.ts";

const ALL = ["get", "list", "watch", "delete", "patch"];
const kind = (resource: string, verbs = ALL) => ({
  resource,
  responseKind: { kind: resource },
  scope: "Cluster",
  verbs,
});
const makeRemote = (version: string, versionPriority: number, rest: Partial<RemoteService> = {}): RemoteService =>
  ({
    name: `${version}.fish.example`,
    group: "fish.example",
    version,
    isUsed: true,
    spec: { groupPriorityMinimum: 1, versionPriority },
    discovered: { resources: [] },
    ...rest,
  }) as RemoteService;

describe("the kinds that take part in garbage collection", () => {
  test("are read in the version of the highest priority that has them", () => {
    const { kinds, unknown } = collectedKinds([
      makeRemote("v1", 10, {
        discovered: { resources: [kind("trout"), kind("salmon"), kind("roe", ["get", "list"])] },
      }),
      makeRemote("v2", 20, { discovered: { resources: [kind("trout")] } }),
    ]);

    expect(kinds.map(({ remote, resource }) => `${remote.version}/${resource}`)).toEqual(["v2/trout", "v1/salmon"]);
    expect(unknown).toEqual([]);
  });

  test("are not all known while a version of a group has not been read, although another one has", () => {
    const { kinds, unknown } = collectedKinds([
      makeRemote("v1", 10, { discovered: { resources: [kind("trout")] } }),
      makeRemote("v2", 20, { discovered: undefined }),
    ]);

    expect(kinds.map(({ resource }) => resource)).toEqual(["trout"]);
    expect(unknown).toEqual(["the server of the APIService v2.fish.example has not said yet which kinds it has"]);
  });

  test("are known without an APIService above the limit, whose server is never called", () => {
    const remote = makeRemote("v1", 10, { isUsed: false, discovered: undefined });

    expect(collectedKinds([remote])).toEqual({ kinds: [], unknown: [] });
  });
});
