/** Managed namespaces of ManagedClusterSets, on members that the hub reaches and on those with an agent. */
import { describe, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { ManagedCluster, ManagedClusterSet } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const MEMBER = "m1";
const PREFIX = "clusterset.open-cluster-management.io/";

describe.each([
  { mode: "reaches", pull: [] },
  { mode: "does not reach", pull: [MEMBER] },
])("a member that the hub $mode", ({ pull }) => {
  let fleet: TestFleet;
  const start = async (): Promise<void> =>
    void (fleet = endsWithTest(await startTestFleet({ members: [MEMBER], pull })));
  const ask = async (...names: string[]): Promise<void> => {
    await fleet.client.patch(
      ManagedClusterSet,
      { cluster: HUB, name: "global" },
      { spec: { managedNamespaces: names.map((name) => ({ name })) } },
      { type: "merge" },
    );
    await fleet.run(2_000);
  };
  const onMember = (name: string): Promise<DeepReadonly<Namespace> | undefined> =>
    find(fleet.client, Namespace, { cluster: MEMBER, name });
  /** `true`, `false`, or undefined for a namespace that no set ever listed. */
  const labelOf = async (name: string): Promise<string | undefined> =>
    Object.entries((await onMember(name))?.metadata.labels ?? {}).find(([key]) => key.startsWith(PREFIX))?.[1];
  const reported = async (): Promise<string[]> =>
    ((await fleet.client.get(ManagedCluster, { cluster: HUB, name: MEMBER })).status?.managedNamespaces ?? []).map(
      ({ name, conditions = [] }) =>
        `${name} ${conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join()}`,
    );

  test("gets the namespaces of its sets, and reports them", async () => {
    await start();
    await fleet.client.create(Namespace, MEMBER, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "stock", labels: { team: "warehouse" } },
    });

    await ask("shop", "stock");

    expect(await labelOf("shop")).toBe("true");
    expect(await labelOf("stock")).toBe("true");
    expect((await onMember("stock"))?.metadata.labels?.["team"]).toBe("warehouse");
    expect(await reported()).toEqual([
      "shop NamespaceAvailable True NamespaceApplied",
      "stock NamespaceAvailable True NamespaceApplied",
    ]);
    fleet.resetWrites();
    await fleet.run(600_000);
    expect(fleet.writes().filter(({ resource }) => resource === "namespaces")).toEqual([]);
  });

  test("keeps a namespace that no set lists any more, with a changed label", async () => {
    await start();
    await ask("shop", "stock");

    await ask("stock");

    expect(await labelOf("shop")).toBe("false");
    expect(await labelOf("stock")).toBe("true");
    expect(await reported()).toEqual(["stock NamespaceAvailable True NamespaceApplied"]);
  });

  test("gets a namespace again that was deleted there", async () => {
    await start();
    await ask("shop");
    const { uid } = (await onMember("shop"))?.metadata ?? {};

    await fleet.client.delete(Namespace, { cluster: MEMBER, name: "shop" });
    await fleet.run(10_000);

    expect((await onMember("shop"))?.metadata.uid).not.toBe(uid);
    expect(await labelOf("shop")).toBe("true");
  });

  test("gets no namespaces while it is not accepted", async () => {
    await start();
    await fleet.client.patch(
      ManagedCluster,
      { cluster: HUB, name: MEMBER },
      { spec: { hubAcceptsClient: false } },
      { type: "merge" },
    );
    await fleet.run(1_000);

    await ask("shop");

    expect(await onMember("shop")).toBeUndefined();
  });
});
