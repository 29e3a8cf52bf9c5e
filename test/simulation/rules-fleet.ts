/** A CloneSet of ten pods on two members, users' interpreter rules for it, and a record of what a release does. */
import { CloneSet } from "@flotilla/openkruise";
import { inVersion } from "@flotilla/apimachinery";
import { Event, Namespace, Pod } from "@flotilla/kubernetes";
import { PropagationPolicy, ResourceBinding, ResourceInterpreterCustomization, Work } from "@flotilla/karmada";
import type { CloneSetV1alpha1 } from "@flotilla/openkruise";
import { isObject, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Transport, TransportRequest } from "@flotilla/client";
import { Explanation } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";

const CloneSetV1 = inVersion<CloneSetV1alpha1>(CloneSet, "v1alpha1");
const MEMBERS = ["member1", "member2"];
const web = { cluster: "hub", namespace: "shop", name: "web" };
const SETTLED_MS = 30_000;
const RULES = { cluster: "hub", name: "mine" };

/** The customization of OpenKruise's guide for Karmada, as it is written there. */
export const GUIDE_RULES = {
  replicas: { jsonPath: ".spec.replicas" },
  scale: { jsonPath: ".spec.replicas" },
  statusReflection: { jsonPath: ".status" },
  retention: { jsonPaths: [".spec.updateStrategy", ".spec.scaleStrategy"] },
};
export const RETAIN_STRATEGY = { retention: GUIDE_RULES.retention };

/** The health rule of the same guide. */
export const GUIDE_HEALTH = {
  healthInterpretation: {
    luaScript: `
function InterpretHealth(observedObj)
  if observedObj.status == nil then
    return false
  end
  local specReplicas = (observedObj.spec and observedObj.spec.replicas) or 0
  local readyReplicas = observedObj.status.readyReplicas or 0
  local availableReplicas = observedObj.status.availableReplicas or 0
  return readyReplicas == specReplicas and availableReplicas == specReplicas and specReplicas > 0
end
`,
  },
};

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface RulesFleetOptions {
  /** The partition that the CloneSet is created with. */
  partition?: number;
  /** Of the CloneSet; unset means all its pods. */
  maxUnavailable?: number;
  seed?: number;
  /** Of a fleet before, to continue it. */
  engine?: TestFleetOptions["engine"];
  clock?: TestFleetOptions["clock"];
  /** The store has the workload already. */
  isContinued?: boolean;
  /** Where scripts run that exceed their limits. */
  quarantine?: TestFleetOptions["quarantine"];
  /** Changes the body of a write to a CloneSet of a member, as a mutating webhook there would. */
  mutate?(body: JsonObject): JsonObject;
}

interface ReleaseStep {
  image?: string;
  partition?: number;
  replicas?: number;
}

export interface ReleaseRecord {
  /** Pods created and deleted on members. */
  created: number;
  deleted: number;
  /** By member: the images of the pod templates that the hub has written, without repetitions. */
  images: Record<string, string[]>;
  /** Writes to the members' CloneSets. */
  writes: number;
  /** The specs of the Works that dispatch has written. */
  works: Json[];
}

export interface RulesFleet extends TestFleet {
  /** Sets the customization of CloneSets; replaces the one before. */
  customize(customizations: object): Promise<void>;
  removeRules(): Promise<void>;
  release(change: ReleaseStep): Promise<void>;
  /** What `flotilla plan` shows for the same change. */
  plan(change: ReleaseStep): Promise<PlanResult>;
  /** By member: the pods that are not being deleted and have this image. */
  podsWith(image: string): Promise<number[]>;
  /** The most pods that had this image at the same time since the last call of `record`, at any moment. */
  mostPodsWith(image: string): number;
  /** What has happened since the start or the last call. */
  record(): ReleaseRecord;
  read(cluster: string): Promise<DeepReadonly<CloneSetV1alpha1>>;
  condition(type: string): Promise<Condition | undefined>;
  workCondition(cluster: string, type: string): Promise<Condition | undefined>;
  /** Sets the image in the Work of a member, as another client. */
  editWork(cluster: string, image: string): Promise<void>;
  /** Changes the policy without an effect on placement. */
  touchPolicy(): Promise<void>;
  /** The hub's page for Prometheus. */
  metrics(): Promise<string>;
  /** Messages of the hub's events with this reason. */
  events(reason: string): Promise<string[]>;
  why(): Promise<DeepReadonly<Explanation>>;
}

export async function startRulesFleet({
  partition,
  maxUnavailable,
  seed = 1,
  engine,
  clock,
  isContinued = false,
  quarantine,
  mutate = (body) => body,
}: RulesFleetOptions = {}): Promise<RulesFleet> {
  let recorded: Pick<ReleaseRecord, "images" | "works" | "writes"> = { images: {}, works: [], writes: 0 };
  const fleet = await startTestFleet({ members: MEMBERS, nodes: 3, seed, engine, clock, quarantine, wrap: recording });

  function recording(transport: Transport, part: string): Transport {
    if (part !== "execute" && part !== "dispatch") return transport;
    return {
      ...transport,
      async send(request, signal) {
        if (request.verb === "get" || request.verb === "list") return transport.send(request, signal);
        const { resource, cluster } = request.path;
        const body = bodyOf(request);
        if (part === "dispatch" && resource === "works" && body) recorded.works.push(body["spec"] ?? null);
        if (part !== "execute" || resource !== "clonesets" || !body) return transport.send(request, signal);
        const answer = await transport.send({ ...request, body: mutate(body) }, signal);
        // One that the member refused changes nothing.
        recorded.writes++;
        const image = imageIn(body);
        const images = (recorded.images[cluster] ??= []);
        if (image !== undefined && images.at(-1) !== image) images.push(image);
        return answer;
      },
    };
  }

  const peaks = await followPods(fleet);
  if (!isContinued) await createWorkload();
  await fleet.run(SETTLED_MS);
  record();

  async function createWorkload(): Promise<void> {
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps.kruise.io/v1alpha1", "CloneSet").weights({ member1: 1, member2: 1 }).build(),
    );
    const { apiVersion: _, spec, ...cloneSet } = makeCloneSet("shop/web").replicas(10).build();
    await fleet.client.create(CloneSetV1, "hub", {
      ...cloneSet,
      apiVersion: "apps.kruise.io/v1alpha1",
      spec: { ...spec, updateStrategy: { maxUnavailable: maxUnavailable ?? "100%", partition } },
    });
  }

  function record(): ReleaseRecord {
    const pods = (verb: string): number =>
      fleet
        .writes()
        .filter((write) => write.resource === "pods" && write.verb === verb && write.part === "member")
        .reduce((sum, { count }) => sum + count, 0);
    const result = { created: pods("create"), deleted: pods("delete"), ...recorded };
    recorded = { images: {}, works: [], writes: 0 };
    peaks.reset();
    fleet.resetWrites();
    return result;
  }

  async function removeRules(): Promise<void> {
    const { items } = await fleet.client.list(ResourceInterpreterCustomization, { cluster: "hub" });
    if (items.length > 0) await fleet.client.delete(ResourceInterpreterCustomization, RULES);
    await fleet.run(SETTLED_MS);
  }

  async function workOf(cluster: string): Promise<DeepReadonly<Work>> {
    const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: `karmada-es-${cluster}` });
    const work = items.find(({ spec: { workload } }) =>
      workload?.manifests?.some((each) => each["kind"] === "CloneSet"),
    );
    if (!work) throw new Error(`${cluster} has no Work`);
    return work;
  }

  return {
    ...fleet,
    async stop() {
      await peaks.stop();
      await fleet.stop();
    },
    mostPodsWith: peaks.mostWith,
    record,
    removeRules,
    async customize(customizations) {
      await removeRules();
      await fleet.client.create(ResourceInterpreterCustomization, "hub", {
        apiVersion: "config.karmada.io/v1alpha1",
        kind: "ResourceInterpreterCustomization",
        metadata: { name: RULES.name },
        spec: { target: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" }, customizations },
      });
      await fleet.run(SETTLED_MS);
    },
    async release(step) {
      await fleet.client.patch(CloneSetV1, web, { spec: patchFor(step) }, { type: "merge" });
    },
    async plan(step) {
      const { spec: now } = await fleet.client.get(CloneSetV1, web);
      const { template, replicas, updateStrategy } = patchFor(step);
      const manifest = {
        apiVersion: "apps.kruise.io/v1alpha1",
        kind: "CloneSet",
        metadata: { name: "web", namespace: "shop" },
        spec: {
          ...now,
          template: template ?? now.template,
          replicas: replicas ?? now.replicas,
          updateStrategy: { ...now.updateStrategy, ...updateStrategy },
        },
      };
      const manifests = [manifest as unknown as JsonObject];
      const { signal } = new AbortController();
      return planInput(fleet.client, { manifests, without: [], namespace: "shop" }, fleet.clock, signal);
    },
    async podsWith(image) {
      const lists = await Promise.all(MEMBERS.map((cluster) => fleet.client.list(Pod, { cluster, namespace: "shop" })));
      return lists.map(
        ({ items }) =>
          items.filter(({ metadata, spec: pod }) => !metadata.deletionTimestamp && pod?.containers[0]?.image === image)
            .length,
      );
    },
    read: (cluster) => fleet.client.get(CloneSetV1, { ...web, cluster }),
    async condition(type) {
      const { status } = await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" });
      return status?.conditions?.find((each) => each.type === type);
    },
    workCondition: async (cluster, type) =>
      (await workOf(cluster)).status?.conditions?.find((each) => each.type === type),
    async editWork(cluster, image) {
      const work = await workOf(cluster);
      const [manifest] = (work.spec.workload?.manifests ?? []) as unknown as DeepReadonly<CloneSetV1alpha1>[];
      const manifests = [{ ...manifest, spec: { ...manifest?.spec, template: templateWith(image) } }];
      const spec = {
        ...work.spec,
        workload: { ...work.spec.workload, manifests: manifests as unknown as JsonObject[] },
      };
      await fleet.client.update(Work, "hub", { ...work, spec });
    },
    async touchPolicy() {
      await fleet.client.patch(
        PropagationPolicy,
        { ...web, name: "all" },
        { spec: { propagateDeps: true } },
        { type: "merge" },
      );
    },
    async metrics() {
      const { body } = await fleet.client.raw({ cluster: "hub", method: "GET", path: "/metrics" });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
    async events(reason) {
      const { items } = await fleet.client.list(Event, { cluster: "hub" });
      return items.filter((event) => event.reason === reason).map(({ message = "" }) => message);
    },
    why: () => fleet.client.get(Explanation, { ...web, name: "web-cloneset" }),
  };
}

/** Sees every change of a pod, in the order of the writes, so nothing between two looks is missed. */
async function followPods({ client }: TestFleet) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const images = new Map<string, string>();
  const most = new Map<string, number>();
  const count = (image: string): number => images.values().reduce((sum, each) => sum + (each === image ? 1 : 0), 0);
  const note = (image: string): void => void most.set(image, Math.max(most.get(image) ?? 0, count(image)));
  const { resourceVersion } = await client.list(Pod, { cluster: MEMBERS[0] ?? "" });
  const follow = async (): Promise<void> => {
    for await (const events of client.watch(Pod, { cluster: "*", resourceVersion, signal }))
      for (const event of events) {
        if (event.type === "BOOKMARK") continue;
        const { metadata, spec } = event.object;
        const image = spec.containers[0]?.image ?? "";
        const id = metadata.uid ?? "";
        if (event.type === "DELETED" || metadata.deletionTimestamp) images.delete(id);
        else {
          images.set(id, image);
          note(image);
        }
      }
  };
  const ended = follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    mostWith: (image: string): number => most.get(image) ?? 0,
    reset() {
      most.clear();
      for (const image of images.values()) note(image);
    },
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

const patchFor = ({ image, partition, replicas }: ReleaseStep) =>
  defined({
    template: image === undefined ? undefined : templateWith(image),
    updateStrategy: partition === undefined ? undefined : { partition },
    replicas,
  });

const templateWith = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image }] },
});

const bodyOf = ({ body }: TransportRequest): JsonObject | undefined => (isObject(body) ? body : undefined);

function imageIn(body: JsonObject): string | undefined {
  const { spec } = body as { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } };
  return spec?.template?.spec?.containers?.[0]?.image;
}
