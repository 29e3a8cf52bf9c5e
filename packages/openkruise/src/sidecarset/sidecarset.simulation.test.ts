/** SidecarSets on a simulated member: injection and updates of running pods. */
import { defined } from "@flotilla/base";
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import {
  ControllerRevision,
  indexByController,
  isReady,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Pod,
} from "@flotilla/kubernetes";
import { PodUnavailableBudget } from "../podunavailablebudget/podunavailablebudget-kind.ts";
import { SidecarSet } from "./sidecarset-kind.ts";
import { kruiseKinds } from "../openkruise.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { CONFLICT_MESSAGE, conflict } from "@flotilla/apimachinery";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { createSidecarSetAdmission } from "./sidecarset-admission.ts";
import { createSidecarSetController } from "./sidecarset-controller.ts";
import { IN_PLACE_STATE_ANNOTATION, UPGRADABLE_CONDITION } from "./sidecarset-names.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

let member: KruiseMember;
afterEach(() => member.stop());

type Spec = Partial<SidecarSet["spec"]>;

function makeSidecarSet(spec: Spec = {}): SidecarSet {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
    metadata: { name: "proxies" },
    spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "proxy", image: "proxy:1" }], ...spec },
  };
}

async function start(spec: Spec = {}, replicas = 3): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds });
  await member.client.create(SidecarSet, MEMBER, makeSidecarSet(spec));
  await member.pass(1000);
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(replicas));
  await member.pass(5000);
}

const change = (edit: (spec: DeepReadonly<SidecarSet["spec"]>) => object): Promise<unknown> =>
  member.change(SidecarSet, "proxies", (set) => ({ ...set, spec: edit(set.spec) as SidecarSet["spec"] }));
const setImage = (image: string, strategy?: object): Promise<unknown> =>
  change((spec) => ({
    ...spec,
    containers: spec.containers?.map((container) => ({ ...container, image })),
    ...defined({ updateStrategy: strategy ? { ...spec.updateStrategy, ...strategy } : undefined }),
  }));

/** Every new pod passes the policy, which sets the images of all its containers. */
async function setImagesByPolicy(image: string): Promise<void> {
  await member.client.create(MutatingAdmissionPolicy, MEMBER, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingAdmissionPolicy",
    metadata: { name: "images" },
    spec: {
      reinvocationPolicy: "Never",
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression: `Object{spec: Object.spec{containers: object.spec.containers.map(each,
              Object.spec.containers{name: each.name, image: "${image}"})}}`,
          },
        },
      ],
    },
  });
  await member.client.create(MutatingAdmissionPolicyBinding, MEMBER, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingAdmissionPolicyBinding",
    metadata: { name: "images" },
    spec: { policyName: "images" },
  });
}

const imagesOf = (container: string): (string | undefined)[] =>
  member.pods().map(({ spec }) => spec.containers.find(({ name }) => name === container)?.image);
const statusOf = async (): Promise<SidecarSet["status"]> => (await member.get(SidecarSet, "proxies")).status;

describe("a new pod", () => {
  test("gets the sidecars of the matching sets, complete and ready", async () => {
    await start();

    const pods = member.pods();

    expect(pods.map(({ spec }) => spec.containers.map(({ name }) => name))).toEqual([
      ["proxy", "main"],
      ["proxy", "main"],
      ["proxy", "main"],
    ]);
    expect(pods[0]?.spec.containers[0]).toMatchObject({
      image: "proxy:1",
      env: [{ name: "IS_INJECTED", value: "true" }],
      terminationMessagePolicy: "File",
    });
    expect(pods[0]?.metadata.annotations?.["kruise.io/sidecarset-injected-list"]).toBe("proxies");
    expect(await statusOf()).toMatchObject({ matchedPods: 3, updatedPods: 3, readyPods: 3, updatedReadyPods: 3 });
  });

  test("keeps what a policy changed in its containers, its own and injected ones", async () => {
    member = await startKruiseMember({ customs: kruiseKinds });
    await member.client.create(SidecarSet, MEMBER, makeSidecarSet());
    await setImagesByPolicy("changed:1");
    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(1));
    await member.pass(5000);

    const [pod] = member.pods();

    expect(pod?.spec.containers.map(({ name, image }) => [name, image])).toEqual([
      ["proxy", "changed:1"],
      ["main", "changed:1"],
    ]);
  });

  test("is annotated with the revision in OpenKruise's namespace", async () => {
    await start();

    const [revision] = (await member.list(ControllerRevision)).filter(
      ({ metadata }) => metadata.namespace === "kruise-system",
    );

    expect(revision?.metadata.labels?.["kruise.io/sidecarset-name"]).toBe("proxies");
    expect((await statusOf())?.latestRevision).toBe(revision?.metadata.name);
    expect(JSON.parse(member.pods()[0]?.metadata.annotations?.["kruise.io/sidecarset-hash"] ?? "")).toMatchObject({
      proxies: { controllerRevision: revision?.metadata.name, sidecarList: ["proxy"] },
    });
  });

  test("costs three writes until it is ready, with and without sidecars", async () => {
    member = await startKruiseMember({ customs: kruiseKinds, times: { startMs: 0 } });
    await member.client.create(SidecarSet, MEMBER, makeSidecarSet());
    await member.pass(1000);
    member.writes.reset();

    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(3));
    await member.pass(5000);

    expect(member.writes.total({ resource: "pods" })).toBe(9);
    expect(await statusOf()).toMatchObject({ readyPods: 3 });
  });

  test("is unchanged when the set is paused or selects other namespaces", async () => {
    member = await startKruiseMember({ customs: kruiseKinds });
    await member.client.create(SidecarSet, MEMBER, makeSidecarSet({ injectionStrategy: { paused: true } }));
    const other = makeSidecarSet({
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "elsewhere" } },
      containers: [{ name: "log", image: "log:1" }],
    });
    await member.client.create(SidecarSet, MEMBER, { ...other, metadata: { name: "logs" } });

    await member.client.create(CloneSet, MEMBER, makeWebCloneSet(1));
    await member.pass(5000);

    expect(member.pods()[0]?.spec.containers.map(({ name }) => name)).toEqual(["main"]);
  });

  test("is rejected when the resources of its sidecar cannot be computed", async () => {
    const policy = {
      targetContainersMode: "sum" as const,
      targetContainersNameRegex: "^none$",
      resourcesExpr: { limits: { cpu: "cpu*50%" } },
    };
    await start({ containers: [{ name: "proxy", image: "proxy:1", resourcesPolicy: policy }] }, 1);

    const made = member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: NAMESPACE, labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: "i" }] },
    });

    await expect(made).rejects.toThrow(
      'admission webhook "mpod.kb.io" denied the request: no containers match the regex pattern "^none$"',
    );
  });
});

describe("a new image", () => {
  test("is rolled out in place within maxUnavailable", async () => {
    await start();
    const before = member.pods().map(({ metadata, status }) => [metadata.name, metadata.uid, status?.podIP]);
    let fewest = 3;
    member.informers.of(Pod).subscribe(() => (fewest = Math.min(fewest, member.pods().filter(isReady).length)));

    await setImage("proxy:2");
    await member.pass(30_000);

    expect(fewest).toBe(2);
    expect(imagesOf("proxy")).toEqual(["proxy:2", "proxy:2", "proxy:2"]);
    expect(member.pods().map(({ metadata, status }) => [metadata.name, metadata.uid, status?.podIP])).toEqual(before);
    const restarts = member
      .pods()
      .map(({ status }) =>
        Object.fromEntries(status?.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]) ?? []),
      );
    expect(restarts).toEqual([
      { proxy: 1, main: 0 },
      { proxy: 1, main: 0 },
      { proxy: 1, main: 0 },
    ]);
    expect(await statusOf()).toMatchObject({ matchedPods: 3, updatedPods: 3, updatedReadyPods: 3 });
  });

  test("stops at the partition, and continues when it is lowered", async () => {
    await start();

    await setImage("proxy:2", { partition: 2 });
    await member.pass(30_000);
    const first = imagesOf("proxy").filter((image) => image === "proxy:2").length;
    await change((spec) => ({ ...spec, updateStrategy: { ...spec.updateStrategy, partition: 0 } }));
    await member.pass(30_000);

    expect(first).toBe(1);
    expect(imagesOf("proxy")).toEqual(["proxy:2", "proxy:2", "proxy:2"]);
  });

  test.each([{ paused: true }, { type: "NotUpdate" }])("reaches only new pods with %o", async (strategy) => {
    await start();

    await setImage("proxy:2", strategy);
    await member.pass(30_000);

    expect(imagesOf("proxy")).toEqual(["proxy:1", "proxy:1", "proxy:1"]);
    expect(await statusOf()).toMatchObject({ matchedPods: 3, updatedPods: 0 });
  });

  test("costs one update and one condition per pod, and nothing afterwards", async () => {
    await start();
    member.writes.reset();

    await setImage("proxy:2");
    await member.pass(30_000);
    const pods = {
      updates: member.writes.total({ resource: "pods", verb: "update", subresource: "" }),
      conditions: member.writes.total({ resource: "pods", verb: "patch" }),
    };
    member.writes.reset();
    await member.pass(600_000);

    expect(pods).toEqual({ updates: 3, conditions: 3 });
    expect(member.writes.total()).toBe(0);
  });
});

test("a budget blocks a failing update, and the status reports the progress", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, gates: { PodUnavailableBudgetUpdateGate: true } });
  const budget = { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 };
  await member.client.create(PodUnavailableBudget, MEMBER, {
    apiVersion: "policy.kruise.io/v1beta1",
    kind: "PodUnavailableBudget",
    metadata: { name: "budget", namespace: NAMESPACE },
    spec: budget,
  });
  await member.client.create(SidecarSet, MEMBER, makeSidecarSet({ updateStrategy: { maxUnavailable: "100%" } }));
  await member.client.create(CloneSet, MEMBER, makeWebCloneSet(3));
  await member.pass(5000);

  await setImage("proxy:broken");
  await member.pass(60_000);
  const held = await statusOf();
  await setImage("proxy:2");
  await member.pass(60_000);

  expect(held).toMatchObject({ matchedPods: 3, updatedPods: 1, readyPods: 2 });
  expect(await statusOf()).toMatchObject({ matchedPods: 3, updatedPods: 3, updatedReadyPods: 3 });
});

test("other changes than images reach only new pods, and old ones are marked", async () => {
  await start();

  await change((spec) => ({
    ...spec,
    containers: spec.containers?.map((container) => ({ ...container, env: [{ name: "A", value: "1" }] })),
  }));
  await member.pass(30_000);

  expect(
    member
      .pods()
      .map(({ status }) => status?.conditions?.find(({ type }) => type === UPGRADABLE_CONDITION))
      .map((condition) => [condition?.status, condition?.reason, condition?.message]),
  ).toEqual(member.pods().map(() => ["False", "UpdateImmutableField", '{"proxies":false}']));
  expect(member.events.filter((event) => event.startsWith("SidecarSet/"))).toEqual([
    "SidecarSet/proxies Normal NotUpgradablePods: SidecarSet in-place update detected 3 not upgradable pod(s) in this round, will skip them.",
  ]);
});

test("a hot upgrade starts the new version beside the old one, which then becomes idle", async () => {
  await start(
    {
      containers: [
        {
          name: "proxy",
          image: "proxy:1",
          upgradeStrategy: { upgradeType: "HotUpgrade", hotUpgradeEmptyImage: "empty:1" },
        },
      ],
    },
    2,
  );
  const injected = [imagesOf("proxy-1"), imagesOf("proxy-2")];

  await setImage("proxy:2");
  await member.pass(30_000);

  expect(injected).toEqual([
    ["proxy:1", "proxy:1"],
    ["empty:1", "empty:1"],
  ]);
  expect([imagesOf("proxy-1"), imagesOf("proxy-2")]).toEqual([
    ["empty:1", "empty:1"],
    ["proxy:2", "proxy:2"],
  ]);
  expect(member.pods()[0]?.metadata.annotations).toMatchObject({
    "kruise.io/sidecarset-working-hotupgrade-container": '{"proxy":"proxy-2"}',
    "version.sidecarset.kruise.io/proxy-1": "0",
  });
  expect(member.events.filter((event) => event.includes("ResetContainer"))).toHaveLength(2);
  expect(await statusOf()).toMatchObject({ matchedPods: 2, updatedPods: 2, updatedReadyPods: 2 });
});

test("limits the history to revisionHistoryLimit, except for revisions used by pods", async () => {
  await start({ revisionHistoryLimit: 2 }, 1);

  for (const image of ["proxy:2", "proxy:3", "proxy:4"]) {
    await setImage(image);
    await member.pass(30_000);
  }

  const kept = (await member.list(ControllerRevision)).filter(({ metadata }) => metadata.namespace === "kruise-system");
  expect(kept.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([3, 4]);
});

test("an invalid annotation on one pod does not block the others", async () => {
  await start();
  const [first] = member.pods();
  await member.editPod(first?.metadata.name ?? "", (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        ...pod.metadata.annotations,
        [IN_PLACE_STATE_ANNOTATION]: '{"proxies":{"lastContainerStatuses":{"proxy":null}}}',
      },
    },
  }));

  await setImage("proxy:2");
  await member.pass(30_000);

  expect(imagesOf("proxy")).toEqual(["proxy:2", "proxy:2", "proxy:2"]);
});

test("retries a pod after a conflict, even if the conflicting change is not watched", async () => {
  let conflicts = 1;
  const contested = (client: Client): Client => ({
    ...client,
    async update(kind, cluster, object, options) {
      if (kind.kind === Pod.kind && conflicts-- > 0)
        throw conflict({ group: "", resource: "pods" }, (object as KubernetesObject).metadata.name, CONFLICT_MESSAGE);
      return client.update(kind, cluster, object, options);
    },
  });
  const alone = await startTestMember({
    customs: kruiseKinds,
    admissions: [
      createSidecarSetAdmission({
        appliesTo: () => true,
        isInstalled: () => true,
        gates: DEFAULT_GATES,
        nowMs: () => 0,
      }),
    ],
    controllers(deps) {
      indexByController(deps.informers);
      return [createSidecarSetController({ ...deps, client: contested(deps.client) })];
    },
  });
  member = alone as KruiseMember;
  await alone.client.create(SidecarSet, MEMBER, makeSidecarSet());
  await alone.pass(1000);
  await alone.client.create(Pod, MEMBER, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: NAMESPACE, labels: { app: "web" } },
    spec: { containers: [{ name: "main", image: "web:1" }] },
  });
  await alone.pass(5000);

  await setImage("proxy:2");
  await alone.pass(30_000);

  expect(conflicts).toBeLessThan(1);
  expect(imagesOf("proxy")).toEqual(["proxy:2"]);
});
