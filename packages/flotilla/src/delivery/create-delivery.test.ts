import { expect, test } from "vitest";
import { ClusterRole } from "@flotilla/kubernetes";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { AnyKind, KindResolver } from "@flotilla/client";
import { forbidden } from "@flotilla/apimachinery";
import { createInformers } from "@flotilla/controller-runtime";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createDelivery } from "./create-delivery.ts";
import type { ApplyPolicy } from "./delivery.ts";
import { marks } from "./marks-ownership.ts";
import { createObserver } from "./observer.ts";

const never = new AbortController().signal;
const role: ClusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "karmada-impersonator" },
  rules: [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }],
};
const policy: ApplyPolicy = {
  mode: "update",
  force: true,
  fieldManager: "flotilla",
  ownership: marks({ adopt: true }),
  isFirst: true,
};

/** A member on which the hub may update ClusterRoles but not create them. */
async function openMember(existing: readonly ClusterRole[]) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  for (const each of existing) await client.create(ClusterRole, "far", each);
  client.failNext(
    "create",
    forbidden(
      { group: "rbac.authorization.k8s.io", resource: "clusterroles" },
      role.metadata.name,
      "it would grant more than you have",
    ),
  );
  const informers = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "far" },
    random: createSeededRandom(1),
  });
  const kinds: KindResolver = {
    known: () => ClusterRole as unknown as AnyKind,
    resolve: async () => ClusterRole as unknown as AnyKind,
    forget: () => {},
  };
  return {
    client,
    informers,
    delivery: createDelivery({ client, cluster: "far", kinds, observer: createObserver(informers), clock }),
  };
}

test("a first delivery without create permission updates the existing object", async () => {
  const { client, informers, delivery } = await openMember([{ ...role, rules: [] }]);

  const { result } = await delivery.apply(role, policy, never);

  expect(result).toBe("updated");
  expect((await client.get(ClusterRole, { cluster: "far", name: role.metadata.name })).rules).toEqual(role.rules);
  informers.close();
});

test("a first delivery without create permission reports a missing object", async () => {
  const { informers, delivery } = await openMember([]);

  await expect(delivery.apply(role, policy, never)).rejects.toThrow("it would grant more than you have");
  informers.close();
});
