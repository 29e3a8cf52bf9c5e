/**
 * Records which stage of the pipeline writes which field of the hub's objects, in the notation of `pipeline.ts`.
 * Metadata and spec come from the responses of the server, by the part of the hub that sent the request. Statuses are
 * written by one writer for several stages, so their changes come from that writer, by owner.
 */
import { channel } from "node:diagnostics_channel";
import { HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { STATUS_CHANGES } from "@flotilla/controller-runtime";
import type { StatusChange } from "@flotilla/controller-runtime";

type AnyObject = DeepReadonly<KubernetesObject> & JsonObject;

interface FieldWrite {
  stage: string;
  field: string;
}

export interface FieldWriters {
  wrap(transport: Transport, part: string): Transport;
  /** Notes what a user wrote, so that it counts as no stage's change. */
  wroteByUser(object: unknown): void;
  observed(): FieldWrite[];
  close(): void;
}

/** The kinds of the table; everything else that a policy selects is the `template`. */
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
  "aggregate-release": "aggregate",
  dispatching: "execute",
  drift: "execute",
  "drift-over": "execute",
  managed: "execute",
  MemberDecides: "dispatch",
  PodsFound: "dispatch",
  PodsRolledBack: "dispatch",
};
/** Producers of eviction tasks that have Karmada's names. */
const PRODUCERS: Readonly<Record<string, string>> = {
  "resource-binding-application-failover-controller": "ApplicationFailover",
  "cluster-resource-binding-application-failover-controller": "ApplicationFailover",
};
/** Parts through which a `StatusWriter` writes, which reports its changes itself. */
const STATUS_PARTS: ReadonlySet<string> = new Set(["status", "policies", "aggregate"]);

export function recordFieldWriters(stages: ReadonlySet<string>): FieldWriters {
  const observed = new Map<string, FieldWrite>();
  const versions = new Map<string, AnyObject>();
  /** Bindings that `dependencies` created: there it also writes what match writes elsewhere. */
  const attached = new Set<string>();
  const add = (stage: string, field: string): void => void observed.set(`${stage} ${field}`, { stage, field });

  const note = (part: string, after: AnyObject): void => {
    const { kind, metadata } = after;
    const id = `${kind} ${metadata.namespace ?? ""}/${metadata.name} ${metadata.uid ?? ""}`;
    const before = versions.get(id);
    const isNewer = Number(metadata.resourceVersion) > Number(before?.metadata.resourceVersion ?? 0);
    if (before && !isNewer) return;
    versions.set(id, after);
    if (!stages.has(part)) return;
    if (part === "dependencies" && !before) attached.add(id);
    const name = part === "dependencies" && attached.has(id) ? "attached" : (KINDS[kind] ?? "template");
    for (const field of changedFields(before, after)) add(part, `${name}.${field}`);
    if (!STATUS_PARTS.has(part) && !equalJson(before?.["status"], after["status"])) add(part, `${name}.status`);
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
        if (request.path.cluster === HUB) note(part, object as AnyObject);
        else if (stages.has(part)) add(part, "member");
        return object;
      },
    }),
    wroteByUser: (object) => note("user", object as AnyObject),
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
