import { describe, expect, test } from "vitest";
import { managedClusterRules } from "./managedcluster-rules.ts";
import type { ManagedCluster } from "./managedcluster-kind.ts";
import { CLUSTER_SET_LABEL } from "../ocm-names.ts";
import { admitted } from "../test-objects.ts";

const NOW = "2024-05-01T12:00:00Z";
const BEFORE = "2024-04-01T00:00:00Z";

function makeCluster(spec: Partial<ManagedCluster["spec"]> = {}, labels?: Record<string, string>): ManagedCluster {
  return {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name: "paris", labels },
    spec: { leaseDurationSeconds: 60, ...spec },
  };
}

const admit = (...args: [cluster: ManagedCluster, circumstances?: Parameters<typeof admitted<ManagedCluster>>[2]]) =>
  admitted(managedClusterRules, ...args);
const taintsOf = (result: ManagedCluster | string): unknown =>
  typeof result === "string" ? result : result.spec.taints;

describe("a cluster set", () => {
  test("defaults to the default set", () => {
    expect(admit(makeCluster({}, { a: "b" }))).toMatchObject({
      metadata: { labels: { a: "b", [CLUSTER_SET_LABEL]: "default" } },
    });
  });

  test("can be changed only with permission to join both sets", () => {
    const old = makeCluster({}, { [CLUSTER_SET_LABEL]: "red" });
    const moved = makeCluster({}, { [CLUSTER_SET_LABEL]: "blue" });

    expect(
      admit(moved, { old, rights: ["create managedclustersets/join red", "create managedclustersets/join blue"] }),
    ).toMatchObject(moved);
    expect(admit(moved, { old, rights: ["create managedclustersets/join blue"] })).toContain(
      'cannot add/remove a ManagedCluster to/from ManagedClusterSet "red"',
    );
    expect(admit(moved, { old, rights: ["create managedclustersets/join red"] })).toContain(
      'cannot add/remove a ManagedCluster to/from ManagedClusterSet "blue"',
    );
  });
});

describe("a managed cluster", () => {
  const inDefault = { [CLUSTER_SET_LABEL]: "default" };

  test("is accepted only with the accept permission, and denied with write permission alone", () => {
    const [open, accepted] = [
      makeCluster({ hubAcceptsClient: false }, inDefault),
      makeCluster({ hubAcceptsClient: true }, inDefault),
    ];

    expect(admit(accepted, { old: open, rights: [] })).toContain("cannot update the HubAcceptsClient field");
    expect(admit(accepted, { old: open, rights: ["update managedclusters/accept paris"] })).toMatchObject({
      spec: { hubAcceptsClient: true },
    });
    expect(admit(open, { old: accepted, rights: [] })).toMatchObject({ spec: { hubAcceptsClient: false } });
  });

  test("is not accepted while its namespace is terminating", () => {
    const ending = { get: () => ({ status: { phase: "Terminating" } }) as never };

    expect(admit(makeCluster({ hubAcceptsClient: true }), { read: ending })).toContain(
      'cluster namespace "paris" is terminating',
    );
  });

  test("needs a name that is valid for a namespace, with or without client configs", () => {
    const named = { ...makeCluster(), metadata: { name: "paris.fr" } };

    expect(admit(named)).toBe("metadata.name format is not correct: must not contain dots");
    // A stored object with such a name can still be updated.
    expect(admit(named, { old: named })).not.toContain("format is not correct");
  });

  test("needs https in client config URLs", () => {
    expect(
      admit(
        makeCluster({
          managedClusterClientConfigs: [{ url: "https://paris:6443" }, { url: "ftp://paris" }, { url: "" }],
        }),
      ),
    ).toBe('url "" is invalid in client configs\nurl "ftp://paris" is invalid in client configs');
  });
});

describe("a taint", () => {
  const taint = { key: "a", effect: "NoSelect" };

  test("a taint of a new cluster gets the current time, ignoring the sent one", () => {
    expect(taintsOf(admit(makeCluster({ taints: [{ ...taint, timeAdded: BEFORE }] })))).toEqual([
      { ...taint, timeAdded: NOW },
    ]);
  });

  const old = makeCluster({ taints: [{ ...taint, timeAdded: BEFORE }] });
  const refused = 'It is not allowed to set TimeAdded of Taint "a".';
  const cases: Record<string, [sent: ManagedCluster["spec"]["taints"], want: unknown]> = {
    "that is unchanged keeps its time": [[{ ...taint, timeAdded: BEFORE }], [{ ...taint, timeAdded: BEFORE }]],
    "that is unchanged keeps its time in any notation": [
      [{ ...taint, timeAdded: "2024-04-01T02:00:00+02:00" }],
      [{ ...taint, timeAdded: BEFORE }],
    ],
    "that is unchanged may not lose its time": [[taint], refused],
    "that changes gets the current time": [[{ ...taint, value: "v" }], [{ ...taint, value: "v", timeAdded: NOW }]],
    "that changes may not set its time": [[{ ...taint, value: "v", timeAdded: BEFORE }], refused],
    "that is new gets the current time": [
      [
        { ...taint, timeAdded: BEFORE },
        { key: "b", effect: "NoSelect" },
      ],
      [
        { ...taint, timeAdded: BEFORE },
        { key: "b", effect: "NoSelect", timeAdded: NOW },
      ],
    ],
  };
  for (const [behaviour, [taints, want]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(taintsOf(admit(makeCluster({ taints: taints ?? [] }), { old }))).toEqual(want);
    });
  }
});
