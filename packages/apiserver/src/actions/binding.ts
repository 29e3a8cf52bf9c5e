/** Binding: a scheduler assigns a pod to a node. Allowed once, and only while the pod has no scheduling gates. */
import { omitEmpty } from "@flotilla/base";
import { Binding, Node, REGION_LABEL, ZONE_LABEL } from "@flotilla/kubernetes";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { CONFLICT_MESSAGE, badRequest, conflict, field, fieldErrorText, notFound } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { Action, ActionDependencies, Answer, Input } from "./action.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import { plainError } from "../request/context.ts";
import type { RequestContext } from "../request/context.ts";
import { metadataOf } from "../codec/metadata.ts";
import { writeOptions } from "../request/options.ts";
import { objectIn, ordered, settledIn, viewOfWritten } from "../codec/render.ts";
import { createResource, keyOf } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";
import { SUCCESS, withCondition } from "./pod-conditions.ts";
import { admitSent, readSent } from "./sent-object.ts";

type ReadPod = DeepReadonly<Pod>;

const BINDING = createResource(Binding).storage;
const PODS = { group: "", resource: "pods" };
/** Topology labels that pods copy from their node. */
const TOPOLOGY = [ZONE_LABEL, REGION_LABEL];
const MAX_ATTEMPTS = 5;

/** `POST pods/<name>/binding`. */
export const podBinding: Action = {
  group: "",
  resource: "pods",
  subresource: "binding",
  run: (deps, context, input) => bind(deps, context, input, context.name),
};
/** `POST bindings`, which schedulers used before subresources existed. */
export const legacyBinding: Action = {
  group: "",
  resource: "bindings",
  run: (deps, context, input) => bind(deps, context, input, undefined),
};

async function bind(
  deps: ActionDependencies,
  context: RequestContext,
  input: Input,
  pathName: string | undefined,
): Promise<Answer> {
  const received = await readSent({ ...context, served: BINDING }, input, {
    clock: deps.clock,
    facts: "core-v1",
    keepsUid: true,
  });
  const sent = (await admitSent(deps, context, received)) as unknown as DeepReadonly<Binding>;
  const { name = "" } = sent.metadata as { name?: string };
  if (pathName !== undefined && pathName !== name)
    throw badRequest("name in URL does not match name in Binding object");
  checkTarget(sent);
  const { dryRun } = writeOptions(context, "CreateOptions");
  await assign(deps, context, sent, name, dryRun);
  return { type: "object", object: SUCCESS, code: 201 };
}

/** Kubernetes returns 500 without a reason for these. */
function checkTarget({ target }: DeepReadonly<Binding>): void {
  const errors: FieldError[] = [];
  const { kind = "", name = "" } = target ?? {};
  if (kind !== "" && kind !== "Node") errors.push(field.notSupported("target.kind", kind, ["Node", "<empty>"]));
  if (name === "") errors.push(field.required("target.name"));
  if (errors.length > 0) throw plainError(fieldErrorText(errors));
}

async function assign(
  deps: ActionDependencies,
  { cluster, namespace }: RequestContext,
  binding: DeepReadonly<Binding>,
  name: string,
  dryRun: boolean,
): Promise<void> {
  const { cache, store, clock } = deps;
  const pods = cluster.table.resource("", "pods");
  if (!pods) throw notFound(PODS, name);
  const key = keyOf(pods, cluster.name, namespace, name);
  const topology = binding.target.kind === "Node" ? topologyOf(deps, cluster, binding.target.name ?? "") : {};
  await cache.exclusive(key, async () => {
    for (let attempt = 1; ; attempt++) {
      const found = store.find(cluster, pods, key);
      if (!found.entry) throw notFound(PODS, name);
      const stored = objectIn(found.entry, pods.storage);
      checkPreconditions(binding, stored, `/registry/pods/${namespace ?? ""}/${name}`, name);
      const bound = boundPod(
        stored as unknown as ReadPod,
        binding,
        topology,
        name,
        clock.now(),
      ) as unknown as JsonObject;
      const { resourceVersion: _, ...metadata } = metadataOf(bound);
      const written = viewOfWritten(
        pods.storage,
        ordered({ ...bound, metadata }),
        settledIn(found.entry, pods.storage) !== undefined,
      );
      if (dryRun || (await store.put(cluster, found, written, { verb: "create", name: PODS, subresource: "binding" })))
        return;
      if (attempt === MAX_ATTEMPTS) throw conflict(PODS, name, CONFLICT_MESSAGE);
    }
  });
}

/** The uid and resourceVersion that the scheduler decided on. */
function checkPreconditions({ metadata }: DeepReadonly<Binding>, stored: JsonObject, key: string, name: string): void {
  const current = metadataOf(stored);
  for (const [field, label] of [
    ["uid", "UID"],
    ["resourceVersion", "ResourceVersion"],
  ] as const) {
    const wanted = metadata[field];
    if (!wanted || wanted === current[field]) continue;
    throw conflict(
      PODS,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
        `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object ` +
        `meta: ${textOf(current[field])}`,
    );
  }
}

function boundPod(
  pod: ReadPod,
  { metadata: { labels, annotations }, target }: DeepReadonly<Binding>,
  topology: Readonly<Record<string, string>>,
  name: string,
  nowMs: number,
): ReadPod {
  const refuse = (why: string): never => {
    throw conflict({ group: "", resource: "pods/binding" }, name, why);
  };
  if (pod.metadata.deletionTimestamp) refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName) refuse(`pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if (pod.spec.schedulingGates?.length) refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const { nominatedNodeName: _, ...status } = pod.status ?? {};
  const own = { ...pod.metadata.annotations, ...annotations };
  const all = { ...pod.metadata.labels, ...labels, ...topology };
  return withCondition(
    {
      ...pod,
      metadata: {
        ...pod.metadata,
        ...omitEmpty({ labels: all, annotations: own }),
      },
      spec: { ...pod.spec, nodeName: target.name ?? "" },
      status,
    },
    { type: "PodScheduled", status: "True" },
    nowMs,
  );
}

function topologyOf(
  { store }: ActionDependencies,
  cluster: RequestContext["cluster"],
  name: string,
): Record<string, string> {
  const labels = createClusterReader(store, cluster).get(Node, undefined, name)?.metadata.labels ?? {};
  return Object.fromEntries(TOPOLOGY.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]])));
}
