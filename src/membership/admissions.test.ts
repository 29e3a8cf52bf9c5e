import { expect, test } from "vitest";
import { Namespace } from "../api/index.ts";
import { startTestFleet } from "../testing/fleet/index.ts";

test("the namespace of a member's Works cannot be deleted by hand while it is a member, other namespaces can", async () => {
  const { client, stop } = await startTestFleet({ members: ["member1"] });
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "karmada-examples" } });

  await expect(client.delete(Namespace, { cluster: "hub", name: "karmada-es-member1" })).rejects.toThrow("deleting it would delete what they run");
  await expect(client.delete(Namespace, { cluster: "hub", name: "karmada-examples" })).resolves.toBeUndefined();
  await stop();
});
