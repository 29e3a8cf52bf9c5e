/** The state of the namespace, in the shape of the recordings: without random values, times and irrelevant fields. */
import { isObject, type Json, type JsonObject } from "@flotilla/base";
import type { OwnerReference } from "@flotilla/apimachinery";
import { apiVersionOf, pathOf, SHOWN } from "./kinds.ts";
import type { ScenarioMember } from "./member.ts";

interface Seen extends JsonObject {
  metadata: JsonObject;
}

const KRUISE_NAMESPACE = "kruise-system";
const INSTANCE_ID = "apps.kruise.io/cloneset-instance-id";
const NODE_LABEL = "crr.apps.kruise.io/node-name";
/** Reasons of conditions from a race between writers, which the recordings omit too. */
const CONFLICT = /the object has been modified/;

export interface Observation {
  objects: JsonObject[];
  /** One per pod; the recordings count equal ones. */
  pods: JsonObject[];
}

/** `names` are the pods that the scenario has named. */
export async function observe(member: ScenarioMember, names: ReadonlyMap<string, string>): Promise<Observation> {
  const found: { kind: string; object: Seen }[] = [];
  for (const kind of SHOWN) {
    const paths =
      kind === "ControllerRevision" ? [pathOf(kind), pathOf(kind, { namespace: KRUISE_NAMESPACE })] : [pathOf(kind)];
    for (const path of paths) found.push(...(await list(member, path)).map((object) => ({ kind, object })));
  }
  const pods = await list(member, pathOf("Pod"));
  const hide = createHider([...found.map(({ object }) => object), ...pods], names);
  const objects = found.map(({ kind, object }) => hide(showObject(kind, object)));
  return {
    objects: objects.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
    pods: pods.map((pod) => hide(showPod(pod))),
  };
}

const orderOf = ({ kind, name }: JsonObject): string => `${text(kind)}/${text(name)}`;
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const asList = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

async function list(member: ScenarioMember, path: string): Promise<Seen[]> {
  const { status, body } = await member.send("GET", path);
  if (status !== 200) throw new Error(`GET ${path}: ${text(body["message"])}`);
  return asList(body["items"]) as Seen[];
}

function ownerOf(metadata: JsonObject): string | undefined {
  const owners = (metadata["ownerReferences"] ?? []) as unknown as OwnerReference[];
  const owner = owners.find(({ controller }) => controller) ?? owners[0];
  return owner && `${versionShown(owner)}/${owner.kind}/${owner.name}`;
}

/**
 * Flotilla stores some kinds in a version that the recorded release does not have; only the owner's identity matters.
 */
function versionShown({ apiVersion, kind }: OwnerReference): string {
  const group = apiVersion.split("/")[0] ?? "";
  return group.endsWith("kruise.io") ? apiVersionOf(kind) : apiVersion;
}

function showObject(kind: string, seen: Seen): JsonObject {
  const { apiVersion, metadata, spec, status, data, revision } = seen;
  const { name = null, labels = null, annotations = null, generation = null, finalizers = null } = metadata;
  const common: JsonObject = {
    kind,
    apiVersion: apiVersion ?? apiVersionOf(kind),
    name,
    labels,
    annotations,
    finalizers,
    owner: ownerOf(metadata) ?? null,
  };
  switch (kind) {
    case "ControllerRevision":
      return { ...common, finalizers: null, revision: revision ?? null, data: data ?? null };
    case "PersistentVolumeClaim":
      // How a claim was bound is recorded in annotations of the storage driver.
      return {
        ...common,
        annotations: null,
        phase: asObject(status)["phase"] ?? null,
        requests: asObject(asObject(spec)["resources"])["requests"] ?? null,
      };
    case "ReplicaSet":
      return { ...common, replicas: asObject(spec)["replicas"] ?? null, status: showStatus(status) };
    case "ContainerRecreateRequest":
      return {
        ...common,
        generation,
        spec: withoutContainerIds(spec),
        labels: withNode(labels),
        status: showStatus(status),
      };
    default:
      return { ...common, generation, spec: spec ?? null, status: showStatus(status) };
  }
}

/** The recorded kubelet names containers in its own way; a request has the id of the container that it replaces. */
function withoutContainerIds(spec: Json | undefined): Json {
  const containers = asList(asObject(spec)["containers"]).map((container) => ({
    ...container,
    statusContext: { ...asObject(container["statusContext"]), containerID: `sim://${text(container["name"])}-0` },
  }));
  return { ...asObject(spec), containers };
}

/** The recordings do not name the node. */
const withNode = (labels: Json): Json => ({ ...asObject(labels), [NODE_LABEL]: "{{node}}" });

/** Conditions at any depth without times, sorted by type. */
function showStatus(status: Json | undefined): Json {
  if (Array.isArray(status)) return status.map(showStatus);
  if (!isObject(status)) return status ?? null;
  return Object.fromEntries(
    Object.entries(status).map(([key, value]) => [
      key,
      key === "conditions" ? showConditions(value) : showStatus(value),
    ]),
  );
}

function showConditions(conditions: Json): JsonObject[] {
  return asList(conditions)
    .filter(({ message }) => !CONFLICT.test(text(message)))
    .map(({ type, status, reason, message }): JsonObject => ({
      type: type ?? null,
      status: status ?? null,
      reason: text(reason) || null,
      message: text(message) || null,
    }))
    .toSorted((a, b) => (text(a["type"]) < text(b["type"]) ? -1 : 1));
}

function showPod({ metadata, spec: wholeSpec, status: wholeStatus }: Seen): JsonObject {
  const spec = asObject(wholeSpec);
  const status = asObject(wholeStatus);
  const conditions = asList(status["conditions"]);
  const statuses = [...asList(status["initContainerStatuses"]), ...asList(status["containerStatuses"])];
  const inits = new Set(asList(spec["initContainers"]).map(({ name }) => name));
  return {
    name: metadata["name"] ?? null,
    labels: metadata["labels"] ?? null,
    annotations: Object.fromEntries(
      Object.entries(asObject(metadata["annotations"])).map(([key, value]) => [key, showAnnotation(key, text(value))]),
    ),
    deleting: metadata["deletionTimestamp"] === undefined ? null : true,
    owner: ownerOf(metadata) ?? null,
    containers: asList(spec["containers"]).map(showContainer),
    initContainers: asList(spec["initContainers"]).map(showContainer),
    readinessGates: asList(spec["readinessGates"]).map(({ conditionType }) => conditionType ?? null),
    volumes: asList(spec["volumes"])
      .filter(({ name }) => !text(name).startsWith("kube-api-access"))
      .map(showVolume),
    tolerations: asList(spec["tolerations"]).filter(({ tolerationSeconds }) => tolerationSeconds === undefined),
    ...Object.fromEntries(
      ["affinity", "nodeSelector", "hostname", "subdomain", "imagePullSecrets"].map((field) => [
        field,
        spec[field] ?? null,
      ]),
    ),
    node: spec["nodeName"] ?? null,
    phase: status["phase"] ?? null,
    conditions: Object.fromEntries(
      conditions.map(({ type, status: value, reason }) => [
        text(type),
        value === "True" ? "True" : `${text(value)}/${text(reason)}`,
      ]),
    ),
    conditionDetail: Object.fromEntries(
      conditions
        .filter(({ type }) => type === "SidecarSetUpgradable")
        .map(({ type, reason, message }) => [text(type), { reason: reason ?? null, message: message ?? null }]),
    ),
    statuses: Object.fromEntries(
      statuses
        .filter(({ name }) => !inits.has(name ?? null))
        .map(({ name, image, ready, restartCount }) => [
          text(name),
          { image: image ?? null, ready: ready ?? null, restarts: restartCount ?? null },
        ]),
    ),
  };
}

function showContainer({ name, image, env, volumeMounts }: JsonObject): JsonObject {
  const mounts = asList(volumeMounts).filter((mount) => !text(mount["name"]).startsWith("kube-api-access"));
  return {
    name: name ?? null,
    image: image ?? null,
    env: env ?? null,
    mounts: mounts.map((mount) => `${text(mount["name"])}:${text(mount["mountPath"])}`),
  };
}

function showVolume({ name, persistentVolumeClaim: claim }: JsonObject): string {
  return isObject(claim) ? `${text(name)}=pvc/${text(claim["claimName"])}` : text(name);
}

/** The SidecarSet version of a container; 0 and 1 represent none and the first. */
const SIDECAR_VERSION = /^version(?:alt)?\.sidecarset\.kruise\.io\//;

function showAnnotation(key: string, value: string): Json {
  if (SIDECAR_VERSION.test(key) && Number(value) > 1) return "{{resourceVersion}}";
  if (!value.startsWith("{") && !value.startsWith("[")) return value;
  return { $json: JSON.parse(value) as Json };
}

/** The suffix that the server adds to `generateName`; ordinals look different. */
const GENERATED = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Replaces random values and times by placeholders. */
function createHider(objects: readonly Seen[], names: ReadonlyMap<string, string>): (shown: JsonObject) => JsonObject {
  const replaced = new Map<string, string>([...names].map(([name, pod]) => [pod, `{{${name}}}`]));
  for (const { metadata } of objects) {
    const name = text(metadata["name"]);
    const prefix = text(metadata["generateName"]);
    const id = text(asObject(metadata["labels"])[INSTANCE_ID]);
    if (id !== "" && !replaced.has(id)) replaced.set(id, "{{rand}}");
    if (replaced.has(name)) continue;
    if (prefix !== "" && name.startsWith(prefix) && GENERATED.test(name.slice(prefix.length)))
      replaced.set(name, `${prefix}{{rand}}`);
  }
  // Longest first: a name may contain another. A prefix may itself contain random parts, so it runs twice.
  const ordered = [...replaced].toSorted(([a], [b]) => b.length - a.length);
  const pass = (json: string): string => ordered.reduce((shown, [from, to]) => shown.replaceAll(from, to), json);
  return (shown) =>
    JSON.parse(
      pass(pass(JSON.stringify(shown)))
        .replaceAll(TIME, "{{time}}")
        .replaceAll(UID, "{{uid}}"),
    ) as JsonObject;
}
