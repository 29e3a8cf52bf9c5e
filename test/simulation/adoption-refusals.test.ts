/** What `flotilla adopt` rejects, how the user can proceed, and what happens when it is interrupted. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, Deployment } from "@flotilla/kubernetes";
import { OverridePolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { parseYaml } from "@flotilla/apimachinery";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { SETTLED_MS, startAdoptionFleet } from "./adoption-fleet.ts";
import type { AdoptionFleet } from "./adoption-fleet.ts";
import { runCommand } from "./run-command.ts";

let fleet: AdoptionFleet;
beforeEach(async () => {
  fleet = await startAdoptionFleet();
});
afterEach(() => fleet.stop());

const BOTH = ["--from", "member1,member2"];
const on = (cluster: string, name = "web") => ({ cluster, namespace: "shop", name });
const deployment = (replicas: number, image = "web:1"): Deployment =>
  makeDeployment("shop/web").replicas(replicas).image(image).build();

async function hubObjects(): Promise<string[]> {
  const kinds = [PropagationPolicy, OverridePolicy, Deployment, CloneSet, ConfigMap];
  const lists = await Promise.all(
    kinds.map(
      async (kind) => (await fleet.client.list(kind as typeof Deployment, { cluster: "hub", namespace: "shop" })).items,
    ),
  );
  return lists
    .flat()
    .filter(({ metadata }) => metadata.name !== "kube-root-ca.crt")
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

describe("members that differ", () => {
  test("are rejected with their differences, and keep them by an OverridePolicy on request", async () => {
    await fleet.create("member1", deployment(2));
    await fleet.create("member2", deployment(3, "mirror.example.com/web:1"));
    await fleet.run(SETTLED_MS);
    const before = await fleet.running();

    await expect(fleet.adopt(["deployment", "web", ...BOTH])).rejects.toThrow(
      "adopting Deployment shop/web would change running workloads: on member2 " +
        "spec.template.spec.containers[0].image: mirror.example.com/web:1 → web:1; nothing was changed. Use " +
        "--overrides to keep each member's values with an OverridePolicy",
    );
    expect(await hubObjects()).toEqual([]);
    const text = await fleet.adopt(["deployment", "web", ...BOTH, "--overrides"]);

    expect(text).toContain("member2 (3): nothing changes");
    expect(await fleet.running()).toEqual(before);
    const [override] = (await fleet.client.list(OverridePolicy, { cluster: "hub", namespace: "shop" })).items;
    expect(override?.spec.overrideRules).toMatchObject([
      {
        targetCluster: { clusterNames: ["member2"] },
        overriders: {
          plaintext: [
            { path: "/spec/template/spec/containers/0/image", operator: "replace", value: "mirror.example.com/web:1" },
          ],
        },
      },
    ]);
  });

  test("members that differ in rollout progress are rejected, because the fleet would level it", async () => {
    const release = (partition: number) => ({
      spec: {
        template: { spec: { containers: [{ name: "web", image: "web:2" }] } },
        updateStrategy: { rollingUpdate: { partition } },
      },
    });
    for (const [cluster, partition] of [
      ["member1", 0],
      ["member2", 4],
    ] as const) {
      await fleet.create(cluster, makeCloneSet("shop/web").replicas(4).build());
      await fleet.run(SETTLED_MS);
      await fleet.client.patch(CloneSet, on(cluster), release(partition), { type: "merge" });
    }
    await fleet.run(60_000);
    const before = await fleet.running();

    await expect(fleet.adopt(["cloneset", "web", ...BOTH])).rejects.toThrow(
      "on member2 spec.updateStrategy.rollingUpdate.partition: 4 → 2",
    );
    await fleet.adopt(["cloneset", "web", ...BOTH, "--overrides"]);

    expect(await fleet.running()).toEqual(before);
  });

  test("members that differ in a Secret are always rejected: its values must not be copied to another object", async () => {
    const secret = (word: string): KubernetesObject =>
      ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace: "shop", name: "password" },
        data: { word },
      }) as unknown as KubernetesObject;
    await fleet.create("member1", secret("b25l"));
    await fleet.create("member2", secret("dHdv"));

    await expect(fleet.adopt(["secret", "password", ...BOTH, "--overrides"])).rejects.toThrow(
      "on member2 data.word: (hidden) → (hidden)",
    );
  });

  test("members that differ in the same StatefulSet ordinals are rejected, and count separately on request", async () => {
    const statefulSet = {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "StatefulSet",
      metadata: { namespace: "shop", name: "web" },
      spec: {
        replicas: 2,
        serviceName: "web",
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    } as unknown as KubernetesObject;
    for (const cluster of ["member1", "member2"]) await fleet.create(cluster, statefulSet);
    await fleet.run(SETTLED_MS);
    const before = await fleet.running();

    await expect(fleet.adopt(["statefulsets.apps.kruise.io/web", ...BOTH])).rejects.toThrow(
      "use --scope cluster to count them per cluster",
    );
    await fleet.adopt(["statefulsets.apps.kruise.io/web", ...BOTH, "--scope", "cluster"]);

    expect(await fleet.running()).toEqual(before);
  });

  test("are unified with --force", async () => {
    await fleet.create("member1", deployment(2));
    await fleet.create("member2", deployment(2, "web:0"));
    await fleet.run(SETTLED_MS);

    await fleet.adopt(["deployment", "web", ...BOTH, "--force"]);

    expect((await fleet.client.get(Deployment, on("member2"))).spec.template.spec?.containers[0]?.image).toBe("web:1");
  });
});

test("a dry run creates nothing, and prints the objects that the hub would get", async () => {
  await fleet.create("member1", deployment(2));
  await fleet.create("member2", deployment(3));
  await fleet.run(SETTLED_MS);

  const text = await fleet.adopt(["deployment", "web", ...BOTH, "--dry-run"]);
  const { kind, items } = parseYaml(
    await fleet.adopt(["deployment", "web", ...BOTH, "--dry-run", "-o", "yaml"]),
  ) as unknown as { kind: string; items: KubernetesObject[] };

  expect(text).toMatch(
    /^Deployment shop\/web: 5 replicas, with PropagationPolicy shop\/web-\w+\n {4}member1 \(2\): nothing changes\n {4}member2 \(3\): nothing changes\n/,
  );
  expect([kind, ...items.map((item) => item.kind)]).toEqual(["List", "PropagationPolicy", "Deployment"]);
  expect(items[1]?.metadata).toEqual({ name: "web", namespace: "shop" });
  expect(await hubObjects()).toEqual([]);
});

test("another policy that would claim the object is named", async () => {
  await fleet.create(
    "hub",
    makePolicy("shop/greedy")
      .selects("apps/v1", "Deployment")
      .duplicates("member3")
      .with(({ spec }) => (spec.priority = 9))
      .build(),
  );
  await fleet.create("member1", deployment(2));
  await fleet.run(SETTLED_MS);

  await expect(fleet.adopt(["deployment", "web", "--from", "member1"])).rejects.toThrow(
    "PropagationPolicy greedy (priority 9) would claim it instead of web-",
  );
  await expect(fleet.adopt(["deployment", "web", "--from", "member1", "--policy", "greedy"])).rejects.toThrow(
    "on member1 no policy propagates it there; on member3 it does not exist and would be created",
  );
  expect(await hubObjects()).toEqual(["PropagationPolicy greedy"]);
});

const wrong: Record<string, { argv: string[]; want: string }> = {
  "no member": { argv: ["deployment", "web"], want: "--from MEMBER is required" },
  "an unknown member": {
    argv: ["deployment", "web", "--from", "atlantis"],
    want: "member atlantis not found",
  },
  "an object that a member does not have": {
    argv: ["deployment", "web", ...BOTH],
    want: "Deployment shop/web not found on member2; adopt it with --from member1",
  },
  "a type that the hub does not serve": {
    argv: ["spaceship", "web", ...BOTH],
    want: "does not serve the resource type 'spaceship'",
  },
  "no name": { argv: ["deployment", ...BOTH], want: "specify which objects to adopt" },
  "both a name and --all": {
    argv: ["deployment", "web", "--all", ...BOTH],
    want: "specify either names, or --all or -l",
  },
  "an object owned by a controller": {
    argv: ["pod", "PODNAME", "--from", "member1"],
    want: "is owned by ReplicaSet web-",
  },
};
for (const [behaviour, { argv, want }] of Object.entries(wrong)) {
  test(`${behaviour} is rejected with a message`, async () => {
    await fleet.create("member1", deployment(1));
    await fleet.run(SETTLED_MS);
    const pod = (await fleet.running()).find((line) => line.includes('["web:1"]'))?.split(" ")[1] ?? "";

    await expect(fleet.adopt(argv.map((word) => word.replace("PODNAME", pod)))).rejects.toThrow(want);
  });
}

describe("a second run", () => {
  test("finds nothing to do, and writes nothing", async () => {
    await fleet.create("member1", deployment(2));
    await fleet.run(SETTLED_MS);
    await fleet.adopt(["deployment", "web", "--from", "member1"]);
    const { metadata } = await fleet.client.get(Deployment, on("hub"));
    const { resourceVersion: works } = await fleet.client.list(Work, { cluster: "hub" });

    const text = await fleet.adopt(["deployment", "web", "--from", "member1"]);

    expect(text).toBe("Deployment shop/web is already adopted\nNothing to do.\n");
    expect((await fleet.client.get(Deployment, on("hub"))).metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect((await fleet.client.list(Work, { cluster: "hub" })).resourceVersion).toBe(works);
  });

  const steps = {
    "waiting for the hub":
      /aborted; no member was changed\. On the hub remain Deployment shop\/web, PropagationPolicy \S+; /,
    "waiting for the members": "aborted",
  };
  for (const [step, want] of Object.entries(steps)) {
    test(`continues where the first was interrupted, after it was ${step}`, async () => {
      await fleet.create("member1", deployment(2));
      await fleet.create("member2", deployment(1));
      await fleet.run(SETTLED_MS);
      const before = await fleet.running();
      const stopping = new AbortController();

      await expect(
        fleet.adopt(["deployment", "web", ...BOTH], {
          signal: stopping.signal,
          onProgress: (text) => text.startsWith(step) && stopping.abort(),
        }),
      ).rejects.toThrow(want);
      expect(await fleet.running()).toEqual(before);
      await fleet.adopt(["deployment", "web", ...BOTH]);

      expect(await fleet.running()).toEqual(before);
      for (const cluster of ["member1", "member2"])
        expect((await fleet.client.get(Deployment, on(cluster))).metadata.labels).toMatchObject({
          "karmada.io/managed": "true",
        });
      expect((await fleet.client.get(Deployment, on("hub"))).metadata.annotations ?? {}).not.toHaveProperty(
        "flotilla.dev/unmanaged",
      );
    });
  }

  test("creates the policy again if it was lost in between", async () => {
    await fleet.create("member1", deployment(2));
    await fleet.run(SETTLED_MS);
    const before = await fleet.running();
    const stopping = new AbortController();
    await expect(
      fleet.adopt(["deployment", "web", "--from", "member1"], {
        signal: stopping.signal,
        onProgress: (text) => text.startsWith("waiting for the hub") && stopping.abort(),
      }),
    ).rejects.toThrow(/aborted.*; no member was changed\. On the hub remain .*Deployment shop\/web/);
    await fleet.client.deleteCollection(PropagationPolicy, { cluster: "hub", namespace: "shop" });
    await fleet.run(SETTLED_MS);

    await fleet.adopt(["deployment", "web", "--from", "member1"]);

    expect(await fleet.running()).toEqual(before);
    expect((await fleet.client.get(Deployment, on("member1"))).metadata.labels).toMatchObject({
      "karmada.io/managed": "true",
    });
  });

  test("is rejected if it would adopt more members than were checked", async () => {
    for (const cluster of ["member1", "member2"]) await fleet.create(cluster, deployment(2));
    await fleet.run(SETTLED_MS);
    await fleet.adopt(["deployment", "web", ...BOTH]);
    await fleet.client.patch(
      Deployment,
      on("hub"),
      { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    await expect(fleet.adopt(["deployment", "web", "--from", "member1"])).rejects.toThrow("on member2");
    await fleet.adopt(["deployment", "web", ...BOTH]);

    expect((await fleet.client.get(Deployment, on("member2"))).metadata.labels).toMatchObject({
      "karmada.io/managed": "true",
    });
  });

  test("adopts released objects again, unless workloads would change", async () => {
    await fleet.create("member1", deployment(2));
    await fleet.run(SETTLED_MS);
    await fleet.adopt(["deployment", "web", "--from", "member1"]);
    await fleet.client.patch(
      Deployment,
      on("hub"),
      { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    await fleet.client.patch(Deployment, on("member1"), { spec: { replicas: 3 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);

    await expect(fleet.adopt(["deployment", "web", "--from", "member1"])).rejects.toThrow(
      "on member1 spec.replicas: 3 → 2",
    );
    await fleet.client.patch(Deployment, on("hub"), { spec: { replicas: 3 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);
    const before = await fleet.running();
    await fleet.adopt(["deployment", "web", "--from", "member1"]);

    expect(await fleet.running()).toEqual(before);
    expect((await fleet.client.get(Deployment, on("member1"))).metadata.labels).toMatchObject({
      "karmada.io/managed": "true",
    });
  });
});

test("an object that changes between the plan and the final check is left alone", async () => {
  await fleet.create("member1", deployment(2));
  await fleet.run(SETTLED_MS);
  let isScaled = false;
  const scale = (text: string): void => {
    if (!text.startsWith("waiting for the hub") || isScaled) return;
    isScaled = true;
    void fleet.client.patch(Deployment, on("member1"), { spec: { replicas: 5 } }, { type: "merge" });
  };

  await expect(fleet.adopt(["deployment", "web", "--from", "member1"], { onProgress: scale })).rejects.toThrow(
    /on member1 spec\.replicas: 5 → 2; no member was changed\. Deleted again on the hub: Deployment shop\/web, PropagationPolicy shop\/web-\w+$/,
  );

  expect((await fleet.client.get(Deployment, on("member1"))).spec.replicas).toBe(5);
  expect(await hubObjects()).toEqual([]);
  await fleet.adopt(["deployment", "web", "--from", "member1"]);
  expect((await fleet.client.get(Deployment, on("hub"))).spec.replicas).toBe(5);
});

test("an object that is already propagated elsewhere is not adopted again", async () => {
  await fleet.create(
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member3").build(),
    deployment(1),
  );
  await fleet.create("member1", deployment(2));
  await fleet.run(SETTLED_MS);

  await expect(fleet.adopt(["deployment", "web", "--from", "member1"])).rejects.toThrow(
    "Deployment shop/web exists on the hub and is not propagated to member1",
  );
});

describe("an adoption that fails", () => {
  const refuse = async (cluster: string, resource: string, expression: string): Promise<void> => {
    const registration = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "freeze" } };
    const resourceRules = [
      { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: [resource] },
    ];
    await fleet.create(
      cluster,
      {
        ...registration,
        kind: "ValidatingAdmissionPolicy",
        spec: { matchConstraints: { resourceRules }, validations: [{ expression, message: "change freeze" }] },
      } as KubernetesObject,
      {
        ...registration,
        kind: "ValidatingAdmissionPolicyBinding",
        spec: { policyName: "freeze", validationActions: ["Deny"] },
      } as KubernetesObject,
    );
    await fleet.run(SETTLED_MS);
  };

  test("because the hub makes only some of its Works leaves nothing on the hub, and members as they were", async () => {
    for (const cluster of ["member1", "member2"]) await fleet.create(cluster, deployment(2));
    await refuse("hub", "works", "object.metadata.namespace != 'karmada-es-member2' || object.metadata.name == 'shop'");
    const before = await fleet.running();

    await expect(fleet.adopt(["deployment", "web", ...BOTH, "--wait", "5"])).rejects.toThrow(
      /^the hub created 1 of 2 works for Deployment shop\/web within 5 s: .*change freeze.*; no member was changed\. Deleted again on the hub: Deployment shop\/web, PropagationPolicy shop\/web-\w+$/,
    );

    expect(await hubObjects()).toEqual([]);
    const { items } = await fleet.client.list(Work, { cluster: "hub" });
    expect(items.filter(({ metadata }) => metadata.name.startsWith("web"))).toEqual([]);
    expect(await fleet.running()).toEqual(before);
  });

  test("because a member rejects it is named by status, with how to undo it", async () => {
    for (const cluster of ["member1", "member2"]) await fleet.create(cluster, deployment(2));
    await refuse(
      "member2",
      "deployments",
      "!has(object.metadata.labels) || !('karmada.io/managed' in object.metadata.labels)",
    );
    const before = await fleet.running();

    await expect(fleet.adopt(["deployment", "web", ...BOTH, "--wait", "5"])).rejects.toThrow(
      /member2: .*change freeze.* To undo the adoption, set the annotation flotilla\.dev\/unmanaged=true on the template and delete it/,
    );
    const { text } = await runCommand(fleet, "status", "-n", "shop");
    await fleet.client.patch(
      Deployment,
      on("hub"),
      { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    await fleet.client.delete(Deployment, on("hub"));
    await fleet.run(SETTLED_MS);

    expect(text).toMatch(
      /UNHEALTHY: 1 binding not applied\n {2}ResourceBinding shop\/web-deployment: member2: .*change freeze/,
    );
    expect(await fleet.running()).toEqual(before);
    expect(await hubObjects()).toEqual([]);
  });
});
