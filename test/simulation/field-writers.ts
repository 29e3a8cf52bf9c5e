/**
 * Records which part of the hub writes which field of the hub's objects, in the notation of `pipeline.ts`.
 * Metadata and spec come from the responses of the server, by the part of the hub that sent the request. Statuses are
 * written by one writer for several stages, so their changes come from that writer, by owner.
 */
import { channel } from "node:diagnostics_channel";
import { Readable } from "node:stream";
import { HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { STATUS_CHANGES } from "@flotilla/controller-runtime";
import type { StatusChange } from "@flotilla/controller-runtime";

type AnyObject = DeepReadonly<KubernetesObject> & JsonObject;

const USER = "user";
const ADMISSION = "admission";
/** The part of `fleet.client`, through which members join, too. */
const FLEET_CLIENT = "system";

interface FieldWrite {
  /** A stage of the pipeline, or another part of the hub. */
  part: string;
  field: string;
}

export interface FieldWriters {
  wrap(transport: Transport, part: string): Transport;
  /** What `write` sends through the fleet's own client counts as no part's change. */
  asUser<T>(write: () => Promise<T>): Promise<T>;
  /** Notes an object as it is stored: what no response contained was written by the API server's admission. */
  found(object: unknown): void;
  observed(): FieldWrite[];
  close(): void;
}

/** The kinds of the table that have two scopes or are written by stages alone. What a user applied is a `template`. */
const KINDS: Readonly<Record<string, string>> = {
  ResourceBinding: "ResourceBinding",
  ClusterResourceBinding: "ResourceBinding",
  PropagationPolicy: "PropagationPolicy",
  ClusterPropagationPolicy: "PropagationPolicy",
  Work: "Work",
  WorkloadRebalancer: "WorkloadRebalancer",
};
/** The stages of the owners that a `StatusWriter` knows, where the names differ. */
const STAGE_OF_OWNER: Readonly<Record<string, string>> = {
  "aggregate-complete": "aggregate",
  "aggregate-release": "aggregate",
  dispatching: "execute",
  drift: "execute",
  "drift-over": "execute",
  left: "execute",
  managed: "execute",
  MemberDecides: "dispatch",
  PodsFound: "dispatch",
  PodsRolledBack: "dispatch",
  DividedOverFleet: "dispatch",
  TemplateFound: "dispatch",
  TemplateActive: "dispatch",
};
/** Producers of eviction tasks that have Karmada's names. */
const PRODUCERS: Readonly<Record<string, string>> = {
  "resource-binding-application-failover-controller": "ApplicationFailover",
  "cluster-resource-binding-application-failover-controller": "ApplicationFailover",
};
/** Parts through which a `StatusWriter` writes, which reports its changes itself. */
const STATUS_PARTS: ReadonlySet<string> = new Set(["status", "policies", "aggregate"]);

/** Configuration of the fleet, which a user applies and no policy selects. */
const CONFIGURATION = /^[a-z]+\.karmada\.io\/|^flotilla\.dev\/|\.open-cluster-management\.io\//;
/** Events and decisions are only ever created; a Lease belongs to its holder. */
const RECORDS: ReadonlySet<string> = new Set(["Event", "Lease", "Decision"]);

export function recordFieldWriters(): FieldWriters {
  const observed = new Map<string, FieldWrite>();
  const versions = new Map<string, AnyObject>();
  /** Bindings that `dependencies` created: there it also writes what match writes elsewhere. */
  const attached = new Set<string>();
  const templates = new Set<string>();
  let userWrites = 0;
  const add = (part: string, field: string): void => void observed.set(`${part} ${field}`, { part, field });

  const note = (part: string, after: AnyObject): void => {
    const { kind, metadata } = after;
    const id = `${kind} ${metadata.namespace ?? ""}/${metadata.name} ${metadata.uid ?? ""}`;
    const before = versions.get(id);
    const isNewer = Number(metadata.resourceVersion) > Number(before?.metadata.resourceVersion ?? 0);
    if (before && !isNewer) return;
    versions.set(id, after);
    if (part === USER && !before && !CONFIGURATION.test(after.apiVersion)) templates.add(id);
    if (part === USER || RECORDS.has(kind)) return;
    if (part === "dependencies" && !before) attached.add(id);
    const name =
      part === "dependencies" && attached.has(id)
        ? "attached"
        : (KINDS[kind] ?? (templates.has(id) ? "template" : kind));
    for (const field of changedFields(before, after)) add(part, `${name}.${field}`);
    if (!STATUS_PARTS.has(part) && !equalJson(before?.["status"], after["status"])) add(part, `${name}.status`);
  };
  /** The object whose `/scale` was written, as it is now; other objects unchanged. */
  const withScale = (written: AnyObject): AnyObject => {
    if (written.kind !== "Scale") return written;
    const { uid } = written.metadata;
    const scaled = [...versions.values()].find(({ metadata }) => metadata.uid === uid) ?? written;
    const spec = { ...(scaled["spec"] as JsonObject), replicas: (written["spec"] as { replicas: number }).replicas };
    const { resourceVersion } = written.metadata;
    return { ...scaled, metadata: { ...scaled.metadata, resourceVersion }, spec } as unknown as AnyObject;
  };
  const onStatus = (message: unknown): void => {
    const { kind, owner, before, after } = message as StatusChange;
    const [was, is] = [before, after].map((object) => (object as { status?: JsonObject }).status ?? {}) as [
      JsonObject,
      JsonObject,
    ];
    const name = KINDS[kind] ?? "template";
    for (const field of changedStatus(was, is)) add(STAGE_OF_OWNER[owner] ?? owner, `${name}.status${field}`);
  };
  channel(STATUS_CHANGES).subscribe(onStatus);

  return {
    wrap: (transport, part) => ({
      ...transport,
      async send(request, signal) {
        const object = await transport.send(request, signal);
        if (!["create", "update", "patch", "apply"].includes(request.verb)) return object;
        const author = part === FLEET_CLIENT && userWrites > 0 ? USER : part;
        if (request.path.cluster === HUB) note(author, withScale(object as AnyObject));
        else if (part === "execute") add(part, "member");
        return object;
      },
      // Autoscalers write `/scale`, whose kind the client does not know.
      async raw(request, signal) {
        const answer = await transport.raw(request, signal);
        if (request.method !== "PUT" || request.cluster !== HUB || answer.status >= 300) return answer;
        const chunks = await Array.fromAsync(answer.body);
        note(part, withScale(JSON.parse(Buffer.concat(chunks).toString()) as AnyObject));
        return { ...answer, body: Readable.from(chunks) };
      },
    }),
    async asUser(write) {
      userWrites++;
      try {
        return await write();
      } finally {
        userWrites--;
      }
    },
    found: (object) => note(ADMISSION, object as AnyObject),
    observed: () => [...observed.values()],
    close() {
      channel(STATUS_CHANGES).unsubscribe(onStatus);
    },
  };
}

function changedFields(before: AnyObject | undefined, after: AnyObject): string[] {
  const of = (object: AnyObject | undefined, half: string): JsonObject => (object?.[half] ?? {}) as JsonObject;
  const metadata = [of(before, "metadata"), of(after, "metadata")] as const;
  const [specBefore, specAfter] = [of(before, "spec"), of(after, "spec")];
  return [
    ...["labels", "annotations"].flatMap((map) =>
      differences(...(metadata.map((side) => side[map] ?? {}) as [JsonObject, JsonObject])).map(
        // The cluster-scoped kinds have the same labels under their own names.
        (key) => `metadata.${map}[${key.replace(/^cluster(?=(propagationpolicy|resourcebinding)\.)/, "")}]`,
      ),
    ),
    ...["ownerReferences", "finalizers"]
      .filter((field) => !equalJson(metadata[0][field] ?? [], metadata[1][field] ?? []))
      .map((field) => `metadata.${field}`),
    ...differences(specBefore, specAfter).flatMap((field) => {
      const [was, is] = [specBefore[field], specAfter[field]];
      if (field === "gracefulEvictionTasks") return changedTasks(was, is).map((task) => `spec.${field}[${task}]`);
      if (field === "suspension")
        return differences((was ?? {}) as JsonObject, (is ?? {}) as JsonObject).map((part) => `spec.${field}.${part}`);
      return [`spec.${field}`];
    }),
  ];
}

interface EvictionTask {
  fromCluster: string;
  producer: string;
}

/** The producers of new and changed tasks; `ended` if one is gone. */
function changedTasks(before: Json | undefined, after: Json | undefined): string[] {
  const tasks = (list: Json | undefined): Map<string, EvictionTask> =>
    new Map(((list ?? []) as unknown as EvictionTask[]).map((task) => [task.fromCluster, task]));
  const [was, is] = [tasks(before), tasks(after)];
  const written = [...is].filter(([from, task]) => !equalJson(was.get(from), task));
  const hasEnded = [...was.keys()].some((from) => !is.has(from));
  return [...written.map(([, { producer }]) => PRODUCERS[producer] ?? producer), ...(hasEnded ? ["ended"] : [])];
}

function changedStatus(before: JsonObject, after: JsonObject): string[] {
  const conditions = (status: JsonObject): JsonObject =>
    Object.fromEntries(
      ((status["conditions"] ?? []) as (JsonObject & { type: string })[]).map((condition) => [
        condition.type,
        condition,
      ]),
    );
  return [
    ...differences(conditions(before), conditions(after)).map((type) => `.conditions[${type}]`),
    ...differences(before, after)
      .filter((field) => field !== "conditions")
      .map((field) => `.${field}`),
  ];
}

function differences(before: JsonObject, after: JsonObject): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !equalJson(before[key], after[key]),
  );
}
