import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { CustomResourceDefinition, Deployment, Namespace, Service } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";

let member: KruiseMember;
afterEach(() => member.stop());

const ON = { ResourcesDeletionProtection: true };
const LABEL = "policy.kruise.io/delete-protection";
const protectedBy = <T extends KubernetesObject>(object: T, protection: string): T => ({
  ...object,
  metadata: { ...object.metadata, labels: { [LABEL]: protection } },
});
const deployment = (replicas: number): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: NAMESPACE },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: makeWebTemplate("web:1") },
});
const service: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: NAMESPACE },
  spec: { ports: [{ port: 80 }] },
};

/** The server's response to a deletion. */
async function removal<T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<string> {
  try {
    await member.client.delete(kind, {
      cluster: MEMBER,
      name,
      namespace: kind.scope === "Namespaced" ? NAMESPACE : undefined,
    });
    return "deleted";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("Deletion protection", () => {
  test("rejects every deletion with Always", async () => {
    member = await startKruiseMember({ gates: ON });
    await member.client.create(Deployment, MEMBER, protectedBy(deployment(0), "Always"));
    await member.client.create(Service, MEMBER, protectedBy(service, "Always"));

    expect(await removal(Deployment, "web")).toBe(
      `admission webhook "vbuiltindeployment.kb.io" denied the request: forbidden by ResourcesProtectionDeletion for ${LABEL}=Always`,
    );
    expect(await removal(Service, "web")).toBe(
      `admission webhook "vservice.kb.io" denied the request: forbidden by ResourcesProtectionDeletion for ${LABEL}=Always`,
    );
  });

  test("rejects the deletion of a workload with replicas, and allows it without", async () => {
    member = await startKruiseMember({ gates: ON });
    await member.client.create(CloneSet, MEMBER, protectedBy(makeWebCloneSet(2), "Cascading"));
    await member.pass(10_000);

    const refusal = await removal(CloneSet, "web");
    await member.edit((spec) => ({ ...spec, replicas: 0 }));

    expect(refusal).toBe(
      `admission webhook "vcloneset.kb.io" denied the request: forbidden by ResourcesProtectionDeletion for ${LABEL}=Cascading and replicas 2>0`,
    );
    expect(await removal(CloneSet, "web")).toBe("deleted");
  });

  test("rejects the deletion of a namespace with running pods", async () => {
    member = await startKruiseMember({ gates: ON });
    await member.change(Namespace, NAMESPACE, (namespace) => ({
      ...namespace,
      metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, [LABEL]: "Cascading" } },
    }));
    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(2));
    await member.pass(10_000);

    expect(await removal(Namespace, NAMESPACE)).toBe(
      `admission webhook "vnamespace.kb.io" denied the request: forbidden by ResourcesProtectionDeletion for ${LABEL}=Cascading and active pods 2>0`,
    );
  });

  test("rejects the deletion of a CRD with existing objects if the gate is on", async () => {
    member = await startKruiseMember({ gates: { ...ON, DeletionProtectionForCRDCascadingGate: true } });
    const name = "clonesets.apps.kruise.io";
    await member.change(CustomResourceDefinition, name, (definition) => ({
      ...definition,
      metadata: { ...definition.metadata, labels: { ...definition.metadata.labels, [LABEL]: "Cascading" } },
    }));
    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(1));

    expect(await removal(CustomResourceDefinition, name)).toBe(
      `admission webhook "vcustomresourcedefinition.kb.io" denied the request: forbidden by ` +
        `ResourcesProtectionDeletion for ${LABEL}=Cascading and active CRs 1>0`,
    );
  });

  test("responds with 403 without a reason, as OpenKruise's webhooks do", async () => {
    member = await startKruiseMember({ gates: ON });
    await member.client.create(Service, MEMBER, protectedBy(service, "Always"));

    await expect(
      member.client.delete(Service, { cluster: MEMBER, namespace: NAMESPACE, name: "web" }),
    ).rejects.toMatchObject({ status: { code: 403 } });
  });

  test("is disabled unless its gate is on", async () => {
    member = await startKruiseMember();
    await member.client.create(Service, MEMBER, protectedBy(service, "Always"));

    expect(await removal(Service, "web")).toBe("deleted");
  });
});
