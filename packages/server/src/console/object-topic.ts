/**
 * One workload, live: its template and binding on the hub, and on each member the copy and its pods. The copies are
 * watched on the members while a page shows them, because a binding's status arrives up to 3 s later.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Timer } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import {
  BINDING_ID,
  bindingName,
  CLUSTER_BINDING_ID,
  ClusterResourceBinding,
  executionNamespace,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { Pod } from "@flotilla/kubernetes";
import type { ObjectRef, ObjectView } from "@flotilla/web";
import { selectorOf } from "./json-access.ts";
import { membersOf, objectView } from "./object-view.ts";
import type { WatchedCopy } from "./object-view.ts";
import { watchObjects } from "./watched-objects.ts";
import type { WatchedObjects } from "./watched-objects.ts";

export interface ObjectTopicOptions {
  client: Client;
  clock: Clock;
  log: Log;
  ref: ObjectRef;
  isReady(member: string): boolean;
  send(view: ObjectView): void;
  fail(reason: string): void;
  signal: AbortSignal;
}

const GATHER_MS = 30;
const WORKS_MS = 1_000;
const MAX_LIVE = 50;
const MAX_PODS = 200;
const MAX_NOTE = 200;

export async function openObjectTopic(options: ObjectTopicOptions): Promise<void> {
  const { client, clock, log, ref, isReady, send, fail, signal } = options;
  const kinds = createKindResolver({ client, cluster: HUB });
  let kind: AnyKind;
  try {
    kind = await kinds.resolve(ref);
  } catch (error) {
    fail(messageOf(error));
    return;
  }
  if (signal.aborted) return;
  const copies = new Map<string, MemberCopy>();
  let timer: Timer | undefined;
  let isFirst = true;

  const changed = (): void => {
    timer ??= clock.after(isFirst ? 0 : GATHER_MS, publish);
  };
  function publish(): void {
    timer = undefined;
    const failure = template.failure();
    if (!template.isListed()) {
      // Without the object nothing true can be shown. Other failures may pass.
      if (failure instanceof ApiError && FINAL.has(failure.status.code ?? 0)) fail(messageOf(failure));
      return;
    }
    isFirst = false;
    send(
      objectView({
        ref,
        template: template.list()[0],
        binding: binding.list()[0],
        works: works.read,
        copies: new Map(Array.from(copies, ([member, copy]) => [member, copy.read()])),
        isReady,
        notes: [noteOf("the object", template), noteOf("the binding", binding), works.note()].filter(Boolean),
      }),
    );
  }

  const named = (name: string) => ({ namespace: ref.namespace || undefined, fieldSelector: nameSelector(name) });
  const hub = { client, clock, log, maxObjects: 1 };
  const template = watchObjects({ ...hub, kind, select: named(ref.name), onChange: changed });
  const bindingKind = (ref.namespace === "" ? ClusterResourceBinding : ResourceBinding) as Kind<ResourceBinding>;
  const binding = watchObjects({
    ...hub,
    kind: bindingKind,
    select: named(bindingName(ref.kind, ref.name)),
    onChange() {
      updateCopies();
      changed();
    },
  });
  const works = createWorkReader({ client, clock, signal, onChange: changed });

  function updateCopies(): void {
    const bound = binding.list()[0];
    const wanted = membersOf(bound).slice(0, MAX_LIVE);
    const isWanted = new Set(wanted);
    for (const [member, copy] of copies)
      if (!isWanted.has(member)) {
        copy.close();
        copies.delete(member);
      }
    for (const member of wanted)
      if (!copies.has(member)) copies.set(member, watchCopy(member, { client, clock, log, ref, kind, changed }));
    works.readAgain(wanted, bound);
  }

  signal.addEventListener("abort", () => {
    timer?.cancel();
    for (const copy of [template, binding, ...copies.values()]) copy.close();
  });
}

/** Invalid, forbidden, not served. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404]);

/** A name comes from an address that anyone may have written. */
const nameSelector = (name: string): string => `metadata.name=${name.replaceAll(/[\\,=]/g, "\\$&")}`;

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status.code === 403;

function noteOf(what: string, watched: Pick<WatchedObjects<never>, "failure">): string {
  const failure = watched.failure();
  return failure === undefined ? "" : `${what} cannot be read: ${messageOf(failure).slice(0, MAX_NOTE)}`;
}

interface MemberCopy {
  read(): WatchedCopy;
  close(): void;
}

interface CopyOptions {
  client: Client;
  clock: Clock;
  log: Log;
  ref: ObjectRef;
  kind: AnyKind;
  changed(): void;
}

/** The copy on one member, and the pods that its selector has. */
function watchCopy(member: string, { client, clock, log, ref, kind, changed }: CopyOptions): MemberCopy {
  const namespace = ref.namespace || undefined;
  const shared = { client, clock, log, member };
  let selector = "";
  let pods: WatchedObjects<Pod> | undefined;
  const object = watchObjects({
    ...shared,
    kind,
    select: { namespace, fieldSelector: nameSelector(ref.name) },
    maxObjects: 1,
    onChange() {
      const next = selectorOf(object.list()[0]);
      if (next !== selector) {
        selector = next;
        pods?.close();
        pods = undefined;
        if (selector !== "" && namespace !== undefined)
          pods = watchObjects({
            ...shared,
            kind: Pod,
            select: { namespace, labelSelector: selector },
            maxObjects: MAX_PODS,
            keep: withoutManagers,
            onChange: changed,
          });
      }
      changed();
    },
  });
  return {
    read() {
      const failure = object.failure() ?? pods?.failure();
      return {
        object: object.list()[0],
        isLive: object.isLive() && (pods?.isLive() ?? true),
        problem: failure === undefined ? "" : messageOf(failure).slice(0, MAX_NOTE),
        pods: pods?.list() ?? [],
        morePods: pods?.omitted() ?? 0,
      };
    },
    close() {
      object.close();
      pods?.close();
    },
  };
}

/** They are long, and not shown. */
function withoutManagers(pod: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { managedFields: _managed, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}

interface WorkReader {
  read: ReadonlyMap<string, DeepReadonly<Work>>;
  /** What could not be read. */
  note(): string;
  /** Reads the Works of these members, at most once a second. */
  readAgain(members: readonly string[], binding: DeepReadonly<ResourceBinding> | undefined): void;
}

/** Works report delivery and drift. They change rarely, so they are read with each change of the binding. */
function createWorkReader({
  client,
  clock,
  signal,
  onChange,
}: Pick<ObjectTopicOptions, "client" | "clock" | "signal"> & { onChange(): void }): WorkReader {
  const read = new Map<string, DeepReadonly<Work>>();
  const problems = new Map<string, string>();
  let wanted: { members: readonly string[]; binding: DeepReadonly<ResourceBinding> | undefined };
  let timer: Timer | undefined;
  let isReading = false;
  let isStale = false;

  async function readOne(member: string): Promise<void> {
    try {
      const { items } = await client.list(Work, {
        cluster: HUB,
        namespace: executionNamespace(member),
        labelSelector: workSelector(wanted.binding),
        signal,
      });
      problems.delete(member);
      const [work] = items;
      if (work) read.set(member, work);
      else read.delete(member);
    } catch (error) {
      if (signal.aborted) return;
      read.delete(member);
      // Without the right to read Works the delivery is not shown; the binding has the same in short.
      if (!isForbidden(error)) problems.set(member, `${member}: ${messageOf(error).slice(0, MAX_NOTE)}`);
    }
  }
  async function readAll(): Promise<void> {
    isReading = true;
    isStale = false;
    const { members } = wanted;
    for (const member of [...read.keys(), ...problems.keys()])
      if (!members.includes(member)) {
        read.delete(member);
        problems.delete(member);
      }
    await Promise.all(members.map(readOne));
    isReading = false;
    if (signal.aborted) return;
    onChange();
    timer = clock.after(WORKS_MS, () => {
      timer = undefined;
      if (isStale) void readAll();
    });
  }
  signal.addEventListener("abort", () => timer?.cancel());
  return {
    read,
    note: () => (problems.size === 0 ? "" : `the delivery cannot be read: ${[...problems.values()].join("; ")}`),
    readAgain(members, binding) {
      wanted = { members, binding };
      if (members.length + read.size + problems.size === 0) return;
      isStale = true;
      if (!isReading && !timer) void readAll();
    },
  };
}

function workSelector(binding: DeepReadonly<ResourceBinding> | undefined): string {
  const labels = binding?.metadata.labels ?? {};
  const id = labels[BINDING_ID];
  if (id !== undefined) return `resourcebinding.karmada.io/permanent-id=${id}`;
  const other = labels[CLUSTER_BINDING_ID];
  return other === undefined ? "flotilla.dev/none" : `clusterresourcebinding.karmada.io/permanent-id=${other}`;
}
