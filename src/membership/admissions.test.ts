import { expect, test } from "vitest";
import type { Namespace } from "../api/index.ts";
import { startTestFleet } from "../testing/fleet/index.ts";
import { Cluster, Namespace as NamespaceKind } from "../api/index.ts";

test("a member and the namespace of its Works cannot be deleted by hand, other namespaces can", async () => {
  const { client, stop } = await startTestFleet({ members: ["member1"] });
  const other: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "karmada-examples" } };
  await client.create(NamespaceKind, "hub", other);

  await expect(client.delete(Cluster, { cluster: "hub", name: "member1" })).rejects.toThrow("unjoining a member is not supported by Flotilla yet");
  await expect(client.delete(NamespaceKind, { cluster: "hub", name: "karmada-es-member1" })).rejects.toThrow("deleting it would delete what they run");
  await expect(client.delete(NamespaceKind, { cluster: "hub", name: "karmada-examples" })).resolves.toBeUndefined();
  await stop();
});
