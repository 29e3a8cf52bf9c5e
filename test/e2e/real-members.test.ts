/**
 * Real clusters as members, with controllers, simulated kubelets and published OpenKruise: the same walk-through and
 * behaviours as with simulated members. Outages of members or the hub are covered in `real-outages.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import {
  CustomResourceDefinition,
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  Pod,
  ResourceQuota,
  Secret,
  Service,
} from "@flotilla/kubernetes";
import { inVersion } from "@flotilla/apimachinery";
import type { CloneSetV1alpha1 } from "@flotilla/openkruise";
import { find } from "@flotilla/client";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { createCommand, noCommands } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { startRealClusters } from "../programs/real-cluster.ts";
import type { RealCluster } from "../programs/real-cluster.ts";
import { deploymentBecomes, isGone, onMember, startRealFleet } from "./real-fleet.ts";
import type { RealFleet } from "./real-fleet.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { MEMBERS, testGuide } from "./seeds-guide.ts";
import type { GuideCommands } from "./seeds-guide.ts";

const LIMIT_MS = 120_000;
/** OpenKruise 1.9 only serves this version of CloneSet. */
const OlderCloneSet = inVersion<CloneSetV1alpha1>(CloneSet, "v1alpha1");

const KRUISE_DEFINITIONS = {
  resourceSelectors: [
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      labelSelector: { matchLabels: { "kruise.io/schema-gen": "true" } },
    },
  ],
};

if (noCommands !== undefined) process.stdout.write(`skipped: real members: ${noCommands}\n`);
const binaries =
  noCommands === undefined
    ? findPrograms(
        "real members",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
        "kruise-manager",
        "kruise-config",
      )
    : undefined;

describe.runIf(binaries !== undefined)("two real members", { timeout: LIMIT_MS }, () => {
  let fleet: RealFleet;
  let members: readonly [RealCluster, RealCluster];
  let commands: GuideCommands;

  beforeAll(async () => {
    members = await startRealClusters(binaries ?? "", "pods", MEMBERS);
    fleet = await startRealFleet("--members", "0");
    const [member1, member2] = members;
    await Promise.all([member1.installKruise(), fleet.join(member2)]);
    await fleet.join(member1);
    commands = {
      hub: createCommand("kubectl", fleet.kubeconfig()),
      member1: member1.kubectl,
      member2: member2.kubectl,
    };
    await fleet.hub().create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  }, LIMIT_MS);
  afterAll(async () => {
    commands?.hub.remove();
    const finished = await fleet?.stop();
    await Promise.all((members ?? []).map((member) => member.stop()));
    expect(finished?.code, finished?.stderr).toBe(0);
  }, LIMIT_MS);

  const onHub = (name: string) => ({ cluster: "hub", namespace: "shop", name });
  /** A policy for the namespace's workloads of this name. */
  const policy = (name: string) =>
    makePolicy(`shop/${name}`)
      .selects("apps/v1", "Deployment", name)
      .selects("apps.kruise.io/v1alpha1", "CloneSet", name);
  const deploy = async (name: string, replicas = 2): Promise<void> => {
    await fleet.hub().create(
      PropagationPolicy,
      "hub",
      policy(name)
        .duplicates(...MEMBERS)
        .build(),
    );
    await fleet.hub().create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(replicas).build());
  };

  test("OpenKruise's CRDs are propagated to a member without it, a CloneSet waits for them, and a purge removes both", async () => {
    const [, member2] = members;
    const definitions = async (): Promise<string[]> =>
      (await member2.client.list(CustomResourceDefinition, { cluster: "member2" })).items.map(
        ({ metadata }) => metadata.name,
      );
    await fleet.hub().create(PropagationPolicy, "hub", policy("early").duplicates("member2").build());
    await fleet.hub().create(CloneSet, "hub", makeCloneSet("shop/early").replicas(2).build());
    await eventually(
      "waits for its kind",
      () => find(fleet.hub(), ResourceBinding, onHub("early-cloneset")),
      (binding) =>
        binding?.status?.conditions?.some(
          ({ type, reason, message }) =>
            type === "Scheduled" && reason === "NoClusterFit" && message?.includes("API resource"),
        ) === true,
    );

    const spec = { ...KRUISE_DEFINITIONS, placement: { clusterAffinity: { clusterNames: ["member2"] } } };
    await fleet.hub().create(ClusterPropagationPolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterPropagationPolicy",
      metadata: { name: "openkruise" },
      spec,
    });
    await eventually(
      "the CloneSet follows its definition",
      () => onMember(member2, CloneSet, "early"),
      (seen) => seen?.spec.replicas === 2,
    );
    expect(await definitions()).toEqual(
      expect.arrayContaining(["clonesets.apps.kruise.io", "statefulsets.apps.kruise.io"]),
    );

    await fleet.hub().delete(PropagationPolicy, onHub("early"));
    const left = await fleet.unjoin(member2, "--purge");
    expect(left, left.stderr).toMatchObject({
      code: 0,
      stdout: "cluster member2 has left; the objects that the hub created there are deleted\n",
    });
    await eventually("purged", definitions, (names) => names.length === 0);
    await fleet.hub().delete(ClusterPropagationPolicy, { cluster: "hub", name: "openkruise" });
    await fleet.hub().delete(CloneSet, onHub("early"));
    await fleet.hub().deleteCollection(ClusterResourceBinding, { cluster: "hub" });
    await eventually(
      "the namespace is purged too",
      () => find(member2.client, Namespace, { cluster: "member2", name: "shop" }),
      (seen) => seen === undefined,
    );
    await member2.installKruise();
    await fleet.join(member2);
  });

  test("a policy with conflictResolution Overwrite leaves the CRDs of a member's own OpenKruise unchanged, and is applied", async () => {
    const [member1] = members;
    const cloneSets = () =>
      member1.client.get(CustomResourceDefinition, { cluster: "member1", name: "clonesets.apps.kruise.io" });
    const before = await cloneSets();
    const spec = {
      ...KRUISE_DEFINITIONS,
      conflictResolution: "Overwrite" as const,
      placement: { clusterAffinity: { clusterNames: ["member1"] } },
    };
    await fleet.hub().create(ClusterPropagationPolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterPropagationPolicy",
      metadata: { name: "openkruise" },
      spec,
    });

    await eventually(
      "applied",
      () =>
        find(fleet.hub(), ClusterResourceBinding, {
          cluster: "hub",
          name: "clonesets.apps.kruise.io-customresourcedefinition",
        }),
      (binding) =>
        binding?.status?.conditions?.some(({ type, status }) => type === "FullyApplied" && status === "True") === true,
    );

    expect((await cloneSets()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await fleet.hub().delete(ClusterPropagationPolicy, { cluster: "hub", name: "openkruise" });
    await fleet.hub().deleteCollection(ClusterResourceBinding, { cluster: "hub" });
  });

  test("a namespace deleted from the hub is deleted from the member if it is empty, and otherwise stays with the released objects", async () => {
    const hub = fleet.hub();
    const namespaceOn = ({ name, client }: RealCluster) => find(client, Namespace, { cluster: name, name: "branch" });
    await hub.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "branch" } });
    await hub.create(
      PropagationPolicy,
      "hub",
      makePolicy("branch/all")
        .selects("apps/v1", "Deployment")
        .selects("v1", "Service")
        .duplicates(...MEMBERS)
        .build(),
    );
    await hub.create(Service, "hub", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "branch", name: "web" },
      spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
    });
    await hub.create(Deployment, "hub", makeDeployment("branch/web").replicas(2).build());
    await eventually(
      "ready on the hub",
      () => hub.get(Deployment, { cluster: "hub", namespace: "branch", name: "web" }),
      ({ status }) => status?.readyReplicas === 4,
    );
    const [member1, member2] = members;
    await hub.patch(
      Deployment,
      { cluster: "hub", namespace: "branch", name: "web" },
      { metadata: { annotations: { "flotilla.dev/unmanaged": "member1" } } },
      { type: "merge" },
    );
    await eventually(
      "let go",
      () => find(member1.client, Deployment, { cluster: "member1", namespace: "branch", name: "web" }),
      (seen) => seen !== undefined && seen.metadata.labels?.["karmada.io/managed"] === undefined,
    );

    await hub.delete(Namespace, { cluster: "hub", name: "branch" });
    await eventually(
      "the namespace is gone where it is empty",
      () => namespaceOn(member2),
      (seen) => seen === undefined,
    );
    const kept = await eventually(
      "the namespace is released where it is not",
      () => namespaceOn(member1),
      (seen) => seen !== undefined && seen.metadata.labels?.["karmada.io/managed"] === undefined,
    );

    expect(kept?.metadata.deletionTimestamp).toBeUndefined();
    expect(
      (await find(member1.client, Deployment, { cluster: "member1", namespace: "branch", name: "web" }))?.spec.replicas,
    ).toBe(2);
    await member1.client.delete(Namespace, { cluster: "member1", name: "branch" });
  });

  describe("the guide with kubectl", () => {
    testGuide(() => commands);
  });

  test("an override changes the copy of one member, and the hub aggregates both statuses", async () => {
    const rule = {
      targetCluster: { clusterNames: ["member2"] },
      overriders: {
        imageOverrider: [{ component: "Tag", operator: "replace", value: "2" }],
        plaintext: [{ path: "/spec/replicas", operator: "replace", value: 1 }],
      },
    };
    await fleet.hub().create(OverridePolicy, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
        overrideRules: [rule],
      },
    } as unknown as OverridePolicy);
    await deploy("web", 3);

    const { status } = await eventually(
      "ready on the hub",
      () => fleet.hub().get(Deployment, onHub("web")),
      (seen) => seen.status?.readyReplicas === 4,
    );

    expect(status).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 });
    const copies = await Promise.all(members.map((member) => onMember(member, Deployment, "web")));
    expect(copies.map((copy) => [copy?.spec.replicas, copy?.spec.template.spec?.containers[0]?.image])).toEqual([
      [3, "web:1"],
      [1, "web:2"],
    ]);
  });

  test("a partition applies to the fleet: exactly that many pods are updated in place, and a higher partition rolls back", async () => {
    const hub = fleet.hub();
    await hub.create(PropagationPolicy, "hub", policy("cart").weights({ member1: 3, member2: 2 }).build());
    await hub.create(
      CloneSet,
      "hub",
      makeCloneSet("shop/cart")
        .replicas(5)
        .with(
          ({ spec }) =>
            (spec.updateStrategy = { rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible", maxUnavailable: "100%" } }),
        )
        .build(),
    );
    await eventually(
      "ready",
      () => hub.get(CloneSet, onHub("cart")),
      ({ status }) => status?.readyReplicas === 5,
    );
    const release = (partition: number): Promise<unknown> =>
      hub.patch(
        CloneSet,
        onHub("cart"),
        {
          spec: {
            template: { spec: { containers: [{ name: "cart", image: "cart:2" }] } },
            updateStrategy: { rollingUpdate: { partition } },
          },
        },
        { type: "merge" },
      );
    const pods = async () =>
      (
        await Promise.all(
          members.map(({ name, client }) =>
            client.list(Pod, { cluster: name, namespace: "shop", labelSelector: "app=cart" }),
          ),
        )
      ).map(({ items }) => items);
    const updated = async (): Promise<number> =>
      (await pods()).flat().filter(({ spec }) => spec.containers[0]?.image === "cart:2").length;
    const uids = async (): Promise<string[]> =>
      (await pods())
        .flat()
        .map(({ metadata }) => metadata.uid ?? "")
        .sort();
    const before = await uids();

    const seen: number[] = [];
    for (const partition of [4, 2, 3, 1]) {
      await release(partition);
      await eventually(
        `partition ${partition}`,
        () => hub.get(CloneSet, onHub("cart")),
        ({ metadata, status }) =>
          status?.observedGeneration === metadata.generation && status?.updatedReadyReplicas === 5 - partition,
      );
      seen.push(await updated());
    }
    members[1].gate.cut();
    await release(0);
    await eventually(
      "member1 continues",
      async () => (await pods())[0]?.filter(({ spec }) => spec.containers[0]?.image === "cart:2").length,
      (count) => count === 3,
    );
    const whileAway = (await hub.get(CloneSet, onHub("cart"))).status;
    members[1].gate.open();
    await eventually(
      "member2 follows",
      () => hub.get(CloneSet, onHub("cart")),
      ({ status }) => status?.updatedReadyReplicas === 5,
    );

    expect(seen).toEqual([1, 3, 2, 4]);
    expect(whileAway?.replicas).toBe(5);
    expect(await uids()).toEqual(before);
  });

  test("built-in Kubernetes kinds run and report, members' defaults stay, and nothing is written when nothing changes", async () => {
    const [member1] = members;
    const hub = fleet.hub();
    const template = (app: string, more: object = {}) => ({
      metadata: { labels: { app } },
      spec: {
        containers: [
          {
            name: app,
            image: "app:1",
            ports: [{ containerPort: 80 }],
            resources: { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: "2.0" } },
            env: [{ name: "EMPTY", value: "" }],
          },
        ],
        ...more,
      },
    });
    const named = (apiVersion: string, kind: string, rest: object) => ({
      apiVersion,
      kind,
      metadata: { name: "native", namespace: "shop" },
      ...rest,
    });
    const objects = [
      named("v1", "Service", { spec: { type: "NodePort", selector: { app: "native" }, ports: [{ port: 80 }] } }),
      named("v1", "ServiceAccount", {}),
      named("v1", "Secret", { stringData: { token: "secret" } }),
      named("v1", "PersistentVolumeClaim", {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
      }),
      named("apps/v1", "StatefulSet", {
        spec: {
          replicas: 2,
          serviceName: "native",
          selector: { matchLabels: { app: "sts" } },
          template: template("sts"),
        },
      }),
      named("apps/v1", "DaemonSet", { spec: { selector: { matchLabels: { app: "ds" } }, template: template("ds") } }),
      named("batch/v1", "Job", { spec: { template: { spec: { ...template("job").spec, restartPolicy: "Never" } } } }),
      named("batch/v1", "CronJob", {
        spec: {
          schedule: "0 0 1 1 *",
          jobTemplate: { spec: { template: { spec: { ...template("cron").spec, restartPolicy: "Never" } } } },
        },
      }),
      named("policy/v1", "PodDisruptionBudget", {
        spec: { minAvailable: 1, selector: { matchLabels: { app: "sts" } } },
      }),
      named("networking.k8s.io/v1", "Ingress", {
        spec: {
          rules: [
            {
              host: "shop.example.com",
              http: {
                paths: [
                  { path: "/", pathType: "Prefix", backend: { service: { name: "native", port: { number: 80 } } } },
                ],
              },
            },
          ],
        },
      }),
      named("rbac.authorization.k8s.io/v1", "Role", {
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      }),
      named("rbac.authorization.k8s.io/v1", "RoleBinding", {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "native" },
        subjects: [{ kind: "ServiceAccount", name: "native", namespace: "shop" }],
      }),
    ];
    const selects = objects.map(({ apiVersion, kind }) => ({ apiVersion, kind, name: "native" }));
    await hub.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/native")
        .duplicates(...MEMBERS)
        .with(({ spec }) => (spec.resourceSelectors = selects))
        .build(),
    );
    const applied = await commands.hub.run(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    );
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    const read = async (path: string): Promise<string> =>
      (await commands.hub.run(["get", "-n", "shop", ...path.split(" ")])).stdout;
    await eventually(
      "what runs reports",
      () =>
        Promise.all([
          read("statefulset.apps native -o jsonpath={.status.readyReplicas}"),
          read("daemonset.apps native -o jsonpath={.status.numberReady}"),
          read("job native -o jsonpath={.status.succeeded}"),
        ]),
      (counts) => counts.join() === "4,6,2",
    );
    const bindings = async () =>
      (await hub.list(ResourceBinding, { cluster: "hub", namespace: "shop" })).items.filter(({ metadata }) =>
        metadata.name.startsWith("native-"),
      );
    const isApplied = async (): Promise<number> =>
      (await bindings()).filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "FullyApplied" && is === "True"),
      ).length;
    await eventually("everything is applied", isApplied, (count) => count === objects.length);

    // A new label changes each object, and is applied without affecting the member's defaults.
    const labelled = await commands.hub.run([
      "label",
      "-n",
      "shop",
      ...objects.map(({ apiVersion, kind }) =>
        `${kind}.${apiVersion.includes("/") ? apiVersion.split("/").toReversed().join(".") : `${apiVersion}.`}/native`.toLowerCase(),
      ),
      "tier=front",
    ]);
    expect(labelled, labelled.stderr).toMatchObject({ code: 0 });
    const labels = async (): Promise<number> =>
      (
        await member1.kubectl.run([
          "get",
          "-n",
          "shop",
          "service,serviceaccount,secret,pvc,statefulset.apps,daemonset.apps,job,cronjob,pdb,ingress,role,rolebinding",
          "-l",
          "tier=front",
          "-o",
          "name",
        ])
      ).stdout
        .trim()
        .split("\n").length;
    await eventually("labels arrive", labels, (count) => count === objects.length);
    await eventually("all is applied again", isApplied, (count) => count === objects.length);
    await Promise.all(members.map((member) => member.probed(3)));
    for (const member of members) member.forgetRequests();
    await Promise.all(members.map((member) => member.probed(3)));

    for (const member of members)
      expect(member.requests().filter(({ verb }) => verb !== "get" && verb !== "watch")).toEqual([]);
    const works = (await hub.list(Work, { cluster: "hub", namespace: "karmada-es-member1" })).items.filter(
      ({ metadata }) => metadata.name.startsWith("native-"),
    );
    expect(works).toHaveLength(objects.length);
    expect(works.filter(({ status }) => status?.conditions?.some(({ type }) => type === "Drifted"))).toEqual([]);
  });

  test("drift on a member is repaired, and the Work reports the field and its manager", async () => {
    const [member1] = members;
    await deploy("drifting");
    await deploymentBecomes(member1, "drifting", ({ replicas }) => replicas === 2);

    await member1.client.patch(
      Deployment,
      { cluster: "member1", namespace: "shop", name: "drifting" },
      { spec: { replicas: 7 } },
      { type: "merge" },
    );

    await eventually(
      "reported",
      () => fleet.workCondition("member1", "drifting", "Drifted"),
      (condition) => condition !== undefined,
    );
    await deploymentBecomes(member1, "drifting", ({ replicas }) => replicas === 2);
    expect(await fleet.workCondition("member1", "drifting", "Drifted")).toMatchObject({
      status: "False",
      reason: "Repaired",
      message: expect.stringMatching(
        /^Deployment drifting: spec\.replicas was 7 instead of 2 \(ann, \d{4}-.*Z\)$/,
      ) as string,
    });
  });

  test("replicas are left to a member's autoscaler while other changes are propagated", async () => {
    const [member1, member2] = members;
    await deploy("scaled");
    for (const member of members) await deploymentBecomes(member, "scaled", ({ replicas }) => replicas === 2);
    await member1.client.create(HorizontalPodAutoscaler, "member1", {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "scaled", namespace: "shop" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "scaled" },
        minReplicas: 4,
        maxReplicas: 9,
      },
    });
    // Its controller raises it to the minimum, even without metrics.
    await deploymentBecomes(member1, "scaled", ({ replicas }) => replicas === 4);

    await fleet.hub().patch(Deployment, onHub("scaled"), { spec: { minReadySeconds: 1 } }, { type: "merge" });

    for (const member of members)
      await deploymentBecomes(member, "scaled", ({ minReadySeconds }) => minReadySeconds === 1);
    expect((await onMember(member1, Deployment, "scaled"))?.spec.replicas).toBe(4);
    expect((await onMember(member2, Deployment, "scaled"))?.spec.replicas).toBe(2);
  });

  test("rejections by a member's quota or admission policy are reported verbatim, and the objects arrive once they are allowed", async () => {
    const [member1, member2] = members;
    const denies = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "no" },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] },
          ],
        },
        validations: [{ expression: "!object.metadata.name.startsWith('denied')", message: "not on this cluster" }],
      },
    };
    const binds = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "no" },
      spec: { policyName: "no", validationActions: ["Deny"] },
    };
    await member1.client.create(ResourceQuota, "member1", {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "full", namespace: "shop" },
      spec: { hard: { "count/deployments.apps": "0" } },
    });
    for (const object of [denies, binds])
      expect(await member2.kubectl.run(["create", "-f", "-"], JSON.stringify(object))).toMatchObject({ code: 0 });
    await eventually(
      "the quota counts",
      () => member1.client.get(ResourceQuota, { cluster: "member1", namespace: "shop", name: "full" }),
      ({ status }) => status?.hard !== undefined,
    );
    await eventually(
      "the policy denies",
      async () => member2.kubectl.run(["create", "deployment", "denied", "--image=a", "--dry-run=server"]),
      ({ code }) => code !== 0,
    );

    await deploy("denied");

    const [first, second] = await Promise.all(
      MEMBERS.map((member) =>
        eventually(
          `refused on ${member}`,
          () => fleet.workCondition(member, "denied", "Applied"),
          (condition) => condition?.status === "False",
        ),
      ),
    );
    expect(first).toMatchObject({
      reason: "AppliedFailed",
      message: expect.stringContaining("exceeded quota: full") as string,
    });
    expect(second).toMatchObject({
      reason: "AppliedFailed",
      message: expect.stringContaining("not on this cluster") as string,
    });
    await member1.client.delete(ResourceQuota, { cluster: "member1", namespace: "shop", name: "full" });
    expect(
      await member2.kubectl.run(["delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", "no"]),
    ).toMatchObject({ code: 0 });
    for (const member of members) await deploymentBecomes(member, "denied", ({ replicas }) => replicas === 2);
  });

  test("the hub's account may request another token, and a token replaced in its Secret is used at once", async () => {
    const [member1] = members;
    const { stdout, code, stderr } = await member1.kubectl.run([
      "create",
      "token",
      "karmada-member1",
      "-n",
      "karmada-cluster",
      "--duration=1h",
      "--as=system:serviceaccount:karmada-cluster:karmada-member1",
    ]);
    expect(code, stderr).toBe(0);

    await fleet
      .hub()
      .patch(
        Secret,
        { cluster: "hub", namespace: "karmada-cluster", name: "member1" },
        { data: { token: Buffer.from(stdout.trim()).toString("base64") } },
        { type: "merge" },
      );
    member1.forgetRequests();
    await deploy("rotated");
    await deploymentBecomes(member1, "rotated", ({ replicas }) => replicas === 2);

    const [, claims = ""] = stdout.split(".");
    const { jti } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { jti: string };
    expect(
      new Set(
        member1
          .requests()
          .filter(({ verb }) => verb === "create")
          .map(({ credential }) => credential),
      ),
    ).toEqual(new Set([`JTI=${jti}`]));
  });

  test("a member that leaves keeps its workloads; one that is purged loses them", async () => {
    const [member1, member2] = members;
    const left = [await fleet.unjoin(member1), await fleet.unjoin(member2, "--purge")];

    expect(left.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, "cluster member1 has left; its workloads keep running\n", ""],
      [0, "cluster member2 has left; the objects that the hub created there are deleted\n", ""],
    ]);
    expect(await onMember(member1, OlderCloneSet, "cart")).toMatchObject({
      spec: { replicas: 3 },
      status: { readyReplicas: 3 },
    });
    expect((await onMember(member1, Deployment, "web"))?.metadata.labels ?? {}).not.toHaveProperty(
      "karmada.io/managed",
    );
    await isGone(member2, Deployment, "web");
    await isGone(member2, OlderCloneSet, "cart");
  });
});
