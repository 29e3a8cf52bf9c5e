/**
 * A user adds replica rules for a kind whose objects run already: the copies of members change to their shares in one
 * step, and never to a number that was not counted.
 */
import { afterEach, describe, expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceBinding, ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 30_000;
const MEMBERS = ["member1", "member2"];
const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});

let fleet: TestFleet;
/** By member: the sizes that the hub has written there since the rules were added. */
let written: Record<string, number[]>;
afterEach(() => fleet.stop());

const recording = (transport: Transport, part: string): Transport => ({
  ...transport,
  send(request, signal) {
    const { resource, cluster } = request.path;
    const { spec } = (request.body ?? {}) as { spec?: { size?: number } };
    if (part === "execute" && resource === "widgets" && spec?.size !== undefined)
      (written[cluster] ??= []).push(spec.size);
    return transport.send(request, signal);
  },
});

/** A Widget of four on two members. */
async function start(policy: PropagationPolicy): Promise<void> {
  written = {};
  fleet = await startTestFleet({ members: MEMBERS, nodes: 1, wrap: recording });
  const { client, run } = fleet;
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.dev" },
    spec: {
      group: "example.dev",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  } as unknown as CustomResourceDefinition;
  for (const cluster of ["hub", ...MEMBERS]) await client.create(CustomResourceDefinition, cluster, definition);
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(PropagationPolicy, "hub", policy);
  await run(SETTLED_MS);
  await client.create(Widget, "hub", {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { namespace: "shop", name: "a" },
    spec: { size: 4 },
  });
  await run(SETTLED_MS);
  written = {};
}

async function addRules(customizations: object): Promise<void> {
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "mine" },
    spec: { target: { apiVersion: "example.dev/v1", kind: "Widget" }, customizations },
  });
  await fleet.run(SETTLED_MS);
}

const sizes = (): Promise<unknown[]> =>
  Promise.all(
    MEMBERS.map(
      async (cluster) =>
        ((await fleet.client.get(Widget, { cluster, namespace: "shop", name: "a" })) as { spec?: { size?: number } })
          .spec?.size,
    ),
  );

const policy = makePolicy("shop/all").selects("example.dev/v1", "Widget");
const divided = (): PropagationPolicy => policy.weights({ member1: 1, member2: 1 }).build();
const duplicated = (): PropagationPolicy => policy.duplicates(...MEMBERS).build();
const REVISE = {
  replicaRevision: { luaScript: "function ReviseReplica(object, count)\nobject.spec.size = count\nreturn object\nend" },
};
const COUNT = { replicaResource: { luaScript: "function GetReplicas(object)\nreturn object.spec.size, nil\nend" } };
const FAIL = { replicaResource: { luaScript: "function GetReplicas(object)\nerror('cannot count')\nend" } };

describe("replica rules for a kind that runs already", () => {
  test("change divided copies to their shares in one step", async () => {
    await start(divided());

    await addRules({ ...COUNT, ...REVISE });

    expect(await sizes()).toEqual([2, 2]);
    expect(Object.values(written)).toEqual([[2], [2]]);
  });

  test("change nothing on members that each run all replicas", async () => {
    await start(duplicated());

    await addRules({ ...COUNT, ...REVISE });

    expect(await sizes()).toEqual([4, 4]);
    expect(written).toEqual({});
  });

  for (const [placement, make] of Object.entries({ divided, duplicated })) {
    test(`change no ${placement} copy while replicas cannot be counted, and the binding reports it`, async () => {
      await start(make());

      await addRules({ ...FAIL, ...REVISE });

      expect(await sizes()).toEqual([4, 4]);
      expect(written).toEqual({});
      const { status } = await fleet.client.get(ResourceBinding, {
        cluster: "hub",
        namespace: "shop",
        name: "a-widget",
      });
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({
          type: "Dispatched",
          status: "False",
          message: expect.stringContaining("cannot count") as string,
        }),
      );
    });
  }

  test("change no copy if they only revise replicas, which nothing counts", async () => {
    await start(duplicated());

    await addRules(REVISE);

    expect(await sizes()).toEqual([4, 4]);
    expect(written).toEqual({});
  });
});
